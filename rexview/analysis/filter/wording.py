"""A filter in a clinician's words: one line for a heading, and chips that can be taken away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rexview.analysis.filter.case_filter import MENTIONS, RANGES, SORTS, CaseFilter, Range
from rexview.analysis.memory.facets import Facets, value_name, words_name
from rexview.analysis.memory.finding_search import is_finding_search, search_terms
from rexview.analysis.memory.table import AnswerTable
from rexview.stats import ALL_EQUAL
from rexview.vocab import DIMENSION_NAMES, FAILURES

_ORDER: Final = (
    *("failures", "findings", "sources", "weakest", "statuses", "judged", "models"),
    *("question_types", "categories", "tags", "difficulties", "sites", "studies"),
    *("marks", "both", "paired", "comments"),
)
_ALL_HOLD: Final = ("marks", "both", "paired")
"""Conditions of which all chosen values have to hold, not one of them."""
_LEAST: Final = 0.001
"""The smallest step of a range's end."""


@dataclass(frozen=True)
class Chip:
    """One condition of a filter, and the filter that is left without it."""

    label: str
    rest: CaseFilter


def chips(table: AnswerTable, case_filter: CaseFilter) -> tuple[Chip, ...]:
    """Return a chip for each chosen value, range and search, in a fixed order."""
    found = [
        Chip(_label(table, field, value), case_filter.without(field, value))
        for field in _ORDER
        for value in getattr(case_filter, field)
    ]
    found += [
        Chip(_range(name, limits), case_filter.without(name))
        for name, limits in case_filter.ranges.items()
    ]
    if case_filter.search:
        found.append(Chip(_search(case_filter), case_filter.without("search")))
    return tuple(found)


def describe(table: AnswerTable, case_filter: CaseFilter) -> str:
    """Say in one line which cases a filter leaves.

    Returns
    -------
    str
        Such as "Laterality errors, Generalist"; "All cases" for an empty filter.
    """
    parts: list[str] = []
    for field in _ORDER:
        names = [
            FAILURES[value].plural if field == "failures" else _label(table, field, value)
            for value in getattr(case_filter, field)
        ]
        if names:
            parts.append((" and " if field in _ALL_HOLD else " or ").join(names))
    parts += [_range(name, limits) for name, limits in case_filter.ranges.items()]
    if case_filter.search:
        parts.append(_search(case_filter))
    return ", ".join(parts) or "All cases"


def search_words(counts: Facets, search: str) -> str:
    """Say which cases a search for a finding shows; empty when it names no finding."""
    shown = next((value for value in counts.mentions if value.chosen), None)
    if shown is None:
        return ""
    names = search_terms(search).names
    how = {
        "present": f"{names} present or possible in an answer or the report",
        "absent": f"{names} said to be absent in an answer or the report",
        "any": f"any mention of {names} in an answer or the report",
        "text": f"the words “{search}” as typed, whatever is said of them",
    }
    return f"Shown: {how[shown.value]}."


def _search(case_filter: CaseFilter) -> str:
    words = f"“{case_filter.search}”"
    if not is_finding_search(case_filter.search, case_filter.mention):
        return words
    terms = search_terms(case_filter.search)
    found = f"{terms.names[:1].upper()}{terms.names[1:]}: {MENTIONS[case_filter.mention].lower()}"
    return f"{found}, “{' '.join(terms.words)}”" if terms.words else found


def sort_name(case_filter: CaseFilter) -> str:
    """Return the name of the filter's order of cases."""
    return SORTS[case_filter.sort]


def _label(table: AnswerTable, field: str, value: str) -> str:
    name = value_name(table, field, value)
    if field == "sources":
        return name.lower()
    if field == "weakest":
        return "no weakest link" if value == ALL_EQUAL else f"weakest: {name}"
    if field == "findings":
        return f"about {name}"
    if field == "judged":
        return f"{name}: can be judged"
    if field == "tags":
        return f"{words_name(value.partition(':')[0])}: {name}"
    if field == "sites":
        return f"Site {name}"
    return name


def _range(name: str, limits: Range) -> str:
    low, high = (None if end is None else f"{end:g}" for end in (limits.low, limits.high))
    what = RANGES[name]
    if low is not None and low == high:
        return f"{what} {low}"
    under = _under(limits.high)
    if low is not None and high is not None:
        return f"{what} {low} to {under or high}"
    if name == "disagreement" and low is not None:
        return f"Readers differ by {low} or more"
    if low is None and high is None:
        return f"{what} scored" if name in DIMENSION_NAMES else f"{what} known"
    if low is not None:
        return f"{what} {low} or more"
    return f"{what} {under or f'{high} or less'}"


def _under(high: float | None) -> str:
    """Write the last number before a whole, half or quarter as that one: 2.999 is "under 3"."""
    if high is None:
        return ""
    border = round(high + _LEAST, 3)
    return f"under {border:g}" if border != high and (4 * border).is_integer() else ""
