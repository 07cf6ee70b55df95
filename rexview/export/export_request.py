"""Find the cases of an export: named ones, a filter's, or a meeting's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs

from rexview.analysis.meetings import Meeting, Minutes, build_minutes, list_meetings
from rexview.analysis.query.engine import Engine
from rexview.analysis.query.filter.case_filter import FILTER_KEYS, CaseFilter
from rexview.errors import ExportRefused
from rexview.schema import ReviewSet
from rexview.store import Reviews
from rexview.vocab import english_count

_NAMED: Final = 10
"""Unknown ids listed in a message."""
_SHOWN: Final = 200
_AS_IN_FILES: Final = CaseFilter(sort="order")


@dataclass(frozen=True, eq=False)
class ExportSource:
    """An open review set with its written entries, its engine, and its reviews."""

    review_set: ReviewSet
    engine: Engine
    reviews: Reviews


@dataclass(frozen=True)
class ExportRequest:
    """A request for an export; without any field set, every case in the order of the files.

    ``cases`` are ids in the order of the export. ``query`` is that of a page's link. ``meeting`` is
    the name or id of a meeting: its cases in the order of its agenda, then additional ones that it
    reached; together with ``cases`` or ``query``, those of them.
    """

    cases: tuple[str, ...] | None = None
    query: Mapping[str, Sequence[str]] | None = None
    meeting: str | None = None


@dataclass(frozen=True)
class ExportedCases:
    """The cases of an export in order, and the minutes of their meeting."""

    cases: tuple[str, ...]
    minutes: Minutes | None = None


def parse_link_query(text: str) -> dict[str, list[str]]:
    """Parse the query of a link, with or without the part before its ``?``."""
    before, mark, after = text.partition("#")[0].partition("?")
    is_link = mark and "=" not in before  # a search text may contain a question mark
    return parse_qs(after if is_link else before + mark + after, keep_blank_values=True)


def find_request_problems(
    review_set: ReviewSet, reviews: Reviews, wanted: ExportRequest
) -> tuple[str, ...]:
    """Return all reasons against an export, before any case is searched.

    The reasons are sentences: ids that are not in the set, an invalid filter, a meeting that does
    not exist.

    Raises
    ------
    StoreUnreachable, StoreBusy
    """
    problems: list[str] = []
    if wanted.cases is not None and wanted.query is not None:
        problems.append("Name cases or a filter, not both.")
    if wanted.cases is not None:
        problems += _unknown(review_set, wanted.cases)
        if not wanted.cases:
            problems.append("No case is named.")
    if wanted.query is not None:
        problems += _not_understood(wanted.query)
    if wanted.meeting is not None:
        meeting, why = find_meeting(reviews, wanted.meeting)
        problems += why
        there = set(_cases_of(build_minutes(review_set, reviews, meeting.id) if meeting else None))
        known = [case for case in wanted.cases or () if review_set.case_row(case) is not None]
        if meeting and (absent := [case for case in known if case not in there]):
            problems.append(f"No case of {meeting.name}: {_join_names(absent)}.")
    return tuple(problems)


def find_export_cases(source: ExportSource, wanted: ExportRequest) -> ExportedCases:
    """Find the requested cases.

    Raises
    ------
    ExportRefused
        Names every problem (:func:`find_request_problems`), or that nothing is left to export.
    StoreUnreachable, StoreBusy
    """
    if problems := find_request_problems(source.review_set, source.reviews, wanted):
        raise ExportRefused(" ".join(problems))
    meeting = find_meeting(source.reviews, wanted.meeting)[0] if wanted.meeting else None
    held = build_minutes(source.review_set, source.reviews, meeting.id) if meeting else None
    if wanted.cases is not None:
        return ExportedCases(tuple(dict.fromkeys(wanted.cases)), held)
    chosen = _cases_of(held)
    if wanted.query is not None or held is None:
        by = _AS_IN_FILES if wanted.query is None else CaseFilter.from_query(wanted.query)
        left = source.engine.page(by, 0, source.engine.facts.n_cases)
        kept = set(left)
        chosen = tuple(case for case in chosen if case in kept) if held else left
    if not chosen:
        raise ExportRefused(_nothing_left_message(wanted, meeting))
    return ExportedCases(chosen, held)


def _cases_of(held: Minutes | None) -> tuple[str, ...]:
    return tuple(item.case for item in held.items) if held else ()


def _unknown(review_set: ReviewSet, cases: Iterable[str]) -> list[str]:
    unknown = [case for case in cases if review_set.case_row(case) is None]
    if not unknown:
        return []
    verb = "is" if len(unknown) == 1 else "are"
    return [
        f"{english_count(len(unknown), 'case')} {verb} not in the review set: "
        f"{_join_names(unknown)}."
    ]


def _not_understood(query: Mapping[str, Sequence[str]]) -> list[str]:
    found = [problem.replace(": left out", "") for problem in CaseFilter.read(query)[1]]
    if not set(query) & set(FILTER_KEYS):
        keys = ", ".join(sorted(query))[:_SHOWN] or "nothing"
        found.append(f"The filter names no condition, only {keys}: give a link's query.")
    return found


def find_meeting(reviews: Reviews, named: str) -> tuple[Meeting | None, tuple[str, ...]]:
    """Find a meeting by its id, otherwise by its name; return sentences if there is none."""
    every = list_meetings(reviews)
    found = [one for one in every if one.id == named] or [
        one for one in every if one.name.casefold() == named.strip().casefold()
    ]
    if len(found) == 1:
        return found[0], ()
    if found:
        ids = ", ".join(one.id for one in found)
        return None, (f"Several meetings are called {named[:_SHOWN]}: name one by its id ({ids}).",)
    names = _join_names([one.name for one in every]) or "none at all"
    return None, (f"There is no meeting {named[:_SHOWN]}; there is: {names}.",)


def _nothing_left_message(wanted: ExportRequest, meeting: Meeting | None) -> str:
    if meeting is not None and wanted.query is None:
        return f"The agenda of {meeting.name} has no case of the review set."
    if wanted.query is None:
        return "The review set has no case."
    return "No case of the agenda matches the filter." if meeting else "No case matches the filter."


def _join_names(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
