"""Rows of small sets whose numbers can be worked out by hand."""
