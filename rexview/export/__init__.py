"""What leaves the app as files: cases and meetings as slides, pages, tables and other formats.

A format is a function ``write(content, out, progress)`` that is listed in :mod:`.formats`. It gets
a :class:`~rexview.export.records.Content` and nothing else: what may leave has been decided by
then (:mod:`.content`, :mod:`.privacy`).
"""
