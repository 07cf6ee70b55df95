"""Questions in the making as the page Curate shows them, and numbers of the curated set."""
