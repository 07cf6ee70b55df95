"""Counts of failures, repeats and patients over both parts of a set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import Any, Final

import numpy as np
import polars as pl

from rexview.analysis.query.clickhouse.database import QueryParameter
from rexview.analysis.query.clickhouse.engine_parts import EngineParts
from rexview.analysis.query.clickhouse.loaded_set import CaseSubset
from rexview.analysis.query.clickhouse.sql_conditions import SqlConditions
from rexview.analysis.query.engine import FailureTally
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.query.memory.failure_index import SOURCE_OFFSETS, source_bits
from rexview.detect import FAILURE_BITS
from rexview.detect.self_contradiction import compare_repeats
from rexview.stats.failure_rates import EMPTY_PATIENT_TALLY, PairTally, PatientTally
from rexview.stats.self_contradiction import RepeatTally
from rexview.vocab import HEADLINE_FAILURES

# Counts of patients over both parts of a set: cases in ClickHouse, and cases in memory.
#
# A patient may have cases in both parts, so patients are counted in one place. The part in memory
# is sent with the query as rows, and ClickHouse adds both. The result has one row for all patients
# with the same numbers, so that its size does not depend on the size of the set.

RunQuery = Callable[[str, Mapping[str, QueryParameter], Mapping[str, pl.DataFrame]], pl.DataFrame]
"""A query on ClickHouse: SQL, parameters, tables that are sent with it."""
POINT_COLUMNS: Final = pl.Schema(
    {
        "what": pl.Int64(),
        "who": pl.Int64(),
        "patient": pl.UInt32(),
        "points": pl.Int64(),
        "answers": pl.Int64(),
    }
)
"""Input of a tally: points and answers of a patient, by ``what`` (a failure) and ``who``."""
KNOWN_COLUMNS: Final = pl.Schema(
    {
        "what": pl.Int64(),
        "who": pl.Int64(),
        "case": pl.UInt32(),
        "patient": pl.UInt32(),
        "flagged": pl.Int64(),
    }
)
"""Input of pair tallies: ``who`` is known in which case, flagged (1) or not (0)."""
_IN_MEMORY: Final = "in_memory"
_PAIR_COLUMNS: Final = ("only_a", "only_b", "both")
_PAIRS: Final = pl.Schema(
    {
        "what": pl.Int64(),
        "a": pl.Int64(),
        "b": pl.Int64(),
        "patient": pl.UInt32(),
        "points": pl.Int64(),
        "answers": pl.Int64(),
    }
    | dict.fromkeys(_PAIR_COLUMNS, pl.Int64())
)
_TALLIES: Final = f"""
SELECT what, who, points, answers, toInt64(count()) AS patients FROM (
  SELECT what, who, patient, sum(points) AS points, sum(answers) AS answers FROM (
    SELECT toInt64(what) AS what, toInt64(who) AS who, toUInt32(patient) AS patient,
      toInt64(points) AS points, toInt64(answers) AS answers FROM ({{rows}})
    UNION ALL SELECT what, who, patient, points, answers FROM {_IN_MEMORY})
  GROUP BY what, who, patient)
GROUP BY what, who, points, answers ORDER BY what, who, points, answers
"""
_PAIR_TALLIES: Final = f"""
SELECT what, a, b, points, answers, toInt64(count()) AS patients,
  sum(only_a) AS only_a, sum(only_b) AS only_b, sum(both) AS both FROM (
  SELECT what, a, b, patient, sum(points) AS points, sum(answers) AS answers,
    sum(only_a) AS only_a, sum(only_b) AS only_b, sum(both) AS both FROM (
    SELECT toInt64(what) AS what, toInt64(pair.1) AS a, toInt64(pair.2) AS b,
      toUInt32(patient) AS patient, sum(toInt64(pair.3) - toInt64(pair.4)) AS points,
      toInt64(count()) AS answers, toInt64(countIf(pair.3 > pair.4)) AS only_a,
      toInt64(countIf(pair.4 > pair.3)) AS only_b, toInt64(countIf(pair.3 AND pair.4)) AS both
    FROM (SELECT what, patient, arrayJoin(arrayFlatten(arrayMap(
        (x, i) -> arrayMap(y -> (x.1, y.1, x.2, y.2), arraySlice(known, i + 1)),
        known, arrayEnumerate(known)))) AS pair FROM ({{rows}}))
    GROUP BY what, a, b, patient
    UNION ALL SELECT {", ".join(_PAIRS)} FROM {_IN_MEMORY})
  GROUP BY what, a, b, patient)
