"""What only the Multiple choice page shows."""
