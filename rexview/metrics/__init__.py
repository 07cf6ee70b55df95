"""Identify metrics of generated reports, and compute some of them in the app."""
