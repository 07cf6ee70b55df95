"""How the text of an answer ends."""
