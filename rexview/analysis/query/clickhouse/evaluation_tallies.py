"""The ClickHouse engine's queries about choices, judges and generated reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rexview.analysis.query.clickhouse.engine_parts import EngineParts
from rexview.analysis.query.clickhouse.loading import UNMARKED
from rexview.analysis.query.clickhouse.patient_tallies import (
    KNOWN_COLUMNS,
    POINT_COLUMNS,
    count_cases_and_patients,
    count_patients,
    make_known_rows,
    make_points,
    make_separate_pair,
    tally_pairs_by_patient,
)
from rexview.analysis.query.clickhouse.sql_conditions import SqlConditions
from rexview.analysis.query.clickhouse.table_layout import RIGHT_OPTION
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
from rexview.analysis.query.filter.judge_conditions import format_judge
from rexview.analysis.query.memory.evaluation_tallies import (
    correlate_metrics,
    find_furthest_apart,
    summarise_metrics,
    tally_metrics,
)
from rexview.analysis.query.memory.selection import CASE_FACETS
from rexview.metrics.identity import MetricId, metric_sort_key
from rexview.stats.bootstrap import Counts
from rexview.stats.error_free_reports import ErrorFreeTally
from rexview.stats.failure_rates import EMPTY_PATIENT_TALLY, PairTally, PatientTally
from rexview.stats.judge_agreement import (
    Judge,
    JudgeOpinions,
    collect_reader_verdicts,
    measure_failure_agreements,
    measure_score_agreements,
)
from rexview.stats.metric_correlation import Correlation
from rexview.stats.multiple_choice import NO_CHOICE, ChoiceTally, Rater, RaterChoices, RaterPairKey
from rexview.stats.report_metrics import ReportValues, ValueDistribution
from rexview.stats.score_summaries import ValueTally, tally_values
from rexview.vocab import DIMENSIONS, FAILURES

if TYPE_CHECKING:
    from rexview.analysis.query.engine import CaseProperty


_TAG: Final = "tag:"
_ALL: Final = 0
"""Index of all questions in counts by value; the values have indices from 1."""
Tallies = Mapping[tuple[int, int], PatientTally]


class ClickHouseChoiceTallies(EngineParts):
    """Counts of choices on matching questions; a mixin of the engine.

    Indices of raters are those of :attr:`raters`. ClickHouse has the choices of models only, some
    of which represent people. Choices of readers in the app are in memory.
    """

    @cached_property
    def raters(self) -> tuple[Rater, ...]:
        """Everyone who chose an option in the set."""
        people = (one for one in self.reviewed.raters if not one.has_answers)
        return (*self.opened.manifest.raters, *people)

    @cached_property
    def _rater_of_model(self) -> str:
        """SQL that turns a model's index into the rater's."""
        places = {one.id: at for at, one in enumerate(self.opened.manifest.raters)}
        of_models = [places.get(model, -1) for model in self.opened.manifest.models]
        return f"[{', '.join(map(str, of_models))}][x_model + 1]"

    def _questions(self, left: SqlConditions, read_by_people: bool = False) -> str:
        """Return SQL of the matching questions, each with ``raters``, ``chosen``, ``right``.

        ``met`` is a mask of the raters whose choices count.
        """
        rater = f"arrayMap(x_model -> toInt64({self._rater_of_model}), model)"
        asked = f"arrayMap((m, c) -> toUInt8(m AND c != {NO_CHOICE}), met, choice)"
        people = [at for at, one in enumerate(self.opened.manifest.raters) if one.is_reader]
        readers = ", ".join(map(str, people)) or "-1"
        read = f"arrayExists((r, c) -> r IN ({readers}) AND c != {NO_CHOICE}, raters, choice)"
        only = f" AND {read}" if read_by_people else ""
        return (
            f"(SELECT *, {rater} AS raters, {asked} AS asked, {RIGHT_OPTION} AS right, "
            f"{read} AS read_by_people FROM {left.from_left()} "
            f"WHERE {RIGHT_OPTION} >= 0 AND has(asked, 1){only})"
        )

    def _chosen_in_memory(
        self, case_filter: CaseFilter, *, read_by_people: bool = False
    ) -> RaterChoices:
        """Return the questions in memory; raters have their indices in the whole set."""
        left = self.reviewed.choices_left(case_filter)
        if read_by_people:
            left = left.of(self.reviewed.read_by_people(left))
        places = {one.id: at for at, one in enumerate(self.raters)}
        shape = len(left), len(self.raters)
        option = np.full(shape, NO_CHOICE, dtype=np.int16)
        own = [places[one.id] for one in left.raters]
        option[:, own] = left.option
        return RaterChoices(
            raters=self.raters,
            case_row=left.case_row,
            right=left.right,
            patient=self.small.patients[left.case_row],
            option=option,
            number=np.full(shape, -1, dtype=np.int64),
            unmarked=left.unmarked,
        )

    def choice_counts(self, case_filter: CaseFilter) -> ChoiceCounts:
        """Count the questions."""
        left, in_memory = self.conditions(case_filter), self._chosen_in_memory(case_filter)
        asked, read = self._questions(left), self.reviewed.read_by_people(in_memory)
        rows, of_memory = f"SELECT patient FROM {asked}", in_memory.patient
        questions, patients = count_cases_and_patients(self.ask, rows, left.parameters, of_memory)
        unmarked = self.n_of(left.from_left(), left, f"{RIGHT_OPTION} = {UNMARKED}")
        return ChoiceCounts(
            questions=questions,
            unmarked=unmarked + len(in_memory.unmarked),
            patients=patients,
            read_by_people=self.n_of(asked, left, "read_by_people") + int(np.count_nonzero(read)),
        )

    def choice_tallies(
        self, case_filter: CaseFilter, *, read_by_people: bool = False
    ) -> tuple[ChoiceTally, ...]:
        """Count the choices of each rater."""
        left = self.conditions(case_filter)
        chosen = self._chosen_in_memory(case_filter, read_by_people=read_by_people)
        found = self._tallies(
            left,
            self._questions(left, read_by_people),
            "[0]",
            [(_ALL, chosen)],
        )
        return self._by_rater(*found, _ALL)

    def _tallies(
        self,
        left: SqlConditions,
        questions: str,
        values: str,
        in_memory: Iterable[tuple[int, RaterChoices]],
    ) -> tuple[Tallies, Tallies]:
        """Count choices by value and rater: all choices, and those with a usable option.

        ``values`` is SQL of the indices of a question's values. ``in_memory`` has the questions of
        the other part by value.
        """
        usable = []
        every = []
        for what, chosen in in_memory:
            rater, question = np.nonzero(chosen.option.T != NO_CHOICE)
            option = chosen.option[question, rater]
            right = option == chosen.right[question]
            rows = make_points(what, rater, chosen.patient[question], right) if len(rater) else None
            if rows is not None:
                every.append(rows)
                usable.append(rows.filter(pl.Series(option >= 0)))
        found = []
        for some, limit in ((every, NO_CHOICE + 1), (usable, 0)):
            rows_sql = (
                "SELECT what, who, patient, sum(x_choice = right) AS points, count() AS answers "
                f"FROM (SELECT patient, right, raters, choice, asked, {values} AS of_values "
                f"FROM {questions}) ARRAY JOIN raters AS who, choice AS x_choice, asked AS x_asked "
                f"ARRAY JOIN of_values AS what WHERE x_asked AND x_choice >= {limit} "
                "GROUP BY what, who, patient"
            )
            memory = pl.concat([POINT_COLUMNS.to_frame(), *some])
            found.append(count_patients(self.ask, rows_sql, left.parameters, memory))
        return found[0], found[1]

    def _by_rater(self, every: Tallies, usable: Tallies, value: int) -> tuple[ChoiceTally, ...]:
        tallied = []
        for who in range(len(self.raters)):
            whole = every.get((value, who), EMPTY_PATIENT_TALLY)
            read = usable.get((value, who), EMPTY_PATIENT_TALLY)
            failed = whole.n - read.n
            tallied.append(ChoiceTally(whole, read if failed else whole, failed))
        return tuple(tallied)

    def choice_groups(
        self, case_filter: CaseFilter, by: CaseProperty, most: int
    ) -> tuple[tuple[ChoiceGroup, ...], int]:
        """Count choices by a property of the cases."""
        left, chosen = self.conditions(case_filter), self._chosen_in_memory(case_filter)
        words, of_values = self._groups(left, case_filter, by)
        questions = self._questions(left)
        counted = self.ask(
            f"SELECT what, toInt64(count()) AS n FROM {questions} ARRAY JOIN {of_values} AS what "
            "GROUP BY what",
            left.parameters,
        )
        counts = {int(what): int(n) for what, n in counted.iter_rows()}
        in_memory = dict(self._groups_in_memory(chosen, case_filter, by, words))
        for what, some in in_memory.items():
            counts[what] = counts.get(what, 0) + len(some)
        known = sorted(what for what, n in counts.items() if n)
        largest = sorted(sorted(known, key=lambda what: -counts[what])[:most])
        only = f"arrayFilter(v -> v IN ({', '.join(map(str, largest)) or '-1'}), {of_values})"
        every, usable = self._tallies(
            left,
            questions,
            only,
            [(what, in_memory[what]) for what in largest if what in in_memory],
        )
        groups = tuple(
            ChoiceGroup(words[what - 1], counts[what], self._by_rater(every, usable, what))
            for what in largest
        )
        return groups, len(known) - len(largest)

    def _groups(
        self, left: SqlConditions, case_filter: CaseFilter, by: CaseProperty
    ) -> tuple[tuple[str, ...], str]:
        """Return the values of a property, and SQL of a case's indices into them, from 1."""
        if by.field == "tags":
            tag = by.key.removeprefix(_TAG)
            named = [value for value in case_filter.tags if value.partition(":")[0] == tag]
            words = tuple(
                word
                for word in self.opened.manifest.tags.get(tag, ())
                if not named or word in named
            )
            given = "tags"
        else:
            column = CASE_FACETS[by.field]
            words = self.opened.manifest.words[column]
            given = f"[{column}]"
        known = left.words(words)
        return words, (
            f"arrayFilter(v -> v > 0, arrayMap(w -> toInt64(indexOf({known}, w)), {given}))"
        )

    def _groups_in_memory(
        self,
        chosen: RaterChoices,
        case_filter: CaseFilter,
        by: CaseProperty,
        words: tuple[str, ...],
    ) -> Iterable[tuple[int, RaterChoices]]:
        for value, questions in self.reviewed.choice_values(chosen, by, case_filter):
            yield words.index(value) + 1, chosen.of(questions)

    def choice_pairs(self, case_filter: CaseFilter) -> dict[RaterPairKey, PairTally]:
        """Count the questions that each two raters both answered."""
        left, chosen = self.conditions(case_filter), self._chosen_in_memory(case_filter)
        rows = (
            f"SELECT toInt64({_ALL}) AS what, patient, arraySort(arrayFilter((x, t) -> t, arrayMap("
            "(r, c) -> (r, toInt64(c = right)), raters, choice), asked)) AS known "
            f"FROM {self._questions(left)}"
        )
        question, rater = np.nonzero(chosen.option != NO_CHOICE)
        right = chosen.option[question, rater] == chosen.right[question]
        parts = [KNOWN_COLUMNS.to_frame()]
        if len(rater):
            parts.append(make_known_rows(self.small, _ALL, rater, chosen.case_row[question], right))
        every, _ = self._tallies(left, self._questions(left), f"[{_ALL}]", [(_ALL, chosen)])
        counts = {about: one.n for about, one in every.items()}
        found = tally_pairs_by_patient(self.ask, rows, left.parameters, pl.concat(parts), counts)
        return {
            (None, a, b): found.get((_ALL, a, b)) or make_separate_pair(counts, _ALL, a, b)
            for a, b in self._pairs
        }

    @property
    def _pairs(self) -> Iterable[tuple[int, int]]:
        return combinations(range(len(self.raters)), 2)

    def choice_agreement(self, case_filter: CaseFilter) -> dict[RaterPairKey, Counts]:
        """Count the questions by the options of each two raters."""
        left, chosen = self.conditions(case_filter), self._chosen_in_memory(case_filter)
        words = self.opened.manifest.words["category"]
        task = f"toInt64(indexOf({left.words(words)}, category))"
        questions = self._questions(left)
        largest = self.ask(
            f"SELECT task, toInt64(max(arrayMax(arrayMap((c, t) -> if(t, c, {NO_CHOICE}), "
            f"choice, asked)))) AS largest FROM (SELECT *, {task} AS task FROM {questions}) "
            "GROUP BY task",
            left.parameters,
        )
        cells = self.ask(
            "SELECT task, toInt64(pair.1) AS a, toInt64(pair.2) AS b, toInt64(pair.3) AS of_a, "
            "toInt64(pair.4) AS of_b, toInt64(count()) AS n FROM (SELECT task, arrayJoin("
            "arrayFlatten(arrayMap((x, i) -> arrayMap(y -> (x.1, y.1, x.2, y.2), "
            "arraySlice(known, i + 1)), known, arrayEnumerate(known)))) AS pair FROM ("
            f"SELECT {task} AS task, arraySort(arrayFilter((x, t) -> t AND x.2 >= 0, arrayMap("
            f"(r, c) -> (r, toInt64(c)), raters, choice), asked)) AS known FROM {questions})) "
            "GROUP BY task, a, b, of_a, of_b",
            left.parameters,
        )
        known = {int(place): int(option) for place, option in largest.iter_rows()}
        in_memory = self._tasks_in_memory(chosen, words)
        for place, part in in_memory.items():
            known[place] = max(known.get(place, NO_CHOICE), int(part.option.max()))
        sizes = {place: 1 + max(option, 0) for place, option in known.items()}
        every = 1 + max(0, *known.values()) if known else 1
        found = self._no_cells(
            {None: every} | {words[at - 1]: sizes[at] for at in sorted(sizes) if at}
        )
        for place, a, b, of_a, of_b, n in _agreement_cells(cells, in_memory):
            found[None, a, b][of_a, of_b] += n
            if place:
                found[words[place - 1], a, b][of_a, of_b] += n
        return found

    def _no_cells(self, sizes: Mapping[str | None, int]) -> dict[RaterPairKey, Counts]:
        return {
            (task, a, b): np.zeros((size, size), dtype=np.int64)
            for task, size in sizes.items()
            for a, b in self._pairs
        }

    def _tasks_in_memory(
        self, chosen: RaterChoices, words: tuple[str, ...]
    ) -> dict[int, RaterChoices]:
        """Return the questions in memory by task; 0 for questions without one."""
        coded = self.reviewed.table.columns.case_codes["category"]
        own = coded.codes[chosen.case_row]
        found = {}
        for code in np.unique(own).tolist():
            place = words.index(coded.values[code]) + 1 if code < len(coded.values) else 0
            found[place] = chosen.of(np.flatnonzero(own == code))
        return found


