"""Turn tables of any kind into cases, answers and judgements, by a mapping of their columns.

A table has one row per answer, or one row per case and a column per model, or the scores of answers
in another file. :mod:`.column_guess` proposes the mapping. In any order of the files, those that
describe cases are read before those with answers, and these before scores.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path, PurePosixPath
from typing import Any, Final

from rexview.importers.box_table import AnswerBoxes
from rexview.importers.case_names import fold_case_name
from rexview.importers.formats import PROPOSED_MAPPING
from rexview.importers.image_placement import place_images
from rexview.importers.receipt import ProblemLog, example_text
from rexview.importers.set_rows import SetRows
from rexview.importers.source_files import Probe, Recognition, SourceFile, model_from_options
from rexview.importers.table.cells import (
    DATA_SET,
    MODEL_NAME,
    ColumnName,
    ScoreOptions,
    is_identity,
)
from rexview.importers.table.column_guess import guess_mapping
from rexview.importers.table.column_mapping import AnswerColumn, ColumnMapping, FieldColumn
from rexview.importers.table.roles import column_values, is_path, is_text, reference_role, text_side
from rexview.importers.table.sheet import TableSheet, read_table_sheet
from rexview.importers.table.table_reader import CaseKeys, TableReader, question_text

# Decide which texts of an import are the radiologist's and which a model's, for all tables at once.
#
# Two tables may each have a report of the same studies under the same column name. The names of
# columns, files and folders give evidence first, then the other columns and the contents. The order
# of the files does not count. Without evidence, the import is refused with the option that decides.

RowText = tuple[str, ...]
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
"""Evidence needed to take short answers of a single table for a data set's right answers."""
_DE_IDENTIFIED: Final = re.compile(r"\bX{4}\b|_{3}|FINAL REPORT")
_OF_A_MACHINE: Final = re.compile(
    r"\*\*|```|<obj>|<think>|\bAs an AI\b|\bI (?:see|cannot|can see)\b"
)


