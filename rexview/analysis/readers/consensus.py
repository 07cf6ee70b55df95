"""Scores on which readers differ, case by case, and the consensus that was found on them.

A consensus stands beside the scores, never in their place: they stay in every statistic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import polars as pl

from rexview.analysis.readers.records import ReaderScore
from rexview.analysis.study.worklist import by_keyed_hash
from rexview.schema import ReviewSet, Score

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
