"""Boxes for the tools that people annotate and look at data sets with, a module a format."""
