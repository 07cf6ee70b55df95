"""``python -m rexview run``: ask a model about the cases of a review set.

In the foreground, in a process group of its own, until all is done. Exit status: 0 every case has
an answer, 1 some have none, 2 it could not begin as it was asked for.
"""
