"""Random filters that reach every condition of the filter, and what is asked beside them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any, Final, TypeVar

from rexview.analysis.filter.case_filter import (
    MENTIONS,
    RANGE_LIMITS,
    RANGES,
    SORTS,
    CaseFilter,
    Range,
)
from rexview.analysis.filter.conditions import ModelPair, ReaderPair, ScoreCondition
from rexview.analysis.filter.judge_conditions import judge_word
from rexview.analysis.filter.outcomes import OF_CASES, OF_MODELS
from rexview.analysis.filter.report_conditions import (
    BELOW,
    COMPARED,
    UNNAMED,
    EditCondition,
    MetricOrder,
)
from rexview.bench.engines.known_words import HOSTILE, KnownWords
from rexview.metrics.identity import MetricId
from rexview.stats.judges.opinions import Judge
from rexview.vocab import (
    DIMENSION_NAMES,
    DIMENSIONS,
    EDIT_KINDS,
    EDIT_SEVERITIES,
    FAILURES,
    SCORE_MAX,
    SCORE_MIN,
)

Given = TypeVar("Given")
_HOW_MANY: Final = (0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 6)
"""Conditions of a filter: few leave something, many reach what only meets in them."""
_HOSTILE: Final = 0.06
_FIRST_DAY: Final = date(2026, 3, 1)
_DAYS: Final = 14


@dataclass(frozen=True)
class Asked:
    """What is asked besides a filter: a case, a part of the list, who and what is compared."""

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
"""Conditions on what lies in logs of runs: tables on ClickHouse refuse them in a sentence."""


_NOT_MARKED: Final = ("nobody-wrote-it", "nor-this:3fa9c1d2e4b5")


class RandomFilters:
    """Filters and questions about one set; the same seed gives the same ones."""

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
        """The fields of the filter that are given values."""
        return tuple(self._made)

    def filter(self) -> CaseFilter:
        """Make the next filter."""
        rng = self._random
        names = rng.sample(self.conditions, rng.choice(_HOW_MANY))
        made = CaseFilter(**{name: self._made[name]() for name in names}, sort=self._sort())
        return replace(made, mention=rng.choice(tuple(MENTIONS))) if made.search else made

    def asked(self) -> Asked:
        """Choose what is asked beside a filter."""
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
        """Return what makes some values of one of the filter's lists."""
        rng, known = self._random, self._known
        one: dict[str, Callable[[], str]] = {
            "findings": lambda: rng.choice(known.findings),
            "reader_scores": self._reader_score,
            "reader_pairs": self._reader_pair,
            "model_pairs": self._model_pair,
            "outcomes": self._outcome,
            "edits": self._edit,
            "edit_kinds": lambda: self._or_hostile((*EDIT_KINDS, *known.facets.get(name, ()))),
            "compared": lambda: rng.choice(tuple(COMPARED)),
            "decisions": self._decision,
            "opinions": self._opinion,
            "marked": lambda: rng.choice((*known.facets.get(name, ()), *_NOT_MARKED)),
        }
        free = ("models", "categories", "difficulties", "sites")
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
            return rng.choice(tuple(OF_CASES))
        known = [*self._known.models, *self._known.readers]
        return f"{rng.choice(tuple(OF_MODELS))}:{self._or_hostile(known)}"

    def _edit(self) -> str:
        rng, readers = self._random, self._known.readers
        what = rng.choice(("from", "below"))
        severity = rng.choice(tuple(BELOW) if what == "below" else (0, *EDIT_SEVERITIES))
        return str(
            EditCondition(what, severity, rng.choice(("", UNNAMED, self._or_hostile(readers))))
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
        return f"{about}:{judge_word(judge)}"

    def _range_of(self, name: str) -> Callable[[], Range]:
        low, high = RANGE_LIMITS[name]
        steps = [low + half / 2 for half in range(2 * (high - low) + 1)]

        def make() -> Range:
            ends = sorted(self._random.choices([*steps, low + 1 / 3], k=2))
            return self._random.choice(
                (Range(*ends), Range(None, ends[1]), Range(ends[0]), Range(low), Range())
            )

        return make

    def _search(self) -> str:
        return " ".join(self._some(self._known.words, 2))

    def _sort(self) -> str:
        metrics = (*self._known.metrics, MetricId("no metric", "'", None, HOSTILE[2]))
        by_metric = MetricOrder(self._random.choice(metrics), self._random.random() < 0.5)
        return self._random.choice((*SORTS, str(by_metric)))
