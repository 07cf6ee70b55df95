"""Studies: who reads what, in which order, and how far they are."""
