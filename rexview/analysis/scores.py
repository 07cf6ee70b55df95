"""The numbers of the Scores page, their splits by case properties, and their captions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Final

from rexview.analysis.query.engine import CaseProperty, Engine, ModelTally
from rexview.analysis.query.filter.case_filter import CaseFilter, NumberRange
from rexview.analysis.query.filter.conditions import ModelPair
from rexview.analysis.query.filter.linked_count import (
    ANY_NUMBER,
    LOW_SCORE_RANGE,
    PERFECT_SCORE_RANGE,
    CountGroup,
    CountGroups,
    LinkedCount,
    add_required_values,
    list_property_values,
    make_linked_count,
)
from rexview.stats import CONTENT_ORDERS, MISSING_STATUSES, STATUSES, ContentOrder
from rexview.stats.bootstrap import LEVEL, RESAMPLES
from rexview.stats.paired_tests import ModelComparison, PairTest, compare_all_models
from rexview.stats.score_finals import SCORE_ORDER, TEXT_SCORES
from rexview.stats.score_summaries import (
    GapSummary,
    ScoreSummary,
    ScoreTallies,
    summarise_gaps,
    summarise_scores,
)
from rexview.vocab import CONTENT_PARTS, DIMENSION_NAMES, IMAGE_DIMENSIONS
from rexview.words import counted, join_words, mid_sentence, tr, trn

# The numbers of the Scores page, each with the filter that opens its answers.
#
# Means, intervals and tests are computed in :mod:`rexview.stats`. Here they are requested for the
# answers that match a filter, and combined with links.

MAIN_SCORES: Final = ("content", "language")
"""The two main scores (ReXecution, table 1)."""
PART_SCORES: Final = tuple(name for name in SCORE_ORDER if name not in MAIN_SCORES)
"""The parts of Content, and the scores of pictures (ReXecution, table 2)."""
SCORE_BINS: Final = (
    ("1 to <2", NumberRange(1, 1.999)),
    ("2 to <3", NumberRange(2, 2.999)),
    ("3 to <4", NumberRange(3, 3.999)),
    ("4 to <5", NumberRange(4, 4.999)),
    ("5", PERFECT_SCORE_RANGE),
)
"""Classes of final scores: name on screen, and the range that Browse shows."""
GAP_STEP: Final = 0.5
_CASE_CONDITIONS: Final = (
    *("models", "statuses", "question_types", "categories", "difficulties", "sites", "studies"),
    *("tags", "model_pairs", "comments", "decisions"),
)
"""Conditions that match both or neither of two compared models' scored answers to a case."""
_TOLERANCE: Final = 1e-4
"""Distance below which a filter's range does not separate two numbers."""


@dataclass(frozen=True)
class ScoreCell:
    """One dimension of one model.

    Attributes
    ----------
    summary : ScoreSummary
        The numbers; ``summary.n`` counts answers, for image dimensions pictures.
    name : str
        Name of the dimension on screen.
    scored, perfect, low : LinkedCount
        All scored, those with 5, those below 3.
    bins : tuple of LinkedCount
        The number in each of :data:`SCORE_BINS`.
    unscored : int
        Complete answers without a score in this dimension; 0 for image dimensions, where most
        answers have nothing to score.
    exact : bool
        True if Browse shows as many answers as are counted. It does not where an answer has several
        pictures, because Browse filters by their mean.
    """

    summary: ScoreSummary
    name: str
    scored: LinkedCount
    perfect: LinkedCount
    low: LinkedCount
    bins: tuple[LinkedCount, ...]
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
        """True if pictures are counted."""
        return self.dimension in IMAGE_DIMENSIONS


@dataclass(frozen=True)
class GapCell:
    """The gaps (Process minus Execution) of one model; ``bins`` by the middle of each class."""

    summary: GapSummary
    known: LinkedCount
    flagged: LinkedCount
    bins: Mapping[float, LinkedCount]

    @property
    def model(self) -> str:
        """Id of the model."""
        return self.summary.model


@dataclass(frozen=True)
class MissingAnswers:
    """The missing or incomplete answers of one model, by status, of all requested answers."""

    model: str
    lost: LinkedCount
    by_reason: Mapping[str, LinkedCount]


