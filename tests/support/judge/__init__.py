"""Sets with answers that a judge is asked about."""
