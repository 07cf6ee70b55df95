"""The queries of pages, tables and charts about the answers of an open review set.

Only an engine knows every case and answer. Code above it never holds a list of all cases, a mask
or the answers themselves. The engine returns counts, one page of cases, one case, or the values
that a statistic needs. :mod:`rexview.analysis.query.memory` is the engine that keeps everything
in memory.

A filter is about answers: a case matches when one of its answers does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import polars as pl

from rexview.analysis.case.case_cards import CaseCard
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.harm import HarmTable
from rexview.metrics.identity import MetricId
from rexview.schema import Answer, Flag, ReaderFlag
from rexview.stats import MISSING_STATUSES, ContentOrder
from rexview.stats.bootstrap import Counts
from rexview.stats.error_free_reports import ErrorFreeTally
from rexview.stats.failure_rates import PairTally, PatientTally, is_frequency_known
from rexview.stats.judge_agreement import FailureAgreement, Judge, ScoreAgreement
from rexview.stats.metric_correlation import Correlation
from rexview.stats.multiple_choice import ChoiceTally, Rater, RaterPairKey
from rexview.stats.preferences import PreferenceTally
from rexview.stats.reader_agreement import PairTables, ScorePatterns
from rexview.stats.report_metrics import PatientSums, ValueDistribution
from rexview.stats.score_summaries import ScoreTallies, ValueTally
from rexview.stats.self_contradiction import RepeatTally

# Readers' scores, as an engine returns them.


@dataclass(frozen=True)
class ReaderScore:
    """One reader's score of one dimension of an answer, with its comment."""

    reader: str
    dimension: str
    score: int
    comment: str


@dataclass(frozen=True)
class DisputedAnswer:
    """An answer whose readers differ by ``apart`` points, with all their scores."""

    case: str
    model: str
    question: str
    apart: float
    scores: tuple[ReaderScore, ...]


@dataclass(frozen=True)
class ReaderPairCases:
    """Counts of the cases in which two readers both scored a dimension of an answer or picture.

    ``same`` cases have an answer or picture with equal scores, ``close`` cases one whose scores
    differ by at most a point, ``apart`` cases one whose scores differ. ``by_scores`` counts the
    cases by both readers' scores. A case may count several times.
    """

    shared: int
    same: int
    close: int
    apart: int
    by_scores: Mapping[tuple[int, int], int]


# Judges' opinions: part of :class:`rexview.analysis.query.engine.Engine`.


@dataclass(frozen=True)
class JudgeAgreement:
    """A judge's agreement with the readers over all answers of the set, whatever the filter.

    ``failures`` and ``scores`` are by failure and dimension on which the judge gave an opinion.
    ``stale`` opinions are on earlier texts of answers and count nowhere. ``wordings`` is the number
    of versions of the prompt of this name that were used.
    """

    judge: Judge
    failures: Mapping[str, FailureAgreement]
    scores: Mapping[str, ScoreAgreement]
    stale: int
    wordings: int


class JudgeQuestions(Protocol):
    """The queries about one judge: a model with one prompt."""

    def judge_agreement(self, judge: Judge) -> JudgeAgreement:
        """Compare a judge with the readers, over all answers of the set."""

    def judge_failures(
        self, case_filter: CaseFilter, judge: Judge
    ) -> Mapping[tuple[str, str], PatientTally]:
        """Count patients by their answers with an opinion, and those with a failure in it.

        The counts are by failure and model.
        """

    def judge_scores(
        self, case_filter: CaseFilter, judge: Judge
    ) -> Mapping[tuple[str, str], ValueTally]:
        """Count the judge's scores, by dimension and model."""


# Choice questions: part of :class:`rexview.analysis.query.engine.Engine`.


@dataclass(frozen=True)
class ChoiceCounts:
    """Counts of the matching choice questions that a model or reader answered.

    ``questions`` have a right option and an answer. ``unmarked`` questions have no right option and
    are in no other number. ``patients`` counts the patients of the questions, else their studies,
    else their cases. Readers answered ``read_by_people`` of the questions.
    """

    questions: int
    unmarked: int
    patients: int
    read_by_people: int


@dataclass(frozen=True, eq=False)
class ChoiceGroup:
    """The ``questions`` with one value of a property, and a tally for each rater, in order."""

    value: str
    questions: int
    tallies: tuple[ChoiceTally, ...]