@dataclass(frozen=True, eq=False)
class ScoreTables:
    """All numbers of the Scores page for one filter; models in the set's order.

    ``with_content`` answers have a Content score, ``unscored`` complete answers have none. ``lost``
    answers are missing or incomplete. ``readers`` gave the scores. ``unfinished`` cases have scores
    of a reader who has not given all; these are left out everywhere (a case counts once for each
    reader). ``cells`` has all cells with a score, by dimension and model, and empty cells of text
    dimensions that any model has.
    """

    models: Mapping[str, str]
    content_order: ContentOrder
    gap_threshold: float
    cases: LinkedCount
    answers: LinkedCount
    with_content: LinkedCount
    unscored: int
    lost: LinkedCount
    readers: int
    unfinished: int
    cells: tuple[ScoreCell, ...]
    gaps: tuple[GapCell, ...]
    no_answers: tuple[MissingAnswers, ...]
    compare_models: Callable[[], ModelComparison]

    @cached_property
    def comparison(self) -> ModelComparison:
        """Tests between models; computed on first use, because many models take a while."""
        return self.compare_models()

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Dimensions with any score, in the order of tables."""
        met = {cell.dimension for cell in self.cells if cell.scored.value}
        return tuple(name for name in SCORE_ORDER if name in met)

    def mean(self, dimension: str, model: str) -> float | None:
        """Return the mean of a dimension and model, None if nothing is scored."""
        cell = self.cell(dimension, model)
        return cell.summary.mean if cell else None

    def cell(self, dimension: str, model: str) -> ScoreCell | None:
        """Return the cell of a dimension and model, None if there is none."""
        for cell in self.cells:
            if (cell.dimension, cell.model) == (dimension, model):
                return cell
        return None


def build_score_tables(
    engine: Engine, case_filter: CaseFilter | None = None, *, resamples: int = RESAMPLES
) -> ScoreTables:
    """Return the numbers of the Scores page for the answers that match a filter.

    ``resamples`` is the number for each bootstrap interval, 0 for none.
    """
    base = case_filter or CaseFilter()
    tally = engine.tally(base)
    models, n = tally.names(engine.facts), tally.answers
    scores = engine.score_tallies(base)

    def compare_models() -> ModelComparison:
        return compare_all_models(
            partial(engine.final_scores, base), list(models), resamples=resamples
        )

    return ScoreTables(
        models=models,
        content_order=engine.facts.content_order,
        gap_threshold=engine.facts.gap_threshold,
        cases=LinkedCount(tally.cases, base, engine.facts.n_cases),
        answers=LinkedCount(n, base),
        with_content=make_linked_count(base, tally.with_content, n, content=ANY_NUMBER),
        unscored=n - tally.lost - tally.with_content,
        lost=make_linked_count(base, tally.lost, n, statuses=MISSING_STATUSES),
        readers=len(engine.readers(base)),
        unfinished=tally.unfinished,
        cells=tuple(score_cells(scores, models, base, resamples=resamples)),
        gaps=tuple(gap_cells(scores, models, base, engine.facts.gap_threshold, resamples)),
        no_answers=tuple(_missing_answers(model, base) for model in tally.by_model),
        compare_models=compare_models,
    )


def count_pairs(test: PairTest, base: CaseFilter) -> LinkedCount:
    """Return the number of cases in which two models are compared, with its filter."""
    pair = ModelPair(test.dimension, (test.model_a, test.model_b))
    return LinkedCount(test.n_pairs, add_required_values(base, "model_pairs", str(pair)))


def is_pairs_count_exact(base: CaseFilter) -> bool:
    """Return True if Browse shows as many cases as :func:`count_pairs` counts.

    It does not if the filter limits answers. Then one answer of a case may match without the other;
    that is no pair, but Browse shows the case.
    """
    of_cases: dict[str, tuple[str, ...]] = dict.fromkeys(_CASE_CONDITIONS, ())
    return not replace(base, **of_cases).active  # type: ignore[arg-type]


def score_cells(
    scores: ScoreTallies, models: Iterable[str], base: CaseFilter, *, resamples: int = RESAMPLES
) -> Iterator[ScoreCell]:
    """Yield a cell for every dimension and model, from the final scores that match ``base``."""
    found = summarise_scores(scores, list(models), resamples=resamples)
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
        asked = [
            ANY_NUMBER,
            PERFECT_SCORE_RANGE,
            LOW_SCORE_RANGE,
            *(limits for _, limits in SCORE_BINS),
        ]
        values = [summary.n, perfect, low, *_count_bins(summary)]
        counts = [
            make_linked_count(
                base, n, summary.n, models=model, **{dimension: limits if exact else ANY_NUMBER}
            )
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


def filter_cells(cells: Iterable[ScoreCell], dimension: str) -> list[ScoreCell]:
    """Return the cells of one dimension, in their order."""
    return [cell for cell in cells if cell.dimension == dimension]


def _count_bins(summary: ScoreSummary) -> list[int]:
    counts = [0] * len(SCORE_BINS)
    for value, n in summary.counts.items():
        counts[min(max(math.floor(value + _TOLERANCE), 1), len(SCORE_BINS)) - 1] += n
    return counts


def gap_cells(
    scores: ScoreTallies,
    models: Mapping[str, str],
    base: CaseFilter,
    threshold: float,
    resamples: int,
) -> Iterator[GapCell]:
    """Yield the gaps of every model, from the final scores that match ``base``."""
    for summary in summarise_gaps(scores, list(models), threshold=threshold, resamples=resamples):
        model, n = summary.model, summary.n
        yield GapCell(
            summary=summary,
            known=make_linked_count(base, n, n, models=model, gap=ANY_NUMBER),
            flagged=make_linked_count(
                base, summary.flagged, n, models=model, gap=NumberRange(threshold, None)
            ),
            bins={
                middle: make_linked_count(base, part, n, models=model, gap=limits)
                for middle, limits, part in gap_classes(summary.counts)
            },
        )


def gap_classes(counts: Mapping[float, int]) -> list[tuple[float, NumberRange, int]]:
    """Return gaps in classes of half a point: middle, range that Browse shows, count."""
    found: dict[int, int] = {}
    exact = True
    for gap, n in counts.items():
        step = math.floor(gap / GAP_STEP + 0.5 + _TOLERANCE)
        exact &= abs(gap - step * GAP_STEP) < _TOLERANCE
        found[step] = found.get(step, 0) + n
    return [
        (
            middle,
            NumberRange(middle, middle) if exact else NumberRange(middle - 0.25, middle + 0.249),
            n,
        )
        for middle, n in sorted((step * GAP_STEP, n) for step, n in found.items())
    ]


def _missing_answers(model: ModelTally, base: CaseFilter) -> MissingAnswers:
    def count(n: int, statuses: str | Sequence[str]) -> LinkedCount:
        return make_linked_count(base, n, model.answers, models=model.model, statuses=statuses)

    by_reason = {
        reason: count(model.by_status.get(reason, 0), reason) for reason in MISSING_STATUSES
    }
    return MissingAnswers(model.model, count(model.lost, MISSING_STATUSES), by_reason)


# Scores by a property of the case: question category, study, site, difficulty, type, a tag.

MAX_SPLIT_VALUES: Final = 24
"""Most values in a table: those with the most cases."""


@dataclass(frozen=True, eq=False)
class ScoreSplit(CountGroups[ScoreCell]):
    """The scores for each value of a property; groups count cases.

    ``without`` cases have no value. ``overlap`` is true if a case can have several values; then it
    counts in each.
    """

    without: int
    overlap: bool


def build_score_split(
    engine: Engine, case_filter: CaseFilter, by: CaseProperty, *, resamples: int = RESAMPLES
) -> ScoreSplit:
    """Return the scores for each value of a property, over the answers that match a filter.

    Of a tag that the filter names, only the named values are shown.
    """
    tally, counts = engine.tally(case_filter), engine.property_counts(case_filter, by)
    models = tally.names(engine.facts)
    values = list(list_property_values(counts, engine.facts, case_filter, by))
    largest = sorted(values, key=lambda found: -found[2].value)[:MAX_SPLIT_VALUES]
    groups = []
    for value, name, cases in values:
        if (value, name, cases) in largest:
            scores = engine.score_tallies(cases.opens)
            cells = tuple(score_cells(scores, models, cases.opens, resamples=resamples))
            groups.append(CountGroup(value, name, cases, cells))
    return ScoreSplit(
        by=by,
        models=models,
        groups=tuple(groups),
        left_out=len(values) - len(groups),
        without=tally.cases - counts.with_any,
        overlap=sum(cases.value for *_, cases in values) > counts.with_any,
    )


# Captions of tables and charts of the Scores page: test, correction, omissions.
#
# All captions are plain text.

_MOST_NAMED: Final = 4


def unfinished_caption(n: int) -> str:
    """Return a sentence on started cases that do not count yet; empty for none."""
    if not n:
        return ""
    said = trn(
        "Not counted: {n:,} case that a reader has started but not finished.",
        "Not counted: {n:,} cases that a reader has started but not finished.",
        n,
    )
    return f" {said.format(n=n)}"


def interval_caption() -> str:
    """Return a caption on the method of intervals."""
    return tr("{level:.0%} intervals are bootstrapped (BCa, {resamples:,} resamples).").format(
        level=LEVEL, resamples=RESAMPLES
    )


def content_caption(tables: ScoreTables) -> str:
    """Return a caption on the computation of Content, and its order."""
    parts = join_words([DIMENSION_NAMES[part] for part in CONTENT_PARTS])
    order = mid_sentence(CONTENT_ORDERS[tables.content_order])
    return tr("Content is the smallest of {parts} of an answer ({order}).").format(
        parts=parts, order=order
    )


def summary_caption(tables: ScoreTables, dimensions: Iterable[str]) -> str:
    """Return a caption on the numbers of a table."""
    shown = [name for name in dimensions if name in tables.dimensions]
    parts = [tr("Final scores, 1 to 5: an answer's score is the mean of its readers' scores.")]
    if "content" in shown:
        parts.append(content_caption(tables))
    if any(name in IMAGE_DIMENSIONS for name in shown):
        parts.append(_picture_caption(tables))
    parts.append(interval_caption())
    return " ".join(parts)


def _picture_caption(tables: ScoreTables) -> str:
    cells = [cell for cell in tables.cells if cell.dimension in IMAGE_DIMENSIONS]
    words = tr("Image scores count returned pictures, not answers.")
    if not all(cell.exact for cell in cells):
        words += (
            " Where an answer has several, Browse lists the answers with any scored picture: it "
            "filters by their mean."
        )
    return words


def n_caption(tables: ScoreTables, dimensions: Sequence[str]) -> str:
    """Return a caption with each model's number of answers: ``n: A 34, B 26 to 30 answers``."""
    parts = []
    for model, name in tables.models.items():
        found = [tables.cell(dimension, model) for dimension in dimensions]
        counts = [cell.summary.n for cell in found if cell]
        low, high = min(counts, default=0), max(counts, default=0)
        parts.append(
            (
                name,
                f"{low:,}" if low == high else tr("{low:,} to {high:,}").format(low=low, high=high),
                low,
                high,
            )
        )
    if len(parts) > _MOST_NAMED:
        low, high = min(part[2] for part in parts), max(part[3] for part in parts)
        return tr("n: {low:,} to {high:,} answers of each model.").format(low=low, high=high)
    return tr("n: {join} answers.").format(join=", ".join(f"{name} {n}" for name, n, _, _ in parts))


