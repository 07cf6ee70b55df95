"""Measure what a run adds to asking a model: ``python -m rexview bench run``."""
