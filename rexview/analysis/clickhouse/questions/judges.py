"""What the engine on ClickHouse answers of judges: :class:`.JudgeQuestions`."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

import numpy as np
import polars as pl

from rexview.analysis.clickhouse.parts import Parts
from rexview.analysis.clickhouse.questions.by_patient import POINTS, points_of, tallies
from rexview.analysis.clickhouse.selection import Conditions
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.filter.judge_conditions import judge_word
from rexview.analysis.judge.engine import JudgeAgreement
from rexview.stats.failure_rates import PatientTally
from rexview.stats.judges.agreement import failure_agreements, score_agreements
from rexview.stats.judges.opinions import Judge, Opinions, readers_say
from rexview.stats.summary import Tally, tally
from rexview.vocab import DIMENSIONS, FAILURES

_FAILURES: Final = tuple(FAILURES)
_NO_ANSWER: Final = -2


class JudgeTallies(Parts):
    """Counts what judges say of answers that a filter leaves; part of the engine."""

    def judge_failures(
        self, case_filter: CaseFilter, judge: Judge
    ) -> dict[tuple[str, str], PatientTally]:
        """Count patients by the answers that the judge sees a failure in."""
        left = self.conditions(case_filter)
        rows = (
            f"SELECT toInt64(indexOf({left.words(_FAILURES)}, about)) - 1 AS what, who, patient, "
            "sum(said = 'yes') AS points, count() AS answers "
            f"FROM {self._said(left, judge)} WHERE what >= 0 GROUP BY what, who, patient"
        )
        memory = pl.concat(
            [POINTS.to_frame()]
            + [
                points_of(_FAILURES.index(failure), who, part["of_set"], part["present"])
                for failure, who, part in self._opinions_in_memory(case_filter, judge, "failure")
            ]
        )
        found = tallies(self.ask, rows, left.parameters, memory)
        models = self.opened.manifest.models
        return {(_FAILURES[what], models[who]): one for (what, who), one in found.items()}

    def judge_scores(self, case_filter: CaseFilter, judge: Judge) -> dict[tuple[str, str], Tally]:
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
            (about, self.opened.manifest.models[who]): tally(
                np.repeat(rows["score"].to_numpy(), rows["n"].to_numpy())
            )
            for (about, who), rows in by_model.items()
        }

    def _said(self, left: Conditions, judge: Judge) -> str:
        """Return SQL of what a judge said of the answers left: ``who``, ``about``, ``said``."""
        end = left.parameter(f":{judge_word(judge)}", "String")
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
        """Return what a judge said of answers in memory, by a column and the model's place.

        ``of_set`` is the number of the patient in the whole set.
        """
        newest = self.reviewed.table.columns.newest
        found = []
        for (about, model), part in self.reviewed.said_by_judge(case_filter, judge, column):
            patients = self.small.patients[newest.case[part["number"].to_numpy()]]
            named = part.with_columns(of_set=pl.Series(patients, dtype=pl.Int64))
            found.append((about, self.opened.manifest.models.index(model), named))
        return found

    def judge_agreement(self, judge: Judge) -> JudgeAgreement:
        """Compare a judge with the readers, over all answers of the set; worked out once."""
        return self._judge_agreement(judge)

    @lru_cache(maxsize=16)  # noqa: B019 - as long as the engine
    def _judge_agreement(self, judge: Judge) -> JudgeAgreement:
        """Answers that readers say anything of are in memory: the others are only counted."""
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
        opinions = _with_subjects(table.opinions, judge, spoken, scored)
        read = readers_say(table.review_set, table.survey.verdicts)
        failures = failure_agreements(opinions, read, (judge,))
        dimensions = score_agreements(opinions, table.review_set, (judge,))
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
        """Return how many opinions are on earlier texts, and in how many wordings it was asked."""
        known = {one: (stale, texts) for one, stale, texts in self.opened.manifest.judges}
        return known.get(judge, (0, 0))


def _with_subjects(
    opinions: Opinions,
    judge: Judge,
    failures: dict[str, tuple[int, int]],
    dimensions: dict[str, int],
) -> Opinions:
    """Add what a judge spoke of in cases that are not in memory, of an answer nobody knows."""
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