def left_out_caption(tables: ScoreTables, dimensions: Iterable[str]) -> str:
    """Return a caption on the answers of a table's dimensions in no mean, and the reasons."""
    parts = []
    if tables.lost.value:
        by_reason = [
            f"{mid_sentence(name)} {n:,}"
            for reason, name in STATUSES.items()
            if (
                n := sum(
                    lost.by_reason[reason].value
                    for lost in tables.no_answers
                    if reason in lost.by_reason
                )
            )
        ]
        words = tr("{word} counted as no full answer ({join})")
        word = counted(tables.lost.value, "answer")
        parts.append(words.format(word=word, join=", ".join(by_reason)))
    unscored = [
        (DIMENSION_NAMES[name], n)
        for name in dimensions
        if (n := sum(cell.unscored for cell in tables.cells if cell.dimension == name))
    ]
    if unscored:
        named = ", ".join(f"{name} {n:,}" for name, n in unscored)
        parts.append(tr("full answers without a score ({named})").format(named=named))
    if not parts:
        return tr("No answer is left out.")
    return tr("Left out of every mean, never counted as zero: {listed}.").format(
        listed=join_words(parts)
    )


def comparison_caption(tables: ScoreTables, dimensions: Iterable[str]) -> str:
    """Return a caption on the comparison of models: test, number of pairs, correction."""
    wanted = set(dimensions)
    tests = [test for test in tables.comparison.tests if test.dimension in wanted]
    if not tests:
        return ""
    family = [DIMENSION_NAMES[name] for name in TEXT_SCORES]
    tested = sum(
        test.p is not None for test in tables.comparison.tests if test.dimension in TEXT_SCORES
    )
    adjusted = tr("p is adjusted by Benjamini-Hochberg over the {tests} of {dimensions}.")
    if len(tables.models) > 2:
        adjusted = tr(
            "p is adjusted by Benjamini-Hochberg over the {tests} of {dimensions} and all pairs of "
            "models."
        )
    parts = [
        tr(
            "Models are compared case by case: two-sided Wilcoxon signed-rank test "
            "(cases without a difference are not ranked; p exact up to 50 pairs without ties, "
            "with ties up to 13, else the normal approximation)."
        ),
        adjusted.format(tests=counted(tested, "test"), dimensions=join_words(family)),
    ]
    if any(name in IMAGE_DIMENSIONS for name in wanted & {test.dimension for test in tests}):
        parts.append(tr("Image scores are a family of their own, paired by the answer's mean."))
    parts.append(tr("Effect: matched-pairs rank-biserial correlation, -1 to 1."))
    if len(tables.models) == 2:
        parts.append(" ".join(_pair_sentences(tests, tables)))
    return " ".join(parts)


