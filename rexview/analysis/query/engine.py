"""What pages, tables and charts ask about the answers of an open review set.

An engine knows every case and answer; nothing above it holds a list of all cases, a mask or the
answers themselves. It answers with counts, with one page of cases, with one case, and with the
values that a statistic is made of. :mod:`rexview.analysis.query.memory` is the engine that holds
everything in memory.

A filter is about answers: a case is left when one of its answers meets it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import polars as pl

from rexview.analysis.case.cards import CaseCard
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.harm import HarmTable
from rexview.metrics.identity import MetricId
from rexview.schema import Answer, Flag, ReaderFlag
from rexview.stats import NO_ANSWER, ContentOrder
from rexview.stats.agreement import PairTables, ScorePatterns
from rexview.stats.bootstrap import Counts
from rexview.stats.failure_rates import PairTally, PatientTally, is_known
from rexview.stats.judges import FailureAgreement, Judge, ScoreAgreement
from rexview.stats.line_edits import ErrorFreeTally
from rexview.stats.metric_correlation import Correlation
from rexview.stats.multiple_choice import ChoiceTally, Pair, Rater
from rexview.stats.preferences import PreferenceTally
from rexview.stats.report_metrics import PatientSums, Spread
from rexview.stats.self_contradiction import RepeatTally
from rexview.stats.summary import ScoreTallies, Tally

# What readers gave, as an engine tells it.


@dataclass(frozen=True)
class ReaderScore:
    """One reader's score of one dimension of an answer, with the comment beside it."""

    reader: str
    dimension: str
    score: int
    comment: str


@dataclass(frozen=True)
class DisputedAnswer:
    """An answer whose readers are ``apart`` points apart, with all scores that they gave."""

    case: str
    model: str
    question: str
    apart: float
    scores: tuple[ReaderScore, ...]


@dataclass(frozen=True)
class PairCases:
    """Cases with something that two readers both scored on one dimension.

    In ``same``, ``close`` and ``apart`` of them they gave any answer (picture) the same score,
    scores at most one point apart, and different ones. ``by_scores`` counts the cases by the score
    of each; a case may count several times.
    """

    shared: int
    same: int
    close: int
    apart: int
    by_scores: Mapping[tuple[int, int], int]


# What is asked of judges' opinions: part of :class:`rexview.analysis.query.engine.Engine`.


@dataclass(frozen=True)
class JudgeAgreement:
    """How far a judge agrees with the readers, over all answers of the set, whatever the filter.

    By failure, and by dimension, that it spoke of. ``stale`` of its opinions are on earlier texts
    of answers, and count nowhere. It was asked in ``wordings`` texts of the wording of that name.
    """

    judge: Judge
    failures: Mapping[str, FailureAgreement]
    scores: Mapping[str, ScoreAgreement]
    stale: int
    wordings: int


class JudgeQuestions(Protocol):
    """The questions about one judge, a model in one wording."""

    def judge_agreement(self, judge: Judge) -> JudgeAgreement:
        """Compare a judge with the readers, over all answers of the set."""

    def judge_failures(
        self, case_filter: CaseFilter, judge: Judge
    ) -> Mapping[tuple[str, str], PatientTally]:
        """Count patients by the answers that the judge spoke of and sees a failure in.

        By failure and model.
        """

    def judge_scores(
        self, case_filter: CaseFilter, judge: Judge
    ) -> Mapping[tuple[str, str], Tally]:
        """Count the judge's scores, by dimension and model."""


# What is asked of choices: part of :class:`rexview.analysis.query.engine.Engine`.


@dataclass(frozen=True)
class ChoiceCounts:
    """How much a filter leaves that was answered by anybody.

    ``questions`` have a right option and an answer, ``unmarked`` ones have no right option and are
    in no number. ``patients`` are those of the questions (else studies, else cases); readers
    answered ``read_by_people`` of the questions.
    """

    questions: int
    unmarked: int
    patients: int
    read_by_people: int


@dataclass(frozen=True, eq=False)
class ChoiceGroup:
    """The ``questions`` with one value of a property, and what each rater chose, in their order."""

    value: str
    questions: int
    tallies: tuple[ChoiceTally, ...]


