"""Run a model over many items; a run survives crashes without losing paid replies.

:mod:`.spec` describes what was asked for, :mod:`.folder` the files of a run, and :mod:`.journal`
the log and the rows. :mod:`.gate` decides when the next request may go (pause, rate limits,
budget). :mod:`.run` is the run itself. Through :mod:`.progress` a page or another shell follows and
controls it. See ``docs/running-models.md``.
"""
