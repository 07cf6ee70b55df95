"""Checks of multiple choice questions by rules: of form, of content, and of what identifies."""
