"""Annotations of other tools: boxes in any convention, and the files that they come in."""
