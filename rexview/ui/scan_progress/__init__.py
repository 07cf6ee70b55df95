"""Progress of the failure scan, on every page whose numbers depend on it."""
