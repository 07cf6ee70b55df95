"""Scan review sets with detectors, keep the results, and join them with readers' verdicts."""