class ChoiceQuestions(Protocol):
    """The queries about choice questions; each takes a filter.

    A filter's conditions on answers limit those of models. All choices of people on the matching
    cases count.
    """

    @property
    def raters(self) -> tuple[Rater, ...]:
        """Everyone who chose an option in the set: models in its order, then people.

        The tallies below use the positions in this tuple.
        """

    def choice_counts(self, case_filter: CaseFilter) -> ChoiceCounts:
        """Count the questions."""

    def choice_tallies(
        self, case_filter: CaseFilter, *, read_by_people: bool = False
    ) -> tuple[ChoiceTally, ...]:
        """Count the choices of each rater, on request only for questions that readers answered."""

    def choice_groups(
        self, case_filter: CaseFilter, by: CaseProperty, most: int
    ) -> tuple[tuple[ChoiceGroup, ...], int]:
        """Count choices by a property of the cases, in the order of its values.

        Only the ``most`` values with most questions are returned; the second result is the number
        of values left out. Of a tag that the filter names, only the named values are returned.
        """

    def choice_pairs(self, case_filter: CaseFilter) -> Mapping[RaterPairKey, PairTally]:
        """Count the questions that each two raters both answered, by who was right."""

    def choice_agreement(self, case_filter: CaseFilter) -> Mapping[RaterPairKey, Counts]:
        """Count the questions by the options of each two raters, over all and by task.

        See :func:`rexview.stats.multiple_choice.count_options`.
        """


# Generated reports: part of :class:`rexview.analysis.query.engine.Engine`.


@dataclass(frozen=True)
class ReportCounts:
    """Counts of the matching generated reports.

    Attributes
    ----------
    cases : int
        Cases that ask for a report.
    answers : mapping of str to int
        Answers to them, by model that has any, in the set's order.
    metrics : tuple of MetricId
        Metrics with a value on any matching answer, known ones first.
    in_set : mapping of MetricId to int
        For each metric, the number of answers with a value in the whole set.
    together : mapping of MetricId to tuple of int
        For each metric, the numbers of answers it was computed on together, as its values record;
        empty where they do not.
    edits : int
        Answers that somebody corrected line by line, or found nothing to correct in.
    preferences : int
        Comparisons of two reports.
    people : frozenset of str
        Models that are readers. Their reports are listed among the others and named as readers'.
    """

    cases: int
    answers: Mapping[str, int]
    metrics: tuple[MetricId, ...]
    in_set: Mapping[MetricId, int]
    together: Mapping[MetricId, tuple[int, ...]]
    edits: int
    preferences: int
    people: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class MetricTally:
    """Sums of metric values by patient; column ``i * len(models) + j`` is metric i of model j."""

    metrics: tuple[MetricId, ...]
    models: tuple[str, ...]
    by_patient: PatientSums


@dataclass(frozen=True, eq=False)
class PreferenceCounts:
    """Pairwise preferences among ``models``, of ``cases`` cases by ``readers`` readers."""

    models: tuple[str, ...]
    tally: PreferenceTally
    cases: int
    readers: int


@dataclass(frozen=True)
class RankDisputedReport:
    """An answer that two metrics rank far apart; places go from 0, the worst, to 1, the best."""

    case: str
    model: str
    first: float
    second: float
    first_place: float
    second_place: float


class ReportQuestions(Protocol):
    """The queries about generated reports; each takes a filter."""

    def report_counts(self, case_filter: CaseFilter) -> ReportCounts:
        """Count the matching reports, and their metrics, corrections and comparisons."""

    def metric_tally(self, case_filter: CaseFilter, metrics: Sequence[MetricId]) -> MetricTally:
        """Sum the values of some metrics by patient, for the models that have values."""

    def metric_spreads(
        self, case_filter: CaseFilter, metrics: Sequence[MetricId]
    ) -> Mapping[tuple[MetricId, str], ValueDistribution]:
        """Return the distribution of each metric's values, by metric and model that has any."""

    def metric_correlations(
        self, case_filter: CaseFilter, metrics: Sequence[MetricId], coefficient: str
    ) -> tuple[Correlation, ...]:
        """Correlate each two of some metrics over answers, all turned so that higher is better.

        ``coefficient`` is one of :data:`rexview.stats.metric_correlation.COEFFICIENT_NAMES`.
        """

    def metric_disputes(
        self, case_filter: CaseFilter, pair: tuple[MetricId, MetricId], most: int
    ) -> tuple[RankDisputedReport, ...]:
        """Return the answers that two metrics rank furthest apart, the furthest first."""

    def error_free_tallies(self, case_filter: CaseFilter) -> tuple[ErrorFreeTally, ...]:
        """Count the reports without errors, by reader, model and threshold.

        Readers come in the set's order, then judges and those without a name.
        """

    def comparisons(self, case_filter: CaseFilter) -> PreferenceCounts:
        """Count pairwise preferences in the matching cases, between the matching models."""