@dataclass(frozen=True)
class TextTable:
    """A table of an import with the texts that could be the radiologist's or a model's."""

    file: SourceFile
    sheet: TableSheet
    mapping: ColumnMapping
    told: str | None = None
    """The user's decision: ``reference``, or ``model``."""
    named: bool = False
    """True if the user named the model of the file."""

    @property
    def place(self) -> tuple[str, str | None]:
        """The file and the list in it, which is the key of decisions."""
        return self.sheet.file, self.sheet.name

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of the texts: the answer, or those of a report in a table without answers."""
        if self.mapping.has_answers:
            plain = self.mapping.column_of("answer") and not self.mapping.column_of("model")
            return ("answer",) if plain and not self.mapping.answers else ()
        return tuple(field for field in _OF_REPORTS if self.mapping.column_of(field))

    @cached_property
    def side(self) -> float:
        """Evidence that the texts are the radiologist's; below 0 that they are a model's."""
        if self.told:
            return 9.0 if self.told == "reference" else -9.0
        columns = [self.mapping.column_of(field) or "" for field in self.fields]
        path = PurePosixPath(self.file.label)
        stem, folder = f"{path.stem} {self.sheet.name or ''}", path.parent.name
        names = [ColumnName.of(name).plain for name in self.sheet.columns]
        cells = [cell for name in columns if name for cell in column_values(self.sheet)[name]]
        of_columns = text_side(word for name in columns for word in ColumnName.of(name).words)
        of_file = text_side(ColumnName.of(stem).words) or text_side(ColumnName.of(folder).words)
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
        """The id of each row (case, study, image or question); empty without such a column."""
        columns = filter(None, map(self.mapping.column_of, _KEYS))
        return self.sheet.column(column) if (column := next(columns, None)) else ()

    @cached_property
    def texts(self) -> dict[str, RowText]:
        """The texts by id."""
        columns = [self.sheet.column(self.mapping.column_of(one) or "") for one in self.fields]
        rows = zip(self.ids, *columns, strict=True) if self.ids else ()
        return {
            comparable_id(name): tuple(text or "" for text in row)
            for name, *row in rows
            if name and any(row)
        }


def comparable_id(written: str) -> str:
    """Return an id in a form for comparison: without folder, ending, prefix and leading zeros."""
    stem = re.sub(r"\.(png|jpe?g|dcm|webp|tiff?|bmp|gif|0+)$", "", fold_case_name(written))
    return re.sub(r"^[^\d]*0*(?=\d)", "", PurePosixPath(stem).name) or stem


TextRoles = Mapping[tuple[str, str | None], str]
"""The role of a table's texts, by :attr:`TextTable.place`: ``reference``, ``model``,
``question``."""


def decide_roles(tables: Sequence[TextTable], rows: SetRows) -> dict[tuple[str, str | None], str]:
    """Decide the role of the texts in all tables; log an error if nothing decides it.

    Tables that could each be the reference are added to ``rows.references``, for the user to
    choose.
    """
    refuse_ambiguous_texts(tables, rows)
    decided = {one.place: one.told for one in tables if one.told is not None and one.fields}
    open_tables = [one for one in tables if one.texts]
    for one in open_tables:
        if one.fields == ("answer",) and _are_questions(one, tables):
            decided[one.place] = "question"
    open_tables = [one for one in open_tables if decided.get(one.place) != "question"]
    for group in _conflicting_groups([one for one in open_tables if one.fields != ("answer",)]):
        decided |= _decide_reports(group, rows)
    for one in open_tables:
        if one.fields == ("answer",) and one.place not in decided:
            decided |= _decide_answers(one, tables, rows)
    return decided


def _are_questions(one: TextTable, tables: Sequence[TextTable]) -> bool:
    """True if the texts are the questions of another table."""
    if one.mapping.column_of("question") or one.mapping.column_of("model"):
        return False
    written = {question_text(text) or "" for [text, *_] in one.texts.values()}
    for other in tables:
        column = other.mapping.column_of("question")
        if other is not one and column is not None:
            questions = {question_text(cell) for cell in other.sheet.column(column) if cell}
            if len(written & questions) >= _SAME * len(written):
                return True
    return False


def _conflicting_groups(reports: Sequence[TextTable]) -> list[list[TextTable]]:
    """Return groups of tables with reports of the same studies but different texts."""
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
        _refuse_undecided(rest, "a report", rows)
        return decided
    return (
        decided | dict.fromkeys((one.place for one in others), "model") | {best.place: "reference"}
    )


def _decide_answers(
    one: TextTable, tables: Sequence[TextTable], rows: SetRows
) -> dict[tuple[str, str | None], str]:
    """Distinguish a data set's right answers from a model's, if other tables answer the same."""
    asks = one.mapping.column_of("question") is not None
    if not asks and one.side < _SURE:
        return {}
    answering = []
    for other in tables:
        theirs = {comparable_id(name) for name in other.ids if name}
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
        _refuse_undecided([one, *answering], "an answer", rows)
    return {}


def _refuse_undecided(tables: Sequence[TextTable], what: str, rows: SetRows) -> None:
    """Refuse, and name the option that decides which table has the reference."""
    tables = sorted(tables, key=lambda table: table.place[0])
    choices = {
        one.sheet.file: next((example_text(text) for [text, *_] in one.texts.values()), "")
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


def apply_role(mapping: ColumnMapping, sheet: TableSheet, decision: str | None) -> ColumnMapping:
    """Return a mapping that gives the texts their decided role."""
    answer = mapping.column_of("answer")
    moved: Mapping[str, str] = {}
    if decision == "model" and not mapping.has_answers:
        moved = _OF_ANSWERS
    elif decision == "question":
        moved = {"answer": "question"}
    elif decision == "reference" and answer:
        moved = {"answer": reference_role(column_values(sheet)[answer])}
    columns = {one.field: one for one in mapping.fields if one.column}
    for field, to in moved.items():
        if field in columns and to not in columns:
            columns[to] = replace(columns.pop(field), field=to)
    fields = tuple(columns.get(one.field, FieldColumn(one.field, None)) for one in mapping.fields)
    return replace(mapping, fields=fields) if moved else mapping


def apply_reference_column(
    mapping: ColumnMapping, sheet: TableSheet, file: SourceFile, options: Mapping[str, Any]
) -> ColumnMapping:
    """Return a mapping whose report is the column that the user named (``FILE=COLUMN``).

    The table's other texts without a meaning are then answers of models named after their columns.
    """
    named = [one.partition("=") for one in options.get("reference") or () if "=" in one]
    columns = [name for label, _, name in named if label in (file.label, file.path.name)]
    if not columns or columns[0] not in sheet.columns:
        return mapping
    cells = column_values(sheet)
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


def refuse_ambiguous_texts(tables: Sequence[TextTable], rows: SetRows) -> None:
    """Refuse a table with several columns of reports if nothing shows which is the reference."""
    for one in tables:
        if one.told or one.mapping.has_answers or one.fields:
            continue
        cells = column_values(one.sheet)
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
                {f"{one.sheet.file}={name}": example_text(cells[name][0]) for name in alike}
            )


def role_from_options(file: SourceFile, options: Mapping[str, Any]) -> str | None:
    """Return the user's decision on a file's texts: ``reference``, ``model``, or None."""
    named = {*(options.get("reference") or ())}
    if named & {file.label, file.path.name}:
        return "reference"
    given = options.get("model") or ()
    by_file = [one for one in ([given] if isinstance(given, str) else given) if "=" in one]
    return "model" if model_from_options(file, {"model": by_file}) else None


_TABLES: Final = ("table", "xlsx", "parquet", "json", "jsonl")
_ROWS_LOOKED_AT: Final = 200
_ROWS_PLANNED: Final = 5000
_INCONCLUSIVE_FIELDS: Final = frozenset(
    ("case", "model", "created", "run_id", "repeat", "site", "comment", "reader")
)
"""Fields that do not make a file a table of cases or answers by themselves."""
_ROLES: Final = {1: 1, 2: 1, 3: 2, 4: 4}
"""Reading order among other formats, by a table's turn among tables."""
_OF_CASES: Final = ("question", "report", "findings", "impression", "image", "options", "option_a")


