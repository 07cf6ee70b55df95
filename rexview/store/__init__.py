"""What people write about a review set: an append-only history in a database."""
