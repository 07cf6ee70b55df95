"""Generated reports: metrics, edits and preferences."""
