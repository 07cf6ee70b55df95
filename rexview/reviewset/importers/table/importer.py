"""A table with one row per answer, or one row per case and a column per model.

:mod:`.column_guess` proposes the mapping, :mod:`.table_rows` reads the rows by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rexview.reviewset.importers.core.draft import Draft
from rexview.reviewset.importers.core.importer import PROPOSED
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.images.placement import place_images
from rexview.reviewset.importers.table.column_guess import guess
from rexview.reviewset.importers.table.column_mapping import ColumnMapping
from rexview.reviewset.importers.table.rows import RowReader
from rexview.reviewset.importers.table.sheet import Sheet, read_sheet


def read_table(sources: Sequence[Path], options: Mapping[str, Any], log: ProblemLog) -> Draft:
    """Read tables of the same columns into one draft."""
    draft = Draft(name=options["name"] or sources[0].stem.replace("_", " "))
    draft.description = f"Imported from {', '.join(path.name for path in sources)}."
    given = options["mapping"]
    mapping = None if given in (None, PROPOSED) else ColumnMapping.read(given)
    named = mapping.sheet if mapping else None
    for path in sources:
        sheet = read_sheet(path, log, sheet=options["sheet"] or named)
        if sheet is None:
            continue
        if given is None:
            log.error(
                path.name,
                "The meaning of its columns has not been confirmed.",
                "Look at the proposal (--show-mapping on the command line), and give it back as "
                f"the mapping, or give “{PROPOSED}” to take it as it is.",
                field="mapping",
            )
            continue
        used = mapping or guess(sheet)
        if _fits(used, sheet, log):
            RowReader(draft, sheet, used, options, log).read()
    place_images(draft, options["images"], [path.parent for path in sources], log, sources[0].name)
    return draft


def _fits(mapping: ColumnMapping, sheet: Sheet, log: ProblemLog) -> bool:
    used = mapping.used_columns
    absent = [column for column in used if column not in sheet.columns]
    for column in absent:
        message = f"The table has no column “{column}”."
        remedy = "Ask for the proposal of this file, and confirm that."
        log.error(sheet.file, message, remedy, field="mapping")
    if not used:
        message = "No column has a meaning."
        remedy = "Map at least the question, the answer or the image."
        log.error(sheet.file, message, remedy, field="mapping")
    return bool(used) and not absent
