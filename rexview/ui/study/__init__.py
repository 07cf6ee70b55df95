"""The Study page."""