def _agreement_cells(
    counted: pl.DataFrame, in_memory: Mapping[int, RaterChoices]
) -> Iterable[tuple[int, int, int, int, int, int]]:
    """Yield task, two raters, the option of each, and the number of questions in both parts."""
    yield from counted.iter_rows()
    for place, chosen in in_memory.items():
        for a, b in combinations(range(len(chosen.raters)), 2):
            of_a, of_b = chosen.option[:, a], chosen.option[:, b]
            both = (of_a >= 0) & (of_b >= 0)
            pairs: Any = zip(of_a[both].tolist(), of_b[both].tolist(), strict=True)
            for one, other in pairs:
                yield place, a, b, one, other, 1


# Judges: :class:`.JudgeQuestions`.

_FAILURES: Final = tuple(FAILURES)
_NO_ANSWER: Final = -2


class ClickHouseJudgeTallies(EngineParts):
    """Counts of judges' opinions of matching answers; a mixin of the engine."""

    def judge_failures(
        self, case_filter: CaseFilter, judge: Judge
    ) -> dict[tuple[str, str], PatientTally]:
        """Count patients by their answers with an opinion, and those with a failure in it."""
        left = self.conditions(case_filter)
        rows = (
            f"SELECT toInt64(indexOf({left.words(_FAILURES)}, about)) - 1 AS what, who, patient, "
            "sum(said = 'yes') AS points, count() AS answers "
            f"FROM {self._said(left, judge)} WHERE what >= 0 GROUP BY what, who, patient"
        )
        memory = pl.concat(
            [POINT_COLUMNS.to_frame()]
            + [
                make_points(_FAILURES.index(failure), who, part["of_set"], part["present"])
                for failure, who, part in self._opinions_in_memory(case_filter, judge, "failure")
            ]
        )
        found = count_patients(self.ask, rows, left.parameters, memory)
        models = self.opened.manifest.models
        return {(_FAILURES[what], models[who]): one for (what, who), one in found.items()}

    def judge_scores(
        self, case_filter: CaseFilter, judge: Judge
    ) -> dict[tuple[str, str], ValueTally]:
        """Count the judge's scores."""
        left = self.conditions(case_filter)
        counted = self.ask(
            "SELECT about, toInt64(who) AS who, toInt64(said) AS score, toInt64(count()) AS n "
            f"FROM {self._said(left, judge)} WHERE has({left.words(DIMENSIONS)}, about) "
            "GROUP BY about, who, said",
            left.parameters,
        )
        parts = [counted]
        for dimension, who, part in self._opinions_in_memory(case_filter, judge, "dimension"):
            named = part.group_by("score").agg(n=pl.len().cast(pl.Int64))
            named = named.with_columns(about=pl.lit(dimension), who=pl.lit(who, pl.Int64()))
            parts.append(named.select("about", "who", "score", "n"))
        given = pl.concat(parts).group_by("about", "who", "score").agg(pl.col("n").sum())
        by_model = given.partition_by("about", "who", as_dict=True)
        return {
            (about, self.opened.manifest.models[who]): tally_values(
                np.repeat(rows["score"].to_numpy(), rows["n"].to_numpy())
            )
            for (about, who), rows in by_model.items()
        }

    def _said(self, left: SqlConditions, judge: Judge) -> str:
        """Return SQL of a judge's opinions of matching answers: ``who``, ``about``, ``said``."""
        end = left.parameter(f":{format_judge(judge)}", "String")
        return (
            "(SELECT toInt64(x_model) AS who, patient, splitByChar(':', word)[1] AS about, "
            f"splitByChar(':', word)[2] AS said FROM {left.from_left()} "
            "ARRAY JOIN model AS x_model, opinions AS x_opinions, met AS x_met "
            "ARRAY JOIN x_opinions AS word "
            f"WHERE x_met AND endsWith(word, {end}) AND notEmpty(said))"
        )

    def _opinions_in_memory(
        self, case_filter: CaseFilter, judge: Judge, column: str
    ) -> list[tuple[str, int, pl.DataFrame]]:
        """Return a judge's opinions of answers in memory, by a column and the model's index.

        ``of_set`` is the patient's number in the whole set.
        """
        newest = self.reviewed.table.columns.newest
        found = []
        for (about, model), part in self.reviewed.said_by_judge(case_filter, judge, column):
            patients = self.small.patients[newest.case[part["number"].to_numpy()]]
            named = part.with_columns(of_set=pl.Series(patients, dtype=pl.Int64))
            found.append((about, self.opened.manifest.models.index(model), named))
        return found

    def judge_agreement(self, judge: Judge) -> JudgeAgreement:
        """Compare a judge with the readers, over all answers of the set; computed once."""
        return self._judge_agreement(judge)

    @lru_cache(maxsize=16)  # noqa: B019 - as long as the engine
    def _judge_agreement(self, judge: Judge) -> JudgeAgreement:
        """Compare the answers in memory, where all that readers judged are; count the others."""
        table = self.reviewed.table
        of_failures = self.judge_failures(CaseFilter(), judge)
        of_scores = self.judge_scores(CaseFilter(), judge)
        spoken: dict[str, tuple[int, int]] = {}
        for (failure, _), one in of_failures.items():
            n, present = spoken.get(failure, (0, 0))
            spoken[failure] = n + one.n, present + one.total
        scored: dict[str, int] = {}
        for (dimension, _), scores in of_scores.items():
            scored[dimension] = scored.get(dimension, 0) + scores.n
        opinions = _add_missing_subjects(table.opinions, judge, spoken, scored)
        read = collect_reader_verdicts(table.review_set, table.survey.verdicts)
        failures = measure_failure_agreements(opinions, read, (judge,))
        dimensions = measure_score_agreements(opinions, table.review_set, (judge,))
        stale, wordings = self._of_manifest(judge)
        return JudgeAgreement(
            judge,
            {
                one.failure: replace(
                    one, opinions=spoken[one.failure][0], present=spoken[one.failure][1]
                )
                for one in failures
            },
            {one.dimension: replace(one, opinions=scored[one.dimension]) for one in dimensions},
            stale,
            wordings,
        )

    def _of_manifest(self, judge: Judge) -> tuple[int, int]:
        """Return the number of opinions on earlier texts, and of versions of the prompt."""
        known = {one: (stale, texts) for one, stale, texts in self.opened.manifest.judges}
        return known.get(judge, (0, 0))


