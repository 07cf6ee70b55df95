"""Distribute work over workers: processes of this machine, or of a Ray cluster."""
