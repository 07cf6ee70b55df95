"""The memory engine's queries about choices, judges and generated reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rexview.analysis.query.engine import (
    ChoiceCounts,
    ChoiceGroup,
    JudgeAgreement,
    MetricTally,
    PreferenceCounts,
    RankDisputedReport,
    ReportCounts,
)
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.query.memory.answer_table import AnswerTable
from rexview.analysis.query.memory.selection import CASE_FACETS, FilterSelection
from rexview.analysis.query.memory.set_columns import Codes
from rexview.metrics.identity import MetricId, known_metric, metric_sort_key
from rexview.schema import ReviewSet
from rexview.stats.bootstrap import Counts, Floats
from rexview.stats.error_free_reports import ErrorFreeTally, count_error_free, list_edited_reports
from rexview.stats.failure_rates import PairTally, PatientTally, tally_patients
from rexview.stats.judge_agreement import (
    Judge,
    collect_reader_verdicts,
    measure_failure_agreements,
    measure_score_agreements,
)
from rexview.stats.metric_correlation import Correlation, correlate_columns, rank_differences
from rexview.stats.multiple_choice import (
    ChoiceTally,
    Mask,
    Numbers,
    Rater,
    RaterChoices,
    RaterPairKey,
    count_options,
    tally_choices,
    tally_rater_pair,
)
from rexview.stats.preferences import select_comparisons, tally_preferences
from rexview.stats.report_metrics import ReportValues, ValueDistribution, summarise_values
from rexview.stats.score_summaries import ValueTally, tally_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from rexview.analysis.query.engine import CaseProperty


def tally_metrics(values: ReportValues, metrics: Sequence[MetricId]) -> MetricTally:
    """Sum the values of some metrics by patient, for the models that have values."""
    met = {model for one in metrics for model in values.of(one).models_met()}
    models = tuple(model for model in values.models if model in met)
    return MetricTally(tuple(metrics), models, values.by_patient(metrics, models))


def summarise_metrics(
    values: ReportValues, metrics: Sequence[MetricId]
) -> dict[tuple[MetricId, str], ValueDistribution]:
    """Return the distribution of each metric's values, by metric and model that has any."""
    found = {}
    for one in metrics:
        for model in values.of(one).models_met():
            if summary := summarise_values(values.of(one, model).value):
                found[one, model] = summary
    return found


def correlate_metrics(
    values: ReportValues, metrics: Sequence[MetricId], coefficient: str
) -> tuple[Correlation, ...]:
    """Correlate each two of some metrics over answers, all turned so that higher is better."""
    given, _, patients = values.matrix(metrics)
    return correlate_columns(given * _metric_signs(metrics), patients, coefficient)


def find_furthest_apart(
    values: ReportValues, pair: tuple[MetricId, MetricId], most: int
) -> tuple[NDArray[np.int64], Floats]:
    """Find the answers that two metrics rank furthest apart, the furthest first.

    Returns
    -------
    numbers : numpy.ndarray
        The answers' numbers, shape (n,), ``most`` at most.
    said : numpy.ndarray
        Shape (n, 4): both values, and both places from 0, the worst, to 1, the best.
    """
    given, numbers, _ = values.matrix(pair)
    places = rank_differences(given * _metric_signs(pair))
    apart = np.nan_to_num(np.abs(places[:, 2]), nan=-1.0)
    furthest = np.argsort(-apart, kind="stable")[:most]
    furthest = furthest[apart[furthest] > 0]
    return numbers[furthest], np.concatenate([given[furthest], places[furthest, :2]], axis=1)


def _metric_signs(metrics: Sequence[MetricId]) -> Floats:
    """Return -1 for each metric for which lower is better, 1 for the others."""
    lower = [known_metric(one.metric).higher_is_better is False for one in metrics]
    return np.where(lower, -1.0, 1.0)


# Judges: :class:`.JudgeQuestions`.

_AgreementsByJudge = dict[Judge, tuple[pl.DataFrame, JudgeAgreement]]
_AGREEMENTS: Final[WeakKeyDictionary[ReviewSet, _AgreementsByJudge]] = WeakKeyDictionary()
"""Agreement of judges by set, shared because each order and each step of a scan has an engine."""


