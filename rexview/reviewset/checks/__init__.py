"""What is checked once the tables are read."""
