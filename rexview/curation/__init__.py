"""Curate questions: models propose and score them, people choose, and the result is a set."""