def _reading_turn(mapping: ColumnMapping) -> int:
    """Return a table's turn: 1 cases, 2 cases with answers, 3 answers, 4 judgements."""
    if mapping.answers or mapping.has_answers:
        return 2 if any(map(mapping.column_of, _OF_CASES)) else 3
    if mapping.column_of("choice") or mapping.column_of("error"):
        return 3
    return 4 if mapping.judgements or mapping.column_of("score") else 1


def recognises(probe: Probe) -> Recognition | None:
    """Return why a file is a table, or None: it has columns or records with a known meaning."""
    if probe.kind not in _TABLES:
        return None
    sheet = read_table_sheet(probe.path, ProblemLog(), max_rows=_ROWS_LOOKED_AT, label=probe.label)
    if sheet is None:
        return None
    mapping = guess_mapping(sheet)
    telling = {
        one.field
        for one in mapping.fields
        if one.column and (one.field != "image" or any(map(is_path, one.samples)))
    } - _INCONCLUSIVE_FIELDS
    texts = [cells for cells in column_values(sheet).values() if is_text(cells)]
    nothing = not (telling or mapping.answers or mapping.judgements or sheet.others)
    if nothing and not (mapping.column_of("case") and len(texts) > 1):
        return None
    why = f"{probe.type} with the columns {', '.join(sheet.columns[:4])}"
    return Recognition(why, _ROLES[_reading_turn(mapping)])


