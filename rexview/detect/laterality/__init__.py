"""Find laterality errors."""
