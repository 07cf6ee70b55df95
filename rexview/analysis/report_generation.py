"""The numbers of the page Report generation, own models on published boards, and captions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from rexview.analysis.published.rexrank import PublishedBoard, PublishedMean
from rexview.analysis.query.engine import CaseProperty, Engine, ReportCounts
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.query.filter.conditions import UNNAMED_READER, EditCondition, MetricOrder
from rexview.analysis.query.filter.linked_count import (
    LinkedCount,
    add_required_values,
    list_property_values,
    make_linked_count,
    refine_filter,
)
from rexview.metrics.identity import RECIPROCALS, MetricId, known_metric
from rexview.stats.bootstrap import LEVEL, RESAMPLES
from rexview.stats.error_free_reports import (
    ERROR_FREE_NAMES,
    UNNAMED_EDITOR_ID,
    ErrorFreeShare,
    measure_error_free,
)
from rexview.stats.metric_correlation import COEFFICIENT_NAMES, Correlation
from rexview.stats.preferences import RESAMPLES as COMPARISON_RESAMPLES
from rexview.stats.preferences import ModelStrength, fit_strengths
from rexview.stats.report_metrics import (
    MIN_ANSWERS_FOR_RANK,
    Leaderboard,
    LeaderboardCell,
    ValueDistribution,
    build_board,
)
from rexview.vocab import EDIT_SEVERITIES, judge_name
from rexview.words import counted, mid_sentence, sentence_start, tr, trn

SCOPES: Final[dict[str | None, str]] = {
    "findings": tr("Findings"),
    "findings+impression": tr("Findings and impression"),
    "impression": tr("Impression"),
    None: tr("Sections not given"),
}
"""Names on screen of the texts that metrics compare, in the order of the boards. Others are shown
by their own word, before the last."""
MAX_REPORT_GROUPS: Final = 24
"""Most groups in a table: those with the most cases."""
STUDIES: Final = {"": tr("All studies"), "abnormal": tr("Abnormal"), "normal": tr("Normal")}
_SET_DEPENDENT_METRICS: Final = frozenset({"radcliq_v0", "radcliq_v1"})
"""Metrics whose values depend on the answers that were computed with them (IDF weights)."""


def scope_name(scope: str | None) -> str:
    """Return the name on screen of the texts that a metric compares."""
    return SCOPES.get(scope) or str(scope)


def board_metric_name(metric: MetricId) -> str:
    """Return the name under which a board shows a metric: ``1/RadCliQ-v1``."""
    return f"1/{metric.name}" if known_metric(metric.metric).reciprocal else metric.name


@dataclass(frozen=True, eq=False)
class ReportTables:
    """The leaderboard of one scope for one filter, with counts.

    Attributes
    ----------
    base : CaseFilter
        The filter whose matches are counted.
    counts : ReportCounts
    cases : LinkedCount
        Cases that ask for a report.
    names : mapping of str to str
        Name on screen of every model of the set; readers are marked as readers.
    scopes : tuple
        Scopes with any metric, in order; ``scope`` is the shown one.
    board : Leaderboard
        The board of that scope's metrics.
    refused : tuple of MetricId
        Reciprocals with values for single answers, which are never averaged.
    """

    base: CaseFilter
    counts: ReportCounts
    cases: LinkedCount
    names: Mapping[str, str]
    scopes: tuple[str | None, ...]
    scope: str | None
    board: Leaderboard
    refused: tuple[MetricId, ...]

    @property
    def has_any(self) -> bool:
        """True if there are any generated reports or data about them."""
        counts = self.counts
        return bool(counts.cases or counts.metrics or counts.edits or counts.preferences)

    @cached_property
    def metrics(self) -> tuple[MetricId, ...]:
        """Metrics of the board."""
        return tuple(MetricId(*metric) for metric in self.board.metrics)

    @property
    def clustered(self) -> bool:
        """True if some answers share a patient."""
        return any(cell.patients < cell.n for cell in self.board.cells.values())

    def is_from_full_run(self, metric: MetricId) -> bool:
        """True if a filter shows only some of a metric's values that were computed together."""
        together = self.counts.together.get(metric, ())
        left = sum(cell.n for key, cell in self.board.cells.items() if key[0] == metric)
        bound = metric.metric in _SET_DEPENDENT_METRICS or bool(together)
        return bound and left < max(self.counts.in_set.get(metric, 0), *together, 0)

    def ranked_by(self, wanted: str | None) -> MetricId | None:
        """Return the metric with a key if there is one, else the first that can rank."""
        for metric in self.metrics:
            if metric.key == wanted:
                return metric
        can = [one for one in self.metrics if known_metric(one.metric).higher_is_better is not None]
        return next(iter(can or self.metrics), None)

    def opens(self, metric: MetricId, model: str) -> LinkedCount:
        """Return a cell's number of values, with the filter of its answers, worst first."""
        return _linked_cell(self.base, self.board.cells[metric, model])


