"""Propose the meaning of a table's columns from their names and contents.

Columns of readers' scores come first, then those of models' answers, options and the right answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from rexview.errors import ImportSourceError
from rexview.importers.metrics.importer import find_metric_id
from rexview.importers.receipt import ProblemLog
from rexview.importers.table.cells import (
    COLUMN_FIELDS,
    DIMENSION_COLUMN_NAMES,
    FAILURE_COLUMN_NAMES,
    FIELD_COLUMN_NAMES,
    KINDS_OF_MODEL,
    MODEL_ANSWER_NAMES,
    MODEL_NAME,
    NOT_A_MODEL,
    NOT_AN_ANSWER,
    OPTION_WORDS,
    QUESTION_WORDS,
    READER_NAMES,
    SCORE_NAMES,
    ColumnName,
    ScoreOptions,
    ScoreScale,
    is_identity,
    is_not_scored,
    read_number,
)
from rexview.importers.table.column_mapping import (
    ANSWER_FIELDS,
    AnswerColumn,
    ColumnMapping,
    FieldColumn,
    JudgementColumn,
    UnmappedColumn,
)
from rexview.importers.table.roles import (
    MAX_CONTENT_FIT,
    MIN_FIT,
    MIN_NAME_FIT,
    CellTest,
    ColumnCells,
    are_questions,
    column_fit,
    column_values,
    content_fit,
    content_only_fit,
    is_letter,
    is_long,
    is_number,
    is_path,
    is_prose,
    is_text,
    is_tick,
    name_fit,
    sample_values,
    share_passing,
    text_side,
)
from rexview.importers.table.sheet import TableSheet, read_table_sheet
from rexview.vocab import SCORE_MAX, SCORE_MIN

_ENOUGH: Final = 0.9
_LONGEST_WORD: Final = 30
_MOST_WORDS: Final = 7
"""Maximum number of different words in a column of scores in words."""
_RUN: Final = re.compile(
    r"(.+?)[ _\-(]+(?:run|attempt|trial|repeat|rep|seed|try)[ _\-#]*(\d+)\)?", re.IGNORECASE
)
_SECTIONS: Final = frozenset(("findings", "impression", "explanation", "rationale", "reasoning"))
_CONTAINER: Final = ("answers.", "responses.", "outputs.", "predictions.", "models.", "results.")
_OTHER_TEXTS: Final = frozenset(
    (
        *("comment", "comments", "explanation", "rationale", "reasoning", "notes", "note"),
        *("question", "report", "reference", "truth", "gt", "gold", "prompt", "radiologist"),
        *("human", "expert", "reader", "correct", "error", "message", "justification"),
    )
)
"""Words in names of texts that are not answers."""
_USUAL_SCORES: Final = ScoreOptions()
_ROWS_LOOKED_AT: Final = 2000
_IMAGES: Final = ("image_2", "image_3")
_NEEDS: Final = {"score": "dimension", "dimension": "score", "image_2": "image", "image_3": "image"}
"""Fields that mean nothing without another field."""


def propose_mapping(
    path: Path, *, sheet: str | None = None, scores: ScoreOptions = _USUAL_SCORES
) -> ColumnMapping:
    """Propose the meaning of a table's columns, for any kind of file.

    ``scores`` describes scores that are not from 1 to 5 on a named dimension.

    Raises ImportSourceError if the file cannot be read as a table.
    """
    log = ProblemLog()
    table = (
        read_table_sheet(path, log, sheet=sheet, max_rows=_ROWS_LOOKED_AT)
        if path.is_file()
        else None
    )
    if table is None:
        if not path.is_file():
            log.error(path.name, "There is no such file.", "Check the path.")
        raise ImportSourceError(f"{path.name} cannot be read as a table.", log.problems)
    return guess_mapping(table, scores=scores)


def guess_mapping(
    table: TableSheet, *, scores: ScoreOptions = _USUAL_SCORES, models: Sequence[str] = ()
) -> ColumnMapping:
    """Propose the meaning of a table's columns; ``models`` are those of other files."""
    return _Proposal(table, scores).mapping(models)


