"""Counts beside every value of a filter, following the other conditions of the filter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from rexview.analysis.engine import Facet, Facets, FacetValue, FailureSources, SetFacts
from rexview.analysis.filter.case_filter import MENTIONS, SOURCES, CaseFilter
from rexview.analysis.filter.finding_search import search_terms
from rexview.analysis.filter.wording import CONDITION_NAMES, sentence_case, value_name
from rexview.analysis.memory.coded_column import Mask
from rexview.analysis.memory.selection import (
    CASE_FACETS,
    ROW_FACETS,
    all_of,
    bits_of,
    conditions,
    flagged_by,
    found_by,
)
from rexview.analysis.memory.table import AnswerTable, Bits
from rexview.vocab import FAILURES, HEADLINE_FAILURES

_NO_BITS: Final = np.uint32(0)


def facets(table: AnswerTable, facts: SetFacts, case_filter: CaseFilter) -> Facets:
    """Count the cases of every value of every condition: see :class:`rexview.analysis.Engine`."""
    masks = conditions(table, case_filter)
    everything = all_of(table, masks)
    cases = table.any_of_case(everything)
    found: list[Facet] = []

    def without(*names: str) -> Mask:
        """Say which rows meet the other conditions."""
        if not masks.keys() & set(names):
            return everything
        return all_of(table, {name: mask for name, mask in masks.items() if name not in names})

    def cases_without(name: str) -> Mask:
        return table.any_of_case(without(name)) if name in masks else cases

    def add(field: str, counts: Iterable[tuple[str, int]], name: str | None = None) -> None:
        chosen = getattr(case_filter, field)
        values = tuple(
            FacetValue(value, value_name(facts, field, value), count, value in chosen)
            for value, count in counts
        )
        found.append(Facet(field, name or CONDITION_NAMES[field], values))

    flags = _FlagsOfCases(table, without("failures", "sources"))
    add("failures", flags.by_failure(case_filter.sources))
    add("sources", flags.by_source(case_filter.failures or tuple(FAILURES)).items())
    for field, column in ROW_FACETS.items():
        add(field, _row_counts(table, without(field), column))
    for field, column in CASE_FACETS.items():
        add(field, table.case_codes[column].counts(cases_without(field)))
    for name, (rows, coded) in table.tag_codes.items():
        counts = coded.counts(cases_without(f"tags:{name}")[rows])
        shown = sentence_case(name)
        taken = shown in CONDITION_NAMES.values()
        add("tags", counts, f"{shown} (tag)" if taken else shown)
    there = cases_without("comments")
    add("comments", ((word, int((has & there).sum())) for word, has in table.commented.items()))
    if "judged" in masks:
        flags = _FlagsOfCases(table, without("failures", "sources", "judged"))
    return Facets(
        total=int(np.count_nonzero(cases)),
        facets=tuple(found),
        headlines=tuple(flags.of(failure) for failure in HEADLINE_FAILURES),
        mentions=tuple(_mentions(table, case_filter, without("search"))),
    )


def _mentions(table: AnswerTable, case_filter: CaseFilter, others: Mask) -> Iterable[FacetValue]:
    """Count the cases of each way of searching for a finding, given all other conditions."""
    search = case_filter.search
    if search_terms(search).findings:
        for word, name in MENTIONS.items():
            cases = table.any_of_case(others & found_by(table, search, word))
            chosen = word == case_filter.mention
            yield FacetValue(word, name, int(np.count_nonzero(cases)), chosen)


class _FlagsOfCases:
    """The failures of the cases of some rows, by who says so."""

    def __init__(self, table: AnswerTable, rows: Mask) -> None:
        def gather(bits: Bits) -> Bits:
            return table.bits_of_case(np.where(rows, bits, _NO_BITS))

        self._judged = gather(table.judged)
        self._cases = int(np.count_nonzero(table.any_of_case(rows)))
        self._flagged = {source: gather(flagged_by(table, (source,))) for source in SOURCES}
        self._flagged["any"] = gather(flagged_by(table, ()))

    def _count(self, sources: Sequence[str], failures: Sequence[str]) -> int:
        bits, *others = (self._flagged[source] for source in sources)
        for more in others:
            bits = bits | more
        return int(np.count_nonzero(bits & bits_of(failures)))

    def by_failure(self, sources: Sequence[str]) -> Iterable[tuple[str, int]]:
        for failure in FAILURES:
            yield failure, self._count(sources or ("any",), (failure,))

    def by_source(self, failures: Sequence[str]) -> Mapping[str, int]:
        return {source: self._count((source,), failures) for source in SOURCES}

    def of(self, failure: str) -> FailureSources:
        by_source = self.by_source((failure,))
        return FailureSources(
            failure,
            by_source["detector"],
            by_source["reader"],
            by_source["both"],
            self._count(("any",), (failure,)),
            int(np.count_nonzero(self._judged & bits_of((failure,)))),
            self._cases,
        )


def _row_counts(table: AnswerTable, rows: Mask, column: str) -> Iterable[tuple[str, int]]:
    """Count distinct cases for each word of a coded column of the rows."""
    coded = table.row_codes[column]
    if column not in table.word_bits:
        pairs = np.stack([table.case_row[rows], coded.codes[rows]]).astype(np.int64)
        distinct = np.unique(pairs, axis=1)[1]
        counts = np.bincount(distinct, minlength=len(coded.values) + 1)
        yield from zip(coded.values, counts.tolist(), strict=False)
        return
    of_case = table.bits_of_case(np.where(rows, table.word_bits[column], _NO_BITS))
    for place, value in enumerate(coded.values):
        yield value, int(np.count_nonzero(of_case & np.uint32(1 << place)))
