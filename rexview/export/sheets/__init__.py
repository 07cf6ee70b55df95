"""What slides and pages have in common: sheets of 16:9 with texts, tables and films, laid out once.

:mod:`.deck` makes the sheets of an export; :mod:`rexview.export.pptx` and :mod:`rexview.export.pdf`
write them.
"""
