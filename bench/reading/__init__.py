"""Measure how fast texts are read, compared with medspaCy."""
