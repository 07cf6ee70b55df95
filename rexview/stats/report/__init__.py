"""The statistics of a review set as JSON and as text."""
