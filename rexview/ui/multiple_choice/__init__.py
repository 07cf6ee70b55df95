"""The Multiple choice page."""
