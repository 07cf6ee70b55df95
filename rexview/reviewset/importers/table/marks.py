"""Readers' marks in a table: a score column a dimension, a tick a failure, or one score a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rexview.reviewset.importers.core.draft import Draft
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.table.cell_values import is_not_scored, read_number, read_yes_no
from rexview.reviewset.importers.table.column_mapping import ColumnMapping, MarkColumn
from rexview.schema import Reader, ReaderFlag, Score
from rexview.vocab import DIMENSIONS, SCORE_MAX, SCORE_MIN

DEFAULT_READER: Final = "reader1"

Record = Mapping[str, str | None]


class MarkReader:
    """Reads the scores and flags of each row into a draft, each mark once."""

    def __init__(self, draft: Draft, file: str, mapping: ColumnMapping, log: ProblemLog) -> None:
        self.draft, self.file, self.mapping, self.log = draft, file, mapping, log
        self.columns = {one.field: one.column for one in mapping.fields if one.column}
        self.scored = {
            (one.case, one.model, one.reader, one.dimension): one.score for one in draft.scores
        }
        self.flagged = {(one.case, one.model, one.reader, one.failure) for one in draft.flags}

    def read(self, case: str, models: Sequence[str], number: int, record: Record) -> None:
        """Read the marks of one row; ``models`` are those that the row has an answer of."""
        row_reader = self._get(record, "reader")
        for mark in self.mapping.marks:
            text = record[mark.column]
            if text is None:
                continue
            if mark.model is not None:
                meant: Sequence[str] = [mark.model]
            else:
                meant = models
            if len(meant) != 1 or (mark.model is not None and mark.model not in models):
                self._no_answer(mark.column, number, several=len(meant) > 1)
                continue
            reader = mark.reader or row_reader or DEFAULT_READER
            if mark.mark in DIMENSIONS:
                self._score(case, meant[0], reader, mark.mark, text, mark.column, number, record)
            else:
                self._flag(case, meant[0], reader, mark, text, number, record)
        self._tidy(case, models, row_reader or DEFAULT_READER, number, record)

    def _tidy(
        self, case: str, models: Sequence[str], reader: str, number: int, record: Record
    ) -> None:
        """Read a row that holds one score: its dimension in one column, its value in another."""
        dimension, text = self._get(record, "dimension"), self._get(record, "score")
        if dimension is None or text is None:
            return
        word = "_".join(dimension.lower().replace("-", " ").split())
        if word not in DIMENSIONS:
            self.log.warning(
                self.file,
                f"“{dimension[:40]}” is not a dimension; the score was left out.",
                f"Use one of {', '.join(DIMENSIONS)}.",
                row=number,
                field=self.columns["dimension"],
            )
        elif len(models) != 1:
            self._no_answer(self.columns["score"], number, several=len(models) > 1)
        else:
            column = self.columns["score"]
            self._score(case, models[0], reader, word, text, column, number, record)

    def _get(self, record: Record, field: str) -> str | None:
        column = self.columns.get(field)
        return record[column] if column else None

    def _score(
        self,
        case: str,
        model: str,
        reader: str,
        dimension: str,
        text: str,
        column: str,
        row: int,
        record: Record,
    ) -> None:
        if is_not_scored(text):
            return
        value = read_number(text)
        if value is None or not value.is_integer() or not SCORE_MIN <= value <= SCORE_MAX:
            self.log.warning(
                self.file,
                "The score is not a whole number from 1 to 5; it counts as not scored.",
                "Write 1, 2, 3, 4 or 5, and leave the cell empty for not scored.",
                row=row,
                field=column,
            )
            return
        key = (case, model, reader, dimension)
        if key in self.scored:
            if self.scored[key] != int(value):
                self.log.warning(
                    self.file,
                    "This reader has another score for the same answer in an earlier row, which "
                    "was kept.",
                    "Add a reader column if two readers scored it.",
                    row=row,
                    field=column,
                )
            return
        self.scored[key] = int(value)
        self._meet(reader)
        self.draft.scores.append(
            Score(
                case=case,
                model=model,
                reader=reader,
                dimension=dimension,
                score=int(value),
                comment=self._get(record, "comment"),
            )
        )

    def _flag(
        self,
        case: str,
        model: str,
        reader: str,
        mark: MarkColumn,
        text: str,
        row: int,
        record: Record,
    ) -> None:
        ticked = read_yes_no(text)
        if ticked is None:
            self.log.warning(
                self.file,
                "The cell says neither yes nor no; it was left out.",
                "Write yes or no.",
                row=row,
                field=mark.column,
            )
        key = (case, model, reader, mark.mark)
        if not ticked or key in self.flagged:
            return
        self.flagged.add(key)
        self._meet(reader)
        comment = self._get(record, "comment")
        self.draft.flags.append(ReaderFlag(case, model, reader, mark.mark, comment=comment))

    def _meet(self, reader: str) -> None:
        self.draft.readers.setdefault(reader, Reader(id=reader, name=reader))

    def _no_answer(self, column: str, row: int, *, several: bool) -> None:
        message = (
            "It is not clear which model's answer this mark is for; it was left out."
            if several
            else "There is no answer for this mark; it was left out."
        )
        remedy = "Name the model of this column in the mapping." if several else "Add the answer."
        self.log.warning(
            self.file, message, remedy, row=row, field=column, kind=f"{column} {message}"
        )
