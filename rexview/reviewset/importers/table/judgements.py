"""Readers' judgements in a table: score and failure columns, or a score a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from rexview.reviewset.importers.core.set_rows import SetRows
from rexview.reviewset.importers.table.cell_values import is_not_scored, read_number, read_yes_no
from rexview.reviewset.importers.table.column_mapping import ColumnMapping
from rexview.reviewset.importers.table.mapped_row import MappedRow
from rexview.reviewset.importers.table.score_scale import ScoreOptions, ScoreScale
from rexview.vocab import DIMENSIONS, SCORE_MAX, SCORE_MIN

DEFAULT_READER: Final = "reader1"


class JudgementReader:
    """Adds the scores and flags of each row of one table.

    ``scores`` says how the scores of a table with one score a row are read.
    """

    def __init__(self, rows: SetRows, mapping: ColumnMapping, scores: ScoreOptions) -> None:
        self.rows, self.mapping, self.scores = rows, mapping, scores
        self.scale = ScoreScale.of(scores.scale) if scores.scale else None

    def read(self, case: str, models: Sequence[str], row: MappedRow) -> int:
        """Read the judgements of one row; return how many there are.

        ``models`` are those whose answers the row is about. What cannot be used is left in the row.
        """
        made = 0
        reader, comment = row.peek("reader"), row.peek("comment")
        for one in self.mapping.judgements:
            text = row.row.cells[one.column]
            if not text:
                continue
            meant = [one.model] if one.model is not None else list(dict.fromkeys(models))
            if len(meant) != 1:
                self._warn_of_models(one.column, meant, row)
                continue
            answer = {"case": case, "model": meant[0], "comment": comment}
            answer["reader"] = one.reader or reader or DEFAULT_READER
            if one.judges in DIMENSIONS:
                scale = ScoreScale.of(one.scale) if one.scale else None
                made += self._score(answer, one.judges, text, one.column, scale, row)
            else:
                made += self._flag(answer, one.judges, text, one.column, row)
        made += self._one_score(case, models, row)
        if made:
            for field in ("model", "reader", "comment"):
                row.take(field)
        return made

    def _one_score(self, case: str, models: Sequence[str], row: MappedRow) -> int:
        """Read a row that holds one score: its dimension in one column, its value in another."""
        dimension, text = row.peek("dimension"), row.peek("score")
        if dimension is None or text is None:
            return 0
        word = self.scores.of_word(dimension)
        if word is None:
            message = f"“{dimension[:40]}” is not a dimension; the score is kept as an extra field."
            remedy = f"Use one of {', '.join(DIMENSIONS)}, or say which is meant "
            remedy += f"(dimension: {dimension[:40]}=…)."
            row.warn(message, remedy, "dimension", self.rows)
            return 0
        if len(models) != 1:
            self._warn_of_models(row.fields["score"], models, row)
            return 0
        answer = {"case": case, "model": models[0], "comment": row.peek("comment")}
        answer["reader"] = row.peek("reader") or DEFAULT_READER
        made = self._score(answer, word, text, row.fields["score"], self.scale, row)
        if made:
            row.take("dimension")
        return made

    def _score(
        self,
        answer: dict[str, Any],
        dimension: str,
        text: str,
        column: str,
        scale: ScoreScale | None,
        row: MappedRow,
    ) -> int:
        if is_not_scored(text):
            row.take_column(column)
            return 0
        extra = {}
        if scale is not None:
            score = scale.convert(text)
            extra = {"score_given": row.row.value(column)}
        else:
            number = read_number(text)
            usable = number is not None and number.is_integer()
            score = int(number) if number is not None and usable else None
        if score is None or not SCORE_MIN <= score <= SCORE_MAX:
            message = "The score is not a whole number from 1 to 5; it counts as not scored."
            remedy = "Write 1, 2, 3, 4 or 5, or say which scale it is of (scale)."
            if scale is not None:
                message = "The score is not on the scale that was given; it counts as not scored."
                remedy = "Correct it, or give another scale."
            row.warn(message, remedy, column, self.rows)
            return 0
        row.take_column(column)
        at = replace(row.at, columns={**row.at.columns, "score": column})
        given = {**answer, "dimension": dimension, "score": score, "extra": extra}
        self.rows.add_score({name: one for name, one in given.items() if one not in (None, {})}, at)
        return 1

    def _flag(
        self, answer: dict[str, Any], failure: str, text: str, column: str, row: MappedRow
    ) -> int:
        ticked = read_yes_no(text)
        if ticked is None:
            message = "The cell says neither yes nor no; it is kept as an extra field."
            row.warn(message, "Write yes or no.", column, self.rows)
            return 0
        row.take_column(column)
        if not ticked:
            return 0
        given = {name: one for name, one in answer.items() if one is not None}
        self.rows.add_flag({**given, "failure": failure}, row.at)
        return 1

    def _warn_of_models(self, column: str, models: Sequence[str], row: MappedRow) -> None:
        if models:
            message = "It is not clear which model's answer this judgement is for; it is kept as "
            message += "an extra field."
            row.warn(message, "Name the model of this column in the mapping.", column, self.rows)
        else:
            message = "There is no answer for this judgement; it is kept as an extra field."
            row.warn(message, "Add the answer.", column, self.rows)