GROUP BY what, a, b, points, answers ORDER BY what, a, b, points, answers
"""

_PATIENTS: Final = f"""
SELECT toInt64(sum(n)) AS cases, toInt64(count()) AS patients FROM (
  SELECT patient, sum(n) AS n FROM (
    SELECT patient, count() AS n FROM ({{rows}}) GROUP BY patient
    UNION ALL SELECT patient, count() AS n FROM {_IN_MEMORY} GROUP BY patient)
  GROUP BY patient)
"""


def make_points(what: Any, who: Any, patient: Any, points: Any) -> pl.DataFrame:
    """Return rows of :data:`POINT_COLUMNS`, one an answer, from single values or columns."""
    named = {"what": what, "who": who, "patient": patient, "points": points}
    return pl.DataFrame(named).with_columns(answers=1).select(_cast(POINT_COLUMNS))


def make_known_rows(
    small: CaseSubset, what: int, who: Any, cases: Any, flagged: Any
) -> pl.DataFrame:
    """Return rows of :data:`KNOWN_COLUMNS` for cases in memory, by their indices there."""
    named = {"what": what, "who": who, "case": small.case_rows[cases], "flagged": flagged}
    rows = pl.DataFrame({**named, "patient": small.patients[cases]})
    return rows.select(_cast(KNOWN_COLUMNS))


def count_cases_and_patients(
    ask: RunQuery, rows: str, parameters: Mapping[str, QueryParameter], patients: Any
) -> tuple[int, int]:
    """Count cases and their patients.

    ``rows`` is SQL of cases with their ``patient``; ``patients`` has each case's in memory.

    Raises
    ------
    EngineUnreachable
    """
    in_memory = pl.DataFrame({"patient": patients}, schema={"patient": pl.UInt32})
    found = ask(_PATIENTS.format(rows=rows), parameters, {_IN_MEMORY: in_memory})
    return int(found["cases"][0] or 0), int(found["patients"][0])


def count_patients(
    ask: RunQuery, rows: str, parameters: Mapping[str, QueryParameter], in_memory: pl.DataFrame
) -> dict[tuple[int, int], PatientTally]:
    """Return tallies of patients, by ``what`` and ``who``.

    ``rows`` is SQL of rows with the columns :data:`POINT_COLUMNS`, summed or not; ``in_memory`` has
    the rows of the other part.

    Raises
    ------
    EngineUnreachable
    """
    given = _sum_rows(in_memory, "what", "who", "patient")
    found = ask(_TALLIES.format(rows=rows), parameters, {_IN_MEMORY: given})
    parts = found.partition_by("what", "who", as_dict=True, maintain_order=True)
    return {(what, who): _tally(alike) for (what, who), alike in parts.items()}


def tally_pairs_by_patient(
    ask: RunQuery,
    rows: str,
    parameters: Mapping[str, QueryParameter],
    in_memory: pl.DataFrame,
    counts: Mapping[tuple[int, int], int],
) -> dict[tuple[int, int, int], PairTally]:
    """Compare each two over the cases in which both are known, by ``what``, ``a`` and ``b``.

    ``rows`` is SQL of cases: ``what``, ``patient`` and ``known``, an array of (who, flagged),
    ascending. ``in_memory`` has the columns :data:`KNOWN_COLUMNS` for the other part. ``counts``
    has the number of cases of both parts in which each is known, by ``what`` and ``who``. Pairs
    without a common case are left out: see :func:`make_separate_pair`. ``a`` is smaller than ``b``.

    Raises
    ------
    EngineUnreachable
    """
    given = _sum_rows(_pairs(in_memory), "what", "a", "b", "patient")
    found = ask(_PAIR_TALLIES.format(rows=rows), parameters, {_IN_MEMORY: given})
    compared = {}
    parts = found.partition_by("what", "a", "b", as_dict=True, maintain_order=True)
    for (what, a, b), alike in parts.items():
        by_patient = _tally(alike)
        either = make_separate_pair(counts, what, a, b).left_out
        only_a, only_b, both = (int(alike[name].sum()) for name in _PAIR_COLUMNS)
        left_out = either - 2 * by_patient.n
        compared[what, a, b] = PairTally(only_a, only_b, both, left_out, by_patient)
    return compared


def make_separate_pair(
    counts: Mapping[tuple[int, int], int], what: int, a: int, b: int
) -> PairTally:
    """Return the comparison of two that are known in no common case."""
    either = counts.get((what, a), 0) + counts.get((what, b), 0)
    return PairTally(0, 0, 0, either, EMPTY_PATIENT_TALLY)


def _pairs(known: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs in each case of the part in memory."""
    other = known.select("what", "case", b="who", of_b="flagged")
    both = (
        known.rename({"who": "a"})
        .join(other, on=["what", "case"])
        .filter(pl.col("a") < pl.col("b"))
    )
    of_a, of_b = pl.col("flagged"), pl.col("of_b")
    return both.select(
        *("what", "a", "b", "patient"),
        points=of_a - of_b,
        answers=pl.lit(1, dtype=pl.Int64),
        only_a=of_a * (1 - of_b),
        only_b=of_b * (1 - of_a),
        both=of_a * of_b,
    ).select(_cast(_PAIRS))


