"""Runs of models on an open review set, for pages and the command line."""
