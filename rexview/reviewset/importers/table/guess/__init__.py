"""What the columns of a table could mean: by their contents, as judgements, as answers."""
