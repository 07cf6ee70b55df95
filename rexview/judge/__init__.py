"""A judge: a language model as a second opinion on answers, beside the readers.

:mod:`.subjects` has the answers that a judge is asked about, :mod:`.request` the wording and the
request. :mod:`.opinions` reads the replies and keeps them.
"""