def _cast(schema: pl.Schema) -> list[pl.Expr]:
    return [pl.col(name).cast(kind) for name, kind in schema.items()]


def _sum_rows(rows: pl.DataFrame, *by: str) -> pl.DataFrame:
    return rows.group_by(*by).agg(pl.all().sum())


def _tally(rows: pl.DataFrame) -> PatientTally:
    columns = (rows[name].cast(pl.Int64).to_numpy() for name in ("points", "answers", "patients"))
    return PatientTally(*columns)


_SIDE: Final = 0
_CHOICE: Final = 1
_FAILURES: Final = tuple(FAILURE_BITS)
_SOURCES: Final = ("detector", "reader", "both", "hint")


class FailureTallies(EngineParts):
    """Counts of failures; part of the engine."""

    def failure_tallies(self, case_filter: CaseFilter) -> tuple[FailureTally, ...]:
        """Count failures of each model with answers: headline failures, and others that occur."""
        left = self.conditions(case_filter)
        alike = self.ask(
            "SELECT toInt64(x_model) AS who, x_by_source AS said, x_judged AS can, "
            f"toInt64(count()) AS n FROM {left.from_left()} ARRAY JOIN model AS x_model, "
            "answered AS x_answered, by_source AS x_by_source, judged AS x_judged, met AS x_met "
            "WHERE x_met AND x_answered GROUP BY who, said, can",
            left.parameters,
        )
        found = {
            (one.failure, one.model): one for one in self.reviewed.failure_tallies(case_filter)
        }
        parts = alike.partition_by("who", as_dict=True)
        for (place,), rows in parts.items():
            for one in _count_failures(self.opened.manifest.models[place], rows):
                also = found.get((one.failure, one.model))
                found[one.failure, one.model] = _add_tallies(one, also) if also else one
        met = {model for _, model in found}
        models = [model for model in self.opened.manifest.models if model in met]
        every = {
            failure: [
                found.get((failure, model), FailureTally(failure, model, 0, 0, 0, 0, 0))
                for model in models
            ]
            for failure in _FAILURES
        }
        return tuple(
            one
            for failure, tallied in every.items()
            if failure in HEADLINE_FAILURES or any(map(_has_any, tallied))
            for one in tallied
        )

    @cached_property
    def _findings(self) -> dict[str, tuple[str, ...]]:
        """Findings of each failure in the unreviewed cases."""
        every = self.conditions(CaseFilter())
        words = self.ask(
            f"SELECT DISTINCT arrayJoin(arrayFlatten(about)) AS word FROM {every.source}",
            every.parameters,
        )["word"]
        found: dict[str, set[str]] = {}
        for word in words.to_list():
            failure, _, finding = word.split("|", 2)
            found.setdefault(failure, set()).add(finding)
        return {failure: tuple(sorted(names)) for failure, names in found.items()}

    def failure_findings(self, failure: str) -> tuple[str, ...]:
        """Return the findings that one failure is about anywhere in the set, sorted."""
        known = self._findings.get(failure, ())
        return tuple(sorted({*known, *self.reviewed.failure_findings(failure)}))

    def judged_tallies(
        self,
        case_filter: CaseFilter,
        failures: Sequence[str],
        sources: Sequence[str] = (),
        findings: Sequence[str] = (),
    ) -> dict[tuple[str, str], PatientTally]:
        """Count patients by their answers that can be judged for a failure, and flagged ones."""
        left = self.conditions(case_filter)
        judged, flagged = _failure_bits_sql(left, failures, sources, findings)
        rows = (
            "SELECT what, x_model AS who, patient, sum(bitTest(x_flagged, what)) AS points, "
            "count() AS answers FROM (SELECT patient, model, answered, met, "
            f"{judged} AS can, {flagged} AS flagged FROM {left.from_left()}) "
            "ARRAY JOIN model AS x_model, answered AS x_answered, met AS x_met, can AS x_can, "
            f"flagged AS x_flagged ARRAY JOIN range({len(failures)}) AS what "
            "WHERE x_met AND x_answered AND bitTest(x_can, what) GROUP BY what, who, patient"
        )
        known = self._judged_in_memory(case_filter, failures, sources, findings)
        in_memory = make_points(*known.select("what", "who", "patient", "flagged"))
        found = count_patients(self.ask, rows, left.parameters, in_memory)
        models = self.opened.manifest.models
        return {(failures[what], models[who]): one for (what, who), one in found.items()}

    def judged_pairs(
        self, case_filter: CaseFilter, failures: Sequence[str], sources: Sequence[str] = ()
    ) -> dict[tuple[str, str, str], PairTally]:
        """Count the cases in which two models can be judged."""
        left = self.conditions(case_filter)
        judged, flagged = _failure_bits_sql(left, failures, sources)
        rows = (
            "SELECT what, patient, arrayFilter((x, t, a, c) -> t AND a AND bitTest(c, what), "
            "arrayMap((m, f) -> (toInt64(m), toInt64(bitTest(f, what))), model, flagged), "
            f"met, answered, can) AS known FROM (SELECT patient, model, answered, met, "
            f"{judged} AS can, {flagged} AS flagged FROM {left.from_left()}) "
            f"ARRAY JOIN range({len(failures)}) AS what"
        )
        by_model = self.judged_tallies(case_filter, failures, sources)
        place = {model: at for at, model in enumerate(self.opened.manifest.models)}
        counts = {
            (failures.index(failure), place[model]): one.n
            for (failure, model), one in by_model.items()
        }
        known = self._judged_in_memory(case_filter, failures, sources)
        found = tally_pairs_by_patient(self.ask, rows, left.parameters, known, counts)
        models = [place[model.model] for model in self.tally(case_filter).by_model]
        return {
            (failure, self.opened.manifest.models[a], self.opened.manifest.models[b]): found.get(
                (what, a, b)
            )
            or make_separate_pair(counts, what, a, b)
            for what, failure in enumerate(failures)
            for a, b in combinations(models, 2)
        }

    def _judged_in_memory(
        self,
        case_filter: CaseFilter,
        failures: Sequence[str],
        sources: Sequence[str],
        findings: Sequence[str] = (),
    ) -> pl.DataFrame:
        """Return the judged answers of cases in memory, with the columns :data:`KNOWN_COLUMNS`."""
        flagged = self.reviewed.table.flagged
        chosen = self.reviewed.selection(case_filter).answer_mask
        places = {model: at for at, model in enumerate(self.opened.manifest.models)}
        parts = [KNOWN_COLUMNS.to_frame()]
        judged = flagged.judged_by_model(chosen, failures, sources, findings)
        for what, by_model in enumerate(judged):
            parts += [
                make_known_rows(self.small, what, places[model], one.cases, one.flagged)
                for (_, model), one in by_model.items()
            ]
        return pl.concat(parts)

    def repeat_tallies(self, case_filter: CaseFilter) -> tuple[RepeatTally, ...]:
        """Count the answers that one run requested more than once, by model that has any."""
        left = self.conditions(case_filter)
        asked = (
            f"(SELECT x_model AS who, patient, x_again AS again FROM {left.from_left()} "
            "ARRAY JOIN model AS x_model, again AS x_again, met AS x_met "
            "WHERE x_met AND notEmpty(x_again))"
        )
        of_kind = (
            "SELECT toInt64({what}) AS what, who, patient, sum(has(again, '{point}')) AS points, "
            "count() AS answers FROM {asked} WHERE has(again, '{of}') GROUP BY who, patient"
        )
        kinds = ((_SIDE, "side", "asked"), (_CHOICE, "choice", "chosen"))
        rows = " UNION ALL ".join(
            of_kind.format(what=what, point=point, of=of, asked=asked) for what, point, of in kinds
        )
        in_memory, unusable = self._repeats_in_memory(case_filter)
        found = count_patients(self.ask, rows, left.parameters, in_memory)
        counted = self.ask(
            f"SELECT toInt64(who) AS who, toInt64(countIf(has(again, 'unusable'))) AS n "
            f"FROM {asked} GROUP BY who",
            left.parameters,
        )
        for who, n in counted.iter_rows():
            unusable[who] = unusable.get(who, 0) + n
        return tuple(
            RepeatTally(
                self.opened.manifest.models[who],
                found.get((_SIDE, who), EMPTY_PATIENT_TALLY),
                found.get((_CHOICE, who), EMPTY_PATIENT_TALLY),
                unusable.get(who, 0),
            )
            for who in sorted({who for _, who in found})
        )

    def _repeats_in_memory(self, case_filter: CaseFilter) -> tuple[pl.DataFrame, dict[int, int]]:
        """Return points of answers asked again, and the number of unusable answers by model."""
        table = self.reviewed.table
        again = compare_repeats(table.review_set)
        left = self.reviewed.selection(case_filter).answer_mask
        again = again.filter(pl.Series(left[again["number"].to_numpy()], dtype=pl.Boolean))
        number = again["number"].to_numpy()
        newest, patients = table.columns.newest, self.small.patients
        again = again.with_columns(
            who=pl.Series(newest.model[number], dtype=pl.Int64),
            patient=pl.Series(patients[newest.case[number]], dtype=pl.Int64),
        )
        chose = again.filter(pl.col("usable") > 1)
        parts = ((_SIDE, again, "side"), (_CHOICE, chose, "choice"))
        points = [
            make_points(what, *rows.select("who", "patient", name)) for what, rows, name in parts
        ]
        unusable = again.filter(pl.col("is_choice") & (pl.col("usable") < pl.col("times")))
        return pl.concat(points), dict(unusable.group_by("who").len().iter_rows())

    def patients(self, case_filter: CaseFilter) -> tuple[int, int]:
        """Count the cases with matching answers, and their patients."""
        left = self.conditions(case_filter)
        columns = self.reviewed.table.columns
        has_answer = np.zeros(columns.n_cases, dtype=np.bool_)
        has_answer[columns.newest.case[self.reviewed.selection(case_filter).answers]] = True
        some = "arrayExists((m, a) -> m AND a, met, answered)"
        rows = f"SELECT patient FROM {left.from_left()} WHERE {some}"
        patients = self.small.patients[has_answer]
        return count_cases_and_patients(self.ask, rows, left.parameters, patients)


