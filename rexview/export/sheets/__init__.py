"""Lay out 16:9 sheets with texts, tables and films, once for slides and PDF pages.

:mod:`.deck` makes the sheets of an export; :mod:`rexview.export.pptx` and :mod:`rexview.export.pdf`
write them.
"""
