"""One case: its record, cards, comparison of reports, comments and blinding."""
