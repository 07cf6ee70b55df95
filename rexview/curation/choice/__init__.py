"""Multiple choice questions made from reports, and the checks that each must pass.

After ReXVQA: :mod:`.proposing` asks a model for questions of a report, :mod:`.checks` look at them
by rules, :mod:`.validation` asks a model and combines all checks, and :mod:`.sample` draws the
questions that experts read.
"""
