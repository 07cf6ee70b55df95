"""Which columns hold the answers of models, and which the options and the right answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from rexview.reviewset.importers.table.column_mapping import (
    ANSWER_FIELDS,
    AnswerColumn,
    FieldColumn,
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
    OPTION_WORDS,
    ColumnName,
)
from rexview.reviewset.importers.table.roles import (
    ENOUGH,
    CellsByColumn,
    asks,
    content_fit,
    is_letter,
    is_long,
    is_number,
    is_path,
    is_prose,
    is_text,
    name_fit,
    samples,
    share,
    side_of,
)
from rexview.reviewset.importers.table.sheet import Sheet

Names = Mapping[str, ColumnName]

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
