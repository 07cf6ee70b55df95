"""Which texts of an import are the radiologist's, and which a model's, told for all tables at once.

Two tables may each hold a report of the same studies under the same name of a column. The names of
columns, files and folders tell whose they are, then what stands beside and in them. The order of
the files tells nothing. Where nothing tells, the import is refused with the option that does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import PurePosixPath
from typing import Any, Final

from rexview.reviewset.importers.core.case_names import folded
from rexview.reviewset.importers.core.receipt import example_of
from rexview.reviewset.importers.core.set_rows import SetRows
from rexview.reviewset.importers.core.source_files import SourceFile, model_told
from rexview.reviewset.importers.table.column_mapping import (
    AnswerColumn,
    ColumnMapping,
    FieldColumn,
)
from rexview.reviewset.importers.table.column_names import DATA_SET, MODEL_NAME, ColumnName
from rexview.reviewset.importers.table.roles import cells_of, is_text, reference_role, side_of
from rexview.reviewset.importers.table.sheet import Sheet
from rexview.reviewset.importers.table.table_reader import asked

Text = tuple[str, ...]
"""The texts of one row: the whole one, or findings and impression."""
_KEYS: Final = ("case", "study_id", "image", "question")
_OF_REPORTS: Final = ("report", "findings", "impression")
_OF_ANSWERS: Final = {"report": "answer", "findings": "answer_findings"} | {
    "impression": "answer_impression"
}
_OF_RUNS: Final = ("finish_reason", "input_tokens", "output_tokens", "latency_s", "run_id")
_REPORT_WORDS: Final = frozenset(("report", "reports", "text", "findings", "impression"))
_SAME: Final = 0.8
_MEET: Final = 0.5
_SURE: Final = 1.0
_HALF: Final = 0.5
_DATA_SET_ALONE: Final = 2.0
"""How much has to tell that short answers without others beside them are a data set's."""
_DE_IDENTIFIED: Final = re.compile(r"\bX{4}\b|_{3}|FINAL REPORT")
_OF_A_MACHINE: Final = re.compile(
    r"\*\*|```|<obj>|<think>|\bAs an AI\b|\bI (?:see|cannot|can see)\b"
)


