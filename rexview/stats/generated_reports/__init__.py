"""Statistics of generated reports: boards of metrics, edits, preferences."""
