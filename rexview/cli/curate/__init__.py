"""``python -m rexview curate``: ask a model for questions, for their scores and for their tags.

Exit status: 0 all that was asked is answered and can be read, 1 something is not, 2 it cannot be as
it was asked for.
"""
