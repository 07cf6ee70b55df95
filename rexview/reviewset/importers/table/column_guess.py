"""A proposal of what the columns of a table mean, from their names and their contents.

Columns of readers' scores come first, then those of models' answers, options and the right answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from rexview.errors import ImportSourceError
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.metrics.importer import known_metric
from rexview.reviewset.importers.table.cell_values import (
    ScoreOptions,
    ScoreScale,
    is_not_scored,
    read_number,
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
    DIMENSION_NAMES,
    FAILURE_NAMES,
    FIELD_NAMES,
    FIELDS,
    KINDS_OF_MODEL,
    MODEL_NAME,
    NOT_A_MODEL,
    NOT_AN_ANSWER,
    NOT_AN_IMAGE,
    OPTION_WORDS,
    READER_NAMES,
    SCORE_NAMES,
    ColumnName,
    is_identity,
)
from rexview.reviewset.importers.table.roles import (
    ENOUGH,
    LEAST_OF_A_NAME,
    Cells,
    CellsByColumn,
    asks,
    content_fit,
    fit,
    is_letter,
    is_long,
    is_number,
    is_path,
    is_prose,
    is_text,
    is_tick,
    name_fit,
    samples,
    share,
    side_of,
)
from rexview.reviewset.importers.table.sheet import Sheet, read_sheet
from rexview.vocab import SCORE_MAX, SCORE_MIN

_ENOUGH: Final = 0.9
_LONGEST_WORD: Final = 30
_MOST_WORDS: Final = 7
"""Different words that a column of scores in words may have."""


def guess_judgement(
    name: ColumnName, cells: Cells, models: Sequence[str], scores: ScoreOptions
) -> JudgementColumn | KeptColumn | None:
    """Recognise a column of scores or ticks: ``process_reader1``, ``GPT-5 laterality error R2``.

    Scores that are not from 1 to 5, or of no dimension, are kept as they are with a word on how to
    have them read, unless ``scores`` says so.
    """
    told = [(dimension, [phrase]) for phrase, dimension in scores.names]
    for judges, phrases in (*told, *DIMENSION_NAMES.items(), *FAILURE_NAMES.items()):
        place = next((found for phrase in phrases for found in [name.find(phrase)] if found), None)
        if place is None:
            continue
        if judges in DIMENSION_NAMES:
            return _scores(judges, name, place, cells, models, scores)
        if cells and share(cells, is_tick) < 0.8:
            return None
        model, reader = _whose(name, place, models)
        return JudgementColumn(name.written, judges, reader, model, _sure(cells), samples(cells))
    if _is_of_no_dimension(name, cells):
        if scores.dimension:
            return _scores(scores.dimension, name, (0, 0), cells, models, scores)
        note = "It looks like scores of no known dimension."
        advice = "Say which they are of with --dimension."
        return KeptColumn(name.written, samples(cells), note, advice)
    return None


def _scores(
    judges: str,
    name: ColumnName,
    place: tuple[int, int],
    cells: Cells,
    models: Sequence[str],
    scores: ScoreOptions,
) -> JudgementColumn | KeptColumn:
    cells = [cell for cell in cells if not is_not_scored(cell)]
    test = ScoreScale.of(scores.scale).holds if scores.scale else _is_score
    if cells and share(cells, test) < _ENOUGH:
        return _offer(judges, name.written, cells)
    model, reader = _whose(name, place, models)
    return JudgementColumn(
        name.written, judges, reader, model, _sure(cells), samples(cells), scores.scale
    )


def _sure(cells: Cells) -> float:
    return 0.9 if cells else 0.6


def _is_of_no_dimension(name: ColumnName, cells: Cells) -> bool:
    """Whether a column holds scores that do not say of what: ``rating``, ``Reader 1``."""
    numbers = [cell for cell in cells if not is_not_scored(cell)]
    if known_metric(name.written):  # what a program computed is no reader's score
        return False
    named = bool(SCORE_NAMES & {*name.words}) or _reader_in(name.written)[1] is not None
    short = all(len(cell) <= _LONGEST_WORD for cell in numbers)
    few = share(numbers, is_number) > 0.8 or len({*numbers}) <= _MOST_WORDS < len(numbers) + 1
    return named and bool(numbers) and short and few


def _is_score(cell: str) -> bool:
    number = read_number(cell)
    return number is not None and SCORE_MIN <= number <= SCORE_MAX


def _offer(judges: str, column: str, cells: Cells) -> KeptColumn:
    """Keep scores that cannot be taken as they are; say why, and which scales they may be of."""
    numbers = [number for cell in cells if (number := read_number(cell)) is not None]
    what = f"It looks like scores for {judges.replace('_', ' ')}, but not from 1 to 5"
    if len(numbers) < 0.8 * len(cells):
        advice = "With --scale and the words, worst first and apart by commas, they are converted."
        return KeptColumn(column, samples(cells), f"{what}: it holds words.", advice)
    fits = [scale for scale in ScoreScale.USUAL if all(map(ScoreScale.of(scale).takes, numbers))]
    scales = tuple(fits[:2])
    offered = " or ".join(f"--scale {scale}" for scale in scales) or "--scale LOW-HIGH"
    note = f"{what}: it goes from {min(numbers):g} to {max(numbers):g}."
    return KeptColumn(column, samples(cells), note, f"Convert it with {offered}.", scales)


def _whose(
    name: ColumnName, place: tuple[int, int], models: Sequence[str]
) -> tuple[str | None, str | None]:
    """Say whose answer was judged, and by which reader, from the words beside what is judged."""
    model = reader = None
    for text in (name.text(0, place[0]), name.text(place[1], len(name.words))):
        if not text:
            continue
        rest, who = _reader_in(text)
        reader = reader or who
        known = next((one for one in models if one.lower() == rest.lower()), None)
        if known:
            model = known
        elif (
            re.search(r"[^\W\d_]", rest)
            and not reader
            and not SCORE_NAMES & {*ColumnName.of(rest).words}
        ):
            reader = rest
    return model, reader


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


_RUN: Final = re.compile(
    r"(.+?)[ _\-(]+(?:run|attempt|trial|repeat|rep|seed|try)[ _\-#]*(\d+)\)?", re.IGNORECASE
)
_SECTIONS: Final = frozenset(("findings", "impression", "explanation", "rationale", "reasoning"))
_RIGHT_ANSWERS: Final = ("answer", "answers")
_CONTAINER: Final = ("answers.", "responses.", "outputs.", "predictions.", "models.", "results.")


def option_columns(columns: Sequence[str], names: Names) -> dict[str, FieldColumn]:
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


def right_answers(
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
        for one in answer_columns(others, names, cells)
        if one.field == "answer" and (MODEL_NAME.search(one.model) or is_prose(cells[one.column]))
    ]
    letters = share(cells[column], is_letter) > 0.9
    choices = options or any(one in plain for one in FIELD_NAMES["options"])
    told = any(one in plain for one in (*FIELD_NAMES["model"], *FIELD_NAMES["correct"]))
    if of_models or wide or (letters and choices and not told):
        return {column: ColumnName.of("correct answer" if choices else "reference answer")}
    return {}


def texts_by_side(
    columns: Sequence[str], names: Names, cells: CellsByColumn
) -> dict[str, ColumnName]:
    """Name texts of a table for what they are, where their names say whose they are.

    ``label`` beside ``pred``, and ``target`` beside ``output``, are the reference and an answer
    where both hold texts. A text that asks is the question, whatever it is called.
    """
    texts = [name for name in columns if is_text(cells[name]) and not share(cells[name], is_path)]
    named = {
        name: ColumnName.of("question")
        for name in columns
        if name_fit("answer", names[name]) and asks(cells[name])
    }
    open_texts = [
        name
        for name in texts
        if name not in named
        and not {*names[name].words} & {*NOT_AN_ANSWER - {"label"}, *ASKS}
        and not {*names[name].words} & _SECTIONS
    ]
    sides = {name: side_of(names[name].words) for name in open_texts}
    references = [name for name, side in sides.items() if side > 0]
    models = [name for name, side in sides.items() if side < 0]
    if len(references) == 1 and models:
        named[references[0]] = ColumnName.of("reference report")
        [first, *others] = models
        if not others and not MODEL_NAME.search(first) and not name_fit("answer", names[first]):
            named[first] = ColumnName.of("generated report")
    return named


def with_columns_of_text(
    table: Sheet,
    answers: list[AnswerColumn],
    fields: dict[str, FieldColumn],
    columns: Sequence[str],
    names: Names,
    cells: CellsByColumn,
) -> list[AnswerColumn]:
    """Take text that no name explains for answers, unless a column says who answered."""
    left = columns_left(columns, answers, fields)
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
            if is_prose(cells[column]) and not is_other_text(names[column]):
                fields["answer"] = FieldColumn("answer", column, ENOUGH, samples(cells[column]))
                break
    if answers:
        texts = [one for one in texts if is_prose(cells[one.column])]
        if {"options", "option_a"} & fields.keys():
            texts += [
                AnswerColumn(name, _bare(name), "answer", 0.5, samples(cells[name]))
                for name in left
                if share(cells[name], is_letter) > 0.8 and not _names_no_model(names[name].words)
                if name_fit("correct", names[name]) < ENOUGH
            ]
    return _with_runs([*answers, *texts])


def _with_runs(answers: list[AnswerColumn]) -> list[AnswerColumn]:
    """Tell runs of one model from models: ``gpt-4o run 1``, ``gpt-4o run 2``."""
    split = {one.model: found for one in answers if (found := _RUN.fullmatch(one.model))}
    runs = {
        found[1]: {one[2] for one in split.values() if one[1] == found[1]}
        for found in split.values()
    }
    return [
        replace(one, model=found[1], run=found[2])
        if (found := split.get(one.model)) and len(runs[found[1]]) > 1
        else one
        for one in answers
    ]


def is_other_text(name: ColumnName) -> bool:
    """Whether a name says that a text is no answer: a question, a report, a comment."""
    told = {*NOT_AN_ANSWER, "comment", "comments", "explanation", "rationale", "reasoning", "notes"}
    told |= {"question", "report", "reference", "truth", "gt", "gold", "prompt", "radiologist"}
    told |= {"human", "expert", "reader", "correct", "error", "message", "justification", "note"}
    return bool(told & {*name.words})


def answer_columns(
    columns: Sequence[str], names: Names, cells: CellsByColumn
) -> list[AnswerColumn]:
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


def columns_left(
    columns: Sequence[str], answers: Sequence[AnswerColumn], fields: Mapping[str, FieldColumn]
) -> list[str]:
    """Return the columns that have no meaning yet."""
    taken = {one.column for one in answers} | {one.column for one in fields.values()}
    return [name for name in columns if name not in taken]


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
