"""How far the search for failures is, on every page whose numbers rest on it."""
