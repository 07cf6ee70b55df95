"""Tables of any kind turned into cases, answers and judgements, by a mapping of their columns.

A table has one row per answer, or one row per case and a column per model, or the scores of
answers that another file has. :mod:`.column_guess` proposes the mapping. Whatever the order of the
files, those that describe cases are read before those with answers, and these before scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from rexview.reviewset.importers.annotations.box_table import AnswerBoxes
from rexview.reviewset.importers.core.formats import PROPOSED
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.core.recognise import Found, Probe
from rexview.reviewset.importers.core.set_rows import SetRows
from rexview.reviewset.importers.core.source_files import SourceFile, model_told
from rexview.reviewset.importers.images.placement import place_images
from rexview.reviewset.importers.table.cell_values import ScoreOptions
from rexview.reviewset.importers.table.column_guess import guess
from rexview.reviewset.importers.table.column_mapping import ColumnMapping
from rexview.reviewset.importers.table.column_names import is_identity
from rexview.reviewset.importers.table.references import (
    Decisions,
    TextTable,
    decide,
    told,
    with_decision,
    with_reference,
)
from rexview.reviewset.importers.table.roles import cells_of, is_path, is_text
from rexview.reviewset.importers.table.sheet import Sheet, read_sheet
from rexview.reviewset.importers.table.table_reader import CaseKeys, TableReader

_TABLES: Final = ("table", "xlsx", "parquet", "json", "jsonl")
_ROWS_LOOKED_AT: Final = 200
_ROWS_PLANNED: Final = 5000
_SAY_LITTLE: Final = frozenset(
    ("case", "model", "created", "run_id", "repeat", "site", "comment", "reader")
)
"""Fields that do not make a file a table of cases or answers by themselves."""
_ROLES: Final = {1: 1, 2: 1, 3: 2, 4: 4}
"""When a table is read among other formats, by its turn among tables."""
_OF_CASES: Final = ("question", "report", "findings", "impression", "image", "options", "option_a")


def _turn(mapping: ColumnMapping) -> int:
    """Return when a table is read: 1 cases, 2 cases with answers, 3 answers, 4 judgements."""
    if mapping.answers or mapping.has_answers:
        return 2 if any(map(mapping.column_of, _OF_CASES)) else 3
    if mapping.column_of("choice") or mapping.column_of("error"):
        return 3
    return 4 if mapping.judgements or mapping.column_of("score") else 1


def recognises(probe: Probe) -> Found | None:
    """Say why a file is a table: it has columns or records, and some of them mean something."""
    if probe.kind not in _TABLES:
        return None
    sheet = read_sheet(probe.path, ProblemLog(), max_rows=_ROWS_LOOKED_AT, label=probe.label)
    if sheet is None:
        return None
    mapping = guess(sheet)
    telling = {
        one.field
        for one in mapping.fields
        if one.column and (one.field != "image" or any(map(is_path, one.samples)))
    } - _SAY_LITTLE
    texts = [cells for cells in cells_of(sheet).values() if is_text(cells)]
    nothing = not (telling or mapping.answers or mapping.judgements or sheet.others)
    if nothing and not (mapping.column_of("case") and len(texts) > 1):
        return None
    why = f"{probe.type} with the columns {', '.join(sheet.columns[:4])}"
    return Found(why, _ROLES[_turn(mapping)])


def read_table(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read tables into rows; each may have columns of its own unless a mapping is given."""
    rows.name = rows.name or files[0].path.stem.replace("_", " ")
    rows.description = f"Imported from {', '.join(file.label for file in files)}."
    rows.second_answers = options.get("second_answers") or rows.second_answers
    tables = [table for file in files for table in _tables(file, rows, options)]
    decisions = options.get("decisions")
    if decisions is None:
        decisions = decide([_told(one, options) for one in tables], rows)
    tables = [_decided(one, decisions) for one in tables]
    rows.log.end_warnings_if_refused()
    keys = CaseKeys(rows)
    scores = ScoreOptions.of(options, ProblemLog())
    boxes: list[AnswerBoxes] = []
    tables.sort(key=lambda one: (_turn(one.mapping), not one.mapping.column_of("answer")))
    for table in tables:
        mapping, folder = table.mapping, table.file.folder
        stem = Path(table.file.label).stem
        if folder:  # a model that is called for the file, where others have the same name
            own = (
                replace(one, model=folder) if one.model == stem else one for one in mapping.answers
            )
            model = folder if mapping.model == stem else mapping.model
            mapping = replace(mapping, model=model, answers=tuple(own))
        if options["mapping"] == PROPOSED and _turn(table.mapping) == 4:  # the models are known
            mapping = guess(table.sheet, scores=scores, models=list(rows.models))
        rows.mappings.append(mapping)
        named = model_told(table.file, options)
        reader = TableReader(rows, table.sheet, mapping, {**options, "model": named}, keys)
        rows.log.end_warnings_if_refused()
        reader.read()
        boxes.append(reader.boxes)
    place_images(rows, options["images"], [file.path.parent for file in files], files[0].label)
    for one in boxes:
        one.place(rows, options)


