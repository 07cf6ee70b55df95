"""A proposal of what the columns of a table mean, from their names and their contents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from rexview.errors import ImportSourceError
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.table.answer_columns import (
    answer_columns,
    columns_left,
    is_other_text,
    option_columns,
    right_answers,
    texts_by_side,
    with_columns_of_text,
)
from rexview.reviewset.importers.table.column_mapping import (
    AnswerColumn,
    ColumnMapping,
    FieldColumn,
    JudgementColumn,
    KeptColumn,
)
from rexview.reviewset.importers.table.column_names import (
    ASKS,
    FIELDS,
    NOT_AN_IMAGE,
    ColumnName,
    is_identity,
)
from rexview.reviewset.importers.table.judgement_columns import guess_judgement
from rexview.reviewset.importers.table.roles import (
    ENOUGH,
    LEAST_OF_A_NAME,
    CellsByColumn,
    fit,
    is_long,
    is_number,
    is_path,
    is_prose,
    samples,
    share,
)
from rexview.reviewset.importers.table.score_scale import ScoreOptions
from rexview.reviewset.importers.table.sheet import Sheet, read_sheet

Names = Mapping[str, ColumnName]

_USUAL_SCORES: Final = ScoreOptions()
_ROWS_LOOKED_AT: Final = 2000
_VALUES_LOOKED_AT: Final = 200
_MORE_IMAGES: Final = ("image_2", "image_3")


def propose_mapping(
    path: Path, *, sheet: str | None = None, scores: ScoreOptions = _USUAL_SCORES
) -> ColumnMapping:
    """Propose what the columns of a table mean, whatever kind of file it is in.

    ``scores`` says how scores are read that are not from 1 to 5 on a dimension.

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
    return guess(table, scores=scores)


def guess(
    table: Sheet, *, scores: ScoreOptions = _USUAL_SCORES, models: Sequence[str] = ()
) -> ColumnMapping:
    """Propose what the columns of a table mean; ``models`` are those of other files."""
    cells = {
        name: [value for value in table.column(name) if value][:_VALUES_LOOKED_AT]
        for name in table.columns
    }
    names = {name: ColumnName.of(name) for name in table.columns}
    identity = tuple(name for name in table.columns if is_identity(name))
    options = option_columns([name for name in table.columns if name not in identity], names)
    of_options = {one.column for one in options.values()}
    open_names = [name for name in table.columns if name not in {*identity, *of_options}]
    names |= texts_by_side(open_names, names, cells)
    names |= right_answers(open_names, names, cells, bool(options))
    answers = answer_columns(open_names, names, cells)
    of_answers = {one.column for one in answers}
    fields = _fields([name for name in open_names if name not in of_answers], names, cells)
    if "model" in fields or ("answer" in fields and len({one.model for one in answers}) < 2):
        answers = []
        fields = _fields(open_names, names, cells)
    fields |= options
    _find_more(fields, columns_left(open_names, answers, fields), names, cells)
    answers = with_columns_of_text(table, answers, fields, open_names, names, cells)
    _correct_case(table, fields)
    _find_ids(table, answers, fields, columns_left(open_names, answers, fields), names, cells)
    _unmap_halves(fields)
    models = list(dict.fromkeys((*(one.model for one in answers), *models)))
    left = columns_left(open_names, answers, fields)
    found = {name: guess_judgement(names[name], cells[name], models, scores) for name in left}
    judgements = [one for one in found.values() if isinstance(one, JudgementColumn)]
    judged = {one.column for one in judgements}
    return ColumnMapping(
        file=table.file,
        columns=table.columns,
        fields=tuple(fields.get(field, FieldColumn(field, None)) for field in FIELDS),
        answers=tuple(answers),
        judgements=tuple(judgements),
        identity=identity,
        model=None if "model" in fields or answers else Path(table.file).stem,
        sheet=table.name,
        kept=tuple(
            one if isinstance(one, KeptColumn) else _kept(name, names[name], cells, fields)
            for name, one in found.items()
            if name not in judged
        ),
    )


