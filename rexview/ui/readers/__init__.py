"""The Readers page."""
