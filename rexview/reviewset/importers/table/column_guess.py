"""A proposal of what the columns of a table mean, from their names and their contents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from rexview.errors import ImportSourceError
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.table.column_contents import (
    CellsByColumn,
    content_fit,
    is_letter,
    is_long,
    is_number,
    is_path,
    is_prose,
    samples,
    share,
)
from rexview.reviewset.importers.table.column_mapping import (
    ANSWER_FIELDS,
    AnswerColumn,
    ColumnMapping,
    FieldColumn,
    JudgementColumn,
    KeptColumn,
)
from rexview.reviewset.importers.table.column_names import (
    ANSWER_OF_A_MODEL,
    ASKS,
    FIELD_NAMES,
    FIELDS,
    KINDS_OF_MODEL,
    MODEL_NAME,
    NOT_A_MODEL,
    NOT_AN_ANSWER,
    NOT_AN_IMAGE,
    OPTION_WORDS,
    ColumnName,
    is_identity,
)
from rexview.reviewset.importers.table.judgement_guess import guess_judgement
from rexview.reviewset.importers.table.score_scale import ScoreOptions
from rexview.reviewset.importers.table.sheet import Sheet, read_sheet

Names = Mapping[str, ColumnName]

_USUAL_SCORES: Final = ScoreOptions()
_ROWS_LOOKED_AT: Final = 2000
_VALUES_LOOKED_AT: Final = 200
_ENOUGH: Final = 0.4
_LEAST_OF_A_NAME: Final = 0.7
_MORE_IMAGES: Final = ("image_2", "image_3")
_RIGHT_ANSWERS: Final = ("answer", "answers", "label")
_CONTAINER: Final = ("answers.", "responses.", "outputs.", "predictions.", "models.", "results.")


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
    options = _option_columns([name for name in table.columns if name not in identity], names)
    of_options = {one.column for one in options.values()}
    open_names = [name for name in table.columns if name not in {*identity, *of_options}]
    names |= _right_answers(open_names, names, cells, bool(options))
    answers = _answers(open_names, names, cells)
    of_answers = {one.column for one in answers}
    fields = _fields([name for name in open_names if name not in of_answers], names, cells)
    if "model" in fields or ("answer" in fields and len({one.model for one in answers}) < 2):
        answers = []
        fields = _fields(open_names, names, cells)
    fields |= options
    _find_more(fields, _left(open_names, answers, fields), names, cells)
    answers = _with_columns_of_text(table, answers, fields, open_names, names, cells)
    _correct_case(table, fields)
    _find_ids(table, answers, fields, _left(open_names, answers, fields), names, cells)
    _unmap_halves(fields)
    models = list(dict.fromkeys((*(one.model for one in answers), *models)))
    left = _left(open_names, answers, fields)
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


def _left(
    columns: Sequence[str], answers: Sequence[AnswerColumn], fields: Mapping[str, FieldColumn]
) -> list[str]:
    taken = {one.column for one in answers} | {one.column for one in fields.values()}
    return [name for name in columns if name not in taken]


def _kept(
    column: str, name: ColumnName, cells: CellsByColumn, fields: Mapping[str, FieldColumn]
) -> KeptColumn:
    """Keep a column as it is, and say so where it looks like something that is taken, or text."""
    seen = samples(cells[column])
    for field, taken in fields.items():
        fits = _name_fit(field, name) * content_fit(field, cells[column])
        if fits >= _LEAST_OF_A_NAME and field not in ("case", "comment", "tag_category"):
            label = FIELDS[field].lower()
            return KeptColumn(
                column, seen, f"It could be the {label}, too, for which “{taken.column}” was taken."
            )
    if share(cells[column], is_path) > 0.5:
        return KeptColumn(column, seen, "It names pictures that were not taken for the study's.")
    if is_prose(cells[column]) and not _is_other_text(name):
        return KeptColumn(column, seen, "It is full of text, which could be a model's answers.")
    return KeptColumn(column, seen)


def _option_columns(columns: Sequence[str], names: Names) -> dict[str, FieldColumn]:
    """Find a column for each option: ``option_A``, ``choice 1``, or just ``A``, ``B``, ..."""
    for words in (OPTION_WORDS, frozenset(("",))):
        found = {}
        for column in columns:
            *before, last = names[column].words or ("",)
            if " ".join(before) in words and (last.isdigit() or (len(last) == 1)):
                found[int(last) if last.isdigit() else ord(last) - ord("a")] = column
        places = sorted(found)
        if len(places) > 1 and places == list(range(places[0], places[0] + len(places))):
            fields = [field for field in FIELDS if field.startswith("option_")]
            if len(places) <= len(fields) and places[0] in (0, 1):
                return {
                    field: FieldColumn(field, found[place], 0.9)
                    for field, place in zip(fields, places, strict=False)
                }
    return {}


def _right_answers(
    columns: Sequence[str], names: Names, cells: CellsByColumn, options: bool
) -> dict[str, ColumnName]:
    """Tell a plain "answer" that is the right one from a model's: another column has that."""
    plain = {names[column].plain: column for column in reversed(columns)}
    column = next((plain[name] for name in _RIGHT_ANSWERS if name in plain), None)
    if column is None:
        return {}
    others = [name for name in columns if name != column]
    of_models = [name for name in plain if name in ANSWER_OF_A_MODEL and cells[plain[name]]]
    of_models = [name for name in of_models if share(cells[plain[name]], is_number) < 0.5]
    wide = [
        one
        for one in _answers(others, names, cells)
        if one.field == "answer" and (MODEL_NAME.search(one.model) or is_prose(cells[one.column]))
    ]
    letters = share(cells[column], is_letter) > 0.9
    choices = options or any(one in plain for one in FIELD_NAMES["options"])
    told = any(one in plain for one in (*FIELD_NAMES["model"], *FIELD_NAMES["correct"]))
    if of_models or wide or (letters and choices and not told):
        return {column: ColumnName.of("correct answer" if choices else "reference answer")}
    return {}


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