class JudgeTallies:
    """Counts of judges' opinions of matching answers; a mixin of the memory engine."""

    table: AnswerTable

    def selection(self, case_filter: CaseFilter) -> FilterSelection:
        """Return the cases and answers that match a filter."""
        raise NotImplementedError

    def judge_agreement(self, judge: Judge) -> JudgeAgreement:
        """Compare a judge with the readers, over all answers of the set; computed once."""
        known = _AGREEMENTS.setdefault(self.table.review_set, {})
        verdicts = self.table.survey.verdicts
        before = known.get(judge)
        if before is None or not before[0].equals(verdicts):
            known[judge] = before = verdicts, self._compared(judge, verdicts)
        return before[1]

    def _compared(self, judge: Judge, verdicts: pl.DataFrame) -> JudgeAgreement:
        opinions, review_set = self.table.opinions, self.table.review_set
        failures = measure_failure_agreements(
            opinions, collect_reader_verdicts(review_set, verdicts), (judge,)
        )
        scores = measure_score_agreements(opinions, review_set, (judge,))
        return JudgeAgreement(
            judge,
            {one.failure: one for one in failures},
            {one.dimension: one for one in scores},
            opinions.stale.get(judge, 0),
            opinions.wordings.get(judge, 0),
        )

    def judge_failures(
        self, case_filter: CaseFilter, judge: Judge
    ) -> dict[tuple[str, str], PatientTally]:
        """Count patients by their answers with an opinion, and those with a failure in it."""
        return {
            about: tally_patients(
                part["present"].cast(pl.Int64).to_numpy(), part["patient"].to_numpy()
            )
            for about, part in self.said_by_judge(case_filter, judge, "failure")
        }

    def judge_scores(
        self, case_filter: CaseFilter, judge: Judge
    ) -> dict[tuple[str, str], ValueTally]:
        """Count the judge's scores."""
        return {
            about: tally_values(part["score"].to_numpy())
            for about, part in self.said_by_judge(case_filter, judge, "dimension")
        }

    def said_by_judge(
        self, case_filter: CaseFilter, judge: Judge, column: str
    ) -> list[tuple[tuple[str, str], pl.DataFrame]]:
        """Return a judge's opinions of the matching answers, by a column and the model."""
        said = self.table.opinions.of(judge).filter(pl.col(column).is_not_null())
        number = said["number"].to_numpy()
        left = self.selection(case_filter).answer_mask[number]
        model = self.table.columns.model
        places = pl.Series("_model", self.table.columns.newest.model[number].astype(np.int64))
        parts = (
            said.with_columns(places)
            .filter(pl.Series(left))
            .partition_by(column, "_model", as_dict=True, maintain_order=True)
        )
        return [((what, model.values[place]), part) for (what, place), part in parts.items()]


# Choice questions: :class:`.ChoiceQuestions`.

_TAG: Final = "tag:"
_KEPT: Final = 4


