"""Runs of a model, for tests: plain questions without a set, and the command line, killed."""
