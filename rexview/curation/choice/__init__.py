"""Make multiple choice questions from reports, and run the checks that each must pass.

After ReXVQA: :mod:`.proposing` lets a model make questions from a report, and :mod:`.checks` checks
them by rules. :mod:`.validation` lets a model check them and combines all checks, and
:mod:`.sample` draws the questions that experts read.
"""
