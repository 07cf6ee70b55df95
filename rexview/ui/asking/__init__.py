"""Querying models from a page: choice of model and limits, progress, and results."""
