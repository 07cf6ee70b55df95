"""What a run adds to asking: ``python -m rexview bench run``."""
