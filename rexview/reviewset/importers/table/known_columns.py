"""Tables known by the names of their columns: boxes, what images show, corrected lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.core.recognise import Probe
from rexview.reviewset.importers.core.set_rows import SetRows
from rexview.reviewset.importers.table.column_names import FIELD_NAMES, ColumnName, is_identity
from rexview.reviewset.importers.table.sheet import Sheet, read_sheet
from rexview.reviewset.tables.source import At

_ROWS_LOOKED_AT = 20


def columns_of(probe: Probe) -> Sequence[str] | None:
    """Return the names of a table's columns, or the keys of a list of records."""
    if probe.kind == "table" and probe.table:
        return probe.table.columns
    entries = probe.json_lines if probe.kind == "jsonl" else probe.json
    if probe.kind in ("json", "jsonl") and isinstance(entries, list) and entries:
        return list(entries[0]) if isinstance(entries[0], dict) else None
    if probe.kind == "xlsx":
        sheet = read_sheet(probe.path, ProblemLog(), max_rows=_ROWS_LOOKED_AT)
        return sheet.columns if sheet else None
    return None


def columns_by_meaning(names: Sequence[str], known: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the column of each meaning that has one; ``known`` has names, the likelier first."""
    plain = {ColumnName.of(name).plain: name for name in reversed(names)}
    return {
        meaning: next(plain[name] for name in of_meaning if name in plain)
        for meaning, of_meaning in known.items()
        if not plain.keys().isdisjoint(of_meaning)
    }


def holds_any(names: Sequence[str], fields: Iterable[str]) -> bool:
    """Whether a column is called as one of these fields of a table of answers usually is."""
    return bool(columns_by_meaning(names, {field: FIELD_NAMES[field] for field in fields}))


def enter_table(sheet: Sheet, used: Iterable[str], rows: SetRows, *, kept_as: str) -> list[str]:
    """Enter a table in the receipt: its rows, those that cannot be read, columns of identity.

    Columns that are not ``used`` are named as extra fields of a ``kept_as``: a case, a box.

    Returns
    -------
    list of str
        Those columns, without those of identity.
    """
    rows.receipt.rows(sheet.file, len(sheet.rows) + len(sheet.unread))
    for number, why in sheet.unread:
        rows.receipt.unused(At(sheet.file, number), why)
    others = [name for name in sheet.columns if name not in {*used}]
    for name in filter(is_identity, others):
        rows.receipt.identity_column(sheet.file, name)
    others = [name for name in others if not is_identity(name)]
    for name in others:
        example = next((cell for cell in sheet.column(name) if cell is not None), None)
        if example is not None:
            rows.receipt.column_kept(sheet.file, name, example, kept_as)
    return others
