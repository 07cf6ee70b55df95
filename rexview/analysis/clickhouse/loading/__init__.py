"""What a load writes: the columns and records of a set, version by version."""
