"""One module a migration. A released migration is never changed."""
