"""Counts of cases for every value of a filter, given the filter's other conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rexview.analysis.query.engine import Facet, Facets, FacetValue, FailureSources, SetFacts
from rexview.analysis.query.filter.case_filter import MENTIONS, SOURCES, CaseFilter
from rexview.analysis.query.filter.conditions import EDIT_FACET, group_outcomes
from rexview.analysis.query.filter.filter_text import CONDITION_NAMES, name_value, to_sentence_case
from rexview.analysis.query.filter.finding_search import parse_search
from rexview.analysis.query.memory.answer_table import AnswerTable
from rexview.analysis.query.memory.failure_index import source_bits
from rexview.analysis.query.memory.selection import (
    CASE_FACETS,
    ROW_FACETS,
    ConditionMasks,
    build_conditions,
    find_by_search,
    outcome_condition_name,
)
from rexview.analysis.query.memory.set_columns import WORD_BITS, Codes, Mask, RowMaskIndex
from rexview.detect import FAILURE_BITS
from rexview.vocab import FAILURES, HEADLINE_FAILURES
from rexview.words import tr


def count_facets(table: AnswerTable, facts: SetFacts, case_filter: CaseFilter) -> Facets:
    """Count the cases of every value of every condition: see :class:`rexview.analysis.Engine`."""
    left = _FilterMatches(table, build_conditions(table, case_filter))
    found: list[Facet] = []

    def add(field: str, counts: Iterable[tuple[str, int]], name: str | None = None) -> None:
        chosen = getattr(case_filter, field)
        values = tuple(
            FacetValue(value, name_value(facts, field, value), count, value in chosen)
            for value, count in counts
        )
        found.append(Facet(field, name or CONDITION_NAMES[field], values))

    flags = _FlaggedCaseCounts(left.but("failures", "sources"))
    add("failures", flags.by_failure(case_filter.sources))
    add("sources", flags.by_source(case_filter.failures or tuple(FAILURES)).items())
    for field, column in ROW_FACETS.items():
        add(field, left.but(field).words(column))
    add("outcomes", _outcomes(left, case_filter))
    for field, column in CASE_FACETS.items():
        add(field, table.columns.case_codes[column].counts(left.but(field).cases))
    for name, (rows, coded) in table.columns.tag_codes.items():
        counts = coded.counts(left.but(f"tags:{name}").cases[rows])
        shown = to_sentence_case(name)
        taken = shown in CONDITION_NAMES.values()
        add("tags", counts, tr("{shown} (tag)").format(shown=shown) if taken else shown)
    if len(table.edits):
        edited, others = table.edits.meeting, left.but("edits", "edit_kinds")
        asked, of_kinds = case_filter.edits, case_filter.edit_kinds
        # all values of these have to hold, so a chosen value limits the others' counts, too
        add("edits", ((one, others.of(edited({*asked, one}, of_kinds))) for one in EDIT_FACET))
        add("edit_kinds", ((one, others.of(edited(asked, [one]))) for one in table.edits.kinds))
    if len(table.compared["compared"]):
        others = left.but("compared")
        add("compared", ((word, others.of(met)) for word, met in table.compared.items()))
    there = left.but("comments").cases
    add("comments", ((word, int((has & there).sum())) for word, has in table.commented.items()))
    there = left.but("decisions").cases
    add("decisions", ((word, int((has & there).sum())) for word, has in table.decided.items()))
    others, failures = left.but("marked"), dict.fromkeys(one.failure for one in table.marks)
    add("marked", ((one, others.of(table.marked_in_words(one))) for one in failures))
    if case_filter.judged:
        flags = _FlaggedCaseCounts(left.but("failures", "sources", "judged"))
    return Facets(
        total=left.but().n_cases,
        facets=tuple(found),
        headlines=tuple(flags.of(failure) for failure in HEADLINE_FAILURES),
        mentions=tuple(_mentions(table, case_filter, left.but("search"))),
    )


@dataclass(eq=False)
class _FilterMatches:
    """The matches of a filter without some of its conditions."""

    table: AnswerTable
    met: ConditionMasks

    def __post_init__(self) -> None:
        self._known: dict[frozenset[str], RowMaskIndex | None] = {}

    def but(self, *names: str) -> _Matches:
        """Return the matches without some conditions; masks of rows are built once and reused."""
        of_rows = frozenset(self.met.rows.keys() & set(names))
        if of_rows not in self._known:
            rows = self.met.rows_but(of_rows)
            chosen = None if rows is None else RowMaskIndex(self.table.columns, rows)
            self._known[of_rows] = chosen
        return _Matches(self.table, self._known[of_rows], self.met.cases_but(names))


@dataclass(frozen=True, eq=False)
class _Matches:
    """The rows and the cases that meet the conditions on answers and on cases; None for all."""

    table: AnswerTable
    rows: RowMaskIndex | None
    cases_met: Mask | None

    @property
    def cases(self) -> Mask:
        """Mask of the cases that match."""
        has_any = self.rows.any_of_case if self.rows else None
        masks = [mask for mask in (has_any, self.cases_met) if mask is not None]
        if not masks:
            return np.ones(self.table.columns.n_cases, dtype=np.bool_)
        return np.asarray(np.logical_and.reduce(masks))

    @property
    def n_cases(self) -> int:
        """Number of cases that match."""
        return int(np.count_nonzero(self.cases))

    def of(self, numbers: Codes) -> int:
        """Count the matching cases among those of some answers, given by number."""
        rows = numbers if self.rows is None else numbers[self.rows.mask[numbers]]
        cases = np.unique(self.table.columns.case_row[rows])
        return (
            int(np.count_nonzero(self.cases_met[cases]))
            if self.cases_met is not None
            else len(cases)
        )

    def bits(self, name: str, of_rows: Codes) -> Codes:
        """Combine the bits of each case's matching rows, as ``bits_of_cases`` does."""
        bits = self.table.bits_of_cases(name, of_rows, self.rows)
        return bits if self.cases_met is None else bits * self.cases_met

    def words(self, column: str) -> Iterable[tuple[str, int]]:
        """Count the cases with each value of a coded column of the rows."""
        values = self.table.row_codes[column].values
        for first in range(0, len(values), WORD_BITS):
            bits = self.bits(f"{column} {first}", self.table.word_bits(column, first))
            for place, value in enumerate(values[first : first + WORD_BITS]):
                yield value, int(np.count_nonzero(bits & bits.dtype.type(1 << place)))