class ChoiceQuestions(Protocol):
    """The questions; each takes the filter whose answers it is about.

    A filter's conditions on answers are about models': of the cases that are left, all choices of
    people count.
    """

    @property
    def raters(self) -> tuple[Rater, ...]:
        """Who chose anything in the set: models in its order, then people; a place stands for each.

        Tallies below are by these places.
        """

    def choice_counts(self, case_filter: CaseFilter) -> ChoiceCounts:
        """Count the questions."""

    def choice_tallies(
        self, case_filter: CaseFilter, *, read_by_people: bool = False
    ) -> tuple[ChoiceTally, ...]:
        """Count the choices of each rater; on request only of questions that readers answered."""

    def choice_groups(
        self, case_filter: CaseFilter, by: CaseProperty, most: int
    ) -> tuple[tuple[ChoiceGroup, ...], int]:
        """Count choices by a property of the cases, in the order of its values.

        Of more than ``most`` values those with most questions; the second number says how many are
        left out. Of a tag that the filter names only the named values.
        """

    def choice_pairs(self, case_filter: CaseFilter) -> Mapping[Pair, PairTally]:
        """Count the questions that every two raters answered, by who was right."""

    def choice_agreement(self, case_filter: CaseFilter) -> Mapping[Pair, Counts]:
        """Count the questions by the options of every two raters, over all and by task.

        See :func:`rexview.stats.multiple_choice.option_table`.
        """


# What is asked of generated reports: part of :class:`rexview.analysis.query.engine.Engine`.


@dataclass(frozen=True)
class ReportCounts:
    """How much there is of generated reports.

    Attributes
    ----------
    cases : int
        Cases that ask for a report.
    answers : mapping of str to int
        Answers to them, by model that has any, in the set's order.
    metrics : tuple of MetricId
        Metrics of which any answer that is left has a value, known ones first.
    in_set : mapping of MetricId to int
        On how many answers of the whole set each of them has a value.
    together : mapping of MetricId to tuple of int
        On how many answers each was computed together, as its values say; empty where they do not.
    edits : int
        Answers that somebody corrected line by line, or found nothing to correct in.
    preferences : int
        Comparisons of two reports.
    people : frozenset of str
        Models that are readers: their reports stand among the others, and are named as such.
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
    """Values of metrics by patient; column ``i * len(models) + j`` is metric i of model j."""

    metrics: tuple[MetricId, ...]
    models: tuple[str, ...]
    by_patient: PatientSums


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Pairwise preferences among ``models``, of ``cases`` cases by ``readers`` readers."""

    models: tuple[str, ...]
    tally: PreferenceTally
    cases: int
    readers: int


@dataclass(frozen=True)
class DisputedReport:
    """An answer that two metrics put in places far apart: from 0, the worst, to 1, the best."""

    case: str
    model: str
    first: float
    second: float
    first_place: float
    second_place: float


class ReportQuestions(Protocol):
    """The questions; each takes the filter whose answers it is about."""

    def report_counts(self, case_filter: CaseFilter) -> ReportCounts:
        """Count what there is."""

    def metric_tally(self, case_filter: CaseFilter, metrics: Sequence[MetricId]) -> MetricTally:
        """Sum the values of some metrics by patient, for the models that have any of them."""

    def metric_spreads(
        self, case_filter: CaseFilter, metrics: Sequence[MetricId]
    ) -> Mapping[tuple[MetricId, str], Spread]:
        """Say how the values of some metrics spread, by metric and model that has any."""

    def metric_correlations(
        self, case_filter: CaseFilter, metrics: Sequence[MetricId], coefficient: str
    ) -> tuple[Correlation, ...]:
        """Correlate every two of some metrics over answers, higher being better in all.

        ``coefficient`` is one of :data:`rexview.stats.metric_correlation.COEFFICIENTS`.
        """

    def metric_disputes(
        self, case_filter: CaseFilter, pair: tuple[MetricId, MetricId], most: int
    ) -> tuple[DisputedReport, ...]:
        """Return the answers that two metrics put furthest apart, the furthest first."""

    def error_free_tallies(self, case_filter: CaseFilter) -> tuple[ErrorFreeTally, ...]:
        """Count the reports without errors, by reader, model and threshold.

        Readers in the set's order, then judges and those who are not named.
        """

    def comparisons(self, case_filter: CaseFilter) -> Comparisons:
        """Count pairwise preferences: of cases that are left, between models that are left."""


@dataclass(frozen=True)
class CaseProperty:
    """A property that tells cases apart: its word in the link, its name, the filter's field."""

    key: str
    name: str
    field: str


