"""Read tables of corrections, one report line a row (ReFiSco): original, edited, severity.

A row with an empty original was inserted; one with an empty edited line was deleted. But if a table
marks deletions with ``[delete]``, an empty edited line means no change. The original lines of a
report in their order become the model's answer, if no other source gives it. Words for the kind of
an error and its significance are mapped to those of the format; unknown words are kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rexview.importers.joins import join_ids
from rexview.importers.set_rows import SetRows
from rexview.importers.source_files import Probe, SourceFile
from rexview.importers.table.cells import (
    EDIT_KIND_WORDS,
    EDIT_MARKS,
    FIELD_COLUMN_NAMES,
    LINE_EDITS,
    SIGNIFICANCE_WORDS,
    ColumnName,
    read_number,
)
from rexview.importers.table.roles import columns_by_meaning, record_table, sample_rows
from rexview.importers.table.sheet import SheetRow, TableSheet, read_table_sheet
from rexview.vocab import EDIT_ACTIONS

_FIELDS: Final = ("case", "study_id", "image", "model", "reader", "comment", "created")
_UNKNOWN_MODEL: Final = "model"

ReportKey = tuple[str, str, str | None]
"""Case, model and reader."""


def edit_columns(names: Sequence[str]) -> Mapping[str, str] | None:
    """Return the columns of a table of corrected lines by their meaning, else None."""
    known = {field: FIELD_COLUMN_NAMES[field] for field in _FIELDS}
    for meaning, more in LINE_EDITS.items():
        known[meaning] = [*more, *known.get(meaning, [])]
    columns = columns_by_meaning(names, known)
    has_case = columns.keys() & {"case", "study_id", "image"}
    return columns if has_case and {"original", "edited"} <= columns.keys() else None


def recognises(probe: Probe) -> str | None:
    """Return why a file is a table of corrected lines, or None."""
    sheet = sample_rows(probe)
    columns = edit_columns(sheet.columns) if sheet else None
    return f"corrected lines ({columns['original']}, {columns['edited']})" if columns else None


def read_line_edits(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read corrected lines into the table of edits."""
    for file in files:
        sheet = read_table_sheet(file.path, rows.log, label=file.label)
        columns = edit_columns(sheet.columns) if sheet else None
        if sheet is not None and columns is not None:
            _read(file.label, sheet, columns, rows, options)


def _read(
    file: str,
    sheet: TableSheet,
    columns: Mapping[str, str],
    rows: SetRows,
    options: Mapping[str, Any],
) -> None:
    others = record_table(sheet, columns.values(), rows, kept_as="edit")
    key = next(one for one in ("case", "study_id", "image") if one in columns)
    ids = sheet.column(columns[key])
    names = join_ids(file, columns[key], ids, sheet.numbers, rows, images=key == "image")
    reports: dict[ReportKey, list[SheetRow]] = {}
    for row in sheet.read(columns, rows.log):
        if not (row["case"] or row["study_id"] or row["image"]):
            rows.receipt.unused(row.at, "The row names no case.")
            continue
        case_id = _case_of_row(row, key, names, rows)
        model = row["model"] or options.get("model") or _UNKNOWN_MODEL
        reports.setdefault((case_id, model, row["reader"]), []).append(row)
    made = 0
    marked = any("delete" in _marks(line) for lines in reports.values() for line in lines)
    for report, lines in reports.items():
        lines.sort(key=lambda row: read_number(row["line"]) or 0)
        made += _add_answer(report, lines, rows)
        _add_edits(report, lines, others, rows, marked=marked)
    if made:
        rows.log.note(f"{file}: {made:,} answers were put together from their original lines.")


def _case_of_row(row: SheetRow, key: str, names: Mapping[str, str], rows: SetRows) -> str:
    """Return the case of a row: a known one, else a new one with that name.

    ``names`` maps values of ``key`` that are written differently to the ids to use.
    """
    case_name, study = (
        names.get((row[one] or "").strip(), row[one]) if one == key else row[one]
        for one in ("case", "study_id")
    )
    found = rows.find_case(case=case_name, study=study, image=row["image"])
    if found is not None:
        return found[0]
    name = row["case"] or row["study_id"] or row["image"]
    case: dict[str, Any] = {"id": name, "study_id": row["study_id"]}
    if row["image"]:
        case["images"] = [{"path": row["image"]}]
    return rows.add_case(case, row.at)


def _add_answer(report: ReportKey, lines: Sequence[SheetRow], rows: SetRows) -> bool:
    """Make the answer from its original lines if no source gives it; return True if it was made."""
    case_id, model, _ = report
    known = next((one for one in rows.answers_of(case_id) if one["model"] == model), None)
    if known is not None and known.get("text"):
        return False
    text = "\n".join(row["original"] or "" for row in lines if row["original"] is not None)
    at = lines[0].at
    rows.add_answer({"case": case_id, "model": model, "text": text}, at)
    return True


def _add_edits(
    report: ReportKey,
    lines: Sequence[SheetRow],
    others: Sequence[str],
    rows: SetRows,
    *,
    marked: bool,
) -> None:
    """Add the corrections of a report; with ``marked`` the table marks its deletions."""
    case_id, model, reader = report
    line = 0
    for row in lines:
        original, edited = row["original"], row["edited"]
        marks = _marks(row)
        if marks:
            edited = original if "keep" in marks else None
        elif marked and edited is None:
            edited = original
        line += original is not None
        edit = {"case": case_id, "model": model, "reader": reader, "line": line}
        edit |= {"original": original, "edited": edited}
        edit["action"] = _edit_action(row["action"], original, edited)
        edit["kind"] = fold_kind(row["kind"])
        edit["significance"] = fold_significance(row["significance"])
        edit |= {name: row[name] for name in ("severity", "comment", "created")}
        edit |= {name: row.value(name) for name in others if row.cells[name] is not None}
        rows.add_mark("edits", edit, row.at)


def _marks(row: SheetRow) -> set[str]:
    """Return the actions that marks in place of the edited line name: ``[delete]``."""
    text = (row["edited"] or "").lower()
    return {action for mark, action in EDIT_MARKS.items() if mark in text}


def fold_kind(word: str | None) -> str | None:
    """Return the kind of error that a word means; an unknown word unchanged.

    >>> fold_kind("Incorrect location/position"), fold_kind("Omission of finding")
    ('location', 'missing_finding')
    """
    plain = ColumnName.of(word).plain if word else ""
    for kind, words in EDIT_KIND_WORDS.items():
        if plain == kind.replace("_", " ") or any(re.search(rf"\b{one}", plain) for one in words):
            return kind
    return word


def fold_significance(word: str | None) -> str | None:
    """Return the significance that a word means; an unknown word unchanged.

    >>> fold_significance("not_actionable_not_urgent"), fold_significance("Urgent")
    ('negligible', 'significant')
    """
    plain = ColumnName.of(word).plain if word else ""
    known = (name for name, words in SIGNIFICANCE_WORDS.items() if plain in words)
    return next(known, word)


def _edit_action(told: str | None, original: str | None, edited: str | None) -> str:
    word = (told or "").strip().lower()
    if word in EDIT_ACTIONS:
        return word
    if original is None or edited is None:
        return "insert" if original is None else "delete"
    return "keep" if original == edited else "substitute"
