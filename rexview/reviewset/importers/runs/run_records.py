"""What all logs of runs become: records with the same names, and the table that they make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rexview.reviewset.importers.core.joins import IdMatch, account, match_ids
from rexview.reviewset.importers.core.set_rows import OPEN_QUESTION, REPORT_QUESTION, SetRows
from rexview.reviewset.importers.table.column_mapping import ColumnMapping, FieldColumn
from rexview.reviewset.importers.table.column_names import FIELDS, is_identity
from rexview.reviewset.importers.table.sheet import Sheet
from rexview.reviewset.importers.table.structured.json_records import Records

_CALLED: Final = {"case": "id", "correct": "target"}
"""Fields whose names in a record are not their own."""
_TAKEN: Final = (
    *("case", "question", "category", "options", "correct", "image", "model", "answer"),
    *("finish_reason", "input_tokens", "output_tokens", "max_output_tokens", "choice"),
    *("reasoning", "error", "latency_s", "created", "run_id", "repeat"),
)
"""Fields that records of runs can have; whatever else they have is kept as extra fields."""


@dataclass
class RunRecords(Records):
    """The answers of one log, one record each; an entry may give several.

    ``unused`` are parts of the log that nothing was taken from, with the reason. ``of_case`` names
    what the records say of their cases; what else they say is of the answers.
    """

    unused: dict[str, str] = field(default_factory=dict)
    of_case: set[str] = field(default_factory=lambda: {"expected answer"})

    def add(self, entry: Mapping[str, Any], number: int) -> None:
        """Add the record of one answer as it is; what has no value is left out."""
        self.records.append({name: one for name, one in entry.items() if one is not None})
        self.numbers.append(number)


def meaning_of(sheet: Sheet) -> ColumnMapping:
    """Return what the columns of records of a run mean: they are named for it."""
    columns = {name: _CALLED.get(name, name) for name in _TAKEN}
    columns = {name: column for name, column in columns.items() if column in sheet.columns}
    left = [name for name in sheet.columns if name not in columns.values()]
    return ColumnMapping(
        file=sheet.file,
        columns=sheet.columns,
        fields=tuple(FieldColumn(name, columns.get(name)) for name in FIELDS),
        identity=tuple(filter(is_identity, left)),
        sheet=sheet.name,
    )


def match_cases(found: RunRecords, file: str, rows: SetRows) -> None:
    """Give records the ids of the cases that they are of, and say by what they were matched.

    An id is compared with the ids of cases first, then with studies and pictures; these only
    where the case asks the same question, or none was given.
    """
    if not rows.described:
        return
    asked_by_nobody = (None, OPEN_QUESTION, REPORT_QUESTION)
    matched: dict[str, set[str]] = {"id": set(), "study or picture": set(), "none": set()}
    given_ids = [record.get("id") for record in found.records]
    for record in found.records:
        given = str(record.get("id", ""))
        if rows.case(given) is not None:
            matched["id"].add(given)
            continue
        place = rows.find_case(case=given)
        case = rows.case(place[0]) if place and place[0] not in rows.pictures else None
        asked, told = (case or {}).get("question"), record.get("question")
        if case is not None and (asked in asked_by_nobody or told in (None, asked)):
            matched["study or picture"].add(given)
            record["id"] = case["id"]
        else:
            matched["none"].add(given)
    ids, unknown = [str(one) if one else None for one in given_ids], frozenset(matched["none"])
    several = match_ids(filter(None, ids), rows).several
    match = IdMatch(unknown=unknown, several=several)
    account(file, "id", ids, found.numbers, match, rows)
    by = [f"{len(ids):,} by {how}" for how, ids in matched.items() if ids and how != "none"]
    new = f"; {len(matched['none']):,} named no case there was" if matched["none"] else ""
    rows.log.note(f"{file}: cases matched: {', '.join(by) or 'none'}{new}.")
