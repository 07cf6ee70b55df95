"""The Curate page."""
