"""Counts of patients over both parts of a set: cases on ClickHouse, and those in memory.

A patient may have cases in both parts, so patients are counted where all of their cases are met:
what the part in memory knows is sent along as rows, and ClickHouse adds both up. What comes back
has one row for all patients that are alike, whatever the size of the set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import polars as pl

from rexview.analysis.clickhouse.database.database import Parameter
from rexview.analysis.clickhouse.tables.small_sets import SmallSet
from rexview.stats.failure_rates import NO_PATIENTS, PairTally, PatientTally

Ask = Callable[[str, Mapping[str, Parameter], Mapping[str, pl.DataFrame]], pl.DataFrame]
"""Asks ClickHouse: SQL, parameters, tables that are sent along."""
POINTS: Final = pl.Schema(
    {
        "what": pl.Int64(),
        "who": pl.Int64(),
        "patient": pl.UInt32(),
        "points": pl.Int64(),
        "answers": pl.Int64(),
    }
)
"""What counts toward a tally: points and answers of a patient, by what (a failure) and who."""
KNOWN: Final = pl.Schema(
    {
        "what": pl.Int64(),
        "who": pl.Int64(),
        "case": pl.UInt32(),
        "patient": pl.UInt32(),
        "flagged": pl.Int64(),
    }
)
"""What two are compared over: who is known in which case, flagged (1) or not (0)."""
_IN_MEMORY: Final = "in_memory"
_OF_PAIR: Final = ("only_a", "only_b", "both")
_PAIRS: Final = pl.Schema(
    {
        "what": pl.Int64(),
        "a": pl.Int64(),
        "b": pl.Int64(),
        "patient": pl.UInt32(),
        "points": pl.Int64(),
        "answers": pl.Int64(),
    }
    | dict.fromkeys(_OF_PAIR, pl.Int64())
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


def points_of(what: Any, who: Any, patient: Any, points: Any) -> pl.DataFrame:
    """Return rows of :data:`POINTS`, one an answer; each given as one value or as one of each."""
    named = {"what": what, "who": who, "patient": patient, "points": points}
    return pl.DataFrame(named).with_columns(answers=1).select(_cast(POINTS))


def known_of(small: SmallSet, what: int, who: Any, cases: Any, flagged: Any) -> pl.DataFrame:
    """Return rows of :data:`KNOWN` for cases in memory, by their places there."""
    named = {"what": what, "who": who, "case": small.case_rows[cases], "flagged": flagged}
    rows = pl.DataFrame({**named, "patient": small.patients[cases]})
    return rows.select(_cast(KNOWN))


def cases_and_patients(
    ask: Ask, rows: str, parameters: Mapping[str, Parameter], patients: Any
) -> tuple[int, int]:
    """Count cases, and the patients that they are of.

    ``rows`` is SQL of cases with their ``patient``; ``patients`` are those of each case in memory.

    Raises
    ------
    EngineUnreachable
    """
    in_memory = pl.DataFrame({"patient": patients}, schema={"patient": pl.UInt32})
    found = ask(_PATIENTS.format(rows=rows), parameters, {_IN_MEMORY: in_memory})
    return int(found["cases"][0] or 0), int(found["patients"][0])


def tallies(
    ask: Ask, rows: str, parameters: Mapping[str, Parameter], in_memory: pl.DataFrame
) -> dict[tuple[int, int], PatientTally]:
    """Count patients, by what and who.

    ``rows`` is SQL of rows with the columns :data:`POINTS`, added up or not; ``in_memory`` has
    those of the other part.

    Raises
    ------
    EngineUnreachable
    """
    given = _added(in_memory, "what", "who", "patient")
    found = ask(_TALLIES.format(rows=rows), parameters, {_IN_MEMORY: given})
    parts = found.partition_by("what", "who", as_dict=True, maintain_order=True)
    return {(what, who): _tally(alike) for (what, who), alike in parts.items()}


def pair_tallies(
    ask: Ask,
    rows: str,
    parameters: Mapping[str, Parameter],
    in_memory: pl.DataFrame,
    counts: Mapping[tuple[int, int], int],
) -> dict[tuple[int, int, int], PairTally]:
    """Compare every two over the cases that both are known in, by what and both; a before b.

    ``rows`` is SQL of cases: ``what``, ``patient`` and ``known``, an array of (who,
    flagged), ascending. ``in_memory`` has the columns :data:`KNOWN` for the other part. ``counts``
    say in how many cases of both parts each is known, by what and who. Pairs that are known in no
    case together are left out: :func:`never_together`.

    Raises
    ------
    EngineUnreachable
    """
    given = _added(_pairs(in_memory), "what", "a", "b", "patient")
    found = ask(_PAIR_TALLIES.format(rows=rows), parameters, {_IN_MEMORY: given})
    compared = {}
    parts = found.partition_by("what", "a", "b", as_dict=True, maintain_order=True)
    for (what, a, b), alike in parts.items():
        by_patient = _tally(alike)
        either = never_together(counts, what, a, b).left_out
        only_a, only_b, both = (int(alike[name].sum()) for name in _OF_PAIR)
        left_out = either - 2 * by_patient.n
        compared[what, a, b] = PairTally(only_a, only_b, both, left_out, by_patient)
    return compared


def never_together(counts: Mapping[tuple[int, int], int], what: int, a: int, b: int) -> PairTally:
    """Return the comparison of two that are known in no case together."""
    either = counts.get((what, a), 0) + counts.get((what, b), 0)
    return PairTally(0, 0, 0, either, NO_PATIENTS)


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


def _added(rows: pl.DataFrame, *by: str) -> pl.DataFrame:
    return rows.group_by(*by).agg(pl.all().sum())


def _tally(rows: pl.DataFrame) -> PatientTally:
    columns = (rows[name].cast(pl.Int64).to_numpy() for name in ("points", "answers", "patients"))
    return PatientTally(*columns)
