"""One case: its record, cards, differences, comments, blinding."""
