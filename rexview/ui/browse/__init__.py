"""The Browse page."""