def read_table(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read tables into rows; each may have its own columns unless a mapping is given."""
    rows.name = rows.name or files[0].path.stem.replace("_", " ")
    rows.description = f"Imported from {', '.join(file.label for file in files)}."
    rows.second_answers = options.get("second_answers") or rows.second_answers
    tables = [table for file in files for table in _tables(file, rows, options)]
    decisions = options.get("decisions")
    if decisions is None:
        decisions = decide_roles([_with_user_role(one, options) for one in tables], rows)
    tables = [_with_role(one, decisions) for one in tables]
    rows.log.end_warnings_if_refused()
    keys = CaseKeys(rows)
    scores = ScoreOptions.of(options, ProblemLog())
    boxes: list[AnswerBoxes] = []
    tables.sort(key=lambda one: (_reading_turn(one.mapping), not one.mapping.column_of("answer")))
    for table in tables:
        mapping, folder = table.mapping, table.file.folder
        stem = Path(table.file.label).stem
        if folder:  # a model named after the file, where other files have the same name
            own = (
                replace(one, model=folder) if one.model == stem else one for one in mapping.answers
            )
            model = folder if mapping.model == stem else mapping.model
            mapping = replace(mapping, model=model, answers=tuple(own))
        if (
            options["mapping"] == PROPOSED_MAPPING and _reading_turn(table.mapping) == 4
        ):  # models are known now
            mapping = guess_mapping(table.sheet, scores=scores, models=list(rows.models))
        rows.mappings.append(mapping)
        named = model_from_options(table.file, options)
        reader = TableReader(rows, table.sheet, mapping, {**options, "model": named}, keys)
        rows.log.end_warnings_if_refused()
        reader.read()
        boxes.append(reader.boxes)
    place_images(rows, options["images"], [file.path.parent for file in files], files[0].label)
    for one in boxes:
        one.place(rows, options)


def plan_tables(
    files: Sequence[SourceFile], options: Mapping[str, Any], rows: SetRows
) -> tuple[TextRoles | None, dict[str, int]]:
    """Decide the role of the texts in all tables of an import, and each file's turn.

    Only the first rows are read. An error is logged if nothing decides. Returns the decisions, and
    the turn by file. Decisions are None for a single table, which is decided when it is read.
    """
    tables = []
    for file in files:
        first = read_table_sheet(file.path, ProblemLog(), max_rows=_ROWS_PLANNED, label=file.label)
        if first is None or (len(files) == 1 and not first.others):
            continue
        others = (
            read_table_sheet(
                file.path, ProblemLog(), sheet=name, max_rows=_ROWS_PLANNED, label=file.label
            )
            for name in first.others
        )
        sheets = [first, *filter(None, others)]
        tables += [
            TextTable(file, sheet, _propose_mapping(file, sheet, options)) for sheet in sheets
        ]
    if not tables:
        return None, {}
    decisions = decide_roles([_with_user_role(one, options) for one in tables], rows)
    turns: dict[str, int] = {}
    for one in tables:
        turn = _reading_turn(_with_role(one, decisions).mapping)
        turns[one.file.label] = min(turns.get(one.file.label, turn), turn)
    return decisions, {label: _ROLES[turn] for label, turn in turns.items()}


def _propose_mapping(
    file: SourceFile, sheet: TableSheet, options: Mapping[str, Any]
) -> ColumnMapping:
    """Return the user's mapping of a table, or else the proposed one."""
    scores = ScoreOptions.of(options, ProblemLog())
    confirmed = _confirmed_mapping(options, sheet)
    return confirmed or apply_reference_column(
        guess_mapping(sheet, scores=scores), sheet, file, options
    )


def _with_user_role(table: TextTable, options: Mapping[str, Any]) -> TextTable:
    """Return a table with the user's decision on its texts."""
    said = role_from_options(table.file, options)
    if _confirmed_mapping(options, table.sheet) is not None:
        said = "model" if table.mapping.has_answers else "reference"
    named = model_from_options(table.file, options) is not None
    return replace(table, told=said, named=named)


def _with_role(table: TextTable, decisions: TextRoles) -> TextTable:
    decision = decisions.get((table.sheet.file, table.sheet.name))
    mapping = apply_role(table.mapping, table.sheet, decision)
    if decision == "model" and table.sheet.others == () and table.sheet.name and mapping.model:
        mapping = replace(mapping, model=table.sheet.name)
    return replace(table, mapping=mapping)


def _tables(file: SourceFile, rows: SetRows, options: Mapping[str, Any]) -> Iterator[TextTable]:
    """Yield the tables of a file with their mappings; problems are logged."""
    log, given = rows.log, options["mapping"]
    several = given in (None, PROPOSED_MAPPING) or isinstance(given, list | tuple)
    mapping = None if several else ColumnMapping.read(given)
    wanted = options["sheet"] or (mapping.sheet if mapping else None)
    folder = rows.new_folder()
    sheet = read_table_sheet(file.path, log, sheet=wanted, label=file.label, pictures=folder)
    if sheet is None:
        return
    rows.files |= sheet.pictures
    if given is None:
        log.error(
            file.label,
            "The meaning of its columns has not been confirmed.",
            "Look at the proposal (--show-mapping on the command line), and give it back as "
            f"the mapping, or give “{PROPOSED_MAPPING}” to take it as it is.",
            field="mapping",
        )
        return
    scores = ScoreOptions.of(options, log)
    first = _propose_mapping(file, sheet, options) if mapping is None else mapping
    if mapping is not None and scores.scale:
        scored = (replace(one, scale=one.scale or scores.scale) for one in mapping.judgements)
        first = replace(mapping, judgements=tuple(scored))
    if _is_usable(first, sheet, rows):
        if mapping is not None:  # it may be written by hand, or made for another file
            spoken = {*first.used_columns, *first.identity, *(one.column for one in first.kept)}
            more = (name for name in sheet.columns if name not in spoken and is_identity(name))
            first = replace(first, identity=(*first.identity, *more))
        yield TextTable(file, sheet, first)
    for name in sheet.others:
        other = None
        if mapping is None and wanted is None:
            other = read_table_sheet(file.path, log, sheet=name, label=file.label)
        meant = _propose_mapping(file, other, options) if other is not None else first
        if other is not None and _confirmed_mapping(options, other) is not None:
            if _is_usable(meant, other, rows):
                yield TextTable(file, other, meant)
        elif other is not None and (other.columns == sheet.columns or _names_cases(meant)):
            named = meant.model is not None and meant.column_of("answer") is not None
            yield TextTable(file, other, replace(meant, model=name) if named else meant)
        else:
            why = f"“{sheet.name}” of the same file was read; choose this one with sheet."
            rows.receipt.file_unread(f"{file.label}: {name}", "sheet", why)


def _confirmed_mapping(options: Mapping[str, Any], sheet: TableSheet) -> ColumnMapping | None:
    """Return the mapping that the user confirmed for one of several tables, if any."""
    given = options.get("mapping")
    mappings = given if isinstance(given, list | tuple) else ()
    place = (sheet.file, sheet.name)
    return next((one for one in mappings if (one.file, one.sheet) == place), None)


def _names_cases(mapping: ColumnMapping) -> bool:
    keyed = any(map(mapping.column_of, ("case", "study_id", "image")))
    return keyed and len(mapping.used_columns) > 1


def _is_usable(mapping: ColumnMapping, sheet: TableSheet, rows: SetRows) -> bool:
    """Return True if a mapping can be used for a table; otherwise log the reasons."""
    used = mapping.used_columns
    remedy = "Ask for the proposal of this file, and confirm that."
    problems = [
        (f"The table has no column “{column}”.", remedy)
        for column in used
        if column not in sheet.columns
    ]
    if not used:
        remedy = "Map at least the question, the answer or the image."
        problems.append(("No column has a meaning.", remedy))
    for problem in problems:
        rows.log.error(sheet.file, *problem, field="mapping")
    if problems:
        rows.mappings.append(mapping)
    return not problems
