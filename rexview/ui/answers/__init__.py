"""Answers, report, scores and flags of a case as HTML."""
