"""The numbers of the Scores page. Each comes with the filter that opens the answers behind it.

What a number is worth (means, intervals, tests) is worked out in :mod:`rexview.stats`; here it is
asked for the answers that a filter leaves, and joined with links.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Final

from rexview.analysis.engine import Engine, ModelTally
from rexview.analysis.filter.case_filter import CaseFilter, Range
from rexview.analysis.filter.conditions import ModelPair
from rexview.analysis.filter.linked_count import (
    ANY,
    LOW,
    PERFECT,
    Count,
    count_within,
    with_all,
)
from rexview.stats import NO_ANSWER, ContentOrder
from rexview.stats.bootstrap import RESAMPLES
from rexview.stats.paired import Comparison, PairTest, compare
from rexview.stats.summary import (
    GapSummary,
    ScoreSummary,
    ScoreTallies,
    gap_summaries,
    summaries,
)
from rexview.stats.values import SCORE_ORDER
from rexview.vocab import DIMENSION_NAMES, IMAGE_DIMENSIONS

TABLE_1: Final = ("content", "language")
"""The two main scores (ReXecution, table 1)."""
TABLE_2: Final = tuple(name for name in SCORE_ORDER if name not in TABLE_1)
"""What they are made of, and the scores of pictures (ReXecution, table 2)."""
BINS: Final = (
    ("1 to <2", Range(1, 1.999)),
    ("2 to <3", Range(2, 2.999)),
    ("3 to <4", Range(3, 3.999)),
    ("4 to <5", Range(4, 4.999)),
    ("5", PERFECT),
)
"""Final scores in classes: name on screen, and the range that Browse shows."""
GAP_STEP: Final = 0.5
_OF_CASES: Final = (
    *("models", "statuses", "question_types", "categories", "difficulties", "sites", "studies"),
    *("tags", "model_pairs", "comments", "decisions"),
)
"""Conditions that leave of two compared models both scored answers of a case, or none."""
_NEARLY: Final = 1e-4
"""As close as two numbers are that a filter's range does not tell apart."""


@dataclass(frozen=True)
class ScoreCell:
    """One dimension of one model.

    Attributes
    ----------
    summary : ScoreSummary
        The numbers; ``summary.n`` counts answers, for image dimensions pictures.
    name : str
        Name of the dimension on screen.
    scored, perfect, low : Count
        All that are scored, those with 5, those below 3.
    bins : tuple of Count
        How many lie in each of :data:`BINS`.
    unscored : int
        Answers that came without a score in this dimension; 0 for image dimensions, where most
        answers have nothing to score.
    exact : bool
        Whether Browse shows as many answers as are counted. Not so where an answer has several
        pictures: Browse filters by their mean.
    """

    summary: ScoreSummary
    name: str
    scored: Count
    perfect: Count
    low: Count
    bins: tuple[Count, ...]
    unscored: int
    exact: bool

    @property
    def dimension(self) -> str:
        """The dimension, or ``content``."""
        return self.summary.dimension

    @property
    def model(self) -> str:
        """Id of the model."""
        return self.summary.model

    @property
    def of_pictures(self) -> bool:
        """Whether pictures are counted."""
        return self.dimension in IMAGE_DIMENSIONS


@dataclass(frozen=True)
class GapCell:
    """The gaps (Process minus Execution) of one model; ``bins`` by the middle of each class."""

    summary: GapSummary
    known: Count
    flagged: Count
    bins: Mapping[float, Count]

    @property
    def model(self) -> str:
        """Id of the model."""
        return self.summary.model


@dataclass(frozen=True)
class LostAnswers:
    """The answers of one model that did not come in full, by status, of all that were asked for."""

    model: str
    lost: Count
    by_reason: Mapping[str, Count]