@dataclass(frozen=True)
class CaseProperty:
    """A property by which cases differ: its key in links, its name, and the filter's field."""

    key: str
    name: str
    field: str


@dataclass(frozen=True, eq=False)
class SetFacts:
    """Facts of a review set that no filter changes.

    Attributes
    ----------
    models, readers : mapping of str to str
        Name on screen by id, in the set's order; readers' names are unique.
    n_cases, n_images, n_readers : int
        All cases, different images, and people who scored or flagged.
    properties : tuple of CaseProperty
        The properties in which the cases differ.
    gap_threshold : float
        The smallest gap that is flagged as an execution gap.
    content_order : str
        How Content is computed (:data:`rexview.stats.CONTENT_ORDERS`).
    harm : HarmTable
        The harm of each failure: the set's own table, or the built-in one.
    metrics : tuple of MetricId
        The metrics with values on reports, known ones first.
    judges : tuple of Judge
        The judges that gave opinions, the newest first.
    meetings : mapping of str to str
        Name by id of the meetings with decisions.
    written_failures : mapping of str to str
        Title by name of the current failures in words.
    """

    models: Mapping[str, str]
    readers: Mapping[str, str]
    n_cases: int
    n_images: int
    n_readers: int
    properties: tuple[CaseProperty, ...]
    gap_threshold: float
    content_order: ContentOrder
    harm: HarmTable
    metrics: tuple[MetricId, ...] = ()
    judges: tuple[Judge, ...] = ()
    meetings: Mapping[str, str] = field(default_factory=dict)
    written_failures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FacetValue:
    """One value of a condition: ``count`` distinct cases have it, given all other conditions."""

    value: str
    name: str
    count: int
    chosen: bool


@dataclass(frozen=True)
class Facet:
    """One condition of the filter with its values; ``field`` names the filter's list."""

    field: str
    name: str
    values: tuple[FacetValue, ...]


@dataclass(frozen=True)
class FailureSources:
    """Counts of cases with one failure, by who reports it: the detector, a reader, or both.

    A case counts in several of the three when its answers differ; ``total`` counts it once.
    ``judged`` of the ``cases`` have an answer that can be judged for the failure.
    """

    failure: str
    detector: int
    reader: int
    both: int
    total: int
    judged: int
    cases: int


@dataclass(frozen=True)
class Facets:
    """All facet counts for one filter, which ``total`` cases match.

    ``facets`` has every value in the set, even those with a count of 0. ``mentions`` has a value
    for each way of searching for the findings that the search names, if it names any.
    """

    total: int
    facets: tuple[Facet, ...]
    headlines: tuple[FailureSources, ...]
    mentions: tuple[FacetValue, ...] = ()


@dataclass(frozen=True)
class Position:
    """The position of a case in an ordered list, and its neighbours.

    ``number`` counts from 1. It is None for a case that is not in the list; ``after`` is then the
    first case of the list.
    """

    number: int | None
    total: int
    before: str | None
    after: str | None


def make_names_unique(names: Mapping[str, str]) -> dict[str, str]:
    """Return the names by id, with the id added to each name that occurs more than once."""
    count = Counter(names.values())
    return {key: name if count[name] == 1 else f"{name} ({key})" for key, name in names.items()}


def make_position(
    place: int | None, total: int, page: Callable[[int, int], Sequence[str]]
) -> Position:
    """Return the position of the case at an index, from 0; ``page`` returns ids from an index."""
    if place is None:
        return Position(None, total, None, next(iter(page(0, 1)), None))
    before = page(place - 1, 1) if place else ()
    return Position(
        place + 1, total, *(next(iter(one), None) for one in (before, page(place + 1, 1)))
    )


def find_position(ordered: Sequence[str], case: str) -> Position:
    """Find a case in a list of ids, such as that of the cases to adjudicate."""
    place = ordered.index(case) if case in ordered else None
    return make_position(place, len(ordered), lambda start, size: ordered[start : start + size])


