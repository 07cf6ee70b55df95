"""Metrics of generated reports: their identity, and those that are computed in the app."""
