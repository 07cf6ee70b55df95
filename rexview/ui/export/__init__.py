"""Exports from the pages: made beside the page, with progress, and downloaded when done."""
