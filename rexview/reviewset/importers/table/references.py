"""Which texts of an import are the radiologist's, and which a model's, told for all tables at once.

Two tables may each hold a report of the same studies under the same name of a column. The names of
columns, files and folders tell whose they are, then what stands beside and in them. The order of
the files tells nothing. Where nothing tells, the import is refused with the option that does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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
from rexview.reviewset.importers.table.roles import (
    cells_of,
    is_text,
    reference_role,
    share,
    side_of,
)
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

    @property
    def side(self) -> float:
        """How much tells that the texts are the radiologist's; below 0 where it is a model's."""
        if self.told:
            return 9.0 if self.told == "reference" else -9.0
        mapping, sheet = self.mapping, self.sheet
        columns = [mapping.column_of(field) or "" for field in self.fields]
        of_columns = side_of(word for column in columns for word in ColumnName.of(column).words)
        path = PurePosixPath(self.file.label)
        stem, folder = f"{path.stem} {sheet.name or ''}", path.parent.name
        of_file = side_of(ColumnName.of(stem).words) or side_of(ColumnName.of(folder).words)
        score = 1.5 * of_file + (2.0 * of_columns if "answer" not in self.fields else 0.0)
        if MODEL_NAME.search(stem) or MODEL_NAME.search(folder):
            score -= 1.5
        score -= 1.5 * bool({*_OF_RUNS} & {one.field for one in mapping.fields if one.column})
        words = [ColumnName.of(name).plain for name in sheet.columns]
        score += min(1.5, 0.75 * len(DATA_SET & {*words}))
        score += 0.75 * bool(DATA_SET & {*ColumnName.of(stem).words})
        cells = [cell for column in columns if column for cell in cells_of(sheet)[column]]
        score += bool(share(cells, lambda cell: bool(_DE_IDENTIFIED.search(cell))))
        return score - bool(share(cells, lambda cell: bool(_OF_A_MACHINE.search(cell))))

    def texts(self) -> dict[str, Text]:
        """Return the texts by the id of their case, study, image or question."""
        key = next((one for one in _KEYS if self.mapping.column_of(one)), None)
        if key is None:
            return {}
        ids = self.sheet.column(self.mapping.column_of(key) or "")
        columns = [self.sheet.column(self.mapping.column_of(one) or "") for one in self.fields]
        return {
            plain_id(name): tuple(text or "" for text in row)
            for name, *row in zip(ids, *columns, strict=True)
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
    found = {one.place: one.told for one in tables if one.told and one.fields}
    decided = {place: told for place, told in found.items() if told is not None}
    texts = {one.place: one.texts() for one in tables if one.fields}
    open_tables = [one for one in tables if texts.get(one.place)]
    for one in open_tables:
        if one.fields == ("answer",) and _are_questions(one, tables, texts[one.place]):
            decided[one.place] = "question"
    open_tables = [one for one in open_tables if decided.get(one.place) != "question"]
    for group in _that_meet(open_tables, texts):
        _decide_reports(group, texts, decided, rows)
    _decide_answers(open_tables, tables, texts, decided, rows)
    return decided


def _are_questions(one: TextTable, tables: Sequence[TextTable], texts: Mapping[str, Text]) -> bool:
    """Whether another table asks what is written here."""
    if one.mapping.column_of("question") or one.mapping.column_of("model"):
        return False
    written = {(asked(text) or "") for [text, *_] in texts.values()}
    for other in tables:
        column = other.mapping.column_of("question")
        if other is one or column is None:
            continue
        questions = {asked(cell) for cell in other.sheet.column(column) if cell}
        if len(written & questions) >= _SAME * len(written):
            return True
    return False


def _that_meet(
    tables: Sequence[TextTable], texts: Mapping[tuple[str, str | None], Mapping[str, Text]]
) -> Iterable[list[TextTable]]:
    """Yield groups of tables with texts of reports, of which each meets another's ids."""
    reports = [one for one in tables if one.fields != ("answer",)]
    groups: list[list[TextTable]] = [[one] for one in reports]
    for one, other in combinations(reports, 2):
        mine, others = texts[one.place], texts[other.place]
        both = mine.keys() & others.keys()
        same_parts = {*one.fields} & {*other.fields} or "report" in (*one.fields, *other.fields)
        differ = any(mine[name] != others[name] for name in both)
        if same_parts and differ and len(both) >= _MEET * min(len(mine), len(others)):
            first = next(group for group in groups if one in group)
            second = next(group for group in groups if other in group)
            if first is not second:
                first += second
                groups.remove(second)
    return [group for group in groups if len(group) > 1]


