"""Eight tags for a question, asked of a model: wording, strict reading, rows."""
