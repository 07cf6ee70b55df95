"""Make review sets from other formats: ReXrank JSON, tables, folders of images, COCO boxes.

:data:`IMPORT_FORMATS` declares each importer with its options; :func:`import_source` runs one.
Sources are only read. The review set is written as a whole or not at all.
"""

from __future__ import annotations

from rexview.importers.formats import IMPORT_FORMATS, ImportReport
from rexview.importers.import_run import import_source
from rexview.importers.table.cells import COLUMN_FIELDS
from rexview.importers.table.column_guess import propose_mapping
from rexview.importers.table.column_mapping import ColumnMapping

__all__ = [
    "COLUMN_FIELDS",
    "IMPORT_FORMATS",
    "ColumnMapping",
    "ImportReport",
    "import_source",
    "propose_mapping",
]
