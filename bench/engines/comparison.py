"""Compare two engines: random filters, all questions, and where answers differ."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import date, timedelta
from functools import partial
from typing import Any, Final, TypeVar

import numpy as np
import polars as pl

from rexview.analysis.query.engine import CaseProperty, Engine
from rexview.analysis.query.filter.case_filter import (
    MENTIONS,
    RANGE_LIMITS,
    RANGES,
    REPEAT_OUTCOMES,
    SORTS,
    WEAKEST_LINKS,
    CaseFilter,
    NumberRange,
)
from rexview.analysis.query.filter.conditions import (
    CASE_OUTCOMES,
    COMPARISON_RESULTS,
    EDIT_THRESHOLD_NAMES,
    MODEL_OUTCOMES,
    UNKNOWN_FINDING,
    UNNAMED_READER,
    EditCondition,
    MetricOrder,
    ModelPair,
    ReaderPair,
    ScoreCondition,
    find_region,
)
from rexview.analysis.query.filter.judge_conditions import format_judge
from rexview.metrics.identity import MetricId
from rexview.stats.failure_rates import PatientTally
from rexview.stats.judge_agreement import Judge
from rexview.stats.report_metrics import PatientSums
from rexview.vocab import (
    DIMENSION_NAMES,
    DIMENSIONS,
    EDIT_KINDS,
    EDIT_SEVERITIES,
    FAILURES,
    SCORE_MAX,
    SCORE_MIN,
)

# Answers of engines as plain values, and the first difference between two of them.

_DIGITS: Final = 9
"""Digits to compare: sums in another order differ beyond them."""


def plain(value: Any) -> Any:
    """Return dicts, lists and scalars: unordered parts are sorted, records get field names."""
    if isinstance(value, pl.DataFrame):
        return {"columns": value.columns, "rows": _sorted(map(list, value.iter_rows()))}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, PatientSums):  # patients have no order
        return _sorted(
            [*sums, *counts]
            for sums, counts in zip(value.sums.tolist(), value.counts.tolist(), strict=True)
        )
    if isinstance(value, PatientTally):
        columns = (value.points, value.answers, value.patients)
        return _sorted(map(list, zip(*(column.tolist() for column in columns), strict=True)))
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, Set):
        return _sorted(map(plain, value))
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


def _sorted(rows: Any) -> list[Any]:
    return sorted(rows, key=lambda row: repr(_rounded(row)))


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _DIGITS) + 0.0
    return [_rounded(one) for one in value] if isinstance(value, list) else value


def difference(one: Any, other: Any, place: str = "") -> str | None:
    """Return where and how two plain values first differ; None if they are equal."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys((*one, *other)):
            if key not in one or key not in other:
                return f"{place}.{key} is in {'the second' if key in other else 'the first'} only"
            if found := difference(one[key], other[key], f"{place}.{key}"):
                return found
        return None
    if isinstance(one, list) and isinstance(other, list):
        for at, (first, second) in enumerate(zip(one, other, strict=False)):
            if found := difference(first, second, f"{place}[{at}]"):
                return found
        return None if len(one) == len(other) else f"{place} has {len(one)} and {len(other)} items"
    if isinstance(one, float) and isinstance(other, int | float):
        near = math.isclose(one, other, rel_tol=10**-_DIGITS, abs_tol=10**-_DIGITS)
        same = near or (math.isnan(one) and math.isnan(other))
    else:
        same = type(one) is type(other) and one == other
    return None if same else f"{place} is {one!r} and {other!r}"


# Values for filters of one set: its own, the words of the filter, and hostile ones.

HOSTILE: Final = (
    "nobody",
    "' OR 1=1 --",
    "\\'; DROP TABLE answers; --",
    "{x:String}",
    "%(model)s %s ? $1",
    "`a` \"b\" 'c' \\",
    "*/ 1 /*",
    "tab\tline\nend",
    "nul \x00 inside",
    "Ä 漢字 😀 \u202e",
    "a:b:c",
    "x" * 900,
)
"""Values that no set has; a database that takes one as part of a statement fails or finds too
much."""
WORDS: Final = (
    *("effusion", "HEART", "no", "left", "pneumothorax", "see box", "right pleural effusion"),
    *("(see", ".*", "%", "_", "\\", "\\d+", "[a-z]", "'", "zebra", "é", "É", "ÖDEM", "straße"),
    *("k", "s", "ſee", "İ", "😀", "<b>", "no effusion left", "\x00"),
)
"""Search words: findings, words in other letter cases, and characters of patterns."""
_CASES_READ: Final = 40


