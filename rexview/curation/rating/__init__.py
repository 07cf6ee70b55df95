"""Four criteria and a risk flag for a question, asked of a model: wording, strict reading, rows."""
