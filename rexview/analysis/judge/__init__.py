"""What judges, models asked for a second opinion, say of answers, beside the readers."""
