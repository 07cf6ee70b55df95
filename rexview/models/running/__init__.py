"""The life of a run: cases are asked one by one or many at once, and nothing paid for is lost.

:mod:`.spec` is what was asked for, :mod:`.folder` where a run's files lie, :mod:`.journal` what
was sent and came (the log first, then the answer's row), :mod:`.gate` when the next request may go
(pause, rate limits, budget), :mod:`.run` the run itself, :mod:`.progress` what a page or another
shell sees of it and tells it. ``docs/running-models.md`` says it in words.
"""