def _decide_reports(
    group: Sequence[TextTable],
    texts: Mapping[tuple[str, str | None], Mapping[str, Text]],
    decided: dict[tuple[str, str | None], str],
    rows: SetRows,
) -> None:
    """Decide which of several tables with reports of the same studies has the reference."""
    sides = {one.place: one.side for one in group}
    rest = [one for one in group if sides[one.place] > -_SURE]
    for one in group:
        if one not in rest:
            decided[one.place] = "model"
    if not rest:
        return
    best = max(rest, key=lambda one: sides[one.place])
    others = [one for one in rest if one is not best]
    if all(one.told for one in rest):
        return
    if any(sides[best.place] - sides[one.place] < _SURE for one in others):
        _ask(rest, "a report", rows)
        return
    decided[best.place] = "reference"
    for one in others:
        decided[one.place] = "model"


def _decide_answers(
    open_tables: Sequence[TextTable],
    tables: Sequence[TextTable],
    texts: Mapping[tuple[str, str | None], Mapping[str, Text]],
    decided: dict[tuple[str, str | None], str],
    rows: SetRows,
) -> None:
    """Tell the right answers of a data set from a model's, where others answer the same."""
    for one in open_tables:
        if one.fields != ("answer",) or one.place in decided:
            continue
        asks = one.mapping.column_of("question") is not None
        if not asks and one.side < _SURE:
            continue
        ids = texts[one.place].keys()
        answering = [
            other
            for other in tables
            if other is not one
            and other.mapping.has_answers
            and len(ids & _ids(other)) >= _MEET * min(len(ids), len(_ids(other)) or 1)
        ]
        side = one.side
        if one.mapping.column_of("image"):  # a data set has pictures, answers rarely do
            side += _HALF * all(not other.mapping.column_of("image") for other in answering)
        others = [-9.0 if other.mapping.column_of("model") else other.side for other in answering]
        if not others and asks and not one.named and side >= _DATA_SET_ALONE:
            short = reference_role([text for [text, *_] in texts[one.place].values()])
            if short == "expected_answer":
                decided[one.place] = "reference"
        if not others or side <= -_SURE:
            continue
        if side >= _HALF and side - max(others) >= _SURE:
            decided[one.place] = "reference"
        elif asks and max(others) <= -_SURE:
            _ask([one, *answering], "an answer", rows)


def _ids(table: TextTable) -> set[str]:
    key = next((one for one in _KEYS if table.mapping.column_of(one)), None)
    column = table.mapping.column_of(key) if key else None
    return {plain_id(name) for name in table.sheet.column(column) if name} if column else set()


def _ask(tables: Sequence[TextTable], what: str, rows: SetRows) -> None:
    """Refuse, with the option that says which table has the reference."""
    choices = {
        one.sheet.file: next((example_of(text) for [text, *_] in one.texts().values()), "")
        for one in sorted(tables, key=lambda table: table.place[0])
    }
    if choices in rows.references:
        return
    rows.references.append(choices)
    first = next(iter(choices))
    for one in sorted(tables, key=lambda table: table.place[0]):
        others = " and ".join(sorted(two.sheet.file for two in tables if two is not one))
        column = one.mapping.column_of(one.fields[0]) if one.fields else None
        message = (
            f"It has {what} to the same cases as {others}; nothing tells which of them is the "
            "radiologist's or the right one."
        )
        remedy = (
            f"Name the file with the reference (--reference {first}), or the model of the others "
            "(--model FILE=NAME); the Data page asks for it."
        )
        rows.log.error(one.sheet.file, message, remedy, field=column or "reference")


def with_decision(mapping: ColumnMapping, sheet: Sheet, decision: str | None) -> ColumnMapping:
    """Return a mapping in which the texts are what was decided."""
    answer = mapping.column_of("answer")
    if decision == "model":
        moved = _OF_ANSWERS
    elif decision == "question":
        moved = {"answer": "question"}
    elif decision == "reference" and answer:
        moved = {"answer": reference_role(cells_of(sheet)[answer])}
    else:
        return mapping
    columns = {one.field: one for one in mapping.fields if one.column}
    if decision == "model" and mapping.has_answers:
        return mapping
    for field, to in moved.items():
        if field in columns and to not in columns:
            columns[to] = replace(columns.pop(field), field=to)
    fields = tuple(columns.get(one.field, FieldColumn(one.field, None)) for one in mapping.fields)
    return replace(mapping, fields=fields)


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
