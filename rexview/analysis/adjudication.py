"""Answers on which readers differ: a list, worst first, and the consensus that they found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

import polars as pl

from rexview.analysis.query.engine import DisputedAnswer, Engine, ReaderScore
from rexview.analysis.query.filter.case_filter import CaseFilter, Range
from rexview.analysis.query.filter.linked_count import Count, refined
from rexview.analysis.query.study import by_keyed_hash
from rexview.schema import ReviewSet, Score
from rexview.vocab import DIMENSION_NAMES, DIMENSIONS
from rexview.words import tr

if TYPE_CHECKING:
    import pandas as pd


_NEARLY = 1e-9


@dataclass(frozen=True)
class Dispute:
    """One dimension of an answer on which readers are apart.

    ``scores`` has each reader's score by reader id (the mean over pictures if there are several);
    ``comments`` are pairs of reader id and what was written beside the score.
    """

    dimension: str
    apart: float
    scores: Mapping[str, float]
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
    _engine: Engine

    def part(self, start: int, size: int) -> list[ToAdjudicate]:
        """Return some of the answers, worst first: a page of a long list."""
        if not self.answers.value:
            return []
        return [
            ToAdjudicate(
                answer.case,
                answer.model,
                answer.question,
                answer.apart,
                _disputes(answer, self.threshold),
            )
            for answer in self._engine.disputed(self.answers.opens, start, size)
        ]

    def frame(self, readers: Mapping[str, str]) -> pd.DataFrame:
        """Return the whole list as a table: one row for each answer and disputed dimension.

        Parameters
        ----------
        readers : mapping of str to str
            Name on screen by reader id, no two alike: two columns each, score and comment.
        """
        import pandas as pd  # takes a third of a second: all pages import this module

        columns = [tr("Case"), tr("Model"), tr("Question"), tr("Dimension"), tr("Points apart")]
        columns += [
            f"{word}: {name}" for name in readers.values() for word in (tr("Score"), tr("Comment"))
        ]
        rows = []
        for answer in self.part(0, self.answers.value):
            model = self._engine.facts.models.get(answer.model, answer.model)
            for dispute in answer.disputes:
                row: list[object] = [answer.case, model, answer.question, dispute.name]
                row.append(dispute.apart)
                for reader in readers:
                    comments = [text for writer, text in dispute.comments if writer == reader]
                    row += [dispute.scores.get(reader), " | ".join(comments)]
                rows.append(row)
        return pd.DataFrame(rows, columns=columns)


def adjudication(engine: Engine, case_filter: CaseFilter, threshold: float) -> Adjudication:
    """Find the answers that a filter leaves on which two readers are ``threshold`` or more apart.

    ``threshold`` is in points on one dimension, above 0.
    """
    limits = refined(case_filter, disagreement=Range(threshold, None))
    if limits is None:  # the filter asks for answers that are closer than that
        none = replace(case_filter, disagreement=Range(threshold, None))
        return Adjudication(threshold, Count(0, none), 0, engine)
    limits = replace(limits, sort="disagreement")
    tally = engine.tally(limits)
    return Adjudication(threshold, Count(tally.answers, limits), tally.cases, engine)


def _disputes(answer: DisputedAnswer, threshold: float) -> tuple[Dispute, ...]:
    """Gather the dimensions on which the readers of one answer are apart."""
    found = []
    for dimension in DIMENSIONS:
        by_reader: dict[str, list[int]] = {}
        scores = [score for score in answer.scores if score.dimension == dimension]
        for score in scores:
            by_reader.setdefault(score.reader, []).append(score.score)
        means = {reader: sum(values) / len(values) for reader, values in by_reader.items()}
        apart = max(means.values(), default=0.0) - min(means.values(), default=0.0)
        if len(means) > 1 and apart >= threshold - _NEARLY:
            comments = tuple(
                (score.reader, text) for score in scores if (text := score.comment.strip())
            )
            found.append(Dispute(dimension, round(apart, 9), means, comments))
    return tuple(sorted(found, key=lambda dispute: -dispute.apart))


# Scores on which readers differ, case by case, and the consensus that was found on them.
#
# A consensus is shown beside the scores and never replaces them in a statistic.

_ITEM: Final = ("case", "model", "dimension", "image")


@dataclass(frozen=True)
class Consensus:
    """What was agreed on one score: by whom and when (UTC)."""

    score: int | None
    comment: str
    adjudicator: str
    at: datetime


@dataclass(frozen=True)
class Difference:
    """One dimension of an answer, or of one picture of it, that readers scored far apart.

    ``picture`` counts from 0; None where the whole answer was scored.
    """

    case: str
    model: str
    dimension: str
    picture: int | None
    apart: int
    scores: tuple[ReaderScore, ...]
    consensus: Consensus | None

    @property
    def has_consensus(self) -> bool:
        """Whether a consensus score was recorded."""
        return self.consensus is not None and self.consensus.score is not None


@dataclass(frozen=True)
class CaseDifferences:
    """A case with the scores that need a consensus, in the order of the answers."""

    case: str
    differences: tuple[Difference, ...]

    @property
    def apart(self) -> int:
        """Points between the readers where they are furthest apart."""
        return max(one.apart for one in self.differences)

    @property
    def n_agreed(self) -> int:
        """How many differences have a consensus."""
        return sum(one.has_consensus for one in self.differences)

    @property
    def has_consensus(self) -> bool:
        """Whether all differences have a consensus."""
        return self.n_agreed == len(self.differences)


def differing_cases(
    review_set: ReviewSet, adjudications: pl.DataFrame, threshold: float
) -> tuple[CaseDifferences, ...]:
    """Find the cases on which two readers are ``threshold`` points apart on one score, or more.

    Those furthest apart come first, then those with most differences, then the set's order.
    ``adjudications`` are as :meth:`rexview.store.Reviews.adjudications` gives them.
    """
    scores = review_set.scores.filter(pl.col("score").is_not_null()).select(
        *_ITEM, "reader", "score", "comment"
    )
    newest = review_set.answers.filter("_newest").select("case", "model").with_row_index("_answer")
    apart = (pl.col("score").max() - pl.col("score").min()).cast(pl.Int64).alias("apart")
    found = (
        scores.group_by(_ITEM)
        .agg(apart, pl.col("reader").n_unique().alias("readers"))
        .filter(pl.col("apart") >= threshold, pl.col("readers") > 1)
        .join(newest, on=["case", "model"])
        .sort("_answer", "dimension", "image")
    )
    if found.is_empty():
        return ()
    by_item: dict[tuple[object, ...], list[ReaderScore]] = {}
    wanted = scores.join(found.select(_ITEM), on=list(_ITEM), how="semi", nulls_equal=True)
    for *item, reader, score, comment in wanted.sort("reader").iter_rows():
        given = ReaderScore(reader, item[_ITEM.index("dimension")], score, comment or "")
        by_item.setdefault(tuple(item), []).append(given)
    agreed = _agreed(adjudications)
    cases: dict[str, list[Difference]] = {}
    for row in found.iter_rows(named=True):
        key = tuple(row[name] for name in _ITEM)
        one = Difference(
            row["case"],
            row["model"],
            row["dimension"],
            row["image"],
            row["apart"],
            tuple(by_item[key]),
            agreed.get(key),
        )
        cases.setdefault(row["case"], []).append(one)
    order = {case: at for at, case in enumerate(review_set.cases["id"].to_list())}
    listed = [CaseDifferences(case, tuple(differences)) for case, differences in cases.items()]
    listed.sort(key=lambda one: (-one.apart, -len(one.differences), order[one.case]))
    return tuple(listed)


def _agreed(adjudications: pl.DataFrame) -> dict[tuple[object, ...], Consensus]:
    return {
        tuple(row[name] for name in _ITEM): Consensus(
            row["score"], row["comment"] or "", row["adjudicator"], row["created"]
        )
        for row in adjudications.iter_rows(named=True)
    }


def consensus_scores(adjudications: pl.DataFrame, case: str) -> tuple[Score, ...]:
    """Return what was agreed on a case as scores, whose ``reader`` is the adjudicator."""
    return tuple(
        Score(
            case=row["case"],
            model=row["model"],
            reader=row["adjudicator"],
            dimension=row["dimension"],
            score=row["score"],
            image=row["image"],
            comment=row["comment"] or "",
            created=row["created"],
            origin="app",
        )
        for row in adjudications.filter(pl.col("case") == case).iter_rows(named=True)
    )


def next_without_consensus(cases: Sequence[CaseDifferences], after: str | None) -> str | None:
    """Return the next case without consensus: after the one given, then from the start."""
    ids = [one.case for one in cases]
    start = ids.index(after) + 1 if after in ids else 0
    for one in (*cases[start:], *cases[:start]):
        if not one.has_consensus and one.case != after:
            return one.case
    return None


def reader_labels(readers: Iterable[str], case: str, *, key: bytes) -> Mapping[str, str]:
    """Name the readers of a case Reader 1, Reader 2: shuffled for each case, always the same.

    ``key`` is :meth:`rexview.store.Reviews.letter_key`: without it nobody can tell who is who.
    """
    shuffled = by_keyed_hash(set(readers), key, "readers", case)
    return {reader: f"Reader {number}" for number, reader in enumerate(shuffled, start=1)}
