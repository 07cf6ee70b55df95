"""Two engines, the same questions: the first filter on which they differ, made as small as it gets.

Both are asked everything about random filters of their set. Where they differ, parts of the filter
are taken away as long as they still do, so that what is told is the one condition that matters.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Final

from rexview.analysis.engine import Engine
from rexview.analysis.filter.case_filter import CaseFilter, Range
from rexview.bench.engines.known_words import KnownWords
from rexview.bench.engines.plain import difference, plain
from rexview.bench.engines.questions import QUESTIONS, Question
from rexview.bench.engines.random_filters import Asked, RandomFilters

SEED: Final = 2026


@dataclass(frozen=True)
class Difference:
    """Two engines say something else about a filter: to which question, where, and what."""

    question: str
    case_filter: CaseFilter
    asked: Asked
    where: str

    def __str__(self) -> str:
        return f"{self.question}: {self.where}\nof {self.case_filter.to_query()}\n{self.asked}"


@dataclass(frozen=True)
class Compared:
    """How many filters were asked of both engines, and how many of them left some cases."""

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
    """Ask both engines about random filters; return the first difference in its smallest form.

    ``each`` limits how many of the questions are asked of one filter, chosen at random; all for
    None.
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
    except Exception as error:  # whatever it is, it is to be told with the filter that led to it
        where = f"the second fails: {type(error).__name__}: {error}"
    return Difference(name, case_filter, asked, where) if where else None


def smallest(found: Difference, differs: Callable[[CaseFilter], Difference | None]) -> Difference:
    """Take away parts of a filter as long as engines still differ on it."""
    for simpler in _simpler(found.case_filter):
        if still := differs(simpler):
            return smallest(still, differs)
    return found


def _simpler(case_filter: CaseFilter) -> Iterator[CaseFilter]:
    """Yield the filter with one thing less."""
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
        elif isinstance(value, Range) and value != Range():
            yield from (
                _with(case_filter, field.name, wider)
                for wider in (Range(), Range(value.low), Range(None, value.high))
                if wider != value
            )
    words = case_filter.words
    for at in range(len(words) if len(words) > 1 else 0):
        yield replace(case_filter, search=" ".join((*words[:at], *words[at + 1 :])))


def _with(case_filter: CaseFilter, name: str, value: Any) -> CaseFilter:
    changes: dict[str, Any] = {name: value}
    return replace(case_filter, **changes)
