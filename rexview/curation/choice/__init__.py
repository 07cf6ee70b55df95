"""Multiple choice questions made from reports, and the checks that each must pass.

After ReXVQA: :mod:`.proposing` asks a model for questions of a report, :mod:`.checks` look at them
by rules, :mod:`.validator` asks a model, :mod:`.verdict` says what all checks together mean, and
:mod:`.sample` which questions experts read.
"""
