"""A proposal of what the columns of a table mean, from their names and their contents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from rexview.errors import ImportSourceError
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.table.column_mapping import (
    ANSWER_FIELDS,
    FIELDS,
    AnswerColumn,
    ColumnMapping,
    FieldColumn,
)
from rexview.reviewset.importers.table.column_names import (
    FIELD_NAMES,
    IDENTITY,
    KINDS_OF_MODEL,
    MODEL_WORDS,
    NOT_A_MODEL,
    ColumnName,
)
from rexview.reviewset.importers.table.column_values import (
    content_fit,
    is_long,
    is_number,
    looks_like_path,
    samples,
    share,
)
from rexview.reviewset.importers.table.mark_guess import guess_mark
from rexview.reviewset.importers.table.sheet import Sheet, read_sheet

_ROWS_LOOKED_AT: Final = 2000
_VALUES_LOOKED_AT: Final = 200
_ENOUGH: Final = 0.4

Names = Mapping[str, ColumnName]
Values = Mapping[str, list[str]]


def propose_mapping(path: Path, *, sheet: str | None = None) -> ColumnMapping:
    """Propose what the columns of a CSV, TSV or Excel file mean.

    Raises
    ------
    ImportSourceError
        When the file cannot be read as a table.
    """
    log = ProblemLog()
    table = read_sheet(path, log, sheet=sheet, max_rows=_ROWS_LOOKED_AT) if path.is_file() else None
    if table is None:
        if not path.is_file():
            log.error(path.name, "There is no such file.", "Check the path.")
        raise ImportSourceError(f"{path.name} cannot be read as a table.", log.problems)
    return guess(table)


def guess(table: Sheet) -> ColumnMapping:
    """Propose what the columns of a table mean."""
    cells = {
        name: [value for value in table.column(name) if value is not None][:_VALUES_LOOKED_AT]
        for name in table.columns
    }
    names = {name: ColumnName.of(name) for name in table.columns}
    identity = tuple(name for name in table.columns if IDENTITY.search(names[name].plain))
    open_names = [name for name in table.columns if name not in identity]
    answers = _answers(open_names, names, cells)
    own = {one.column for one in answers}
    fields = _fields([name for name in open_names if name not in own], names, cells)
    if "model" in fields or ("answer" in fields and len({one.model for one in answers}) < 2):
        answers = []
        fields = _fields(open_names, names, cells)
    taken = {one.column for one in answers} | {one.column for one in fields.values()}
    left = [name for name in open_names if name not in taken]
    if not answers and not {"model", "answer"} & fields.keys():
        answers = _columns_of_text(left, names, cells)
        left = [name for name in left if name not in {one.column for one in answers}]
    models = list(dict.fromkeys(one.model for one in answers))
    marks = [
        mark
        for name in left
        for mark in [guess_mark(names[name], cells[name], models)]
        if mark is not None
    ]
    if answers and "answer" in fields:
        del fields["answer"]
    _correct_case(table, fields)
    return ColumnMapping(
        file=table.file,
        columns=table.columns,
        fields=tuple(fields.get(field, FieldColumn(field, None)) for field in FIELDS),
        answers=tuple(answers),
        marks=tuple(marks),
        identity=identity,
        model=None if "model" in fields or answers else Path(table.file).stem,
        sheet=table.name,
    )


def _fields(columns: Sequence[str], names: Names, cells: Values) -> dict[str, FieldColumn]:
    """Give each field the column that fits best, the surest pairs first."""
    pairs = [
        (round(confidence, 2), -place, field, column)
        for field in FIELDS
        for place, column in enumerate(columns)
        for confidence in [_name_fit(field, names[column]) * content_fit(field, cells[column])]
        if confidence >= _ENOUGH
    ]
    found: dict[str, FieldColumn] = {}
    used: set[str] = set()
    for confidence, _, field, column in sorted(pairs, reverse=True):
        if field not in found and column not in used:
            found[field] = FieldColumn(field, column, confidence, samples(cells[column]))
            used.add(column)
    if "image" not in found:
        for column in columns:
            if column not in used and share(cells[column], looks_like_path) > 0.9:
                found["image"] = FieldColumn("image", column, 0.8, samples(cells[column]))
                break
    return found


def _name_fit(field: str, name: ColumnName) -> float:
    known = FIELD_NAMES[field]
    if name.plain in known or name.plain.replace(" ", "") in known:
        return 0.98 - 0.01 * known.index(name.plain) if name.plain in known else 0.8
    if any(not phrase.isdigit() and name.find(phrase) for phrase in known if " " in phrase):
        return 0.6
    return 0.0


def _answers(columns: Sequence[str], names: Names, cells: Values) -> list[AnswerColumn]:
    """Find columns that belong to one model each: ``GPT-5 answer``, ``response_medgemma``."""
    found = []
    for column in columns:
        split = _model_and_field(names[column])
        if split and content_fit(split[1], cells[column]) >= 0.7:
            model, field = split
            sure = 0.9 if MODEL_WORDS.search(model) else 0.75
            found.append(AnswerColumn(column, model, field, sure, samples(cells[column])))
    same_name = {one.model.lower(): one.model for one in found if one.field == "answer"}
    return [
        replace(one, model=same_name[one.model.lower()])
        for one in found
        if one.model.lower() in same_name
    ]


def _columns_of_text(columns: Sequence[str], names: Names, cells: Values) -> list[AnswerColumn]:
    """Take columns of long text, and columns called as a known model, for answers of models."""
    found = []
    for column in columns:
        known = MODEL_WORDS.search(column) is not None
        numeric = share(cells[column], is_number) > 0.5
        texts = is_long(cells[column]) or (known and not numeric)
        if texts and not _names_no_model(names[column].words):
            sure = 0.8 if known else 0.45
            found.append(AnswerColumn(column, column, "answer", sure, samples(cells[column])))
    return found


def _names_no_model(words: Sequence[str]) -> bool:
    """Whether words cannot be a model's name; ``model 1`` and ``system B`` can."""
    told = any(word in NOT_A_MODEL and word not in KINDS_OF_MODEL for word in words)
    return told or all(word in KINDS_OF_MODEL for word in words) or "".join(words).isdigit()


