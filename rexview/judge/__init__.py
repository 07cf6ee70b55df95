"""A judge: a language model as a second opinion on answers, beside the readers.

:mod:`.subjects` says what it is asked about and what of that it may know, :mod:`.wording` in which
words, :mod:`.asking` makes the request, :mod:`.reading` reads what came, :mod:`.results` keeps it
as rows of ``opinions``. Requests go out as those of a run do (:mod:`rexview.models.running`).
"""
