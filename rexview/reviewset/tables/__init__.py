"""The tables of a review set: declared columns and the readers of their files."""
