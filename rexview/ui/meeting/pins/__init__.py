"""Cases pinned to the agenda of a meeting, from whatever page lists or shows them."""
