"""Sets to curate."""