@dataclass(frozen=True)
class ScanProgress:
    """Progress of the detectors on the answers that may match a filter.

    The detectors have run on ``looked`` of the ``answers``; on ``failed`` of these, a detector
    failed. The filter's conditions on flags are ignored here, because an answer without a run may
    still turn out to have the failure.
    """

    answers: int
    looked: int
    failed: int

    @property
    def is_complete(self) -> bool:
        """True if the detectors have run on every answer."""
        return self.looked == self.answers


@dataclass(frozen=True)
class ModelTally:
    """Counts of one model's matching answers: in all, by status, by weakest link.

    ``scored`` answers have a reader's score, ``with_content`` a Content score, ``with_spread``
    scores of two readers on one dimension.
    """

    model: str
    answers: int
    by_status: Mapping[str, int]
    by_weakest: Mapping[str, int]
    scored: int
    with_content: int
    with_spread: int

    @property
    def lost(self) -> int:
        """Answers that are missing or incomplete."""
        return sum(self.by_status.get(reason, 0) for reason in MISSING_STATUSES)


@dataclass(frozen=True)
class FilterTally:
    """Counts of the matching cases, and of the answers of each model that has any, in order.

    ``unfinished`` cases have a reader who has not given all scores; a case counts once for each
    such reader. These scores are left out everywhere.
    """

    cases: int
    unfinished: int
    by_model: tuple[ModelTally, ...]

    @cached_property
    def answers(self) -> int:
        """Answers of all models."""
        return sum(model.answers for model in self.by_model)

    @cached_property
    def lost(self) -> int:
        """Answers that are missing or incomplete."""
        return sum(model.lost for model in self.by_model)

    @cached_property
    def with_content(self) -> int:
        """Answers with a Content score."""
        return sum(model.with_content for model in self.by_model)

    def names(self, facts: SetFacts) -> dict[str, str]:
        """Return the name on screen of each model that has answers."""
        return {model.model: facts.models[model.model] for model in self.by_model}


@dataclass(frozen=True)
class PropertyCounts:
    """Counts of cases by value of a property, in the order of the values.

    A case may have several values; ``with_any`` cases have at least one.
    """

    by_value: Mapping[str, int]
    with_any: int


@dataclass(frozen=True)
class FailureTally:
    """Counts of one model's answers with one failure, by who reports it.

    ``judged`` answers can be judged for the failure. ``hint`` answers have only a detector's hint.
    ``spoken`` answers have a reader's verdict, even if it is that the failure is absent.
    """

    failure: str
    model: str
    judged: int
    detector: int
    reader: int
    both: int
    hint: int
    spoken: int = 0

    def is_judged(self, sources: Sequence[str] = ()) -> bool:
        """True if ``sources``, by default all of them, show how frequent the failure is.

        For failures that rules only suggest, only sources that reported or ruled out one count.
        """
        by_rule = self.detector + self.both if not sources or "detector" in sources else self.both
        by_reader = self.spoken if not sources or "reader" in sources else 0
        return is_frequency_known(self.failure, by_rule=by_rule > 0, by_reader=by_reader > 0)


