"""Counts of cases for every value of a filter, in ClickHouse and in memory.

No case is in both parts, so that the two counts of a value add up. All counts in ClickHouse come
from one query, which reads the cases once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import polars as pl

from rexview.analysis.query.clickhouse.sql_conditions import SqlConditions
from rexview.analysis.query.engine import Facet, Facets, FacetValue, FailureSources, SetFacts
from rexview.analysis.query.filter.case_filter import ANSWER_STATUSES, MENTIONS, SOURCES
from rexview.analysis.query.filter.conditions import CASE_OUTCOMES, ChoiceOutcome, group_outcomes
from rexview.analysis.query.filter.filter_text import CONDITION_NAMES, name_value, to_sentence_case
from rexview.analysis.query.filter.finding_search import parse_search
from rexview.analysis.query.memory.failure_index import source_bits
from rexview.analysis.query.memory.selection import CASE_FACETS, outcome_condition_name
from rexview.detect import FAILURE_BITS
from rexview.stats.multiple_choice import Rater
from rexview.vocab import FAILURES, HEADLINE_FAILURES

_ROW_WORDS: Final = {"models": "model", "statuses": "status"}


_COUNT_PREFIX: Final = "n "
"""Prefix of each count's name, so that it differs from every column's name."""


@dataclass(eq=False)
class FacetQuery:
    """All counts for a filter, as the columns of one query.

    The conditions that each answer and case meets are computed once, in a subquery.
    """

    conditions: SqlConditions
    columns: dict[str, str] = field(default_factory=dict)
    _inner: dict[str, str] = field(default_factory=dict)
    """SQL of the subquery's columns, by name."""

    def __post_init__(self) -> None:
        asked = self.conditions.case_filter
        self._bits()
        self.columns["total"] = f"countIf({self._left()})"
        for name, column in _ROW_WORDS.items():
            self._words(name, column, but=(name,))
        for name, column in CASE_FACETS.items():
            self._listed(name, f"arrayFilter(x -> x != '', [toString({column})])", but=(name,))
        tags = [name for name in self.conditions.cases if name.startswith("tags:")]
        for name in ("tags", *tags):
            self._listed(name, "tags", but=(name,))
        self._listed("outcomes", "outcomes", but=())
        for group in group_outcomes(asked.outcomes):
            name = outcome_condition_name(group)
            self._listed(name, "outcomes", but=(name,))
        if parse_search(asked.search).findings:
            for word in MENTIONS:
                found = self.conditions.found_by(asked.search, word)
                others = self.conditions.met(("search",))
                met = f"arrayMap((a, b) -> a AND b, {found}, {others})" if others else found
                left = [*self.conditions.cases.values(), f"has({met}, 1)"]
                self.columns[f"mention:{word}"] = f"countIf({' AND '.join(left)})"

    @property
    def sql(self) -> str:
        """SQL of the query."""
        columns = ", ".join(
            f"{sql} AS `{_COUNT_PREFIX}{name}`" for name, sql in self.columns.items()
        )
        inner = "".join(f", {sql} AS {name}" for name, sql in self._inner.items())
        return f"SELECT {columns} FROM (SELECT *{inner} FROM {self.conditions.source})"

    def _once(self, sql: str) -> str:
        """Add an expression to the subquery once, and return its column's name."""
        for name, known in self._inner.items():
            if known == sql:
                return name
        name = f"f{len(self._inner)}"
        self._inner[name] = sql
        return name

    def _left(self, but: Sequence[str] = ()) -> str:
        left = self.conditions.left(but)
        return self._once(left) if len(left) > 1 else left

    def _met(self, but: Sequence[str]) -> str | None:
        met = self.conditions.met(but)
        return met and self._once(met)

    def _listed(self, name: str, listed: str, but: Sequence[str]) -> None:
        """Count the cases with each word of a column of lists."""
        listed = self._once(listed)
        ones = f"arrayMap(x -> toUInt64(1), {listed})"
        self.columns[name] = f"sumMapIf({listed}, {ones}, {self._left(but)})"

    def _words(self, name: str, column: str, but: Sequence[str]) -> None:
        """Count the cases with each code in a column of the answers."""
        met = self._met(but)
        listed = column if met is None else f"arrayFilter((x, m) -> m, {column}, {met})"
        self._listed(name, f"arrayDistinct({listed})", but)

    def _bits(self) -> None:
        """Count the cases by failure and by source."""
        asked = self.conditions.case_filter
        flags = ("failures", "sources")
        for failure in FAILURES:
            self._flagged(f"failures:{failure}", (failure,), asked.sources, flags)
        for source in SOURCES:
            failures = asked.failures or tuple(FAILURES)
            self._flagged(f"sources:{source}", failures, (source,), flags)
        headline = (*flags, "judged") if asked.judged else flags
        self.columns["cases"] = f"countIf({self._left(headline)})"
        judged = self._gathered("judged", "UInt32", headline)
        for failure in HEADLINE_FAILURES:
            for source in SOURCES:
                self._flagged(f"{failure}:{source}", (failure,), (source,), headline)
            self._flagged(f"{failure}:", (failure,), (), headline)
            bit = FAILURE_BITS[failure]
            self.columns[f"{failure}:judged"] = (
                f"countIf(bitTest({judged}, {bit.bit_length() - 1}))"
            )

    def _flagged(
        self, name: str, failures: Iterable[str], sources: Sequence[str], but: Sequence[str]
    ) -> None:
        bits = self._gathered("by_source", "UInt64", but)
        asked = f"toUInt64({int(source_bits(failures, sources))})"
        self.columns[name] = f"countIf(bitAnd({bits}, {asked}) != 0)"

    def _gathered(self, column: str, kind: str, but: Sequence[str]) -> str:
        """Return SQL that combines the bits of each matching case's matching answers."""
        met = self._met(but)
        kept = column
        if met is not None:
            kept = f"arrayMap((x, m) -> if(m, x, to{kind}(0)), {column}, {met})"
        bits = f"arrayReduce('groupBitOr', {kept})"
        return self._once(f"if({self._left(but)}, {bits}, to{kind}(0))")


