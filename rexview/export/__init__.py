"""Export cases and meetings as slides, documents, tables and files of other tools.

A format is a function ``write(content, out, progress)`` listed in :mod:`.formats`. It gets only a
:class:`~rexview.export.export_records.ExportContent`: :mod:`.content` and :mod:`.privacy` have
already decided what may leave the app.
"""
