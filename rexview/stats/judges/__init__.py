"""What judges, models that are asked for a second opinion, say of answers, beside the readers."""