def _linked_cell(base: CaseFilter, cell: LeaderboardCell) -> LinkedCount:
    count = make_linked_count(base, cell.n, models=cell.model)
    worst_first = str(MetricOrder(MetricId(*cell.metric), worst_first=True))
    return replace(count, opens=replace(count.opens, sort=worst_first))


def build_report_tables(
    engine: Engine,
    case_filter: CaseFilter | None = None,
    *,
    scope: str | None = "",
    resamples: int = RESAMPLES,
) -> ReportTables:
    """Return the board of one scope over the answers that match a filter.

    A ``scope`` without any metric, such as the empty one, means the first scope with one.
    """
    base = case_filter or CaseFilter()
    counts = engine.report_counts(base)
    averaged = [one for one in counts.metrics if one.metric not in RECIPROCALS]
    met = {one.scope for one in averaged}
    others = sorted(one for one in met if one is not None and one not in SCOPES)
    scopes: list[str | None] = [*(one for one in SCOPES if one in met and one), *others]
    scopes += [None] if None in met else []
    if scope not in met:
        scope = next(iter(scopes), None)
    metrics = tuple(one for one in averaged if one.scope == scope)
    tally = engine.metric_tally(base, metrics)
    models = engine.facts.models
    return ReportTables(
        base=base,
        counts=counts,
        cases=make_linked_count(base, counts.cases, question_types="report"),
        names={
            one: tr("{name} (reader)").format(name=name) if one in counts.people else name
            for one, name in models.items()
        },
        scopes=tuple(scopes),
        scope=scope,
        board=build_board(
            tally.by_patient, metrics, tally.models, known_metric, resamples=resamples
        ),
        refused=tuple(one for one in counts.metrics if one.metric in RECIPROCALS),
    )


@dataclass(frozen=True, eq=False)
class ReportGroup:
    """One value of a property, with its cases and the board of one metric over their answers."""

    value: str
    name: str
    cases: LinkedCount
    board: Leaderboard

    def opens(self, metric: MetricId, model: str) -> LinkedCount:
        """Return a cell's number of values, with the filter of its answers, worst first."""
        return _linked_cell(self.cases.opens, self.board.cells[metric, model])


@dataclass(frozen=True, eq=False)
class ReportGroups:
    """One metric by a property of the cases: sites, normal and abnormal studies, tags.

    A model has a rank in a group if it has at least ``least`` answers there. ``without`` cases have
    no value of the property; ``left_out`` groups with fewer cases are not shown; ``overlap`` is
    true if a case is in several groups.
    """

    by: CaseProperty
    metric: MetricId
    models: tuple[str, ...]
    groups: tuple[ReportGroup, ...]
    least: int
    without: int
    left_out: int
    overlap: bool


def build_report_groups(
    engine: Engine,
    case_filter: CaseFilter,
    by: CaseProperty,
    metric: MetricId,
    *,
    least: int = MIN_ANSWERS_FOR_RANK,
    resamples: int = RESAMPLES,
) -> ReportGroups:
    """Return one metric for each value of a property, over the reports that match a filter.

    If other cases than reports have values of the metric, all cases count.
    """
    reports = refine_filter(case_filter, question_types="report") or case_filter
    every, of_reports = (engine.metric_tally(one, (metric,)) for one in (case_filter, reports))
    has_others = every.by_patient.n.sum() > of_reports.by_patient.n.sum()
    base = case_filter if has_others else reports  # every value on the board counts here
    counts = engine.property_counts(base, by)
    total = engine.tally(base).cases
    values = list(list_property_values(counts, engine.facts, base, by))
    groups: list[ReportGroup] = []
    left_out = 0
    for place, (value, name, cases) in enumerate(sorted(values, key=lambda one: -one[2].value)):
        tally = engine.metric_tally(cases.opens, (metric,))
        if not tally.models:
            continue
        if len(groups) == MAX_REPORT_GROUPS:
            left_out = len(values) - place
            break
        found = build_board(
            tally.by_patient,
            (metric,),
            tally.models,
            known_metric,
            least=least,
            resamples=resamples,
        )
        groups.append(ReportGroup(value, name, cases, found))
    order = {value: place for place, (value, *_) in enumerate(values)}
    groups.sort(key=lambda group: order[group.value])
    return ReportGroups(
        by=by,
        metric=metric,
        models=every.models,
        groups=tuple(groups),
        least=least,
        without=total - counts.with_any,
        left_out=left_out,
        overlap=sum(cases.value for *_, cases in values) > counts.with_any,
    )


