"""The in-memory engine: the answer table, filters on it, counts and orders."""