class _Proposal:
    """The proposal for one table while it is made: its answers, and the column of each field."""

    def __init__(self, table: TableSheet, scores: ScoreOptions) -> None:
        self.table, self.scores = table, scores
        self.cells = column_values(table)
        self.names = {name: ColumnName.of(name) for name in table.columns}
        self.identity = tuple(name for name in table.columns if is_identity(name))
        own = [name for name in table.columns if name not in self.identity]
        options = self._options(own)
        of_options = {one.column for one in options.values()}
        self.open = [name for name in own if name not in of_options]
        self.names |= self._texts_by_side()
        self.names |= self._right_answer(bool(options))
        self.answers = self._answer_columns(self.open)
        self.fields: dict[str, FieldColumn] = {}
        self.fields = self._assign(self.left)
        models = {one.model for one in self.answers}
        if "model" in self.fields or ("answer" in self.fields and len(models) < 2):
            self.answers = []
            self.fields = self._assign(self.open)
        self.fields |= options
        self._take_texts()
        self._correct_case()
        self._find_ids()
        for one, other in _NEEDS.items():
            found = self.fields.get(one)
            named = one in _IMAGES and found is not None and found.confidence > MAX_CONTENT_FIT
            if other not in self.fields and not named:
                self.fields.pop(one, None)

    def mapping(self, models: Sequence[str]) -> ColumnMapping:
        """Return the proposal; the remaining columns are scores, or are kept unchanged."""
        models = list(dict.fromkeys((*(one.model for one in self.answers), *models)))
        found = {name: self._judgement(name, models, self.scores) for name in self.left}
        judgements = [one for one in found.values() if isinstance(one, JudgementColumn)]
        return ColumnMapping(
            file=self.table.file,
            columns=self.table.columns,
            fields=tuple(
                self.fields.get(field, FieldColumn(field, None)) for field in COLUMN_FIELDS
            ),
            answers=tuple(self.answers),
            judgements=tuple(judgements),
            identity=self.identity,
            model=None if "model" in self.fields or self.answers else Path(self.table.file).stem,
            sheet=self.table.name,
            kept=tuple(
                self._kept(name) if one is None else one
                for name, one in found.items()
                if not isinstance(one, JudgementColumn)
            ),
        )

    @property
    def left(self) -> list[str]:
        """The columns that have no meaning yet."""
        taken = {one.column for one in self.fields.values()}
        taken |= {one.column for one in self.answers}
        return [name for name in self.open if name not in taken]

    def _share(self, column: str, test: CellTest) -> float:
        return share_passing(self.cells[column], test)

    def _words(self, column: str) -> set[str]:
        return {*self.names[column].words}

    def _field(self, field: str, column: str, confidence: float) -> FieldColumn:
        return FieldColumn(field, column, confidence, sample_values(self.cells[column]))

    def _answer(self, column: str, model: str, field: str, confidence: float) -> AnswerColumn:
        return AnswerColumn(column, model, field, confidence, sample_values(self.cells[column]))

    # One column for each field

    def _assign(self, columns: Sequence[str]) -> dict[str, FieldColumn]:
        """Give each field the column that fits best, the surest pairs first.

        A fit by name comes before a fit by contents alone.
        """
        pairs = []
        for field in COLUMN_FIELDS:
            for place, column in enumerate(columns):
                name, cells = self.names[column], self.cells[column]
                named = round(column_fit(field, name, cells), 2)
                alone = content_only_fit(field, name, cells)
                if max(named, alone) >= MIN_FIT:
                    is_named = named >= MIN_FIT
                    pairs.append((is_named, named if is_named else alone, -place, field, column))
        found: dict[str, FieldColumn] = {}
        used: set[str] = set()
        for _, confidence, _, field, column in sorted(pairs, reverse=True):
            if field not in found and column not in used:
                found[field] = self._field(field, column, confidence)
                used.add(column)
        return found

    def _options(self, columns: Sequence[str]) -> dict[str, FieldColumn]:
        """Find a column for each option: ``option_A``, ``choice 1``, or just ``A``, ``B``, ..."""
        fields = [field for field in COLUMN_FIELDS if field.startswith("option_")]
        for words in (OPTION_WORDS, frozenset(("",))):
            found = {}
            for column in columns:
                *before, last = self.names[column].words or ("",)
                if " ".join(before) in words and (last.isdigit() or len(last) == 1):
                    found[int(last) if last.isdigit() else ord(last) - ord("a")] = column
            first, several = min(found, default=-1), 1 < len(found) <= len(fields)
            if several and first in (0, 1) and sorted(found) == [*range(first, first + len(found))]:
                pairs = zip(fields, sorted(found), strict=False)
                return {field: FieldColumn(field, found[place], 0.9) for field, place in pairs}
        return {}

    def _kept(self, column: str) -> UnmappedColumn:
        """Keep a column unchanged, with a note on what else it could be."""
        name, cells = self.names[column], self.cells[column]
        note = ""
        for field, taken in self.fields.items():
            close = column_fit(field, name, cells) >= MIN_NAME_FIT
            if close and field not in ("case", "comment", "tag_category"):
                label = COLUMN_FIELDS[field].lower()
                note = f"It could be the {label}, too, for which “{taken.column}” was taken."
                break
        else:
            if self._share(column, is_path) > 0.5:
                note = "It names pictures that were not taken for the study's."
            elif is_prose(cells) and not self._is_other_text(column):
                note = "It is full of text, which could be a model's answers."
        return UnmappedColumn(column, sample_values(cells), note)

    def _correct_case(self) -> None:
        """Unmap a case column that cannot be one: a row number, or an id of studies."""
        case, model, question = (self.fields.get(name) for name in ("case", "model", "question"))
        if case is None or case.column is None:
            return
        ids = self.table.column(case.column)
        named = (self.fields.get(one) for one in ("study_id", "image", "question"))
        keys = [one.column for one in named if one]
        groups = list(zip(*(self.table.column(key) for key in keys if key), strict=True))
        if model and model.column and len({*ids}) == len(ids) and len({*groups}) < len(groups):
            models = self.table.column(model.column)
            if len({*zip(groups, models, strict=True)}) == len(ids):
                del self.fields["case"]  # each model has the same questions: a row number
                return
        if question and question.column and "study_id" not in self.fields:
            asked = {*zip(ids, self.table.column(question.column), strict=True)}
            if len(asked) > len({*ids}):
                del self.fields["case"]
                self.fields["study_id"] = self._field("study_id", case.column, 0.7)

    def _find_ids(self) -> None:
        """Find the column that identifies cases if neither a name nor the question does.

        Among the columns that, with the model, differ in every row, the one with fewest values is
        used.
        """
        fields, table = self.fields, self.table
        if fields.keys() & {"case", "study_id", "image"} or len(table.rows) < 2:
            return

        def tells_apart(column: str | None) -> bool:
            model = fields.get("model")
            columns = [one for one in (column, model and model.column) if one]
            rows = list(zip(*(table.column(one) for one in columns), strict=True))
            return len(rows) > 0 and len({*rows}) == len(rows)

        question = fields.get("question")
        if (question and tells_apart(question.column)) or not (self.answers or "answer" in fields):
            return
        suited = [
            (len({*table.column(name)}), place, name)
            for place, name in enumerate(self.left)
            if tells_apart(name)
            and not is_long(self.cells[name])
            and None not in table.column(name)
            if self._judgement(name, (), _USUAL_SCORES) is None
            if self._share(name, lambda cell: any(letter.isdigit() for letter in cell)) > 0.8
            if self._share(name, lambda cell: is_number(cell) and not cell.isdigit()) < 0.5
        ]
        if suited:
            fields["case"] = self._field("case", min(suited)[2], 0.5)

    # Texts and answers

    def _texts_by_side(self) -> dict[str, ColumnName]:
        """Return new names for texts whose names show which side they are from.

        ``label`` with ``pred``, or ``target`` with ``output``, are the reference and an answer if
        both are texts. A text that asks is the question, whatever its name.
        """
        named = {
            name: ColumnName.of("question")
            for name in self.open
            if name_fit("answer", self.names[name]) and are_questions(self.cells[name])
        }
        others = {*NOT_AN_ANSWER - {"label"}, *QUESTION_WORDS, *_SECTIONS}
        sides = {
            name: text_side(self.names[name].words)
            for name in self.open
            if is_text(self.cells[name]) and not self._share(name, is_path)
            if name not in named and not self._words(name) & others
        }
        references = [name for name, side in sides.items() if side > 0]
        models = [name for name, side in sides.items() if side < 0]
        if len(references) == 1 and models:
            named[references[0]] = ColumnName.of("reference report")
            [first, *more] = models
            if not (more or MODEL_NAME.search(first) or name_fit("answer", self.names[first])):
                named[first] = ColumnName.of("generated report")
        return named

    def _right_answer(self, options: bool) -> dict[str, ColumnName]:
        """Rename a plain "answer" to the right one if another column has the models' answers."""
        plain = {self.names[column].plain: column for column in reversed(self.open)}
        column = plain.get("answer", plain.get("answers"))
        if column is None:
            return {}
        of_models = any(
            self.cells[one] and self._share(one, is_number) < 0.5
            for name, one in plain.items()
            if name in MODEL_ANSWER_NAMES
        )
        wide = any(
            one.field == "answer"
            and (MODEL_NAME.search(one.model) or is_prose(self.cells[one.column]))
            for one in self._answer_columns([name for name in self.open if name != column])
        )
        letters = self._share(column, is_letter) > 0.9
        choices = options or any(one in plain for one in FIELD_COLUMN_NAMES["options"])
        told = any(
            one in plain for one in (*FIELD_COLUMN_NAMES["model"], *FIELD_COLUMN_NAMES["correct"])
        )
        if of_models or wide or (letters and choices and not told):
            return {column: ColumnName.of("correct answer" if choices else "reference answer")}
        return {}

    def _answer_columns(self, columns: Sequence[str]) -> list[AnswerColumn]:
        """Find columns that belong to one model each: ``GPT-5 answer``, ``response_medgemma``."""
        found = []
        for column in columns:
            split = _model_and_field(self.names[column])
            if split and content_fit(split[1], self.cells[column]) >= 0.7:
                sure = 0.9 if MODEL_NAME.search(split[0]) else 0.75
                found.append(self._answer(column, *split, sure))
        answering = {one.model.lower(): one.model for one in found if one.field == "answer"}
        return [
            replace(one, model=answering[one.model.lower()])
            for one in found
            if one.model.lower() in answering
        ]

    def _take_texts(self) -> None:
        """Take texts that no name explains for answers, unless a column names the model."""
        left, answers, fields = self.left, self.answers, self.fields
        texts = [] if "model" in fields else self._columns_of_text(left)
        if not answers and "answer" in fields:
            if any(is_prose(self.cells[one.column]) for one in texts):
                model = Path(self.table.file).stem
                for field in [field for field in ANSWER_FIELDS if field in fields]:
                    answers.append(self._answer(fields.pop(field).column or "", model, field, 0.6))
        elif not answers and not texts:
            for column in left:
                if is_prose(self.cells[column]) and not self._is_other_text(column):
                    fields["answer"] = self._field("answer", column, MIN_FIT)
                    break
        if answers:
            texts = [one for one in texts if is_prose(self.cells[one.column])]
            if {"options", "option_a"} & fields.keys():
                texts += [
                    self._answer(name, _without_container(name), "answer", 0.5)
                    for name in left
                    if self._share(name, is_letter) > 0.8
                    if not _names_no_model(self.names[name].words)
                    if name_fit("correct", self.names[name]) < MIN_FIT
                ]
        self.answers = _separate_runs([*answers, *texts])

    def _columns_of_text(self, columns: Sequence[str]) -> list[AnswerColumn]:
        """Return columns of long text, and those named after a known model, as models' answers."""
        found = []
        for column in columns:
            known, words = MODEL_NAME.search(column) is not None, self.names[column].words
            cells = self.cells[column]
            kind = bool(words) and {*words} <= KINDS_OF_MODEL and is_prose(cells)
            texts = (is_long(cells) and self._share(column, is_path) <= 0.5) or (
                known and self._share(column, is_number) <= 0.5
            )
            if kind or (texts and not _names_no_model(words) and not NOT_AN_ANSWER & {*words}):
                found.append(
                    self._answer(
                        column, _without_container(column), "answer", 0.8 if known else 0.45
                    )
                )
        return found

    def _is_other_text(self, column: str) -> bool:
        """True if a name means that a text is not an answer: a question, a report, a comment."""
        return bool((NOT_AN_ANSWER | _OTHER_TEXTS) & self._words(column))

    # Scores

    def _judgement(
        self, column: str, models: Sequence[str], scores: ScoreOptions
    ) -> JudgementColumn | UnmappedColumn | None:
        """Recognise scores or ticks: ``process_reader1``, ``GPT-5 laterality error R2``.

        Scores that are not from 1 to 5, or have no dimension, are kept unchanged with advice on how
        to read them, unless ``scores`` gives scale and dimension.
        """
        name, cells = self.names[column], self.cells[column]
        told = [(dimension, [phrase]) for phrase, dimension in scores.names]
        for judges, phrases in (
            *told,
            *DIMENSION_COLUMN_NAMES.items(),
            *FAILURE_COLUMN_NAMES.items(),
        ):
            place = next((found for phrase in phrases if (found := name.find(phrase))), None)
            if place is None:
                continue
            if judges in DIMENSION_COLUMN_NAMES:
                return self._scores(judges, name, place, models, scores)
            if cells and share_passing(cells, is_tick) < 0.8:
                return None
            model, reader = _model_and_reader(name, place, models)
            sure = 0.9 if cells else 0.6
            return JudgementColumn(column, judges, reader, model, sure, sample_values(cells))
        numbers = [cell for cell in cells if not is_not_scored(cell)]
        named = bool(SCORE_NAMES & {*name.words}) or _reader_in(column)[1] is not None
        short = all(len(cell) <= _LONGEST_WORD for cell in numbers)
        few = share_passing(numbers, is_number) > 0.8 or len({*numbers}) <= _MOST_WORDS
        # a value computed by a program is not a reader's score
        if not (named and numbers and short and few) or find_metric_id(column):
            return None
        if scores.dimension:
            return self._scores(scores.dimension, name, (0, 0), models, scores)
        note = "It looks like scores of no known dimension."
        return UnmappedColumn(
            column, sample_values(cells), note, "Say which they are of with --dimension."
        )

    def _scores(
        self,
        judges: str,
        name: ColumnName,
        place: tuple[int, int],
        models: Sequence[str],
        scores: ScoreOptions,
    ) -> JudgementColumn | UnmappedColumn:
        column = name.written
        cells = [cell for cell in self.cells[column] if not is_not_scored(cell)]
        test = ScoreScale.of(scores.scale).holds if scores.scale else _is_score
        if cells and share_passing(cells, test) < _ENOUGH:
            return _keep_scores(judges, column, cells)
        model, reader = _model_and_reader(name, place, models)
        sure = 0.9 if cells else 0.6
        return JudgementColumn(
            column, judges, reader, model, sure, sample_values(cells), scores.scale
        )


