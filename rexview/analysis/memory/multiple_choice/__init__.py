"""What becomes of choice questions: outcomes of answers, votes, and the tallies of their page."""
