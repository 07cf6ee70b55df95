"""Presenting: a case on a projector, step by step."""
