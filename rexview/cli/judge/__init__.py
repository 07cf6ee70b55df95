"""``python -m rexview judge``: a language model's second opinion on answers.

Exit status: 0 the judge has said all that it was asked, 1 something is missing, 2 it could not
begin as it was asked for.
"""
