"""A case whose answers are reports: sentence beside sentence, corrected, missed, invented."""