def _outcomes(left: _FilterMatches, case_filter: CaseFilter) -> Iterable[tuple[str, int]]:
    """Count outcomes of choice questions; a group that limits does not limit its own counts."""
    limiting = group_outcomes(case_filter.outcomes)
    given = {group: left.but(outcome_condition_name(group)).cases for group in limiting}
    of_all = left.but().cases
    counts = {group: dict(left.table.outcomes.counts(cases)) for group, cases in given.items()}
    for outcome, n in left.table.outcomes.counts(of_all):
        yield str(outcome), counts[outcome.group][outcome] if outcome.group in counts else n


def _mentions(
    table: AnswerTable, case_filter: CaseFilter, others: _Matches
) -> Iterable[FacetValue]:
    """Count the cases of each way of searching for a finding, given all other conditions."""
    search = case_filter.search
    if parse_search(search).findings:
        for word, name in MENTIONS.items():
            rows = find_by_search(table, search, word)
            if others.rows:
                rows &= others.rows.mask
            part = _Matches(table, RowMaskIndex(table.columns, rows), others.cases_met)
            yield FacetValue(word, name, part.n_cases, word == case_filter.mention)


class _FlaggedCaseCounts:
    """Counts of cases by failure and source, over some rows."""

    def __init__(self, left: _Matches) -> None:
        flagged = left.table.flagged
        self._judged = left.bits("judged", flagged.judged)
        self._cases = left.n_cases
        self._by_source = left.bits("by_source", flagged.by_source)

    def _count(self, sources: Sequence[str], failures: Sequence[str]) -> int:
        return int(np.count_nonzero(self._by_source & source_bits(failures, sources)))

    def by_failure(self, sources: Sequence[str]) -> Iterable[tuple[str, int]]:
        for failure in FAILURES:
            yield failure, self._count(sources, (failure,))

    def by_source(self, failures: Sequence[str]) -> Mapping[str, int]:
        return {source: self._count((source,), failures) for source in SOURCES}

    def of(self, failure: str) -> FailureSources:
        by_source = self.by_source((failure,))
        return FailureSources(
            failure,
            by_source["detector"],
            by_source["reader"],
            by_source["both"],
            self._count((), (failure,)),
            int(np.count_nonzero(self._judged & np.uint32(FAILURE_BITS[failure]))),
            self._cases,
        )
