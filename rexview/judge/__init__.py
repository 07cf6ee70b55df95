"""Judges: language models that give a second opinion on answers, besides the readers.

:mod:`.subjects` selects the answers for a judge, and :mod:`.request` builds the request with its
wording. :mod:`.opinions` reads the replies and keeps them.
"""