@dataclass(frozen=True, eq=False)
class SetFacts:
    """What is the same for every filter.

    Attributes
    ----------
    models, readers : mapping of str to str
        Name on screen by id, in the set's order; equal names of readers are told apart.
    n_cases, n_images, n_readers : int
        All cases, different images, and people who scored or flagged.
    properties : tuple of CaseProperty
        Those in which the cases differ.
    gap_threshold : float
        From which gap on an execution gap is flagged.
    content_order : str
        How Content is worked out (:data:`rexview.stats.CONTENT_ORDERS`).
    harm : HarmTable
        What harm the failures do: the set's own table, or the built-in one.
    metrics : tuple of MetricId
        The metrics of which reports have values, known ones first.
    judges : tuple of Judge
        Those who gave opinions, the newest first.
    meetings : mapping of str to str
        Name by id of the meetings that decided anything.
    written_failures : mapping of str to str
        Title by name of the failures in words that stand.
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
    """One condition of the filter with its values. ``field`` names the filter's list."""

    field: str
    name: str
    values: tuple[FacetValue, ...]


@dataclass(frozen=True)
class FailureSources:
    """Cases with one failure: by the detector only, by a reader only, by both, in any way.

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
    """All counts for one filter. ``total`` cases are left.

    ``facets`` has every value that the set has, also where the count is 0. ``mentions`` has a value
    for each way of searching for the findings that the search names, if it names any.
    """

    total: int
    facets: tuple[Facet, ...]
    headlines: tuple[FailureSources, ...]
    mentions: tuple[FacetValue, ...] = ()


@dataclass(frozen=True)
class Position:
    """Where a case stands in an ordered list: ``number`` from 1, None when it is not in it.

    ``after`` is then the first case of the list.
    """

    number: int | None
    total: int
    before: str | None
    after: str | None


def unique_names(names: Mapping[str, str]) -> dict[str, str]:
    """Add its id to each name, by id, that several of them have."""
    count = Counter(names.values())
    return {key: name if count[name] == 1 else f"{name} ({key})" for key, name in names.items()}


def position_at(
    place: int | None, total: int, page: Callable[[int, int], Sequence[str]]
) -> Position:
    """Return the position of the case at a place, from 0; ``page`` has the ids from a place on."""
    if place is None:
        return Position(None, total, None, next(iter(page(0, 1)), None))
    before = page(place - 1, 1) if place else ()
    return Position(
        place + 1, total, *(next(iter(one), None) for one in (before, page(place + 1, 1)))
    )


def position_in(ordered: Sequence[str], case: str) -> Position:
    """Find a case in a list of ids, such as that of the cases to adjudicate."""
    place = ordered.index(case) if case in ordered else None
    return position_at(place, len(ordered), lambda start, size: ordered[start : start + size])


@dataclass(frozen=True)
class Scanned:
    """How many of the answers that a filter may leave the detectors have looked at.

    ``looked`` of the ``answers`` were looked at; of these, ``failed`` could not be judged by every
    detector. What a filter asks about flags is left out here: an answer that nobody has looked at
    yet may still turn out to have the failure that is asked for.
    """

    answers: int
    looked: int
    failed: int

    @property
    def is_complete(self) -> bool:
        """Whether no answer is left to be looked at."""
        return self.looked == self.answers


@dataclass(frozen=True)
class ModelTally:
    """How many answers of one model a filter leaves: in all, by status, by weakest link.

    Anybody scored ``scored`` of them, ``with_content`` have a Content score, ``with_spread`` two
    readers on one dimension.
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
        """Answers that did not come in full."""
        return sum(self.by_status.get(reason, 0) for reason in NO_ANSWER)


@dataclass(frozen=True)
class FilterTally:
    """How much a filter leaves: cases, and answers of each model that has any, in order.

    ``unfinished`` of the cases have scores of a reader who has not given all of them (a case counts
    once for each reader): these scores are left out everywhere.
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
        """Answers that did not come in full."""
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
    """Cases by value of a property, in the order of the values; some may have several.

    ``with_any`` cases have one of the values at least.
    """

    by_value: Mapping[str, int]
    with_any: int


@dataclass(frozen=True)
class FailureTally:
    """How many answers of one model show one failure, by who says so.

    ``judged`` answers can be judged for it; ``hint`` have no more than a detector's hint;
    ``spoken`` have a reader's verdict, be it that the failure is not there.
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
        """Whether ``sources`` can tell how often the failure is there, by default all of them.

        Of failures that rules only suggest, those who raised one or ruled one out.
        """
        by_rule = self.detector + self.both if not sources or "detector" in sources else self.both
        by_reader = self.spoken if not sources or "reader" in sources else 0
        return is_known(self.failure, by_rule=by_rule > 0, by_reader=by_reader > 0)