@dataclass(frozen=True)
class TextTable:
    """A table of an import with the texts that could be the radiologist's or a model's."""

    file: SourceFile
    sheet: Sheet
    mapping: ColumnMapping
    told: str | None = None
    """What a person said: ``reference``, or ``model``."""
    named: bool = False
    """Whether a person named the model of the file."""

    @property
    def place(self) -> tuple[str, str | None]:
        """The file and the list in it, by which decisions are found."""
        return self.sheet.file, self.sheet.name

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of the texts: of reports where the table has no answers, else the answer."""
        if self.mapping.has_answers:
            plain = self.mapping.column_of("answer") and not self.mapping.column_of("model")
            return ("answer",) if plain and not self.mapping.answers else ()
        return tuple(field for field in _OF_REPORTS if self.mapping.column_of(field))

    @cached_property
    def side(self) -> float:
        """How much tells that the texts are the radiologist's; below 0 where it is a model's."""
        if self.told:
            return 9.0 if self.told == "reference" else -9.0
        columns = [self.mapping.column_of(field) or "" for field in self.fields]
        path = PurePosixPath(self.file.label)
        stem, folder = f"{path.stem} {self.sheet.name or ''}", path.parent.name
        names = [ColumnName.of(name).plain for name in self.sheet.columns]
        cells = [cell for name in columns if name for cell in cells_of(self.sheet)[name]]
        of_columns = side_of(word for name in columns for word in ColumnName.of(name).words)
        of_file = side_of(ColumnName.of(stem).words) or side_of(ColumnName.of(folder).words)
        return sum(
            (
                1.5 * of_file,
                2.0 * of_columns if "answer" not in self.fields else 0.0,
                -1.5 * bool(MODEL_NAME.search(stem) or MODEL_NAME.search(folder)),
                -1.5 * any(map(self.mapping.column_of, _OF_RUNS)),
                min(1.5, 0.75 * len(DATA_SET & {*names})),
                0.75 * bool(DATA_SET & {*ColumnName.of(stem).words}),
                any(map(_DE_IDENTIFIED.search, cells)),
                -any(map(_OF_A_MACHINE.search, cells)),
            )
        )

    @cached_property
    def ids(self) -> tuple[str | None, ...]:
        """The id of each row: of its case, study, image or question; none without such a column."""
        columns = filter(None, map(self.mapping.column_of, _KEYS))
        return self.sheet.column(column) if (column := next(columns, None)) else ()

    @cached_property
    def texts(self) -> dict[str, Text]:
        """The texts by id."""
        columns = [self.sheet.column(self.mapping.column_of(one) or "") for one in self.fields]
        rows = zip(self.ids, *columns, strict=True) if self.ids else ()
        return {
            plain_id(name): tuple(text or "" for text in row)
            for name, *row in rows
            if name and any(row)
        }


def plain_id(written: str) -> str:
    """Return an id as ids are compared here: without folder, ending and the like."""
    stem = re.sub(r"\.(png|jpe?g|dcm|webp|tiff?|bmp|gif|0+)$", "", folded(written))
    return re.sub(r"^[^\d]*0*(?=\d)", "", PurePosixPath(stem).name) or stem


Decisions = Mapping[tuple[str, str | None], str]
"""What the texts of a table are, by :attr:`TextTable.place`: ``reference``, ``model``,
``question``."""


def decide(tables: Sequence[TextTable], rows: SetRows) -> dict[tuple[str, str | None], str]:
    """Decide whose the texts of the tables of an import are; log an error where nothing tells.

    What could each be the reference is added to ``rows.references``, for a person to choose.
    """
    refuse_texts_alike(tables, rows)
    decided = {one.place: one.told for one in tables if one.told is not None and one.fields}
    open_tables = [one for one in tables if one.texts]
    for one in open_tables:
        if one.fields == ("answer",) and _are_questions(one, tables):
            decided[one.place] = "question"
    open_tables = [one for one in open_tables if decided.get(one.place) != "question"]
    for group in _that_meet([one for one in open_tables if one.fields != ("answer",)]):
        decided |= _decide_reports(group, rows)
    for one in open_tables:
        if one.fields == ("answer",) and one.place not in decided:
            decided |= _decide_answers(one, tables, rows)
    return decided


def _are_questions(one: TextTable, tables: Sequence[TextTable]) -> bool:
    """Whether another table asks what is written here."""
    if one.mapping.column_of("question") or one.mapping.column_of("model"):
        return False
    written = {asked(text) or "" for [text, *_] in one.texts.values()}
    for other in tables:
        column = other.mapping.column_of("question")
        if other is not one and column is not None:
            questions = {asked(cell) for cell in other.sheet.column(column) if cell}
            if len(written & questions) >= _SAME * len(written):
                return True
    return False


def _that_meet(reports: Sequence[TextTable]) -> list[list[TextTable]]:
    """Return groups of tables with texts of reports, of which each meets another's ids."""
    groups: list[list[TextTable]] = [[one] for one in reports]
    for one, other in combinations(reports, 2):
        mine, others = one.texts, other.texts
        both = mine.keys() & others.keys()
        same_parts = {*one.fields} & {*other.fields} or "report" in (*one.fields, *other.fields)
        differ = any(mine[name] != others[name] for name in both)
        if same_parts and differ and len(both) >= _MEET * min(len(mine), len(others)):
            first, second = (
                next(group for group in groups if two in group) for two in (one, other)
            )
            if first is not second:
                first += second
                groups.remove(second)
    return [group for group in groups if len(group) > 1]


def _decide_reports(group: Sequence[TextTable], rows: SetRows) -> dict[tuple[str, str | None], str]:
    """Decide which of several tables with reports of the same studies has the reference."""
    rest = [one for one in group if one.side > -_SURE]
    decided = dict.fromkeys((one.place for one in group if one not in rest), "model")
    if all(one.told for one in rest):
        return decided
    best, *others = sorted(rest, key=lambda one: -one.side)
    if any(best.side - one.side < _SURE for one in others):
        _ask(rest, "a report", rows)
        return decided
    return (
        decided | dict.fromkeys((one.place for one in others), "model") | {best.place: "reference"}
    )


def _decide_answers(
    one: TextTable, tables: Sequence[TextTable], rows: SetRows
) -> dict[tuple[str, str | None], str]:
    """Tell the right answers of a data set from a model's, where others answer the same."""
    asks = one.mapping.column_of("question") is not None
    if not asks and one.side < _SURE:
        return {}
    answering = []
    for other in tables:
        theirs = {plain_id(name) for name in other.ids if name}
        meet = len(one.texts.keys() & theirs) >= _MEET * min(len(one.texts), len(theirs) or 1)
        if other is not one and other.mapping.has_answers and meet:
            answering.append(other)
    side = one.side
    if one.mapping.column_of("image"):  # a data set has pictures, answers rarely do
        side += _HALF * all(not other.mapping.column_of("image") for other in answering)
    others = [-9.0 if other.mapping.column_of("model") else other.side for other in answering]
    if not others:
        short = reference_role([text for [text, *_] in one.texts.values()]) == "expected_answer"
        alone = asks and not one.named and side >= _DATA_SET_ALONE and short
        return {one.place: "reference"} if alone else {}
    if side >= _HALF and side - max(others) >= _SURE:
        return {one.place: "reference"}
    if asks and side > -_SURE and max(others) <= -_SURE:
        _ask([one, *answering], "an answer", rows)
    return {}


