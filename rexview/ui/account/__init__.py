"""The Account page."""