class Engine(ChoiceQuestions, ReportQuestions, JudgeQuestions, Protocol):
    """The questions; each takes the filter whose answers it is about."""

    def __hash__(self) -> int:
        """By identity: caches of pages have the engine in their keys."""

    @property
    def facts(self) -> SetFacts:
        """What is the same for every filter."""

    def facets(self, case_filter: CaseFilter) -> Facets:
        """Count the cases of every value of every condition.

        Each condition's own choice is left out of its counts: they say what choosing a value
        instead would give.
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
        """Return the models whose answers to a case a detector failed on."""

    def not_yet_of(self, case: str, answers: Sequence[Answer]) -> frozenset[str]:
        """Return the models whose answers to a case no detector has looked at yet."""

    def scanned(self, case_filter: CaseFilter) -> Scanned:
        """Count the answers that detectors have looked at, among those that may be left."""

    def not_judged(self, case_filter: CaseFilter, most: int) -> tuple[tuple[str, str], ...]:
        """Return case and model of the first answers that :meth:`scanned` counts as failed."""

    def not_looked_at(self, case_filter: CaseFilter, first: Sequence[str]) -> Sequence[int]:
        """Return cases to be looked at next, as rows of the set, where a filter leaves any out.

        Those named ``first``, then those that the filter may leave and nobody has looked at.
        """

    def tally(self, case_filter: CaseFilter) -> FilterTally:
        """Count cases and answers."""

    def property_counts(self, case_filter: CaseFilter, by: CaseProperty) -> PropertyCounts:
        """Count the cases by a property; of a tag that the filter names only the named values."""

    def score_tallies(self, case_filter: CaseFilter) -> ScoreTallies:
        """Count the final scores: of answers that came, for image dimensions of pictures."""

    def final_scores(self, case_filter: CaseFilter, dimension: str) -> pl.DataFrame:
        """Return the final scores of one dimension, one an answer: the mean over its pictures.

        For tests that rank differences case by case, and need the values themselves. ``case`` (a
        number that stands for it), ``model``, ``value`` (Float64, never null).
        """

    def readers(self, case_filter: CaseFilter) -> tuple[str, ...]:
        """Return the ids of those who scored any of the answers, in the set's order."""

    def pair_tables(self, case_filter: CaseFilter) -> PairTables:
        """Count what every two of these readers both scored, by their scores."""

    def pair_cases(self, case_filter: CaseFilter, pair: tuple[str, str]) -> Mapping[str, PairCases]:
        """Count the cases with something that two readers both scored, by dimension."""

    def score_patterns(self, case_filter: CaseFilter) -> Mapping[str, ScorePatterns]:
        """Count the scores that answers got from all readers: see :func:`.score_patterns`."""

    def score_days(
        self, case_filter: CaseFilter, dimension: str, reader: str, other: str
    ) -> pl.DataFrame:
        """Count a reader's scores by day: columns as of :func:`rexview.stats.drift.score_days`."""

    def disputed(
        self, case_filter: CaseFilter, start: int, size: int
    ) -> tuple[DisputedAnswer, ...]:
        """Return some of the answers, those on which readers are furthest apart first."""

    def failure_tallies(self, case_filter: CaseFilter) -> tuple[FailureTally, ...]:
        """Count failures for each model that has answers: the headline ones, and all others met."""

    def failure_findings(self, failure: str) -> tuple[str, ...]:
        """Return the findings that one failure is about anywhere in the set, sorted."""

    def judged_tallies(
        self,
        case_filter: CaseFilter,
        failures: Sequence[str],
        sources: Sequence[str] = (),
        findings: Sequence[str] = (),
    ) -> Mapping[tuple[str, str], PatientTally]:
        """Count patients by their answers that can be judged for a failure and are flagged.

        By failure and model. ``sources`` are whose word counts, as in the filter, empty for
        everybody's; with ``findings`` only flags about one of these count.
        """

    def judged_pairs(
        self, case_filter: CaseFilter, failures: Sequence[str], sources: Sequence[str] = ()
    ) -> Mapping[tuple[str, str, str], PairTally]:
        """Count the cases in which two models can be judged: by failure, first and second model.

        Failures in the order given, models that have answers in the set's order.
        """

    def repeat_tallies(self, case_filter: CaseFilter) -> tuple[RepeatTally, ...]:
        """Count the answers that one run asked for more than once, by model that has any."""

    def patients(self, case_filter: CaseFilter) -> tuple[int, int]:
        """Count the cases that are left, and the patients that they are of."""