def _ask(tables: Sequence[TextTable], what: str, rows: SetRows) -> None:
    """Refuse, with the option that says which table has the reference."""
    tables = sorted(tables, key=lambda table: table.place[0])
    choices = {
        one.sheet.file: next((example_of(text) for [text, *_] in one.texts.values()), "")
        for one in tables
    }
    if choices in rows.references:
        return
    rows.references.append(choices)
    remedy = f"Name the file with the reference (--reference {next(iter(choices))}), or the model "
    remedy += "of the others (--model FILE=NAME); the Data page asks for it."
    for one in tables:
        others = " and ".join(sorted(two.sheet.file for two in tables if two is not one))
        column = one.mapping.column_of(one.fields[0]) if one.fields else None
        message = (
            f"It has {what} to the same cases as {others}; nothing tells which of them is the "
        )
        message += "radiologist's or the right one."
        rows.log.error(one.sheet.file, message, remedy, field=column or "reference")


def with_decision(mapping: ColumnMapping, sheet: Sheet, decision: str | None) -> ColumnMapping:
    """Return a mapping in which the texts are what was decided."""
    answer = mapping.column_of("answer")
    moved: Mapping[str, str] = {}
    if decision == "model" and not mapping.has_answers:
        moved = _OF_ANSWERS
    elif decision == "question":
        moved = {"answer": "question"}
    elif decision == "reference" and answer:
        moved = {"answer": reference_role(cells_of(sheet)[answer])}
    columns = {one.field: one for one in mapping.fields if one.column}
    for field, to in moved.items():
        if field in columns and to not in columns:
            columns[to] = replace(columns.pop(field), field=to)
    fields = tuple(columns.get(one.field, FieldColumn(one.field, None)) for one in mapping.fields)
    return replace(mapping, fields=fields) if moved else mapping


def with_reference(
    mapping: ColumnMapping, sheet: Sheet, file: SourceFile, options: Mapping[str, Any]
) -> ColumnMapping:
    """Return a mapping whose report is the column that a person said (``FILE=COLUMN``).

    Other texts of the table that have no meaning are then answers of models called as they are.
    """
    named = [one.partition("=") for one in options.get("reference") or () if "=" in one]
    columns = [name for label, _, name in named if label in (file.label, file.path.name)]
    if not columns or columns[0] not in sheet.columns:
        return mapping
    cells = cells_of(sheet)
    role = reference_role(cells[columns[0]])
    fields = tuple(
        FieldColumn(role, columns[0])
        if one.field == role
        else replace(one, column=None if one.column == columns[0] else one.column)
        for one in mapping.fields
    )
    answers = tuple(one for one in mapping.answers if one.column != columns[0])
    mapping = replace(mapping, fields=fields, answers=answers)
    free = [name for name in mapping.extra_columns if is_text(cells[name])]
    if not mapping.has_answers:
        answers = tuple(AnswerColumn(name, name, "answer", 0.5) for name in free)
    return replace(mapping, answers=answers)


def refuse_texts_alike(tables: Sequence[TextTable], rows: SetRows) -> None:
    """Refuse a table with several reports in columns of which nothing tells whose they are."""
    for one in tables:
        if one.told or one.mapping.has_answers or one.fields:
            continue
        cells = cells_of(one.sheet)
        alike = [
            name
            for name in one.mapping.extra_columns
            if {*ColumnName.of(name).words} & _REPORT_WORDS and is_text(cells[name])
        ]
        if len(alike) > 1:
            message = f"{' and '.join(alike)} could each be the reference; nothing tells which is."
            remedy = f"Say which: --reference {one.sheet.file}=COLUMN; the others are answers then."
            rows.log.error(one.sheet.file, message, remedy, field="reference")
            rows.references.append(
                {f"{one.sheet.file}={name}": example_of(cells[name][0]) for name in alike}
            )


def told(file: SourceFile, options: Mapping[str, Any]) -> str | None:
    """Return what a person said of a file's texts: ``reference``, ``model``, or nothing."""
    named = {*(options.get("reference") or ())}
    if named & {file.label, file.path.name}:
        return "reference"
    given = options.get("model") or ()
    by_file = [one for one in ([given] if isinstance(given, str) else given) if "=" in one]
    return "model" if model_told(file, {"model": by_file}) else None