def summarise_report_metrics(
    engine: Engine, case_filter: CaseFilter, metrics: tuple[MetricId, ...]
) -> Mapping[tuple[MetricId, str], ValueDistribution]:
    """Return the distribution of each metric's values, by metric and model."""
    return engine.metric_spreads(case_filter, metrics)


@dataclass(frozen=True)
class ErrorFreeRow:
    """The reports of one model that one reader found free of errors of a severity or above.

    ``studies`` is a key of :data:`STUDIES`; ``free`` counts the reports, of those checked and
    graded.
    """

    studies: str
    numbers: ErrorFreeShare
    free: LinkedCount


@dataclass(frozen=True, eq=False)
class ErrorFreeTables:
    """Error-free shares by reader; ``readers`` has their names on screen."""

    readers: Mapping[str, str]
    rows: tuple[ErrorFreeRow, ...]

    def of(self, reader: str, model: str, severity: int, studies: str = "") -> ErrorFreeRow | None:
        """Return one row, None if no report was checked."""
        wanted = (reader, model, severity, studies)
        for row in self.rows:
            one = row.numbers
            if (one.reader, one.model, one.severity, row.studies) == wanted:
                return row
        return None

    def models(self, reader: str) -> tuple[str, ...]:
        """Return the models whose reports a reader checked, in the set's order."""
        return tuple(
            dict.fromkeys(row.numbers.model for row in self.rows if row.numbers.reader == reader)
        )


def build_error_free_tables(
    engine: Engine, case_filter: CaseFilter, *, resamples: int = RESAMPLES
) -> ErrorFreeTables:
    """Return error-free shares for all studies, for abnormal ones and for normal ones."""
    rows: list[ErrorFreeRow] = []
    for studies in STUDIES:
        base = case_filter
        if studies:
            if base.studies and studies not in base.studies:
                continue
            base = replace(base, studies=(studies,))
        for tally in engine.error_free_tallies(base):
            found = measure_error_free(tally, resamples=resamples)
            below = str(EditCondition("below", tally.severity, tally.reader or UNNAMED_READER))
            opens = replace(add_required_values(base, "edits", below), models=(tally.model,))
            count = LinkedCount(found.rate.flagged, opens, found.rate.n)
            rows.append(ErrorFreeRow(studies, found, count))
    readers = dict.fromkeys(row.numbers.reader for row in rows)
    names = engine.facts.readers
    return ErrorFreeTables(
        {
            one: names.get(one, judge_name(one))
            if one != UNNAMED_EDITOR_ID
            else tr("Author not given")
            for one in readers
        },
        tuple(rows),
    )


def describe_severity_threshold(severity: int) -> str:
    """Return the text of a threshold: ``severity 2 (Actionable, not urgent) or more``."""
    return tr("severity {severity} ({edit_severities}) or more").format(
        severity=severity, edit_severities=mid_sentence(EDIT_SEVERITIES[severity])
    )


@dataclass(frozen=True, eq=False)
class PreferenceTables:
    """The strengths of models from pairwise preferences, the strongest first.

    Each row has its model, strength and linked counts of cases: ``compared``, ``won``, ``tied`` and
    ``lost``.
    """

    rows: tuple[tuple[str, ModelStrength, Mapping[str, LinkedCount]], ...]
    comparisons: int
    ties: int
    cases: int
    readers: int


def build_preference_tables(
    engine: Engine, case_filter: CaseFilter, *, resamples: int = COMPARISON_RESAMPLES
) -> PreferenceTables:
    """Return the strengths of the models that were compared in cases that match a filter."""
    found = engine.comparisons(case_filter)
    rows = []
    fitted = fit_strengths(found.tally, resamples=resamples)
    for model, one in zip(found.models, fitted, strict=True):
        counts = {"compared": one.n, "won": one.won, "tied": one.tied, "lost": one.lost}
        opened = {
            word: make_linked_count(case_filter, n, one.n, models=model, compared=word)
            for word, n in counts.items()
        }
        rows.append((model, one, opened))
    rows.sort(key=lambda row: (row[1].rank is None, row[1].rank.place if row[1].rank else 0))
    return PreferenceTables(
        rows=tuple(rows),
        comparisons=round(float(found.tally.wins.sum())),
        ties=round(float(found.tally.ties.sum()) / 2),
        cases=found.cases,
        readers=found.readers,
    )


# Captions of the page Report generation. All are plain text.

