"""A sample of what a judge found of a failure in words, read one by one, blind to the judge."""