def plan(
    files: Sequence[SourceFile], options: Mapping[str, Any], rows: SetRows
) -> tuple[Decisions | None, dict[str, int]]:
    """Decide whose the texts of all tables of an import are, and when each file is read.

    Their first rows are looked at. An error says where nothing tells. Returns the decisions, and
    the turn by file; None where there is one table only, which is looked at when it is read.
    """
    tables = []
    for file in files:
        first = read_sheet(file.path, ProblemLog(), max_rows=_ROWS_PLANNED, label=file.label)
        if first is None or (len(files) == 1 and not first.others):
            continue
        others = (
            read_sheet(
                file.path, ProblemLog(), sheet=name, max_rows=_ROWS_PLANNED, label=file.label
            )
            for name in first.others
        )
        sheets = [first, *filter(None, others)]
        tables += [TextTable(file, sheet, _proposed(file, sheet, options)) for sheet in sheets]
    if not tables:
        return None, {}
    decisions = decide([_told(one, options) for one in tables], rows)
    turns: dict[str, int] = {}
    for one in tables:
        turn = _turn(_decided(one, decisions).mapping)
        turns[one.file.label] = min(turns.get(one.file.label, turn), turn)
    return decisions, {label: _ROLES[turn] for label, turn in turns.items()}


def _proposed(file: SourceFile, sheet: Sheet, options: Mapping[str, Any]) -> ColumnMapping:
    """Return what a person said that the columns of a table mean, else what is proposed."""
    scores = ScoreOptions.of(options, ProblemLog())
    confirmed = _confirmed(options, sheet)
    return confirmed or with_reference(guess(sheet, scores=scores), sheet, file, options)


def _told(table: TextTable, options: Mapping[str, Any]) -> TextTable:
    """Return a table with what a person said of its texts."""
    said = told(table.file, options)
    if _confirmed(options, table.sheet) is not None:
        said = "model" if table.mapping.has_answers else "reference"
    named = model_told(table.file, options) is not None
    return replace(table, told=said, named=named)


def _decided(table: TextTable, decisions: Decisions) -> TextTable:
    decision = decisions.get((table.sheet.file, table.sheet.name))
    mapping = with_decision(table.mapping, table.sheet, decision)
    if decision == "model" and table.sheet.others == () and table.sheet.name and mapping.model:
        mapping = replace(mapping, model=table.sheet.name)
    return replace(table, mapping=mapping)


def _tables(file: SourceFile, rows: SetRows, options: Mapping[str, Any]) -> Iterator[TextTable]:
    """Yield the tables of a file with what their columns mean; problems are logged."""
    log, given = rows.log, options["mapping"]
    several = given in (None, PROPOSED) or isinstance(given, list | tuple)
    mapping = None if several else ColumnMapping.read(given)
    wanted = options["sheet"] or (mapping.sheet if mapping else None)
    folder = rows.new_folder()
    sheet = read_sheet(file.path, log, sheet=wanted, label=file.label, pictures=folder)
    if sheet is None:
        return
    rows.files |= sheet.pictures
    if given is None:
        log.error(
            file.label,
            "The meaning of its columns has not been confirmed.",
            "Look at the proposal (--show-mapping on the command line), and give it back as "
            f"the mapping, or give “{PROPOSED}” to take it as it is.",
            field="mapping",
        )
        return
    scores = ScoreOptions.of(options, log)
    first = _proposed(file, sheet, options) if mapping is None else mapping
    if mapping is not None and scores.scale:
        scored = (replace(one, scale=one.scale or scores.scale) for one in mapping.judgements)
        first = replace(mapping, judgements=tuple(scored))
    if _fits(first, sheet, rows):
        if mapping is not None:  # it may be written by hand, or have been made for another file
            spoken = {*first.used_columns, *first.identity, *(one.column for one in first.kept)}
            more = (name for name in sheet.columns if name not in spoken and is_identity(name))
            first = replace(first, identity=(*first.identity, *more))
        yield TextTable(file, sheet, first)
    for name in sheet.others:
        other = None
        if mapping is None and wanted is None:
            other = read_sheet(file.path, log, sheet=name, label=file.label)
        meant = _proposed(file, other, options) if other is not None else first
        if other is not None and _confirmed(options, other) is not None:
            if _fits(meant, other, rows):
                yield TextTable(file, other, meant)
        elif other is not None and (other.columns == sheet.columns or _names_cases(meant)):
            named = meant.model is not None and meant.column_of("answer") is not None
            yield TextTable(file, other, replace(meant, model=name) if named else meant)
        else:
            why = f"“{sheet.name}” of the same file was read; choose this one with sheet."
            rows.receipt.file_unread(f"{file.label}: {name}", "sheet", why)


def _confirmed(options: Mapping[str, Any], sheet: Sheet) -> ColumnMapping | None:
    """Return the mapping that a person confirmed for one of several tables, if they did."""
    given = options.get("mapping")
    mappings = given if isinstance(given, list | tuple) else ()
    place = (sheet.file, sheet.name)
    return next((one for one in mappings if (one.file, one.sheet) == place), None)


def _names_cases(mapping: ColumnMapping) -> bool:
    keyed = any(map(mapping.column_of, ("case", "study_id", "image")))
    return keyed and len(mapping.used_columns) > 1


def _fits(mapping: ColumnMapping, sheet: Sheet, rows: SetRows) -> bool:
    """Say what keeps a mapping from being used for a table."""
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