FULL_RUN_NOTE: Final = tr("from the full-set run")
"""Remark on values that were computed on the full set when a filter shows only some of them."""
BOX_PLOT_NOTE: Final = tr(
    "Box: middle half of the answers, with the median; whiskers reach the "
    "furthest value within 1.5 times the box. A click opens the model's "
    "answers, the worst first."
)


def interval_caption(resamples: int, *, clustered: bool) -> str:
    """Return a caption on the method of intervals of means and limits of ranks."""
    of = tr("patients (else studies)") if clustered else "cases"
    return tr(
        "{level:.0%} intervals and places resample {of}, all answers of each "
        "together (BCa, {resamples:,} resamples; places: percentiles, small "
        "beside the place)."
    ).format(level=LEVEL, of=of, resamples=resamples)


def board_caption(tables: ReportTables) -> str:
    """Return a caption on the numbers of a board, and on omissions."""
    parts = [tr("Mean over the answers that have a value; n beside it.")]
    turned = [one for one in tables.metrics if known_metric(one.metric).reciprocal]
    if turned:
        names = " and ".join(dict.fromkeys(board_metric_name(one) for one in turned))
        parts.append(
            tr("{names}: 1 divided by the mean, never a mean of reciprocals.").format(names=names)
        )
    parts.append(interval_caption(tables.board.resamples, clustered=tables.clustered))
    if any(tables.is_from_full_run(one) for one in tables.metrics):
        parts.append(
            tr(
                "“{full_run}”: such values depend on the answers that they were computed "
                "with; the filter keeps only some of these, and nothing is recomputed."
            ).format(full_run=sentence_start(FULL_RUN_NOTE))
        )
    unknown = [one.name for one in tables.metrics if _has_no_direction(one.metric)]
    if unknown:
        parts.append(
            tr("Not ranked, because it is unknown which way is better: {join}.").format(
                join=", ".join(unknown)
            )
        )
    if tables.refused:
        names = ", ".join(dict.fromkeys(one.metric for one in tables.refused))
        parts.append(
            tr("Left out, as reciprocals of single answers are not averaged: {names}.").format(
                names=names
            )
        )
    if tables.counts.people & set(tables.board.models):
        parts.append(tr("Readers' reports are measured as models' are."))
    return " ".join(parts)


def _has_no_direction(metric: str) -> bool:
    return known_metric(metric).higher_is_better is None


def groups_caption(groups: ReportGroups) -> str:
    """Return a caption on the numbers by a property, and on omissions."""
    resamples = max((group.board.resamples for group in groups.groups), default=0)
    cells = [cell for group in groups.groups for cell in group.board.cells.values()]
    clustered = any(cell.patients < cell.n for cell in cells)
    if any(cell.rank for cell in cells):
        places = trn(
            "Places within the group, for models with at least {n:,} answer there.",
            "Places within the group, for models with at least {n:,} answers there.",
            groups.least,
        )
    else:
        places = trn(
            "No places: models with fewer than {n:,} answer in a group get none.",
            "No places: models with fewer than {n:,} answers in a group get none.",
            groups.least,
        )
    parts = [
        f"{board_metric_name(groups.metric)} ({groups.metric.computed_by}).",
        places.format(n=groups.least),
        interval_caption(resamples, clustered=clustered),
    ]
    if groups.overlap:
        parts.append(tr("A case can have several values and counts in each."))
    if groups.without:
        parts.append(
            tr("{counted} without a value left out.").format(
                counted=counted(groups.without, "case")
            )
        )
    if groups.left_out:
        parts.append(
            tr("{counted} with the fewest cases not shown.").format(
                counted=counted(groups.left_out, "group")
            )
        )
    parts.append(tr("Groups differ in their patients: a difference between them is not a test."))
    return " ".join(parts)


def direction_caption(metrics: Iterable[MetricId]) -> str:
    """Return a caption listing the metrics whose direction is unknown; empty if there are none."""
    unknown = [one.name for one in metrics if _has_no_direction(one.metric)]
    if not unknown:
        return ""
    names = ", ".join(dict.fromkeys(unknown))
    said = tr("Larger is assumed to be better where unknown: {names}.").format(names=names)
    return f" {said}"


