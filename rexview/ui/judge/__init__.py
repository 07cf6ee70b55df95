"""What a judge, a model asked for a second opinion, says: off unless the link asks for it."""
