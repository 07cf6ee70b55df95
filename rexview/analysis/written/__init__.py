"""Failures in a clinician's words: which there are, what judges found, who checked it."""