def _kept(
    column: str, name: ColumnName, cells: CellsByColumn, fields: Mapping[str, FieldColumn]
) -> KeptColumn:
    """Keep a column as it is, and say so where it looks like something that is taken, or text."""
    seen = samples(cells[column])
    for field, taken in fields.items():
        fits = fit(field, name, cells[column])
        if fits >= LEAST_OF_A_NAME and field not in ("case", "comment", "tag_category"):
            label = FIELDS[field].lower()
            return KeptColumn(
                column, seen, f"It could be the {label}, too, for which “{taken.column}” was taken."
            )
    if share(cells[column], is_path) > 0.5:
        return KeptColumn(column, seen, "It names pictures that were not taken for the study's.")
    if is_prose(cells[column]) and not is_other_text(name):
        return KeptColumn(column, seen, "It is full of text, which could be a model's answers.")
    return KeptColumn(column, seen)


def _find_more(
    fields: dict[str, FieldColumn], left: list[str], names: Names, cells: CellsByColumn
) -> None:
    """Find further images, and the question by its question marks."""
    images = [
        name
        for name in left
        if share(cells[name], is_path) > 0.5 and not NOT_AN_IMAGE & {*names[name].words}
    ]
    for field, column in zip(_MORE_IMAGES, images if "image" in fields else (), strict=False):
        fields[field] = FieldColumn(field, column, 0.6, samples(cells[column]))
    if "question" not in fields:
        asks = [name for name in left if share(cells[name], lambda cell: cell.endswith("?")) > 0.8]
        asks = asks or [name for name in left if ASKS & {*names[name].words}]
        if asks:
            fields["question"] = FieldColumn("question", asks[0], 0.6, samples(cells[asks[0]]))


def _find_ids(
    table: Sheet,
    answers: Sequence[AnswerColumn],
    fields: dict[str, FieldColumn],
    left: Sequence[str],
    names: Names,
    cells: CellsByColumn,
) -> None:
    """Find the column that tells cases apart where neither a name nor the question does so.

    Of those that, with the model, are different in every row, it is the one with fewest values.
    """
    if any(field in fields for field in ("case", "study_id", "image")) or len(table.rows) < 2:
        return

    def told_apart(column: str | None) -> bool:
        model = fields.get("model")
        columns = [one for one in (column, model and model.column) if one]
        rows = list(zip(*(table.column(one) for one in columns), strict=True))
        return len(rows) > 0 and len(set(rows)) == len(rows)

    question = fields.get("question")
    if (question and told_apart(question.column)) or not (answers or "answer" in fields):
        return
    fit = [
        (len({*table.column(name)}), place, name)
        for place, name in enumerate(left)
        if told_apart(name) and not is_long(cells[name]) and None not in table.column(name)
        if guess_judgement(names[name], cells[name], (), _USUAL_SCORES) is None
        if share(cells[name], lambda cell: any(letter.isdigit() for letter in cell)) > 0.8
        if share(cells[name], lambda cell: is_number(cell) and not cell.isdigit()) < 0.5
    ]
    if fit:
        column = min(fit)[2]
        fields["case"] = FieldColumn("case", column, 0.5, samples(cells[column]))


def _unmap_halves(fields: dict[str, FieldColumn]) -> None:
    """Unmap what means nothing alone: a score of no dimension, and a dimension without one."""
    for one, other in (("score", "dimension"), ("dimension", "score")):
        if other not in fields:
            fields.pop(one, None)


def _fields(columns: Sequence[str], names: Names, cells: CellsByColumn) -> dict[str, FieldColumn]:
    """Give each field the column that fits best, the surest pairs first."""
    pairs = [
        (round(confidence, 2), -place, field, column)
        for field in FIELDS
        for place, column in enumerate(columns)
        for confidence in [fit(field, names[column], cells[column])]
        if confidence >= ENOUGH
    ]
    found: dict[str, FieldColumn] = {}
    used: set[str] = set()
    for confidence, _, field, column in sorted(pairs, reverse=True):
        if field not in found and column not in used:
            found[field] = FieldColumn(field, column, confidence, samples(cells[column]))
            used.add(column)
    if "image" not in found:
        for column in columns:
            own = not NOT_AN_IMAGE & {*names[column].words}
            if column not in used and own and share(cells[column], is_path) > 0.9:
                found["image"] = FieldColumn("image", column, 0.8, samples(cells[column]))
                break
    return found


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
