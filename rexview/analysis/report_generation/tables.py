"""The numbers of the page Report generation, each with the filter that opens its answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from rexview.analysis.engine import CaseProperty, Engine
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.filter.linked_count import Count, count_within, refined, with_all
from rexview.analysis.filter.report_conditions import UNNAMED, EditCondition, MetricOrder
from rexview.analysis.groups import property_values
from rexview.analysis.report_generation.engine import ReportCounts
from rexview.metrics.identity import MetricId
from rexview.metrics.known import RECIPROCALS, known_metric
from rexview.stats.bootstrap import RESAMPLES
from rexview.stats.generated_reports.board import LEAST_FOR_A_PLACE, Board, BoardCell, board
from rexview.stats.generated_reports.line_edits import NOBODY, ErrorFree, error_free
from rexview.stats.generated_reports.preferences import RESAMPLES as COMPARISON_RESAMPLES
from rexview.stats.generated_reports.preferences import Strength, strengths
from rexview.stats.generated_reports.spread import Spread
from rexview.vocab import EDIT_SEVERITIES, judge_name
from rexview.words import inside, tr

SCOPES: Final[dict[str | None, str]] = {
    "findings": tr("Findings"),
    "findings+impression": tr("Findings and impression"),
    "impression": tr("Impression"),
    None: tr("Sections not said"),
}
"""Names on screen of what metrics compare, in the order of the boards; others stand by their own
word before the last."""
MOST_GROUPS: Final = 24
"""As many groups are laid out; of more, those with the most cases."""
STUDIES: Final = {"": tr("All studies"), "abnormal": tr("Abnormal"), "normal": tr("Normal")}
_SET_BOUND: Final = frozenset({"radcliq_v0", "radcliq_v1"})
"""Metrics whose values depend on the answers that were computed with them (IDF weights)."""


def scope_name(scope: str | None) -> str:
    """Return the name on screen of what a metric compares."""
    return SCOPES.get(scope) or str(scope)


def shown_name(metric: MetricId) -> str:
    """Return the name under which a board shows a metric: ``1/RadCliQ-v1``."""
    return f"1/{metric.name}" if known_metric(metric.metric).reciprocal else metric.name


@dataclass(frozen=True, eq=False)
class ReportTables:
    """The board of one scope for one filter, and what else there is.

    Attributes
    ----------
    base : CaseFilter
        Whose answers are counted.
    counts : ReportCounts
    cases : Count
        Cases that ask for a report.
    names : mapping of str to str
        Name on screen of every model of the set; readers are named as such.
    scopes : tuple
        Those with any metric, in order; ``scope`` is the one shown.
    board : Board
        Of the metrics of that scope.
    refused : tuple of MetricId
        Reciprocals that were given for single answers: they are never averaged.
    """

    base: CaseFilter
    counts: ReportCounts
    cases: Count
    names: Mapping[str, str]
    scopes: tuple[str | None, ...]
    scope: str | None
    board: Board
    refused: tuple[MetricId, ...]

    @property
    def has_any(self) -> bool:
        """Whether there is anything of generated reports."""
        counts = self.counts
        return bool(counts.cases or counts.metrics or counts.edits or counts.preferences)

    @cached_property
    def metrics(self) -> tuple[MetricId, ...]:
        """The metrics of the board."""
        return tuple(MetricId(*metric) for metric in self.board.metrics)

    @property
    def clustered(self) -> bool:
        """Whether some answers share a patient."""
        return any(cell.patients < cell.n for cell in self.board.cells.values())

    def is_from_full_run(self, metric: MetricId) -> bool:
        """Whether a filter leaves a part of values that were made to go with all of them."""
        together = self.counts.together.get(metric, ())
        left = sum(cell.n for key, cell in self.board.cells.items() if key[0] == metric)
        bound = metric.metric in _SET_BOUND or bool(together)
        return bound and left < max(self.counts.in_set.get(metric, 0), *together, 0)

    def ranked_by(self, wanted: str | None) -> MetricId | None:
        """Return the metric that is asked for by its key, else the first that can rank."""
        for metric in self.metrics:
            if metric.key == wanted:
                return metric
        can = [one for one in self.metrics if known_metric(one.metric).higher_is_better is not None]
        return next(iter(can or self.metrics), None)

    def opens(self, metric: MetricId, model: str) -> Count:
        """Return how many values a cell is of, with what opens the answers, worst first."""
        return _opened(self.base, self.board.cells[metric, model])


def _opened(base: CaseFilter, cell: BoardCell) -> Count:
    count = count_within(base, cell.n, models=cell.model)
    worst_first = str(MetricOrder(MetricId(*cell.metric), worst_first=True))
    return replace(count, opens=replace(count.opens, sort=worst_first))


def report_tables(
    engine: Engine,
    case_filter: CaseFilter | None = None,
    *,
    scope: str | None = "",
    resamples: int = RESAMPLES,
) -> ReportTables:
    """Work out the board of one scope over the answers that a filter leaves.

    ``scope`` that no metric has, such as the empty one, stands for the first that one has.
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
        cases=count_within(base, counts.cases, question_types="report"),
        names={
            one: tr("{name} (reader)").format(name=name) if one in counts.people else name
            for one, name in models.items()
        },
        scopes=tuple(scopes),
        scope=scope,
        board=board(tally.by_patient, metrics, tally.models, known_metric, resamples=resamples),
        refused=tuple(one for one in counts.metrics if one.metric in RECIPROCALS),
    )


@dataclass(frozen=True, eq=False)
class ReportGroup:
    """One value of a property: its cases, and the board of one metric over their answers."""

    value: str
    name: str
    cases: Count
    board: Board

    def opens(self, metric: MetricId, model: str) -> Count:
        """Return how many values a cell is of, with what opens the answers, worst first."""
        return _opened(self.cases.opens, self.board.cells[metric, model])


