"""Charts on a page, with their tables and downloads."""
