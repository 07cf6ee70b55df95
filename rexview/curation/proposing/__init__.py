"""Candidate questions for a study, asked of a model: wording, strict reading, rows."""
