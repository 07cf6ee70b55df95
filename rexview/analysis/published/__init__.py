"""Published figures of papers, for comparison with a user's own: one module for each paper."""
