"""Two engines asked the same: random filters, all questions, the smallest filter that differs."""
