"""Objects and tables in a text."""