def _add_missing_subjects(
    opinions: JudgeOpinions,
    judge: Judge,
    failures: dict[str, tuple[int, int]],
    dimensions: dict[str, int],
) -> JudgeOpinions:
    """Add one opinion, on an unknown answer, for each subject that is not in memory."""
    about = [("failure", one) for one in failures] + [("dimension", one) for one in dimensions]
    added = [
        {
            "number": _NO_ANSWER,
            "judge": judge.model,
            "prompt_id": judge.prompt_id,
            "present": False if column == "failure" else None,
            "score": 1 if column == "dimension" else None,
            column: name,
        }
        for column, name in about
        if opinions.of(judge, **{column: name}).is_empty()
    ]
    rows = pl.DataFrame(added, schema=opinions.rows.schema)
    return replace(opinions, rows=pl.concat([opinions.rows, rows]))


# Generated reports: :class:`.ReportQuestions`.
#
# Readers' corrections and comparisons are in memory. Metric values are fetched on every query for
# its metrics: means by patient and ranks of answers need all values.

_ROWS: Final = (
    "ARRAY JOIN model AS x_model, answered AS x_answered, met AS x_met, metric_values AS x_values"
)


class ClickHouseReportTallies(EngineParts):
    """Counts of metrics, corrections and comparisons of matching reports; an engine mixin."""

    def report_counts(self, case_filter: CaseFilter) -> ReportCounts:
        """Count the matching reports, and their metrics, corrections and comparisons."""
        left, reviewed = self.conditions(case_filter), self.reviewed.report_counts(case_filter)
        cases = self.n_of(left.from_left(), left, "question_type = 'report'")
        answers = self.ask(
            f"SELECT toInt64(x_model) AS who, toInt64(count()) AS n FROM {left.from_left()} "
            f"{_ROWS} WHERE x_met AND x_answered AND question_type = 'report' GROUP BY who",
            left.parameters,
        )
        counts = {self.opened.manifest.models[model]: n for model, n in answers.iter_rows()}
        both = {
            model: counts.get(model, 0) + reviewed.answers.get(model, 0)
            for model in self.opened.manifest.models
        }
        metrics = {*self._metrics_met(case_filter), *reviewed.metrics}
        ids = sorted(metrics, key=metric_sort_key)
        in_set = {one: self.opened.manifest.metrics.index(one) for one in ids}
        return ReportCounts(
            cases=cases + reviewed.cases,
            answers={model: n for model, n in both.items() if n},
            metrics=tuple(ids),
            in_set={one: self.opened.manifest.metrics_in_set[at][0] for one, at in in_set.items()},
            together={
                one: tuple(self.opened.manifest.metrics_in_set[at][1]) for one, at in in_set.items()
            },
            edits=reviewed.edits,
            preferences=reviewed.preferences,
            people=reviewed.people,
        )

    def _metrics_met(self, case_filter: CaseFilter) -> set[MetricId]:
        """Return the metrics with a value on any matching answer in ClickHouse."""
        left, n = self.conditions(case_filter), len(self.opened.manifest.metrics)
        if not n:
            return set()
        found = self.ask(
            "SELECT maxForEach(arrayMap(v -> toUInt8(NOT isNaN(v)), x_values)) AS has "
            f"FROM {left.from_left()} {_ROWS} WHERE x_met AND x_answered",
            left.parameters,
        )
        met = found["has"].to_list()[0]
        return {one for one, has in zip(self.opened.manifest.metrics, met, strict=False) if has}

    def _metric_values(self, case_filter: CaseFilter, metrics: Sequence[MetricId]) -> ReportValues:
        """Return the values of some metrics in both parts; patients have their set's numbers.

        An answer's number is its case's times the number of models, plus its model's.
        """
        known = [one for one in metrics if one in self.opened.manifest.metrics]
        parts = [self._metric_values_in_memory(case_filter, known)]
        parts += [self._metric_values_of(case_filter, known)] if known else []
        rows = pl.concat(parts)
        models = self.opened.manifest.models
        return ReportValues(
            metrics=tuple(metrics),
            models=models,
            number=(rows["at"] * len(models) + rows["who"]).to_numpy(),
            metric=rows["metric"].to_numpy(),
            model=rows["who"].to_numpy(),
            patient=rows["cluster"].to_numpy(),
            value=rows["value"].to_numpy(),
            together=np.zeros(len(rows), dtype=np.int64),
        )

    def _metric_values_of(
        self, case_filter: CaseFilter, metrics: Sequence[MetricId]
    ) -> pl.DataFrame:
        left = self.conditions(case_filter)
        values = ", ".join(
            f"({place}, x_values[{self.opened.manifest.metrics.index(one) + 1}])"
            for place, one in enumerate(metrics)
        )
        return self.ask(
            "SELECT toInt64(case_row) AS at, toInt64(x_model) AS who, "
            "toInt64(patient) AS cluster, toInt64(given.1) AS metric, given.2 AS value "
            f"FROM {left.from_left()} {_ROWS} ARRAY JOIN [{values}] AS given "
            "WHERE x_met AND x_answered AND NOT isNaN(given.2) ORDER BY metric, at, who",
            left.parameters,
        )

    def _metric_values_in_memory(
        self, case_filter: CaseFilter, metrics: Sequence[MetricId]
    ) -> pl.DataFrame:
        given = self.reviewed.metric_values_left(case_filter)
        newest = self.reviewed.table.columns.newest
        parts = [
            pl.DataFrame(
                [],
                schema={
                    **dict.fromkeys(("at", "who", "cluster", "metric"), pl.Int64()),
                    "value": pl.Float64(),
                },
            )
        ]
        places = np.array(
            [self.opened.manifest.models.index(one) for one in given.models], dtype=np.int64
        )
        for metric, one in enumerate(metrics):
            if one not in given.metrics:
                continue
            own = given.of(one)
            cases = newest.case[own.number]
            parts.append(
                pl.DataFrame(
                    {
                        "at": self.small.case_rows[cases],
                        "who": places[own.model],
                        "cluster": self.small.patients[cases],
                        "metric": np.full(len(own), metric, dtype=np.int64),
                        "value": own.value,
                    }
                )
            )
        return pl.concat(parts)

    def metric_tally(self, case_filter: CaseFilter, metrics: Sequence[MetricId]) -> MetricTally:
        """Sum the values of some metrics by patient."""
        return tally_metrics(self._metric_values(case_filter, metrics), metrics)

    def metric_spreads(
        self, case_filter: CaseFilter, metrics: Sequence[MetricId]
    ) -> dict[tuple[MetricId, str], ValueDistribution]:
        """Return the distribution of each metric's values."""
        return summarise_metrics(self._metric_values(case_filter, metrics), metrics)

    def metric_correlations(
        self, case_filter: CaseFilter, metrics: Sequence[MetricId], coefficient: str
    ) -> tuple[Correlation, ...]:
        """Correlate each two of some metrics over answers."""
        return correlate_metrics(self._metric_values(case_filter, metrics), metrics, coefficient)

    def metric_disputes(
        self, case_filter: CaseFilter, pair: tuple[MetricId, MetricId], most: int
    ) -> tuple[RankDisputedReport, ...]:
        """Return the answers that two metrics rank furthest apart."""
        numbers, said = find_furthest_apart(self._metric_values(case_filter, pair), pair, most)
        rows, models = np.divmod(numbers, len(self.opened.manifest.models))
        ids = self._ids_of(rows.tolist())
        return tuple(
            RankDisputedReport(ids[row], self.opened.manifest.models[model], *given)
            for row, model, given in zip(rows.tolist(), models.tolist(), said.tolist(), strict=True)
        )

    def _ids_of(self, case_rows: list[int]) -> dict[int, str]:
        """Return the ids of some cases by their row in the files."""
        own = self.small.case_rows.tolist()
        found = dict(zip(own, self.small.records["id"], strict=True))
        others = [row for row in case_rows if row not in found]
        if others:
            every = self.conditions(CaseFilter())
            rows = every.parameter(others, "Array(UInt32)")
            named = self.ask(
                f"SELECT toInt64(case_row) AS case_row, id FROM {every.source} "
                f"WHERE has({rows}, case_row)",
                every.parameters,
            )
            found |= dict(named.iter_rows())
        return found

    def error_free_tallies(self, case_filter: CaseFilter) -> tuple[ErrorFreeTally, ...]:
        """Count the reports without errors; all checked reports are in memory."""
        return self.reviewed.error_free_tallies(case_filter)

    def comparisons(self, case_filter: CaseFilter) -> PreferenceCounts:
        """Count pairwise preferences; all cases with any are in memory."""
        return self.reviewed.comparisons(case_filter)
