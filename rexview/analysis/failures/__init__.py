"""The numbers of the Failures page."""