@dataclass(frozen=True, eq=False)
class ReportGroups:
    """One metric by a property of the cases: sites, normal and abnormal studies, tags.

    A model has a place in a group of at least ``least`` answers of its own. ``without`` cases have
    no value of the property; ``left_out`` groups with fewer cases are not laid out; ``overlap``
    says that a case can be in several.
    """

    by: CaseProperty
    metric: MetricId
    models: tuple[str, ...]
    groups: tuple[ReportGroup, ...]
    least: int
    without: int
    left_out: int
    overlap: bool


def report_groups(
    engine: Engine,
    case_filter: CaseFilter,
    by: CaseProperty,
    metric: MetricId,
    *,
    least: int = LEAST_FOR_A_PLACE,
    resamples: int = RESAMPLES,
) -> ReportGroups:
    """Work out one metric for each value of a property, over the reports that a filter leaves.

    Where other cases have values of it, too, it is over all cases.
    """
    reports = refined(case_filter, question_types="report") or case_filter
    every, of_reports = (engine.metric_tally(one, (metric,)) for one in (case_filter, reports))
    has_others = every.by_patient.n.sum() > of_reports.by_patient.n.sum()
    base = case_filter if has_others else reports  # each value that the board has counts here
    counts = engine.property_counts(base, by)
    total = engine.tally(base).cases
    values = list(property_values(counts, engine.facts, base, by))
    groups: list[ReportGroup] = []
    left_out = 0
    for place, (value, name, cases) in enumerate(sorted(values, key=lambda one: -one[2].value)):
        tally = engine.metric_tally(cases.opens, (metric,))
        if not tally.models:
            continue
        if len(groups) == MOST_GROUPS:
            left_out = len(values) - place
            break
        found = board(
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


def report_spreads(
    engine: Engine, case_filter: CaseFilter, metrics: tuple[MetricId, ...]
) -> Mapping[tuple[MetricId, str], Spread]:
    """Return how the values of some metrics spread, by metric and model."""
    return engine.metric_spreads(case_filter, metrics)


@dataclass(frozen=True)
class ErrorFreeRow:
    """Reports of one model that one reader found free of errors of a severity or above.

    ``studies`` is a word of :data:`STUDIES`; ``free`` counts them, of those gone over and graded.
    """

    studies: str
    numbers: ErrorFree
    free: Count


@dataclass(frozen=True, eq=False)
class ErrorFreeTables:
    """Error-free shares, by who corrected; ``readers`` have their names on screen."""

    readers: Mapping[str, str]
    rows: tuple[ErrorFreeRow, ...]

    def of(self, reader: str, model: str, severity: int, studies: str = "") -> ErrorFreeRow | None:
        """Return one row, None where nothing was gone over."""
        wanted = (reader, model, severity, studies)
        for row in self.rows:
            one = row.numbers
            if (one.reader, one.model, one.severity, row.studies) == wanted:
                return row
        return None

    def models(self, reader: str) -> tuple[str, ...]:
        """Return the models whose reports somebody went over, in the set's order."""
        return tuple(
            dict.fromkeys(row.numbers.model for row in self.rows if row.numbers.reader == reader)
        )


def error_free_tables(
    engine: Engine, case_filter: CaseFilter, *, resamples: int = RESAMPLES
) -> ErrorFreeTables:
    """Work out error-free shares, of all studies, of abnormal ones and of normal ones."""
    rows: list[ErrorFreeRow] = []
    for studies in STUDIES:
        base = case_filter
        if studies:
            if base.studies and studies not in base.studies:
                continue
            base = replace(base, studies=(studies,))
        for tally in engine.error_free_tallies(base):
            found = error_free(tally, resamples=resamples)
            below = str(EditCondition("below", tally.severity, tally.reader or UNNAMED))
            opens = replace(with_all(base, "edits", below), models=(tally.model,))
            count = Count(found.rate.flagged, opens, found.rate.n)
            rows.append(ErrorFreeRow(studies, found, count))
    readers = dict.fromkeys(row.numbers.reader for row in rows)
    names = engine.facts.readers
    return ErrorFreeTables(
        {
            one: names.get(one, judge_name(one)) if one != NOBODY else tr("Not said by whom")
            for one in readers
        },
        tuple(rows),
    )


def severity_words(severity: int) -> str:
    """Say which errors a threshold is about: ``severity 2 (Actionable, not urgent) or more``."""
    return tr("severity {severity} ({edit_severities}) or more").format(
        severity=severity, edit_severities=inside(EDIT_SEVERITIES[severity])
    )


@dataclass(frozen=True, eq=False)
class PreferenceTables:
    """Strengths of models from pairwise preferences, the strongest first.

    Each with its model and what opens the cases: by ``compared``, ``won``, ``tied`` and ``lost``.
    """

    rows: tuple[tuple[str, Strength, Mapping[str, Count]], ...]
    comparisons: int
    ties: int
    cases: int
    readers: int


def preference_tables(
    engine: Engine, case_filter: CaseFilter, *, resamples: int = COMPARISON_RESAMPLES
) -> PreferenceTables:
    """Work out the strengths of the models that were compared in cases that a filter leaves."""
    found = engine.comparisons(case_filter)
    rows = []
    fitted = strengths(found.tally, resamples=resamples)
    for model, one in zip(found.models, fitted, strict=True):
        counts = {"compared": one.n, "won": one.won, "tied": one.tied, "lost": one.lost}
        opened = {
            word: count_within(case_filter, n, one.n, models=model, compared=word)
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