def _pair_sentences(tests: Sequence[PairTest], tables: ScoreTables) -> Iterator[str]:
    first, second = tables.models.values()
    yield tr("Differences are {first} minus {second}.").format(first=first, second=second)
    pairs = ", ".join(f"{DIMENSION_NAMES[test.dimension]} {test.n_pairs:,}" for test in tests)
    yield tr("Pairs: {pairs}.").format(pairs=pairs)
    alone = ", ".join(
        f"{DIMENSION_NAMES[test.dimension]} {test.left_out:,}" for test in tests if test.left_out
    )
    if alone:
        words = tr("Not compared, because only one of the two is scored: {alone} (cases).")
        yield words.format(alone=alone)


def split_caption(split: ScoreSplit) -> str:
    """Return a caption on cases that a split leaves out or counts twice."""
    parts = [interval_caption()]
    if split.overlap:
        parts.append(tr("A case can have several values and counts in each."))
    if split.without:
        parts.append(
            trn(
                "{n:,} case without a value left out.",
                "{n:,} cases without a value left out.",
                split.without,
            ).format(n=split.without)
        )
    empty = [
        group.name for group in split.groups if not any(cell.summary.n for cell in group.cells)
    ]
    if empty:
        parts.append(tr("There are no scores in {listed}.").format(listed=join_words(empty)))
    if split.left_out:
        parts.append(
            trn(
                "{n:,} value with the fewest cases not shown: narrow the filter to see more.",
                "{n:,} values with the fewest cases not shown: narrow the filter to see more.",
                split.left_out,
            ).format(n=split.left_out)
        )
    parts.append(
        tr("Values are not tested against each other: with small n, means vary by chance.")
    )
    return " ".join(parts)


def gap_caption(tables: ScoreTables) -> str:
    """Return a caption on the definition of the gap, and when it is flagged."""
    return tr(
        "Gap: Process minus Execution of one answer; above 0 the model knew better than it "
        "did. Flagged from {gap_threshold:g} up, by the scores alone. {interval_caption}"
    ).format(gap_threshold=tables.gap_threshold, interval_caption=interval_caption())
