"""The Case page."""
