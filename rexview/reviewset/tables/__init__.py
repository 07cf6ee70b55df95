"""The tables of a review set: sources, readers of their files, and conversion of values."""