def _is_score(cell: str) -> bool:
    number = read_number(cell)
    return number is not None and SCORE_MIN <= number <= SCORE_MAX


def _keep_scores(judges: str, column: str, cells: ColumnCells) -> UnmappedColumn:
    """Keep scores that cannot be used directly; give the reason, and their possible scales."""
    numbers = [number for cell in cells if (number := read_number(cell)) is not None]
    what = f"It looks like scores for {judges.replace('_', ' ')}, but not from 1 to 5"
    if len(numbers) < 0.8 * len(cells):
        advice = "With --scale and the words, worst first and apart by commas, they are converted."
        return UnmappedColumn(column, sample_values(cells), f"{what}: it holds words.", advice)
    fits = [scale for scale in ScoreScale.USUAL if all(map(ScoreScale.of(scale).takes, numbers))]
    scales = tuple(fits[:2])
    offered = " or ".join(f"--scale {scale}" for scale in scales) or "--scale LOW-HIGH"
    note = f"{what}: it goes from {min(numbers):g} to {max(numbers):g}."
    return UnmappedColumn(column, sample_values(cells), note, f"Convert it with {offered}.", scales)


def _model_and_reader(
    name: ColumnName, place: tuple[int, int], models: Sequence[str]
) -> tuple[str | None, str | None]:
    """Return the judged model and the reader, from the words around the name of the judgement."""
    model = reader = None
    for text in (name.text(0, place[0]), name.text(place[1], len(name.words))):
        if not text:
            continue
        rest, who = _reader_in(text)
        reader = reader or who
        known = next((one for one in models if one.lower() == rest.lower()), None)
        about_scores = SCORE_NAMES & {*ColumnName.of(rest).words}
        if known:
            model = known
        elif re.search(r"[^\W\d_]", rest) and not reader and not about_scores:
            reader = rest
    return model, reader


