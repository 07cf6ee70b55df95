"""The numbers of the Scores page."""
