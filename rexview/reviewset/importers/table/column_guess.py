"""A proposal of what the columns of a table mean, from their names and their contents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Final

from rexview.errors import ImportSourceError
from rexview.reviewset.images import DICOM_SUFFIXES
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.images.names import RASTER_SUFFIXES
from rexview.reviewset.importers.table.cell_values import is_not_scored, read_number, read_yes_no
from rexview.reviewset.importers.table.column_mapping import (
    ANSWER_FIELDS,
    AnswerColumn,
    ColumnMapping,
    FieldColumn,
    JudgementColumn,
)
from rexview.reviewset.importers.table.column_names import (
    DIMENSION_NAMES,
    FAILURE_NAMES,
    FIELD_NAMES,
    FIELDS,
    KINDS_OF_MODEL,
    MODEL_NAME,
    NOT_A_MODEL,
    READER_NAMES,
    ColumnName,
    is_identity,
)
from rexview.reviewset.importers.table.sheet import Sheet, read_sheet
from rexview.vocab import DIMENSIONS, QUESTION_TYPES, normalise_finish_reason, normalise_view

Names = Mapping[str, ColumnName]
Cells = Sequence[str]
CellsByColumn = Mapping[str, list[str]]
Test = Callable[[str], bool]

_ROWS_LOOKED_AT: Final = 2000
_VALUES_LOOKED_AT: Final = 200
_ENOUGH: Final = 0.4
_LONG: Final = 40
_SAMPLES: Final = 3
_SAMPLE_CHARACTERS: Final = 60


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
    identity = tuple(name for name in table.columns if is_identity(name))
    open_names = [name for name in table.columns if name not in identity]
    answers = _answers(open_names, names, cells)
    of_answers = {one.column for one in answers}
    fields = _fields([name for name in open_names if name not in of_answers], names, cells)
    if "model" in fields or ("answer" in fields and len({one.model for one in answers}) < 2):
        answers = []
        fields = _fields(open_names, names, cells)
    taken = {one.column for one in answers} | {one.column for one in fields.values()}
    left = [name for name in open_names if name not in taken]
    if not answers and not {"model", "answer"} & fields.keys():
        answers = _columns_of_text(left, names, cells)
        left = [name for name in left if name not in {one.column for one in answers}]
    models = list(dict.fromkeys(one.model for one in answers))
    judgements = [_guess_judgement(names[name], cells[name], models) for name in left]
    if answers and "answer" in fields:
        del fields["answer"]
    _correct_case(table, fields)
    return ColumnMapping(
        file=table.file,
        columns=table.columns,
        fields=tuple(fields.get(field, FieldColumn(field, None)) for field in FIELDS),
        answers=tuple(answers),
        judgements=tuple(one for one in judgements if one is not None),
        identity=identity,
        model=None if "model" in fields or answers else Path(table.file).stem,
        sheet=table.name,
    )


def _fields(columns: Sequence[str], names: Names, cells: CellsByColumn) -> dict[str, FieldColumn]:
    """Give each field the column that fits best, the surest pairs first."""
    pairs = [
        (round(confidence, 2), -place, field, column)
        for field in FIELDS
        for place, column in enumerate(columns)
        for confidence in [_name_fit(field, names[column]) * _content_fit(field, cells[column])]
        if confidence >= _ENOUGH
    ]
    found: dict[str, FieldColumn] = {}
    used: set[str] = set()
    for confidence, _, field, column in sorted(pairs, reverse=True):
        if field not in found and column not in used:
            found[field] = FieldColumn(field, column, confidence, _samples(cells[column]))
            used.add(column)
    if "image" not in found:
        for column in columns:
            if column not in used and _share(cells[column], _is_path) > 0.9:
                found["image"] = FieldColumn("image", column, 0.8, _samples(cells[column]))
                break
    return found


def _name_fit(field: str, name: ColumnName) -> float:
    known = FIELD_NAMES[field]
    if name.plain in known or name.plain.replace(" ", "") in known:
        return 0.98 - 0.01 * known.index(name.plain) if name.plain in known else 0.8
    if any(not phrase.isdigit() and name.find(phrase) for phrase in known if " " in phrase):
        return 0.6
    return 0.0


def _answers(columns: Sequence[str], names: Names, cells: CellsByColumn) -> list[AnswerColumn]:
    """Find columns that belong to one model each: ``GPT-5 answer``, ``response_medgemma``."""
    found = []
    for column in columns:
        split = _model_and_field(names[column])
        if split and _content_fit(split[1], cells[column]) >= 0.7:
            model, field = split
            sure = 0.9 if MODEL_NAME.search(model) else 0.75
            found.append(AnswerColumn(column, model, field, sure, _samples(cells[column])))
    same_name = {one.model.lower(): one.model for one in found if one.field == "answer"}
    return [
        replace(one, model=same_name[one.model.lower()])
        for one in found
        if one.model.lower() in same_name
    ]


def _columns_of_text(
    columns: Sequence[str], names: Names, cells: CellsByColumn
) -> list[AnswerColumn]:
    """Take columns of long text, and columns called as a known model, for answers of models."""
    found = []
    for column in columns:
        known = MODEL_NAME.search(column) is not None
        numeric = _share(cells[column], _is_number) > 0.5
        texts = median(map(len, cells[column] or [""])) > _LONG or (known and not numeric)
        if texts and not _names_no_model(names[column].words):
            sure = 0.8 if known else 0.45
            found.append(AnswerColumn(column, column, "answer", sure, _samples(cells[column])))
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


def _guess_judgement(
    name: ColumnName, cells: Cells, models: Sequence[str]
) -> JudgementColumn | None:
    """Recognise a column of scores or ticks: ``process_reader1``, ``GPT-5 laterality error R2``."""
    for judges, phrases in (*DIMENSION_NAMES.items(), *FAILURE_NAMES.items()):
        place = next((found for phrase in phrases for found in [name.find(phrase)] if found), None)
        if place is None:
            continue
        test = _is_tick
        if judges in DIMENSION_NAMES:
            test = _is_score
            cells = [cell for cell in cells if not is_not_scored(cell)]
        if cells and _share(cells, test) < 0.8:
            return None
        model = reader = None
        for text in (name.text(0, place[0]), name.text(place[1], len(name.words))):
            if not text:
                continue
            rest, who = _reader_in(text)
            reader = reader or who
            known = next((one for one in models if one.lower() == rest.lower()), None)
            if known:
                model = known
            elif rest and not reader and rest.lower() not in ("score", "rating", "likert"):
                reader = rest
        sure = 0.9 if cells else 0.6
        return JudgementColumn(name.written, judges, reader, model, sure, _samples(cells))
    return None


def _reader_in(text: str) -> tuple[str, str | None]:
    """Split off a reader such as ``reader1``, ``R2``, ``rater B``: the rest, and the reader."""
    name = ColumnName.of(text)
    for place, word in enumerate(name.words):
        follows = name.words[place + 1] if place + 1 < len(name.words) else ""
        numbered = follows.isdigit() or (len(follows) == 1 and follows.isalpha())
        if word in READER_NAMES and (numbered or len(word) > 3):
            end = place + 1 + numbered
            rest = f"{name.text(0, place)} {name.text(end, len(name.words))}".strip()
            return rest, name.text(place, end)
    return text, None


def _samples(cells: Cells) -> tuple[str, ...]:
    """Return up to three different values, cut to 60 characters."""
    different = list(dict.fromkeys(cells))[:_SAMPLES]
    return tuple(
        one if len(one) <= _SAMPLE_CHARACTERS else f"{one[: _SAMPLE_CHARACTERS - 1]}…"
        for one in different
    )


def _share(cells: Cells, test: Test) -> float:
    """Return the share of values that pass a test; 0 when there are none."""
    return sum(map(test, cells)) / len(cells) if cells else 0.0


def _is_path(cell: str) -> bool:
    """Whether a value ends as the name of an image file does."""
    return cell.lower().rstrip("]\"'").endswith((*RASTER_SUFFIXES, *DICOM_SUFFIXES))


def _is_number(cell: str) -> bool:
    return read_number(cell) is not None


def _is_score(cell: str) -> bool:
    number = read_number(cell)
    return number is not None and 0 <= number <= 5


def _is_tick(cell: str) -> bool:
    return read_yes_no(cell) is not None


_TESTS: Final[dict[str, tuple[Test, float, float]]] = {
    **dict.fromkeys(("input_tokens", "output_tokens", "max_output_tokens"), (_is_number, 0.8, 0.2)),
    **dict.fromkeys(("latency_s", "score"), (_is_number, 0.8, 0.2)),
    "finish_reason": (lambda cell: normalise_finish_reason(cell) is not None, 0.7, 0.3),
    "view": (lambda cell: normalise_view(cell) != "UNKNOWN", 0.5, 0.4),
    "normal": (_is_tick, 0.8, 0.2),
    "question_type": (lambda cell: cell.lower() in QUESTION_TYPES, 0.8, 0.3),
    "dimension": (lambda cell: "_".join(cell.lower().split()) in DIMENSIONS, 0.5, 0.2),
    "image": (_is_path, 0.5, 0.6),
}
"""By field: a test, the share of values that has to pass it, and the fit when fewer do."""
_TEXTS: Final = frozenset(("answer", "report", "findings", "impression", "question"))
_WORDS: Final = frozenset(
    ("case", "study_id", "patient_id", "model", "reader", "run_id", "site", "sex", "age")
)


def _content_fit(field: str, cells: Cells) -> float:
    """Say how well values suit a field: 1 well or nothing to tell, towards 0 badly."""
    if not cells:
        return 0.9
    length = median(map(len, cells))
    if field in _TESTS:
        test, needed, otherwise = _TESTS[field]
        return 1.0 if _share(cells, test) > needed else otherwise
    if field in _TEXTS:
        if _share(cells, _is_number) > 0.5:
            return 0.2
        return 1.0 if length > _LONG / 3 else 0.7
    if field in _WORDS:
        return 1.0 if length <= _LONG else 0.3
    return 0.4 if length > 4 * _LONG and field.startswith("tag_") else 1.0
