"""Laterality errors."""