class ChoiceTallies:
    """Counts of choices on matching questions; a mixin of the memory engine."""

    table: AnswerTable

    def selection(self, case_filter: CaseFilter) -> FilterSelection:
        """Return the cases and answers that match a filter."""
        raise NotImplementedError

    def choices_left(self, case_filter: CaseFilter) -> RaterChoices:
        """Return the choices that match a filter."""
        return self._left(case_filter)

    @cached_property
    def _left(self) -> Callable[[CaseFilter], RaterChoices]:
        def left(case_filter: CaseFilter) -> RaterChoices:
            found = self.selection(case_filter)
            answers = None if found.rows_met is None else found.answer_mask
            return self.table.chosen.left(answers, found.case_mask)

        return lru_cache(_KEPT)(left)

    def read_by_people(self, left: RaterChoices) -> Mask:
        """Return a mask of the questions that a reader answered, whether or not they match."""
        whole = self.table.chosen
        return np.isin(left.case_row, whole.case_row[whole.read_by_people])

    @property
    def raters(self) -> tuple[Rater, ...]:
        """Everyone who chose an option in the set."""
        return self.table.chosen.raters

    def choice_counts(self, case_filter: CaseFilter) -> ChoiceCounts:
        """Count the questions."""
        left = self._left(case_filter)
        patients = np.count_nonzero(np.bincount(left.patient)) if len(left) else 0
        return ChoiceCounts(
            questions=len(left),
            unmarked=len(left.unmarked),
            patients=int(patients),
            read_by_people=int(np.count_nonzero(self.read_by_people(left))),
        )

    def choice_tallies(
        self, case_filter: CaseFilter, *, read_by_people: bool = False
    ) -> tuple[ChoiceTally, ...]:
        """Count the choices of each rater."""
        left = self._left(case_filter)
        return _tallies(left.of(self.read_by_people(left)) if read_by_people else left)

    def choice_groups(
        self, case_filter: CaseFilter, by: CaseProperty, most: int
    ) -> tuple[tuple[ChoiceGroup, ...], int]:
        """Count choices by a property of the cases."""
        left = self._left(case_filter)
        found = list(self.choice_values(left, by, case_filter))
        largest = sorted(range(len(found)), key=lambda place: -len(found[place][1]))[:most]
        groups = (found[place] for place in sorted(largest))
        return tuple(
            ChoiceGroup(value, len(questions), _tallies(left.of(questions)))
            for value, questions in groups
        ), len(found) - len(largest)

    def choice_values(
        self, left: RaterChoices, by: CaseProperty, case_filter: CaseFilter
    ) -> Iterator[tuple[str, Numbers]]:
        """Yield each value of a property of the questions, and the questions with it."""
        columns = self.table.columns
        if by.field != "tags":
            coded = columns.case_codes[CASE_FACETS[by.field]]
            yield from _questions_by_code(
                coded.codes[left.case_row], np.arange(len(left)), coded.values
            )
            return
        tag = by.key.removeprefix(_TAG)
        if tag not in columns.tag_codes:
            return
        rows, coded = columns.tag_codes[tag]
        place = np.full(columns.n_cases, -1)
        place[left.case_row] = np.arange(len(left))
        named = [value for value in case_filter.tags if value.partition(":")[0] == tag]
        there = (place[rows] >= 0) & coded.among(named or coded.values)
        yield from _questions_by_code(coded.codes[there], place[rows][there], coded.values)

    def choice_pairs(self, case_filter: CaseFilter) -> dict[RaterPairKey, PairTally]:
        """Count the questions that each two raters both answered."""
        left = self._left(case_filter)
        return {(None, a, b): tally_rater_pair(left, a, b) for a, b in _pairs(left)}

    def choice_agreement(self, case_filter: CaseFilter) -> dict[RaterPairKey, Counts]:
        """Count the questions by the options of each two raters."""
        left = self._left(case_filter)
        tasks = self.table.columns.case_codes["category"]
        parts = _questions_by_code(tasks.codes[left.case_row], np.arange(len(left)), tasks.values)
        of_task = [(None, left), *((task, left.of(questions)) for task, questions in parts)]
        return {
            (task, a, b): count_options(part, a, b)
            for task, part in of_task
            for a, b in _pairs(part)
        }


def _tallies(chosen: RaterChoices) -> tuple[ChoiceTally, ...]:
    return tuple(tally_choices(chosen, place) for place in range(len(chosen.raters)))


def _pairs(chosen: RaterChoices) -> Iterator[tuple[int, int]]:
    return combinations(range(len(chosen.raters)), 2)


def _questions_by_code(
    codes: Codes, questions: Numbers, values: tuple[str, ...]
) -> Iterator[tuple[str, Numbers]]:
    """Yield the questions of each code that occurs, in the order of the values."""
    order = np.argsort(codes, kind="stable")
    limits = np.searchsorted(codes[order], np.arange(len(values) + 1))
    for value, first, last in zip(values, limits, limits[1:], strict=False):
        if last > first:
            yield value, questions[order[first:last]]


# Generated reports: :class:`.ReportQuestions`.


