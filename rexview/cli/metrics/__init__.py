"""``python -m rexview metrics``: work out metrics of the generated reports of a review set.

Exit status: 0 all is worked out and kept, 1 something is not, 2 it cannot be as it was asked for.
"""
