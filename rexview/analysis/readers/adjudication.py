"""Answers to adjudicate: those on which readers are far apart, worst first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import pandas as pd
import polars as pl

from rexview.analysis.filter.case_filter import CaseFilter, Range
from rexview.analysis.filter.linked_count import Count
from rexview.analysis.filter.refinement import narrowed
from rexview.analysis.memory.score_index import told_apart
from rexview.analysis.memory.selection import apply
from rexview.analysis.memory.table import AnswerTable
from rexview.analysis.readers.tables import marks_left
from rexview.schema import ReviewSet
from rexview.vocab import DIMENSION_NAMES, DIMENSIONS

_NEARLY = 1e-9


@dataclass(frozen=True)
class Dispute:
    """One dimension of an answer on which readers are apart.

    ``marks`` has each reader's score by reader id (the mean over pictures where there are several);
    ``comments`` are pairs of reader id and what was written beside the score.
    """

    dimension: str
    apart: float
    marks: Mapping[str, float]
    comments: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """Name of the dimension on screen."""
        return DIMENSION_NAMES[self.dimension]


@dataclass(frozen=True)
class ToAdjudicate:
    """One answer with its disputes, the furthest apart first; ``apart`` is the largest."""

    case: str
    model: str
    question: str
    apart: float
    disputes: tuple[Dispute, ...]


@dataclass(frozen=True, eq=False)
class Adjudication:
    """The answers to adjudicate for one filter and threshold.

    ``answers`` counts them and opens them in Browse, in ``cases`` cases; ``opens`` of it is also
    the filter within which the Case page walks them.
    """

    threshold: float
    answers: Count
    cases: int
    _table: AnswerTable
    _rows: pl.DataFrame
    _marks: pl.DataFrame

    def part(self, start: int, size: int) -> list[ToAdjudicate]:
        """Return some of the answers, worst first: a page of a long list."""
        rows = self._rows[start : start + size]
        marks: dict[tuple[str, str], list[dict[str, object]]] = {}
        wanted = self._marks.join(rows, on=["case", "model"], how="semi", maintain_order="left")
        for mark in wanted.iter_rows(named=True):
            marks.setdefault((mark["case"], mark["model"]), []).append(mark)
        return [
            ToAdjudicate(
                row["case"],
                row["model"],
                row["question"],
                row["spread"],
                _disputes(marks.get((row["case"], row["model"]), []), self.threshold),
            )
            for row in rows.iter_rows(named=True)
        ]

    def frame(self, readers: Mapping[str, str]) -> pd.DataFrame:
        """Return the whole list as a table: one row for each answer and disputed dimension.

        Parameters
        ----------
        readers : mapping of str to str
            Name on screen by reader id: two columns each, score and comment.
        """
        columns = ["Case", "Model", "Question", "Dimension", "Points apart"]
        columns += [
            f"{word}: {name}"
            for name in told_apart(readers).values()
            for word in ("Score", "Comment")
        ]
        rows = []
        for answer in self.part(0, len(self._rows)):
            model = self._table.models.get(answer.model, answer.model)
            for dispute in answer.disputes:
                row: list[object] = [answer.case, model, answer.question, dispute.name]
                row.append(dispute.apart)
                for reader in readers:
                    said = [text for who, text in dispute.comments if who == reader]
                    row += [dispute.marks.get(reader), " | ".join(said)]
                rows.append(row)
        return pd.DataFrame(rows, columns=columns)


def adjudication(
    review_set: ReviewSet, table: AnswerTable, case_filter: CaseFilter, threshold: float
) -> Adjudication:
    """Find the answers that a filter leaves on which two readers are ``threshold`` or more apart.

    Parameters
    ----------
    review_set : ReviewSet
    table : AnswerTable
        Of the same review set.
    case_filter : CaseFilter
    threshold : float
        Points between two readers on one dimension, above 0.
    """
    limits = narrowed(case_filter, disagreement=Range(threshold, None))
    if limits is None:  # the filter asks for answers that are closer than that
        limits = replace(case_filter, disagreement=Range(threshold, None))
        selection = apply(table, limits)
        rows = selection.rows.clear()
    else:
        limits = replace(limits, sort="disagreement")
        selection = apply(table, limits)
        rows = selection.rows
    rows = rows.sort("spread", descending=True, maintain_order=True)
    rows = rows.select(
        "case",
        pl.col("model").cast(pl.String),
        "spread",
        table.cases["question"].gather(rows["case_row"]).alias("question"),
    )
    marks = marks_left(review_set, selection)
    count = Count(len(rows), limits)
    return Adjudication(threshold, count, rows["case"].n_unique(), table, rows, marks)


def _disputes(marks: Iterable[Mapping[str, object]], threshold: float) -> tuple[Dispute, ...]:
    """Gather the dimensions on which the readers of one answer are apart."""
    given: dict[str, dict[str, list[int]]] = {}
    said: dict[str, list[tuple[str, str]]] = {}
    for mark in marks:
        dimension, reader, score = str(mark["dimension"]), str(mark["reader"]), mark["score"]
        if isinstance(score, int):
            given.setdefault(dimension, {}).setdefault(reader, []).append(score)
        comment = str(mark["comment"] or "").strip()
        if comment:
            said.setdefault(dimension, []).append((reader, comment))
    found = []
    for dimension in DIMENSIONS:
        means = {
            reader: sum(scores) / len(scores) for reader, scores in given.get(dimension, {}).items()
        }
        apart = max(means.values(), default=0.0) - min(means.values(), default=0.0)
        if len(means) > 1 and apart >= threshold - _NEARLY:
            comments = tuple(said.get(dimension, ()))
            found.append(Dispute(dimension, round(apart, 9), means, comments))
    return tuple(sorted(found, key=lambda dispute: -dispute.apart))
