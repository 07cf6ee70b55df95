"""FineRadScore: a language model corrects a generated report line by line, and grades each error.

After Huang et al. 2024 (arXiv 2405.20613), with wording and rubric of our own: :mod:`.asking` makes
the request, :mod:`.reading` reads what came, :mod:`.results` makes corrections and values of it.
Requests go out as those of a run do (:mod:`rexview.models.running`).
"""