def _model_and_field(name: ColumnName) -> tuple[str, str] | None:
    """Split ``answer (GPT-5)`` or ``gpt5_finish_reason`` into the model and the field."""
    best: tuple[int, str, str] | None = None
    for field in ANSWER_FIELDS:
        for phrase in FIELD_NAMES[field]:
            place = name.find(phrase)
            if place is None or (place[0] > 0 and place[1] < len(name.words)):
                continue
            start, end = place
            rest = (0, start) if start else (end, len(name.words))
            words = name.words[slice(*rest)]
            if _names_no_model(words):
                continue
            if best is None or end - start > best[0]:
                best = (end - start, name.text(*rest), field)
    return best[1:] if best else None


def _correct_case(table: Sheet, fields: dict[str, FieldColumn]) -> None:
    """Unmap a case column that cannot be one: a number for each row, or an id of studies."""
    case, model, question = (fields.get(name) for name in ("case", "model", "question"))
    if case is None or case.column is None:
        return
    ids = table.column(case.column)
    keys = [fields[name].column for name in ("study_id", "image", "question") if name in fields]
    groups = list(zip(*(table.column(key) for key in keys if key), strict=True))
    if model and model.column and len(set(ids)) == len(ids) and len(set(groups)) < len(groups):
        models = table.column(model.column)
        if len(set(zip(groups, models, strict=True))) == len(ids):
            del fields["case"]  # the same question comes once for each model: a row number
            return
    if question and question.column and "study_id" not in fields:
        asked = set(zip(ids, table.column(question.column), strict=True))
        if len(asked) > len(set(ids)):
            del fields["case"]
            fields["study_id"] = FieldColumn("study_id", case.column, 0.7, case.samples)