def _with_columns_of_text(
    table: Sheet,
    answers: list[AnswerColumn],
    fields: dict[str, FieldColumn],
    columns: Sequence[str],
    names: Names,
    cells: CellsByColumn,
) -> list[AnswerColumn]:
    """Take text that no name explains for answers, unless a column says who answered."""
    left = _left(columns, answers, fields)
    texts = [] if "model" in fields else _columns_of_text(left, names, cells)
    if not answers and "answer" in fields:
        if any(is_prose(cells[one.column]) for one in texts):
            model = Path(table.file).stem
            for field in [field for field in ANSWER_FIELDS if field in fields]:
                one = fields.pop(field)
                assert one.column is not None
                answers.append(AnswerColumn(one.column, model, field, 0.6, one.samples))
    elif not answers and not texts:
        for column in left:
            if is_prose(cells[column]) and not _is_other_text(names[column]):
                fields["answer"] = FieldColumn("answer", column, _ENOUGH, samples(cells[column]))
                break
    if answers:
        texts = [one for one in texts if is_prose(cells[one.column])]
        letters = {one.column for one in answers if share(cells[one.column], is_letter) > 0.8}
        if letters and len(letters) == sum(one.field == "answer" for one in answers):
            texts += [
                AnswerColumn(name, _bare(name), "answer", 0.5, samples(cells[name]))
                for name in left
                if share(cells[name], is_letter) > 0.8 and not _names_no_model(names[name].words)
            ]
    return [*answers, *texts]


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


def _is_other_text(name: ColumnName) -> bool:
    """Whether a name says that a text is no answer: a question, a report, a comment."""
    told = {*NOT_AN_ANSWER, "comment", "comments", "explanation", "rationale", "reasoning", "notes"}
    told |= {"question", "report", "reference", "truth", "gt", "gold", "prompt", "radiologist"}
    told |= {"human", "expert", "reader", "correct", "error", "message", "justification", "note"}
    return bool(told & {*name.words})


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
            own = not NOT_AN_IMAGE & {*names[column].words}
            if column not in used and own and share(cells[column], is_path) > 0.9:
                found["image"] = FieldColumn("image", column, 0.8, samples(cells[column]))
                break
    return found


def _name_fit(field: str, name: ColumnName) -> float:
    known = FIELD_NAMES[field]
    if name.plain in known:
        return max(_LEAST_OF_A_NAME, 0.98 - 0.01 * known.index(name.plain))
    if name.plain.replace(" ", "") in known:
        return 0.8
    if any(not phrase.isdigit() and name.find(phrase) for phrase in known if " " in phrase):
        return 0.6
    return 0.0


def _answers(columns: Sequence[str], names: Names, cells: CellsByColumn) -> list[AnswerColumn]:
    """Find columns that belong to one model each: ``GPT-5 answer``, ``response_medgemma``."""
    found = []
    for column in columns:
        split = _model_and_field(names[column])
        if split and content_fit(split[1], cells[column]) >= 0.7:
            model, field = split
            sure = 0.9 if MODEL_NAME.search(model) else 0.75
            found.append(AnswerColumn(column, model, field, sure, samples(cells[column])))
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
        numeric = share(cells[column], is_number) > 0.5
        words = names[column].words
        kind = bool(words) and {*words} <= KINDS_OF_MODEL and is_prose(cells[column])
        texts = (is_long(cells[column]) and not share(cells[column], is_path) > 0.5) or (
            known and not numeric
        )
        if kind or (texts and not _names_no_model(words) and not NOT_AN_ANSWER & {*words}):
            sure = 0.8 if known else 0.45
            model = _bare(column)
            found.append(AnswerColumn(column, model, "answer", sure, samples(cells[column])))
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
            inner = name.written.lower().startswith(_CONTAINER) and start == 0
            if "." in name.written and end < len(name.words) and not inner:
                continue  # a field of an object that is called so
            rest = (0, start) if start else (end, len(name.words))
            words = name.words[slice(*rest)]
            if _names_no_model(words):
                continue
            if best is None or end - start > best[0]:
                best = (end - start, _bare(name.text(*rest)), field)
    return best[1:] if best else None


def _bare(model: str) -> str:
    """Return a model's name without that of the object in which a JSON file has all of them."""
    prefix = next((one for one in _CONTAINER if model.lower().startswith(one)), "")
    return model[len(prefix) :] or model


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
