"""Readers' judgements in a table: score and failure columns, or a score a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rexview.reviewset.importers.core.draft import Draft
from rexview.reviewset.importers.table.cell_values import is_not_scored, read_number, read_yes_no
from rexview.reviewset.importers.table.column_mapping import ColumnMapping
from rexview.reviewset.importers.table.sheet import Row
from rexview.schema import Reader, ReaderFlag, Score
from rexview.vocab import DIMENSIONS, SCORE_MAX, SCORE_MIN

DEFAULT_READER: Final = "reader1"


class JudgementReader:
    """Reads the scores and flags of each row into a draft, each judgement once."""

    def __init__(self, draft: Draft, mapping: ColumnMapping) -> None:
        self.draft, self.mapping = draft, mapping
        self.scored = {
            (one.case, one.model, one.reader, one.dimension): one.score for one in draft.scores
        }
        self.flagged = {(one.case, one.model, one.reader, one.failure) for one in draft.flags}

    def read(self, case: str, models: Sequence[str], row: Row) -> None:
        """Read the judgements of one row; ``models`` are those that the row has an answer of."""
        for judgement in self.mapping.judgements:
            text = row.cells[judgement.column]
            if text is None:
                continue
            meant = (
                models
                if judgement.model is None
                else [one for one in models if one == judgement.model]
            )
            if len(meant) != 1:
                self._warn_of_models(judgement.column, meant, row)
                continue
            reader = judgement.reader or row["reader"] or DEFAULT_READER
            answer = (case, meant[0], reader)
            if judgement.judges in DIMENSIONS:
                self._score(answer, judgement.judges, text, judgement.column, row)
            else:
                self._flag(answer, judgement.judges, text, judgement.column, row)
        self._one_score(case, models, row)

    def _one_score(self, case: str, models: Sequence[str], row: Row) -> None:
        """Read a row that holds one score: its dimension in one column, its value in another."""
        dimension, text = row["dimension"], row["score"]
        if dimension is None or text is None:
            return
        word = "_".join(dimension.lower().replace("-", " ").split())
        if word not in DIMENSIONS:
            message = f"“{dimension[:40]}” is not a dimension; the score was left out."
            row.warn(message, f"Use one of {', '.join(DIMENSIONS)}.", row.columns["dimension"])
        elif len(models) != 1:
            self._warn_of_models(row.columns["score"], models, row)
        else:
            answer = (case, models[0], row["reader"] or DEFAULT_READER)
            self._score(answer, word, text, row.columns["score"], row)

    def _score(
        self, answer: tuple[str, str, str], dimension: str, text: str, column: str, row: Row
    ) -> None:
        if is_not_scored(text):
            return
        value = read_number(text)
        if value is None or not value.is_integer() or not SCORE_MIN <= value <= SCORE_MAX:
            message = "The score is not a whole number from 1 to 5; it counts as not scored."
            remedy = "Write 1, 2, 3, 4 or 5, and leave the cell empty for not scored."
            row.warn(message, remedy, column)
            return
        key = (*answer, dimension)
        if key in self.scored:
            if self.scored[key] != int(value):
                row.warn(
                    "This reader has another score for the same answer in an earlier row, which "
                    "was kept.",
                    "Add a reader column if two readers scored it.",
                    column,
                )
            return
        self.scored[key] = int(value)
        self._meet(answer[2])
        self.draft.scores.append(Score(*key, int(value), comment=row["comment"]))

    def _flag(
        self, answer: tuple[str, str, str], failure: str, text: str, column: str, row: Row
    ) -> None:
        ticked = read_yes_no(text)
        if ticked is None:
            message = "The cell says neither yes nor no; it was left out."
            row.warn(message, "Write yes or no.", column)
        key = (*answer, failure)
        if ticked and key not in self.flagged:
            self.flagged.add(key)
            self._meet(answer[2])
            self.draft.flags.append(ReaderFlag(*key, comment=row["comment"]))

    def _meet(self, reader: str) -> None:
        self.draft.readers.setdefault(reader, Reader(id=reader, name=reader))

    def _warn_of_models(self, column: str, models: Sequence[str], row: Row) -> None:
        if models:
            message = "It is not clear which model's answer this judgement is for; it was left out."
            row.warn(message, "Name the model of this column in the mapping.", column)
        else:
            message = "There is no answer for this judgement; it was left out."
            row.warn(message, "Add the answer.", column)
