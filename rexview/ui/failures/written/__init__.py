"""Failures in one's own words on the Failures page: written, looked for, read, counted."""