@dataclass(frozen=True, eq=False)
class ScoreTables:
    """All numbers of the Scores page for one filter; models in the set's order.

    ``with_content`` of the answers have a Content score, ``unscored`` came without one. ``lost``
    did not come in full. ``readers`` gave the scores; ``unfinished`` cases have scores of a reader
    who has not given all of them, which are left out everywhere (a case counts once a reader).
    ``cells`` has those with a score of dimension and model, and the empty ones of text dimensions
    that some model has.
    """

    models: Mapping[str, str]
    content_order: ContentOrder
    gap_threshold: float
    cases: Count
    answers: Count
    with_content: Count
    unscored: int
    lost: Count
    readers: int
    unfinished: int
    cells: tuple[ScoreCell, ...]
    gaps: tuple[GapCell, ...]
    no_answers: tuple[LostAnswers, ...]
    compare_models: Callable[[], Comparison]

    @cached_property
    def comparison(self) -> Comparison:
        """The tests between models: of many models they take a while, so only when asked for."""
        return self.compare_models()

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The dimensions in which anything is scored, in the order of tables."""
        met = {cell.dimension for cell in self.cells if cell.scored.value}
        return tuple(name for name in SCORE_ORDER if name in met)

    def mean(self, dimension: str, model: str) -> float | None:
        """Return the mean of a dimension and model, None where nothing is scored."""
        cell = self.cell(dimension, model)
        return cell.summary.mean if cell else None

    def cell(self, dimension: str, model: str) -> ScoreCell | None:
        """Return one cell, None where there is none."""
        for cell in self.cells:
            if (cell.dimension, cell.model) == (dimension, model):
                return cell
        return None


def score_tables(
    engine: Engine, case_filter: CaseFilter | None = None, *, resamples: int = RESAMPLES
) -> ScoreTables:
    """Work out the Scores page for the answers that a filter leaves.

    ``resamples`` is the number for each bootstrap interval, 0 for none.
    """
    base = case_filter or CaseFilter()
    tally = engine.tally(base)
    models, n = tally.names(engine.facts), tally.answers
    scores = engine.score_tallies(base)

    def compare_models() -> Comparison:
        return compare(partial(engine.final_scores, base), list(models), resamples=resamples)

    return ScoreTables(
        models=models,
        content_order=engine.facts.content_order,
        gap_threshold=engine.facts.gap_threshold,
        cases=Count(tally.cases, base, engine.facts.n_cases),
        answers=Count(n, base),
        with_content=count_within(base, tally.with_content, n, content=ANY),
        unscored=n - tally.lost - tally.with_content,
        lost=count_within(base, tally.lost, n, statuses=NO_ANSWER),
        readers=len(engine.readers(base)),
        unfinished=tally.unfinished,
        cells=tuple(score_cells(scores, models, base, resamples=resamples)),
        gaps=tuple(gap_cells(scores, models, base, engine.facts.gap_threshold, resamples)),
        no_answers=tuple(_lost(model, base) for model in tally.by_model),
        compare_models=compare_models,
    )


def pairs_count(test: PairTest, base: CaseFilter) -> Count:
    """Count the cases in which two models are compared, with what opens them."""
    pair = ModelPair(test.dimension, (test.model_a, test.model_b))
    return Count(test.n_pairs, with_all(base, "model_pairs", str(pair)))


def pairs_exact(base: CaseFilter) -> bool:
    """Say whether Browse shows as many cases as :func:`pairs_count` counts.

    Not so where the filter limits answers: it can leave one answer of a case and not the other,
    which are no pair, and Browse shows a case for one answer.
    """
    of_cases: dict[str, tuple[str, ...]] = dict.fromkeys(_OF_CASES, ())
    return not replace(base, **of_cases).active  # type: ignore[arg-type]


def score_cells(
    scores: ScoreTallies, models: Iterable[str], base: CaseFilter, *, resamples: int = RESAMPLES
) -> Iterator[ScoreCell]:
    """Work out every dimension of every model over the final scores that ``base`` leaves."""
    found = summaries(scores, list(models), resamples=resamples)
    met = {summary.dimension for summary in found if summary.n}
    for summary in found:
        dimension, model = summary.dimension, summary.model
        if dimension not in met:
            continue
        pictures = dimension in IMAGE_DIMENSIONS
        exact = not pictures or scores.pictured[dimension].get(model, 0) == summary.n

        perfect, low = (
            round((share or 0.0) * summary.n) for share in (summary.share_5, summary.share_below_3)
        )
        asked = [ANY, PERFECT, LOW, *(limits for _, limits in BINS)]
        values = [summary.n, perfect, low, *_binned(summary)]
        counts = [
            count_within(base, n, summary.n, models=model, **{dimension: limits if exact else ANY})
            for limits, n in zip(asked, values, strict=True)
        ]
        yield ScoreCell(
            summary=summary,
            name=DIMENSION_NAMES[dimension],
            scored=counts[0],
            perfect=counts[1],
            low=counts[2],
            bins=tuple(counts[3:]),
            unscored=0 if pictures else scores.answers.get(model, 0) - summary.n,
            exact=exact,
        )


def cells_of(cells: Iterable[ScoreCell], dimension: str) -> list[ScoreCell]:
    """Return the cells of one dimension, in their order."""
    return [cell for cell in cells if cell.dimension == dimension]


def _binned(summary: ScoreSummary) -> list[int]:
    counts = [0] * len(BINS)
    for value, n in summary.counts.items():
        counts[min(max(math.floor(value + _NEARLY), 1), len(BINS)) - 1] += n
    return counts


def gap_cells(
    scores: ScoreTallies,
    models: Mapping[str, str],
    base: CaseFilter,
    threshold: float,
    resamples: int,
) -> Iterator[GapCell]:
    """Work out the gaps of every model over the final scores that ``base`` leaves."""
    for summary in gap_summaries(scores, list(models), threshold=threshold, resamples=resamples):
        model, n = summary.model, summary.n
        yield GapCell(
            summary=summary,
            known=count_within(base, n, n, models=model, gap=ANY),
            flagged=count_within(
                base, summary.flagged, n, models=model, gap=Range(threshold, None)
            ),
            bins={
                middle: count_within(base, part, n, models=model, gap=limits)
                for middle, limits, part in gap_classes(summary.counts)
            },
        )


def gap_classes(counts: Mapping[float, int]) -> list[tuple[float, Range, int]]:
    """Count gaps in classes of half a point: middle, range that Browse shows, how many."""
    found: dict[int, int] = {}
    exact = True
    for gap, n in counts.items():
        step = math.floor(gap / GAP_STEP + 0.5 + _NEARLY)
        exact &= abs(gap - step * GAP_STEP) < _NEARLY
        found[step] = found.get(step, 0) + n
    return [
        (middle, Range(middle, middle) if exact else Range(middle - 0.25, middle + 0.249), n)
        for middle, n in sorted((step * GAP_STEP, n) for step, n in found.items())
    ]


def _lost(model: ModelTally, base: CaseFilter) -> LostAnswers:
    def count(n: int, statuses: str | Sequence[str]) -> Count:
        return count_within(base, n, model.answers, models=model.model, statuses=statuses)

    by_reason = {reason: count(model.by_status.get(reason, 0), reason) for reason in NO_ANSWER}
    return LostAnswers(model.model, count(model.lost, NO_ANSWER), by_reason)