@dataclass(frozen=True, eq=False)
class FacetCounts:
    """The counts of one query (:class:`FacetQuery`), which are one row."""

    row: Mapping[str, Any]

    @classmethod
    def of(cls, found: pl.DataFrame) -> FacetCounts:
        """Return the counts of a query's result."""
        row = found.row(0, named=True)
        return cls({name.removeprefix(_COUNT_PREFIX): value for name, value in row.items()})

    def listed(self, name: str) -> dict[Any, int]:
        """Return the counts by word or code."""
        keys, counts = self.row[name].values()
        return dict(zip(keys, counts, strict=True))


def add_facet_counts(
    query: FacetQuery,
    counts: FacetCounts,
    reviewed: Facets,
    facts: SetFacts,
    raters: Sequence[Rater],
) -> Facets:
    """Return the sums of both parts' counts, for every value of the set in order.

    ``raters`` are those who chose an option in either part.
    """
    asked, manifest = query.conditions.case_filter, query.conditions.manifest
    in_memory: dict[tuple[str, str], Counter[str]] = {}
    for facet in reviewed.facets:
        for value in facet.values:
            of_facet = in_memory.setdefault(
                (facet.field, _tag(facet.field, value.value)), Counter()
            )
            of_facet[value.value] += value.count
    found: list[Facet] = []

    def add(
        name: str, values: Iterable[tuple[str, int]], shown: str | None = None, tag: str = ""
    ) -> None:
        more, chosen = in_memory.pop((name, tag), Counter()), getattr(asked, name)
        found.append(
            Facet(
                name,
                shown or CONDITION_NAMES[name],
                tuple(
                    FacetValue(
                        value, name_value(facts, name, value), n + more[value], value in chosen
                    )
                    for value, n in values
                ),
            )
        )

    add("failures", ((one, counts.row[f"failures:{one}"]) for one in FAILURES))
    add("sources", ((one, counts.row[f"sources:{one}"]) for one in SOURCES))
    models, statuses = counts.listed("models"), counts.listed("statuses")
    add("models", ((one, models.get(place, 0)) for place, one in enumerate(manifest.models)))
    add("statuses", ((one, statuses.get(n, 0)) for n, one in enumerate(ANSWER_STATUSES)))
    add("weakest", ((value, 0) for value in in_memory.get(("weakest", ""), {})))
    add("outcomes", _outcomes(counts, asked.outcomes, raters))
    for name, column in CASE_FACETS.items():
        of_words = counts.listed(name)
        add(name, ((word, of_words.get(word, 0)) for word in manifest.words[column]))
    for name, values in manifest.tags.items():
        own = f"tags:{name}" if f"tags:{name}" in query.columns else "tags"
        of_tags = counts.listed(own)
        shown = to_sentence_case(name)
        taken = shown in CONDITION_NAMES.values()
        shown = f"{shown} (tag)" if taken else shown
        add("tags", ((one, of_tags.get(one, 0)) for one in values), shown, name)
    there = {facet.field for facet in found}
    for facet in reviewed.facets:  # facets of people's input only
        if facet.field not in there:
            add(facet.field, ((one.value, 0) for one in facet.values))
    return Facets(
        total=counts.row["total"] + reviewed.total,
        facets=tuple(found),
        headlines=tuple(_headline(counts, one) for one in reviewed.headlines),
        mentions=tuple(
            replace(one, count=one.count + counts.row[f"mention:{one.value}"])
            for one in reviewed.mentions
        ),
    )


def _tag(name: str, value: str) -> str:
    return value.partition(":")[0] if name == "tags" else ""


def _outcomes(
    counts: FacetCounts, asked: Sequence[str], raters: Sequence[Rater]
) -> Iterable[tuple[str, int]]:
    if not raters:
        return
    of_all = counts.listed("outcomes")
    by_name = {
        group: counts.listed(outcome_condition_name(group)) for group in group_outcomes(asked)
    }
    for outcome in list_outcomes(raters):
        yield str(outcome), by_name.get(outcome.group, of_all).get(str(outcome), 0)


def list_outcomes(raters: Iterable[Rater]) -> Iterable[ChoiceOutcome]:
    """Yield every possible outcome of a choice question, in the order of the facet."""
    for rater in raters:
        for kind in ("right", "wrong", "failed"):
            yield ChoiceOutcome(kind, rater.id)
        if not rater.is_reader:
            yield ChoiceOutcome("only_wrong", rater.id)
    yield from (ChoiceOutcome(kind) for kind in CASE_OUTCOMES)


def _headline(counts: FacetCounts, reviewed: FailureSources) -> FailureSources:
    failure = reviewed.failure
    row = {name: counts.row[f"{failure}:{name}"] for name in (*SOURCES, "", "judged")}
    return FailureSources(
        failure,
        row["detector"] + reviewed.detector,
        row["reader"] + reviewed.reader,
        row["both"] + reviewed.both,
        row[""] + reviewed.total,
        row["judged"] + reviewed.judged,
        counts.row["cases"] + reviewed.cases,
    )
