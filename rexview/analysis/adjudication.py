"""Answers on which readers differ: a list, worst first, and the readers' consensus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

import polars as pl

from rexview.analysis.query.engine import DisputedAnswer, Engine, ReaderScore
from rexview.analysis.query.filter.case_filter import CaseFilter, NumberRange
from rexview.analysis.query.filter.linked_count import LinkedCount, refine_filter
from rexview.analysis.query.study_tasks import sort_by_keyed_hash
from rexview.schema import ReviewSet, Score
from rexview.vocab import DIMENSION_NAMES, DIMENSIONS
from rexview.words import tr

if TYPE_CHECKING:
    import pandas as pd


_NEARLY = 1e-9


@dataclass(frozen=True)
class Dispute:
    """One dimension of an answer on which readers differ.

    ``scores`` has each reader's score by reader id (the mean over pictures if there are several);
    ``comments`` are pairs of reader id and comment on the score.
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
class AdjudicationItem:
    """One answer with its disputes, the largest first; ``apart`` is the largest difference."""

    case: str
    model: str
    question: str
    apart: float
    disputes: tuple[Dispute, ...]


@dataclass(frozen=True, eq=False)
class Adjudication:
    """The answers to adjudicate for one filter and threshold.

    ``answers`` counts them and opens them in Browse; they belong to ``cases`` cases. The Case page
    steps through the filter ``answers.opens``.
    """

    threshold: float
    answers: LinkedCount
    cases: int
    _engine: Engine

    def part(self, start: int, size: int) -> list[AdjudicationItem]:
        """Return a page of the answers, worst first."""
        if not self.answers.value:
            return []
        return [
            AdjudicationItem(
                answer.case,
                answer.model,
                answer.question,
                answer.apart,
                _find_disputes(answer, self.threshold),
            )
            for answer in self._engine.disputed(self.answers.opens, start, size)
        ]

    def frame(self, readers: Mapping[str, str]) -> pd.DataFrame:
        """Return the whole list as a table: one row for each answer and disputed dimension.

        Parameters
        ----------
        readers : mapping of str to str
            Unique name on screen by reader id. Each reader has two columns, score and comment.
        """
        import pandas as pd  # slow (0.3 s), and all pages import this module

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


def build_adjudication(engine: Engine, case_filter: CaseFilter, threshold: float) -> Adjudication:
    """Find the matching answers on which two readers differ by ``threshold`` or more.

    ``threshold`` is in points on one dimension, above 0.
    """
    limits = refine_filter(case_filter, disagreement=NumberRange(threshold, None))
    if limits is None:  # the filter limits to smaller differences
        none = replace(case_filter, disagreement=NumberRange(threshold, None))
        return Adjudication(threshold, LinkedCount(0, none), 0, engine)
    limits = replace(limits, sort="disagreement")
    tally = engine.tally(limits)
    return Adjudication(threshold, LinkedCount(tally.answers, limits), tally.cases, engine)


def _find_disputes(answer: DisputedAnswer, threshold: float) -> tuple[Dispute, ...]:
    """Return the dimensions on which the readers of one answer differ."""
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


# Scores on which readers differ, by case, and the consensus on them.
#
# A consensus is shown next to the scores and never replaces them in a statistic.

_ITEM: Final = ("case", "model", "dimension", "image")


@dataclass(frozen=True)
class Consensus:
    """The consensus on one score: by whom and when (UTC)."""

    score: int | None
    comment: str
    adjudicator: str
    at: datetime


@dataclass(frozen=True)
class Difference:
    """One dimension of an answer, or of one of its pictures, that readers scored far apart.

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
        """True if a consensus score was recorded."""
        return self.consensus is not None and self.consensus.score is not None


@dataclass(frozen=True)
class CaseDifferences:
    """A case with the scores that need a consensus, in the order of the answers."""

    case: str
    differences: tuple[Difference, ...]

    @property
    def apart(self) -> int:
        """Largest difference between the readers, in points."""
        return max(one.apart for one in self.differences)

    @property
    def n_agreed(self) -> int:
        """Number of differences with a consensus."""
        return sum(one.has_consensus for one in self.differences)

    @property
    def has_consensus(self) -> bool:
        """True if all differences have a consensus."""
        return self.n_agreed == len(self.differences)


def find_differing_cases(
    review_set: ReviewSet, adjudications: pl.DataFrame, threshold: float
) -> tuple[CaseDifferences, ...]:
    """Find the cases in which two readers differ by ``threshold`` points or more on one score.

    The cases are sorted by the largest difference, then by the number of differences, then by the
    set's order. ``adjudications`` come from :meth:`rexview.store.Reviews.adjudications`.
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
    agreed = _consensus_by_item(adjudications)
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


def _consensus_by_item(adjudications: pl.DataFrame) -> dict[tuple[object, ...], Consensus]:
    return {
        tuple(row[name] for name in _ITEM): Consensus(
            row["score"], row["comment"] or "", row["adjudicator"], row["created"]
        )
        for row in adjudications.iter_rows(named=True)
    }


def list_consensus_scores(adjudications: pl.DataFrame, case: str) -> tuple[Score, ...]:
    """Return the consensus on a case as scores, whose ``reader`` is the adjudicator."""
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


def find_next_without_consensus(cases: Sequence[CaseDifferences], after: str | None) -> str | None:
    """Return the next case without consensus: after the given one, then from the start."""
    ids = [one.case for one in cases]
    start = ids.index(after) + 1 if after in ids else 0
    for one in (*cases[start:], *cases[:start]):
        if not one.has_consensus and one.case != after:
            return one.case
    return None


def label_readers(readers: Iterable[str], case: str, *, key: bytes) -> Mapping[str, str]:
    """Return a label by reader (Reader 1, Reader 2), in an order that is random but fixed by case.

    ``key`` is :meth:`rexview.store.Reviews.letter_key`. Without it, the labels identify no reader.
    """
    shuffled = sort_by_keyed_hash(set(readers), key, "readers", case)
    return {reader: f"Reader {number}" for number, reader in enumerate(shuffled, start=1)}