def _failure_bits_sql(
    left: SqlConditions,
    failures: Sequence[str],
    sources: Sequence[str],
    findings: Sequence[str] = (),
) -> tuple[str, str]:
    """Return SQL of two arrays of bits: failures that can be judged, and flagged failures.

    Bit n is the n-th failure's.
    """
    judged, flagged = [], []
    for n, failure in enumerate(failures):
        bit, said = FAILURE_BITS[failure], int(source_bits((failure,), sources))
        judged.append(f"bitShiftLeft(toUInt64(bitAnd(j, {bit}) != 0), {n})")
        flagged.append(f"bitShiftLeft(toUInt64(bitAnd(s, toUInt64({said})) != 0), {n})")
    can = f"arrayMap(j -> {' + '.join(judged) or 'toUInt64(0)'}, judged)"
    if not findings:
        return can, f"arrayMap(s -> {' + '.join(flagged) or 'toUInt64(0)'}, by_source)"
    about = [left.about((failure,), sources, findings) for failure in failures]
    names = [f"a{n}" for n in range(len(about))]
    each = " + ".join(f"bitShiftLeft(toUInt64({name}), {n})" for n, name in enumerate(names))
    return can, f"arrayMap(({', '.join(names)}) -> {each}, {', '.join(about)})"


def _count_failures(model: str, alike: pl.DataFrame) -> Iterator[FailureTally]:
    """Yield a model's failure counts, from the number ``n`` of answers with the same bits."""
    by_source, judged, n = (alike[name].to_numpy() for name in ("said", "can", "n"))

    def count(bits: Any, place: int) -> int:
        return int(n[(bits >> np.array(place, dtype=bits.dtype)) & 1 == 1].sum())

    for at, failure in enumerate(_FAILURES):
        said = {source: count(by_source, first + at) for source, first in SOURCE_OFFSETS.items()}
        yield FailureTally(failure, model, count(judged, at), **said)


def _add_tallies(one: FailureTally, other: FailureTally) -> FailureTally:
    names = ("judged", *_SOURCES, "spoken")
    return replace(one, **{name: getattr(one, name) + getattr(other, name) for name in names})


def _has_any(tally: FailureTally) -> bool:
    return any(getattr(tally, source) for source in _SOURCES)