class ReportTallies:
    """Counts of metrics, corrections and comparisons of matching reports; an engine mixin."""

    table: AnswerTable

    def selection(self, case_filter: CaseFilter) -> FilterSelection:
        """Return the cases and answers that match a filter."""
        raise NotImplementedError

    @cached_property
    def _metric_values_left(self) -> Callable[[CaseFilter], ReportValues]:
        def left(case_filter: CaseFilter) -> ReportValues:
            return self.table.metrics.of_answers(self.selection(case_filter).answer_mask)

        return lru_cache(_KEPT)(left)

    def metric_values_left(self, case_filter: CaseFilter) -> ReportValues:
        """Return the values of metrics on matching answers."""
        return self._metric_values_left(case_filter)

    def report_counts(self, case_filter: CaseFilter) -> ReportCounts:
        """Count the matching reports, and their metrics, corrections and comparisons."""
        found, columns = self.selection(case_filter), self.table.columns
        is_report = columns.case_codes["question_type"].among(["report"])
        cases = found.case_mask & is_report
        left = found.answer_mask & is_report[columns.newest.case]
        models = columns.model.values
        answers = np.bincount(columns.newest.model[left], minlength=len(models)).tolist()
        values, in_set = self._metric_values_left(case_filter), self.table.metrics
        ids = sorted((MetricId(*one) for one in values.met()), key=metric_sort_key)
        together = {one: np.unique(in_set.of(one).together) for one in ids}
        edited = self._edited_reports
        return ReportCounts(
            cases=int(cases.sum()),
            answers={model: n for model, n in zip(models, answers, strict=True) if n},
            metrics=tuple(ids),
            in_set={one: len(in_set.of(one)) for one in ids},
            together={one: tuple(n[n > 0].tolist()) for one, n in together.items()},
            edits=edited.filter(pl.Series(found.answer_mask[edited["number"]]))[
                "number"
            ].n_unique(),
            preferences=self._preferences_left(found).height,
            people=frozenset(
                model.id for model in self.table.review_set.models if model.kind == "reader"
            ),
        )

    def metric_tally(self, case_filter: CaseFilter, metrics: Sequence[MetricId]) -> MetricTally:
        """Sum the values of some metrics by patient."""
        return tally_metrics(self._metric_values_left(case_filter), metrics)

    def metric_spreads(
        self, case_filter: CaseFilter, metrics: Sequence[MetricId]
    ) -> dict[tuple[MetricId, str], ValueDistribution]:
        """Return the distribution of each metric's values."""
        return summarise_metrics(self._metric_values_left(case_filter), metrics)

    def metric_correlations(
        self, case_filter: CaseFilter, metrics: Sequence[MetricId], coefficient: str
    ) -> tuple[Correlation, ...]:
        """Correlate each two of some metrics over answers."""
        return correlate_metrics(self._metric_values_left(case_filter), metrics, coefficient)

    def metric_disputes(
        self, case_filter: CaseFilter, pair: tuple[MetricId, MetricId], most: int
    ) -> tuple[RankDisputedReport, ...]:
        """Return the answers that two metrics rank furthest apart."""
        numbers, said = find_furthest_apart(self._metric_values_left(case_filter), pair, most)
        newest, review_set = self.table.columns.newest, self.table.review_set
        cases = review_set.cases["id"].gather(newest.case[numbers])
        models = [review_set.models[place].id for place in newest.model[numbers]]
        return tuple(
            RankDisputedReport(case, model, *given)
            for case, model, given in zip(cases, models, said.tolist(), strict=True)
        )

    @cached_property
    def _edited_reports(self) -> pl.DataFrame:
        return list_edited_reports(self.table.review_set, self.table.columns.cluster)

    def error_free_tallies(self, case_filter: CaseFilter) -> tuple[ErrorFreeTally, ...]:
        """Count the reports without errors."""
        edited = self._edited_reports
        left = edited.filter(pl.Series(self.selection(case_filter).answer_mask[edited["number"]]))
        readers = list(self.table.review_set.reader_names)
        return count_error_free(left, readers, self.table.columns.model.values)

    def _preferences_left(self, found: FilterSelection) -> pl.DataFrame:
        """Return the comparisons between matching answers."""
        return select_comparisons(self.table.review_set, found.answer_mask)

    def comparisons(self, case_filter: CaseFilter) -> PreferenceCounts:
        """Count pairwise preferences."""
        left = self._preferences_left(self.selection(case_filter))
        met = {*left["first"], *left["second"]}
        models = tuple(model for model in self.table.columns.model.values if model in met)
        tally = tally_preferences(left, models)
        return PreferenceCounts(models, tally, len(tally.wins), left["reader"].n_unique())
