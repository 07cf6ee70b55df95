"""Generated reports: metrics, edits and preferences, answered from memory."""
