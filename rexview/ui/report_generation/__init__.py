"""The Report generation page."""