def correlation_caption(
    metrics: Sequence[MetricId], found: tuple[Correlation, ...], coefficient: str
) -> str:
    """Return a caption on a correlation coefficient and the method of its interval."""
    low, high = (pick((one.n for one in found), default=0) for pick in (min, max))
    n = f"{low:,}" if low == high else tr("{low:,} to {high:,}").format(low=low, high=high)
    return tr(
        "{coefficients}'s coefficient over answers of all models that remain ({n} with "
        "both values). Metrics where lower is better are reversed: above 0, both rate the "
        "same reports as good.{direction_caption} {level:.0%} intervals leave out groups "
        "of patients in turn (jackknife, Fisher's z). Models that differ much make any two "
        "metrics agree: filter by one model to see whether they agree on its reports."
    ).format(
        coefficients=COEFFICIENT_NAMES[coefficient],
        n=n,
        direction_caption=direction_caption(metrics),
        level=LEVEL,
    )


def error_free_caption(tables: ErrorFreeTables) -> str:
    """Return a caption on the definition of error-free, and on omissions."""
    words = "; ".join(
        f"“{name}”: none of {describe_severity_threshold(n)}"
        for n, name in ERROR_FREE_NAMES.items()
    )
    parts = [
        tr("Of the reports that the reader or judge reviewed line by line. {words}.").format(
            words=words
        ),
        tr(
            "{level:.0%} intervals are Wilson's, or resample patients where cases share one."
        ).format(level=LEVEL),
        tr("Severity is that of a wrong line (ReFiSco), not the harm of a failure: two scales."),
        tr("All studies: including those not labelled normal or abnormal."),
    ]
    left_out = max((row.numbers.ungraded for row in tables.rows), default=0)
    if left_out:
        parts.append(
            tr("Up to {counted} with an ungraded edit left out.").format(
                counted=counted(left_out, "report")
            )
        )
    return " ".join(parts)


def preference_caption(tables: PreferenceTables) -> str:
    """Return a caption on the definition of strength."""
    return tr(
        "{counted} of two reports ({counted_2}) in {counted_3} by {counted_4}. "
        "Strength: Bradley and Terry's model, log odds; the sum is 0, a tie is "
        "half a win for each. {level:.0%} limits of strengths and places "
        "resample cases ({comparison_resamples:,} resamples, percentiles)."
    ).format(
        counted=counted(tables.comparisons, "comparison"),
        counted_2=counted(tables.ties, "tie"),
        counted_3=counted(tables.cases, "case"),
        counted_4=counted(tables.readers, "reader"),
        level=LEVEL,
        comparison_resamples=COMPARISON_RESAMPLES,
    )


# Own models among those of a published board, by the same metric.

OTHER_IMPLEMENTATION_NOTE: Final = tr(
    "Another implementation of a metric is another number, and these are "
    "other studies: a place among printed ones is a hint, not a result."
)


@dataclass(frozen=True)
class OwnMetricValue:
    """The value of an own model for a published metric, with its implementation."""

    metric: MetricId
    cell: LeaderboardCell


@dataclass(frozen=True)
class ComparedBoardRow:
    """A model of a published board (``own`` is None), or an own model (``printed`` is empty).

    ``own`` has the own model's values by published metric, one for each implementation. ``model``
    is the published name, or the own model's id.
    """

    model: str
    printed: dict[str, PublishedMean]
    own: dict[str, tuple[OwnMetricValue, ...]] | None


def published_metric_name(metric: MetricId) -> str:
    """Return the name under which ReXrank publishes a metric; for some it is the reciprocal."""
    return known_metric(metric.metric).reciprocal or metric.metric


def rank_with_published(
    board: PublishedBoard, tables: ReportTables | None, ranked_by: str
) -> tuple[ComparedBoardRow, ...]:
    """Return published and own models sorted by one published metric, the best first.

    Own models are sorted by their mean of that metric, in the first of several implementations;
    models without one come last. Own models are left out if ``tables`` are for another section.
    """
    rows: list[tuple[tuple[bool, float], ComparedBoardRow]] = []
    for model in board.models:
        printed = {name: cell for (one, name), cell in board.cells.items() if one == model}
        mean = printed[ranked_by].mean if ranked_by in printed else None
        rows.append((_key(mean), ComparedBoardRow(model, printed, None)))
    if tables is not None and tables.scope == board.section:
        for model in tables.board.models:
            own: dict[str, tuple[OwnMetricValue, ...]] = {}
            for metric in tables.metrics:
                cell = tables.board.cells[metric, model]
                if cell.shown is not None:
                    name = published_metric_name(metric)
                    own[name] = (*own.get(name, ()), OwnMetricValue(metric, cell))
            first = own[ranked_by][0].cell.shown if ranked_by in own else None
            rows.append((_key(first), ComparedBoardRow(model, {}, own)))
    return tuple(row for _, row in sorted(rows, key=lambda row: row[0]))


def _key(mean: float | None) -> tuple[bool, float]:
    return mean is None, -(mean or 0.0)