class Engine(ChoiceQuestions, ReportQuestions, JudgeQuestions, Protocol):
    """All queries about an open review set; most take the filter whose matches they describe."""

    def __hash__(self) -> int:
        """Hash by identity, because caches of pages have the engine in their keys."""

    @property
    def facts(self) -> SetFacts:
        """Facts of the set that no filter changes."""

    def facets(self, case_filter: CaseFilter) -> Facets:
        """Count the cases of every value of every condition.

        A condition's own choice does not limit its counts, so they show what choosing another
        value would give.
        """

    def page(self, case_filter: CaseFilter, start: int, size: int) -> tuple[str, ...]:
        """Return the ids of some of the cases in the filter's order, ``start`` from 0."""

    def position(self, case_filter: CaseFilter, case: str) -> Position:
        """Find a case in the filter's order, and its neighbours."""

    def cards(self, case_filter: CaseFilter, cases: Sequence[str]) -> tuple[CaseCard, ...]:
        """Return the cards of some cases of the set, in the order given.

        Raises
        ------
        KeyError
            The set has no such case.
        """

    def flags(
        self, case: str, answers: Iterable[Answer], reader_flags: Sequence[ReaderFlag]
    ) -> tuple[Flag, ...]:
        """Return all flags on some answers, as :meth:`rexview.detect.Survey.flags_of`."""

    def not_judged_of(self, case: str, answers: Sequence[Answer]) -> frozenset[str]:
        """Return the models on whose answers to a case a detector failed."""

    def not_yet_of(self, case: str, answers: Sequence[Answer]) -> frozenset[str]:
        """Return the models on whose answers to a case no detector has run yet."""

    def scanned(self, case_filter: CaseFilter) -> ScanProgress:
        """Count the answers that detectors have run on, among those that may match."""

    def not_judged(self, case_filter: CaseFilter, most: int) -> tuple[tuple[str, str], ...]:
        """Return case and model of the first answers that :meth:`scanned` counts as failed."""

    def not_looked_at(self, case_filter: CaseFilter, first: Sequence[str]) -> Sequence[int]:
        """Return the cases to run detectors on next, as rows of the set.

        The cases in ``first`` come first. If the filter limits, cases follow that may match and
        have answers without a run. Without a filter there are no more, because the scan visits them
        in order anyway.
        """

    def tally(self, case_filter: CaseFilter) -> FilterTally:
        """Count cases and answers."""

    def property_counts(self, case_filter: CaseFilter, by: CaseProperty) -> PropertyCounts:
        """Count the cases by a property; of a tag that the filter names, only its named values."""

    def score_tallies(self, case_filter: CaseFilter) -> ScoreTallies:
        """Count the final scores of complete answers, for image dimensions those of pictures."""

    def final_scores(self, case_filter: CaseFilter, dimension: str) -> pl.DataFrame:
        """Return one final score of a dimension for each answer: the mean over its pictures.

        Tests that rank differences case by case need these values. Columns: ``case`` (a number
        that identifies the case), ``model`` and ``value`` (Float64, never null).
        """

    def readers(self, case_filter: CaseFilter) -> tuple[str, ...]:
        """Return the ids of the readers who scored any of the answers, in the set's order."""

    def pair_tables(self, case_filter: CaseFilter) -> PairTables:
        """Count what each two of these readers both scored, by their scores."""

    def pair_cases(
        self, case_filter: CaseFilter, pair: tuple[str, str]
    ) -> Mapping[str, ReaderPairCases]:
        """Count the cases in which two readers both scored an answer or picture, by dimension."""

    def score_patterns(self, case_filter: CaseFilter) -> Mapping[str, ScorePatterns]:
        """Count the combinations of all readers' scores: see :func:`.count_score_patterns`."""

    def score_days(
        self, case_filter: CaseFilter, dimension: str, reader: str, other: str
    ) -> pl.DataFrame:
        """Count a reader's scores by day: columns as of :func:`.count_score_days`."""

    def disputed(
        self, case_filter: CaseFilter, start: int, size: int
    ) -> tuple[DisputedAnswer, ...]:
        """Return a page of answers, those on which readers are furthest apart first."""

    def failure_tallies(self, case_filter: CaseFilter) -> tuple[FailureTally, ...]:
        """Count failures of each model with answers: headline failures, and others that occur."""

    def failure_findings(self, failure: str) -> tuple[str, ...]:
        """Return the findings that one failure is about anywhere in the set, sorted."""

    def judged_tallies(
        self,
        case_filter: CaseFilter,
        failures: Sequence[str],
        sources: Sequence[str] = (),
        findings: Sequence[str] = (),
    ) -> Mapping[tuple[str, str], PatientTally]:
        """Count patients by their answers that can be judged for a failure, and flagged ones.

        The counts are by failure and model. Only flags from ``sources`` count, as in the filter;
        none given means all sources. With ``findings``, only flags about one of these count.
        """

    def judged_pairs(
        self, case_filter: CaseFilter, failures: Sequence[str], sources: Sequence[str] = ()
    ) -> Mapping[tuple[str, str, str], PairTally]:
        """Count the cases in which two models can be judged, by failure, first and second model.

        Failures come in the order given, models with answers in the set's order.
        """

    def repeat_tallies(self, case_filter: CaseFilter) -> tuple[RepeatTally, ...]:
        """Count the answers that one run requested more than once, by model that has any."""

    def patients(self, case_filter: CaseFilter) -> tuple[int, int]:
        """Count the matching cases, and their patients."""
