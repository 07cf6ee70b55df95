"""Every question that an engine is asked about a filter, for comparing what two engines say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import polars as pl

from rexview.analysis.engine import CaseProperty, Engine
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.bench.engines.random_filters import Asked
from rexview.vocab import DIMENSIONS

Question = Callable[[Engine, CaseFilter, Asked], Any]
_ALL: Final = 1_000_000
_MOST: Final = 7


def _property(engine: Engine, asked: Asked) -> CaseProperty | None:
    known = engine.facts.properties
    return known[asked.place % len(known)] if known else None


def _final_scores(engine: Engine, case_filter: CaseFilter, asked: Asked) -> Any:
    """Return the values case by case: the numbers that stand for cases mean nothing."""
    values = engine.final_scores(case_filter, asked.dimension)
    rows = values.group_by("case").agg(pl.struct(pl.col("model").cast(pl.String), "value"))
    return {
        repr(sorted((one["model"], round(one["value"], 9)) for one in of_case))
        + f" of case {at}": None
        for at, of_case in enumerate(sorted(rows["model"].to_list(), key=repr))
    }


def _score_days(engine: Engine, case_filter: CaseFilter, asked: Asked) -> Any:
    dimension = asked.dimension if asked.dimension in DIMENSIONS else DIMENSIONS[0]
    return engine.score_days(case_filter, dimension, *asked.readers)


def _by_property(engine: Engine, case_filter: CaseFilter, asked: Asked) -> Any:
    by = _property(engine, asked)
    return by and engine.property_counts(case_filter, by)


def _choice_groups(engine: Engine, case_filter: CaseFilter, asked: Asked) -> Any:
    by = _property(engine, asked)
    return by and engine.choice_groups(case_filter, by, 1 + asked.place % 4)


def _of_judge(name: str) -> Question:
    def ask(engine: Engine, case_filter: CaseFilter, asked: Asked) -> Any:
        return asked.judge and getattr(engine, name)(case_filter, asked.judge)

    return ask


def _of_metrics(name: str, *more: object) -> Question:
    def ask(engine: Engine, case_filter: CaseFilter, asked: Asked) -> Any:
        return getattr(engine, name)(case_filter, asked.metrics, *more)

    return ask


def _metric_disputes(engine: Engine, case_filter: CaseFilter, asked: Asked) -> Any:
    if len(asked.metrics) < 2:
        return None
    first, second = asked.metrics
    return engine.metric_disputes(case_filter, (first, second), _MOST)


def _of_filter(name: str) -> Question:
    def ask(engine: Engine, case_filter: CaseFilter, _asked: Asked) -> Any:
        return getattr(engine, name)(case_filter)

    return ask


BROWSING: Final[dict[str, Question]] = {
    "facets": _of_filter("facets"),
    "page": lambda engine, given, _: engine.page(given, 0, _ALL),
    "part of the list": lambda engine, given, asked: engine.page(given, asked.start, asked.size),
    "position": lambda engine, given, asked: engine.position(given, asked.case),
    "cards": lambda engine, given, asked: engine.cards(given, asked.cases),
    "tally": _of_filter("tally"),
    "scanned": _of_filter("scanned"),
    "not judged": lambda engine, given, _: engine.not_judged(given, _MOST),
    "not looked at": lambda engine, given, _: list(engine.not_looked_at(given, ())),
    "property counts": _by_property,
}
"""What lists, cards and counts rest on."""
SCORES: Final[dict[str, Question]] = {
    "score tallies": _of_filter("score_tallies"),
    "final scores": _final_scores,
    "readers": _of_filter("readers"),
    "pair tables": _of_filter("pair_tables"),
    "pair cases": lambda engine, given, asked: engine.pair_cases(given, asked.readers),
    "score patterns": _of_filter("score_patterns"),
    "score days": _score_days,
    "disputed": lambda engine, given, asked: engine.disputed(given, asked.start, asked.size),
}
"""What readers gave."""
FAILURES: Final[dict[str, Question]] = {
    "failure tallies": _of_filter("failure_tallies"),
    "failure findings": lambda engine, _, asked: engine.failure_findings(asked.failures[0]),
    "judged tallies": lambda engine, given, asked: engine.judged_tallies(
        given, asked.failures, asked.sources, asked.findings
    ),
    "judged pairs": lambda engine, given, asked: engine.judged_pairs(
        given, asked.failures, asked.sources
    ),
    "order of judged pairs": lambda engine, given, asked: [
        *engine.judged_pairs(given, asked.failures, asked.sources)
    ],
    "repeat tallies": _of_filter("repeat_tallies"),
    "patients": _of_filter("patients"),
}
"""What detectors found."""
CHOICES: Final[dict[str, Question]] = {
    "raters": lambda engine, _given, _asked: engine.raters,
    "choice counts": _of_filter("choice_counts"),
    "choice tallies": _of_filter("choice_tallies"),
    "choice tallies of what people read": lambda engine, given, _: engine.choice_tallies(
        given, read_by_people=True
    ),
    "choice groups": _choice_groups,
    "choice pairs": _of_filter("choice_pairs"),
    "choice agreement": _of_filter("choice_agreement"),
}
"""Who chose what."""
REPORTS: Final[dict[str, Question]] = {
    "report counts": _of_filter("report_counts"),
    "metric tally": _of_metrics("metric_tally"),
    "metric spreads": _of_metrics("metric_spreads"),
    "metric correlations": _of_metrics("metric_correlations", "kendall"),
    "metric disputes": _metric_disputes,
    "error-free tallies": _of_filter("error_free_tallies"),
    "comparisons": _of_filter("comparisons"),
}
"""What is said of generated reports."""
JUDGES: Final[dict[str, Question]] = {
    "judge's failures": _of_judge("judge_failures"),
    "judge's scores": _of_judge("judge_scores"),
    "judge and readers": lambda engine, _, asked: (
        asked.judge and engine.judge_agreement(asked.judge)
    ),
}
"""What judges say."""
QUESTIONS: Final[dict[str, Question]] = BROWSING | SCORES | FAILURES | CHOICES | REPORTS | JUDGES
