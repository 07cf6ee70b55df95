"""A loaded set: its tables, what is said once of it, and the few cases that are in memory."""
