"""The numbers of the Readers page."""
