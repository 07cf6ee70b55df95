"""A failure that a clinician wrote in words, and the answers that a judge finds to have it.

:mod:`.words` reads the words, :mod:`.asking` makes the request, :mod:`.reading` reads what came,
:mod:`.results` finds it again in the logs of the runs. What is asked about, and what of it is
hidden, is as for other opinions (:mod:`rexview.judge.subjects`).
"""