@dataclass(frozen=True)
class KnownWords:
    """Values of a set.

    ``facets`` has the values by the filter's list, ``findings`` the findings of failures. ``cases``
    are some of the ids, and ``words`` some of the words of their texts.
    """

    models: tuple[str, ...]
    readers: tuple[str, ...]
    metrics: tuple[MetricId, ...]
    judges: tuple[Judge, ...]
    facets: Mapping[str, tuple[str, ...]]
    findings: tuple[str, ...]
    cases: tuple[str, ...]
    words: tuple[str, ...]

    @classmethod
    def of(cls, engine: Engine) -> KnownWords:
        """Read the values of an engine's set."""
        facts, given = engine.facts, engine.facets(CaseFilter())
        facets: dict[str, tuple[str, ...]] = {
            "judged": tuple(FAILURES),
            "repeats": tuple(REPEAT_OUTCOMES),
            "weakest": WEAKEST_LINKS,
        }
        for facet in given.facets:
            values = tuple(value.value for value in facet.values)
            facets[facet.field] = (*facets.get(facet.field, ()), *values)
        named = {finding for failure in FAILURES for finding in engine.failure_findings(failure)}
        regions = {f"region:{region}" for one in named if (region := find_region(one))}
        ids = engine.page(CaseFilter(sort="order"), 0, given.total)
        some = ids[:: max(1, len(ids) // _CASES_READ)]
        texts = (card.case.question for card in engine.cards(CaseFilter(), some))
        return cls(
            models=tuple(facts.models),
            readers=tuple(facts.readers),
            metrics=facts.metrics,
            judges=facts.judges,
            facets={field: tuple(dict.fromkeys(values)) for field, values in facets.items()},
            findings=(*sorted(named), *sorted(regions), UNKNOWN_FINDING),
            cases=(*some, *HOSTILE),
            words=_words(texts),
        )


def _words(texts: Iterable[str | None]) -> tuple[str, ...]:
    met = {word for text in texts for word in (text or "").split()}
    return (*WORDS, *sorted(met)[:_CASES_READ])


# Random filters that reach every condition, and the parameters of other questions.

Given = TypeVar("Given")
_HOW_MANY: Final = (0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 6)
"""Numbers of conditions in a filter: few conditions leave cases, many test combinations."""
_HOSTILE: Final = 0.06
_FIRST_DAY: Final = date(2026, 3, 1)
_DAYS: Final = 14


@dataclass(frozen=True)
class Asked:
    """Parameters of questions besides the filter: a case, a range of the list, readers, models."""

    case: str
    start: int
    size: int
    cases: tuple[str, ...]
    readers: tuple[str, str]
    dimension: str
    failures: tuple[str, ...]
    sources: tuple[str, ...]
    findings: tuple[str, ...]
    metrics: tuple[MetricId, ...]
    judge: Judge | None
    place: int


NOT_ON_TABLES: Final = ("written",)
"""Conditions on the logs of runs: tables on ClickHouse refuse them in a sentence."""


_NOT_MARKED: Final = ("nobody-wrote-it", "nor-this:3fa9c1d2e4b5")


class RandomFilters:
    """Random filters and questions about one set; a seed always gives the same ones."""

    def __init__(self, known: KnownWords, seed: int) -> None:
        self._known, self._random = known, random.Random(seed)  # noqa: S311 - not a secret
        self._made: dict[str, Callable[[], Any]] = {
            name: self._list_of(name)
            for name in CaseFilter().__dataclass_fields__
            if isinstance(getattr(CaseFilter(), name), tuple) and name not in NOT_ON_TABLES
        }
        self._made |= {name: self._range_of(name) for name in RANGES}
        self._made |= {"search": self._search}

    @property
    def conditions(self) -> tuple[str, ...]:
        """The fields of the filter that get values."""
        return tuple(self._made)

    def filter(self) -> CaseFilter:
        """Make the next filter."""
        rng = self._random
        names = rng.sample(self.conditions, rng.choice(_HOW_MANY))
        made = CaseFilter(**{name: self._made[name]() for name in names}, sort=self._sort())
        return replace(made, mention=rng.choice(tuple(MENTIONS))) if made.search else made

    def asked(self) -> Asked:
        """Choose the parameters of the questions."""
        rng, known = self._random, self._known
        readers = (*known.readers, "nobody", "no one")
        return Asked(
            case=rng.choice(known.cases),
            start=rng.choice((0, 0, 1, 5, 17, 60, 10_000)),
            size=rng.choice((1, 7, 40)),
            cases=tuple(rng.sample(known.cases[: -len(HOSTILE)], 3)),
            readers=self._two(readers),
            dimension=rng.choice((*DIMENSIONS, "content", "gap")),
            failures=tuple(rng.sample(tuple(FAILURES), 3)),
            sources=rng.choice(((), ("detector", "both"), ("reader", "both"), ("hint",))),
            findings=rng.choice(((), (), tuple(self._some(known.findings)))),
            metrics=tuple(rng.sample(known.metrics, min(2, len(known.metrics)))),
            judge=rng.choice(known.judges) if known.judges else None,
            place=rng.randrange(1_000),
        )

    def _some(self, values: Sequence[Given], most: int = 3) -> list[Given]:
        return self._random.sample(values, min(len(values), self._random.randint(1, most)))

    def _two(self, values: Sequence[str]) -> tuple[str, str]:
        first, second = self._random.sample(values, 2)
        return first, second

    def _or_hostile(self, known: Sequence[str]) -> str:
        if not known or self._random.random() < _HOSTILE:
            return self._random.choice(HOSTILE)
        return self._random.choice(known)

    def _or_hostile_tag(self, known: Sequence[str]) -> str:
        tag = self._or_hostile(known)
        if tag not in HOSTILE:
            return tag
        return f"{self._random.choice(('region', 'gone', tag))}:{tag}"

    def _list_of(self, name: str) -> Callable[[], tuple[str, ...]]:
        """Return a function that makes values for one of the filter's lists."""
        rng, known = self._random, self._known
        one: dict[str, Callable[[], str]] = {
            "findings": lambda: rng.choice(known.findings),
            "reader_scores": self._reader_score,
            "reader_pairs": self._reader_pair,
            "model_pairs": self._model_pair,
            "outcomes": self._outcome,
            "edits": self._edit,
            "edit_kinds": lambda: self._or_hostile((*EDIT_KINDS, *known.facets.get(name, ()))),
            "compared": lambda: rng.choice(tuple(COMPARISON_RESULTS)),
            "decisions": self._decision,
            "opinions": self._opinion,
            "marked": lambda: rng.choice((*known.facets.get(name, ()), *_NOT_MARKED)),
        }
        free = ("models", "categories", "difficulties", "sites")
        if name == "passing":
            one[name] = lambda: self._or_hostile(known.models)
        if name == "tags":
            one[name] = lambda: self._or_hostile_tag(known.facets.get(name, ()))
        elif name in free:
            one[name] = lambda: self._or_hostile(known.facets.get(name, ()))
        make = one.get(name) or (lambda: rng.choice(known.facets[name]))
        return lambda: tuple(make() for _ in range(rng.choice((1, 1, 2, 3))))

    def _reader_score(self) -> str:
        rng = self._random
        low, high = sorted(rng.choices(range(SCORE_MIN, SCORE_MAX + 1), k=2))
        first, last = sorted(
            _FIRST_DAY + timedelta(days=day) for day in rng.choices(range(_DAYS), k=2)
        )
        by_score, by_day = rng.random() < 0.6, rng.random() < 0.3
        return str(
            ScoreCondition(
                rng.choice(("", *DIMENSIONS)),
                low if by_score else None,
                high if by_score else None,
                first if by_day else None,
                last if by_day else None,
                rng.choice(("", self._or_hostile(self._known.readers))),
            )
        )

    def _reader_pair(self) -> str:
        low, high = sorted(self._random.choices(range(SCORE_MAX), k=2))
        two = self._two((*self._known.readers, "nobody", "a:b %"))
        return str(ReaderPair(self._random.choice(DIMENSIONS), two, low, high))

    def _model_pair(self) -> str:
        two = self._two((*self._known.models, "nobody", "a:b %"))
        return str(ModelPair(self._random.choice(tuple(DIMENSION_NAMES)), two))

    def _outcome(self) -> str:
        rng = self._random
        if rng.random() < 0.4:
            return rng.choice(tuple(CASE_OUTCOMES))
        known = [*self._known.models, *self._known.readers]
        return f"{rng.choice(tuple(MODEL_OUTCOMES))}:{self._or_hostile(known)}"

    def _edit(self) -> str:
        rng, readers = self._random, self._known.readers
        what = rng.choice(("from", "below"))
        severity = rng.choice(
            tuple(EDIT_THRESHOLD_NAMES) if what == "below" else (0, *EDIT_SEVERITIES)
        )
        return str(
            EditCondition(
                what, severity, rng.choice(("", UNNAMED_READER, self._or_hostile(readers)))
            )
        )

    def _decision(self) -> str:
        offered = self._known.facets.get("decisions", ())
        return self._random.choice((*offered, "open", "meeting:gone", f"decision:{HOSTILE[2]}"))

    def _opinion(self) -> str:
        rng = self._random
        judge = rng.choice((*self._known.judges, Judge("no:body", "%'")))
        if rng.random() < 0.5:
            about = f"{rng.choice(tuple(FAILURES))}:{rng.choice(('yes', 'no', ''))}"
        else:
            said = rng.choice(("", *map(str, range(SCORE_MIN, SCORE_MAX + 1))))
            about = f"{rng.choice(DIMENSIONS)}:{said}"
        return f"{about}:{format_judge(judge)}"

    def _range_of(self, name: str) -> Callable[[], NumberRange]:
        low, high = RANGE_LIMITS[name]
        steps = [low + half / 2 for half in range(2 * (high - low) + 1)]

        def make() -> NumberRange:
            ends = sorted(self._random.choices([*steps, low + 1 / 3], k=2))
            return self._random.choice(
                (
                    NumberRange(*ends),
                    NumberRange(None, ends[1]),
                    NumberRange(ends[0]),
                    NumberRange(low),
                    NumberRange(),
                )
            )

        return make

    def _search(self) -> str:
        return " ".join(self._some(self._known.words, 2))

    def _sort(self) -> str:
        metrics = (*self._known.metrics, MetricId("no metric", "'", None, HOSTILE[2]))
        by_metric = MetricOrder(self._random.choice(metrics), self._random.random() < 0.5)
        return self._random.choice((*SORTS, str(by_metric)))


# Every question that an engine answers about a filter, to compare two engines.

Question = Callable[[Engine, CaseFilter, Asked], Any]
_ALL: Final = 1_000_000
_MOST: Final = 7


def _property(engine: Engine, asked: Asked) -> CaseProperty | None:
    known = engine.facts.properties
    return known[asked.place % len(known)] if known else None


def _final_scores(engine: Engine, case_filter: CaseFilter, asked: Asked) -> Any:
    """Return the values by case: the numbers that represent cases are arbitrary."""
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
"""Data of lists, cards and counts."""
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
"""Scores of readers."""
QUESTIONS_FAILURES: Final[dict[str, Question]] = {
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
"""Failures found by detectors."""
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
"""Choices of models and readers."""
REPORTS: Final[dict[str, Question]] = {
    "report counts": _of_filter("report_counts"),
    "metric tally": _of_metrics("metric_tally"),
    "metric spreads": _of_metrics("metric_spreads"),
    "metric correlations": _of_metrics("metric_correlations", "kendall"),
    "metric disputes": _metric_disputes,
    "error-free tallies": _of_filter("error_free_tallies"),
    "comparisons": _of_filter("comparisons"),
}
"""Data on generated reports."""
JUDGES: Final[dict[str, Question]] = {
    "judge's failures": _of_judge("judge_failures"),
    "judge's scores": _of_judge("judge_scores"),
    "judge and readers": lambda engine, _, asked: (
        asked.judge and engine.judge_agreement(asked.judge)
    ),
}
"""Judges' opinions."""
QUESTIONS: Final[dict[str, Question]] = (
    BROWSING | SCORES | QUESTIONS_FAILURES | CHOICES | REPORTS | JUDGES
)


SEED: Final = 2026


@dataclass(frozen=True)
class Difference:
    """A disagreement of two engines about a filter: the question, the place, and the values."""

    question: str
    case_filter: CaseFilter
    asked: Asked
    where: str

    def __str__(self) -> str:
        return f"{self.question}: {self.where}\nof {self.case_filter.to_query()}\n{self.asked}"


@dataclass(frozen=True)
class Compared:
    """Numbers of filters compared, and of those that left some cases."""

    filters: int
    answers: int
    leaving_some: int


def compare(
    one: Engine,
    other: Engine,
    filters: int,
    *,
    questions: Mapping[str, Question] = QUESTIONS,
    seed: int = SEED,
    each: int | None = None,
) -> Compared | Difference:
    """Compare both engines on random filters; return the first difference in its smallest form.

    ``each`` limits the number of questions for one filter, chosen at random; None means all.
    """
    made, chosen = RandomFilters(KnownWords.of(one), seed), random.Random(seed)  # noqa: S311
    if where := difference(plain(one.facts), plain(other.facts)):
        return Difference("facts", CaseFilter(), made.asked(), where)
    answers = leaving_some = 0
    for _ in range(filters):
        case_filter, asked = made.filter(), made.asked()
        names = list(questions) if each is None else chosen.sample(list(questions), each)
        for name in names:
            differs = partial(_difference, one, other, name, questions[name], asked)
            if found := differs(case_filter):
                return smallest(found, differs)
        answers += len(names)
        leaving_some += bool(one.page(case_filter, 0, 1))
    return Compared(filters, answers, leaving_some)


def _difference(
    one: Engine,
    other: Engine,
    name: str,
    question: Question,
    asked: Asked,
    case_filter: CaseFilter,
) -> Difference | None:
    said = plain(question(one, case_filter, asked))
    try:
        where = difference(said, plain(question(other, case_filter, asked)))
    except Exception as error:  # report any error together with its filter
        where = f"the second fails: {type(error).__name__}: {error}"
    return Difference(name, case_filter, asked, where) if where else None


def smallest(found: Difference, differs: Callable[[CaseFilter], Difference | None]) -> Difference:
    """Remove parts of a filter while the engines still disagree about it."""
    for simpler in _simpler(found.case_filter):
        if still := differs(simpler):
            return smallest(still, differs)
    return found


def _simpler(case_filter: CaseFilter) -> Iterator[CaseFilter]:
    """Yield the filter with one part removed."""
    if case_filter.sort != "order":
        yield replace(case_filter, sort="order")
    for field in fields(CaseFilter):
        value = getattr(case_filter, field.name)
        if field.name != "sort" and value != field.default:
            yield _with(case_filter, field.name, field.default)
    for field in fields(CaseFilter):
        value = getattr(case_filter, field.name)
        if isinstance(value, tuple) and len(value) > 1:
            for word in value:
                yield case_filter.without(field.name, word)
        elif isinstance(value, NumberRange) and value != NumberRange():
            yield from (
                _with(case_filter, field.name, wider)
                for wider in (NumberRange(), NumberRange(value.low), NumberRange(None, value.high))
                if wider != value
            )
    words = case_filter.words
    for at in range(len(words) if len(words) > 1 else 0):
        yield replace(case_filter, search=" ".join((*words[:at], *words[at + 1 :])))


def _with(case_filter: CaseFilter, name: str, value: Any) -> CaseFilter:
    changes: dict[str, Any] = {name: value}
    return replace(case_filter, **changes)
