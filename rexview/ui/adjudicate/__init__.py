"""The Adjudicate page."""