def _reader_in(text: str) -> tuple[str, str | None]:
    """Split off a reader such as ``reader1``, ``R2``, ``rater B``; return the rest and it."""
    name = ColumnName.of(text)
    for place, word in enumerate(name.words):
        follows = name.words[place + 1] if place + 1 < len(name.words) else ""
        numbered = follows.isdigit() or (len(follows) == 1 and follows.isalpha())
        if word in READER_NAMES and (numbered or len(word) > 3):
            end = place + 1 + numbered
            rest = f"{name.text(0, place)} {name.text(end, len(name.words))}".strip()
            return rest, name.text(place, end)
    return text, None


def _separate_runs(answers: list[AnswerColumn]) -> list[AnswerColumn]:
    """Distinguish runs of one model from models: ``gpt-4o run 1``, ``gpt-4o run 2``."""
    split = {one.model: found for one in answers if (found := _RUN.fullmatch(one.model))}
    runs: dict[str, set[str]] = {}
    for found in split.values():
        runs.setdefault(found[1], set()).add(found[2])
    return [
        replace(one, model=found[1], run=found[2])
        if (found := split.get(one.model)) and len(runs[found[1]]) > 1
        else one
        for one in answers
    ]


def _names_no_model(words: Sequence[str]) -> bool:
    """True if words cannot be a model's name; ``model 1`` and ``system B`` can."""
    told = any(word in NOT_A_MODEL and word not in KINDS_OF_MODEL for word in words)
    return told or all(word in KINDS_OF_MODEL for word in words) or "".join(words).isdigit()


def _model_and_field(name: ColumnName) -> tuple[str, str] | None:
    """Split ``answer (GPT-5)`` or ``gpt5_finish_reason`` into the model and the field."""
    best: tuple[int, str, str] | None = None
    for field in ANSWER_FIELDS:
        for phrase in FIELD_COLUMN_NAMES[field]:
            place = name.find(phrase)
            if place is None or (place[0] > 0 and place[1] < len(name.words)):
                continue
            start, end = place
            inner = name.written.lower().startswith(_CONTAINER) and start == 0
            if "." in name.written and end < len(name.words) and not inner:
                continue  # a field of an object with that name
            rest = (0, start) if start else (end, len(name.words))
            if _names_no_model(name.words[slice(*rest)]):
                continue
            if best is None or end - start > best[0]:
                best = (end - start, _without_container(name.text(*rest)), field)
    return best[1:] if best else None


def _without_container(model: str) -> str:
    """Return a model's name without the name of the JSON object that contains all models."""
    prefix = next((one for one in _CONTAINER if model.lower().startswith(one)), "")
    return model[len(prefix) :] or model
