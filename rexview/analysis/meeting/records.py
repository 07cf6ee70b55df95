"""Meetings as records: their agenda, votes and what was shown, from the reviews of a set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain
from typing import Any, Final

from rexview.schema import ReviewSet
from rexview.store import Reviews
from rexview.store.current_state import CurrentState
from rexview.store.entry import Stored
from rexview.vocab import MEETING_STEPS

FIRST_STEP: Final = next(iter(MEETING_STEPS))
"""The image and the question: shown before anything else, whatever the steps of a meeting."""


@dataclass(frozen=True)
class AgendaItem:
    """A case on an agenda.

    ``place`` orders the cases of a meeting (any number; equal ones by case), ``found_by`` is the
    query of the filter that it was pinned from, as in a link.
    """

    case: str
    place: float
    section: str = ""
    minutes: float | None = None
    found_by: str = ""


@dataclass(frozen=True)
class Vote:
    """What people thought of a case before its models were named; nobody is named.

    ``right`` has how many held which model right (also ``none`` and ``unsure``), ``harm`` how many
    gave each grade ``"0"`` to ``"4"``.
    """

    count: int
    right: Mapping[str, int]
    harm: Mapping[str, int]


@dataclass(frozen=True)
class Meeting:
    """A meeting as it stands, with its agenda in order.

    ``steps`` are keys of :data:`rexview.vocab.MEETING_STEPS` in the order in which a case is
    shown; ``decisions`` are words of its own beside :data:`rexview.vocab.MEETING_DECISIONS`.
    ``seconds`` has how long each case was shown, in seconds, where it was. ``gone`` are ids of
    cases on the agenda that are not in the set any more.
    """

    id: str
    name: str
    held: date | None
    minutes: int | None
    steps: tuple[str, ...]
    decisions: tuple[str, ...]
    closed: bool
    agenda: tuple[AgendaItem, ...]
    votes: Mapping[str, Vote]
    seconds: Mapping[str, float]
    gone: tuple[str, ...] = ()

    @property
    def cases(self) -> tuple[str, ...]:
        """The cases of the agenda in order."""
        return tuple(item.case for item in self.agenda)


def meetings(reviews: Reviews) -> tuple[Meeting, ...]:
    """Return all meetings that are not removed, the newest by day first, undated ones before.

    Of an agenda, cases that are not in the set any more are left out and named apart.

    Raises
    ------
    StoreUnreachable, StoreBusy
    """
    state = reviews.current_state()
    rows = _by_meeting(state)
    there = reviews.review_set
    found = [
        _meeting(row, row.value, rows[row.subject or ""], there)
        for row in state.rows("meeting")
        if row.value
    ]
    return tuple(sorted(found, key=lambda one: one.held or date.max, reverse=True))


def meeting(reviews: Reviews, meeting_id: str) -> Meeting | None:
    """Return one meeting, None where there is none of this id."""
    state = reviews.current_state()
    row = state.of("meeting", "").get((None, None, meeting_id, None))
    if row is None or row.value is None:
        return None
    return _meeting(row, row.value, _by_meeting(state)[meeting_id], reviews.review_set)


def presenter_notes(reviews: Reviews, meeting_id: str, person: str) -> dict[str, str]:
    """Return somebody's own notes on the cases of a meeting, by case; nobody else's."""
    rows = reviews.current("presenter_note", person=person)
    return {
        row.case or "": row.value["text"]
        for row in rows
        if row.subject == meeting_id and row.value and row.value["text"]
    }


_Rows = Mapping[str, Sequence[tuple[str, Mapping[str, Any]]]]
"""By kind what stands on cases of one meeting: case and value."""


def _by_meeting(state: CurrentState) -> defaultdict[str, defaultdict[str, list[Any]]]:
    """Sort what stands on cases of meetings: by meeting, then by kind."""
    found: defaultdict[str, defaultdict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for kind in ("agenda", "vote", "discussed"):
        for row in state.rows(kind):
            if row.case and row.value:
                found[row.subject or ""][kind].append((row.case, row.value))
    return found


def _meeting(row: Stored, value: Mapping[str, Any], rows: _Rows, there: ReviewSet) -> Meeting:
    gone = {case for case, _ in chain(*rows.values()) if there.case_row(case) is None}
    items = [
        AgendaItem(
            case=case,
            place=item["place"] or 0,
            section=item["section"] or "",
            minutes=item["minutes"],
            found_by=item["found_by"] or "",
        )
        for case, item in rows["agenda"]
    ]
    wanted = value["steps"] or MEETING_STEPS
    return Meeting(
        id=row.subject or "",
        name=value["name"],
        held=date.fromisoformat(value["held"]) if value["held"] else None,
        minutes=value["minutes"],
        steps=tuple(dict.fromkeys((FIRST_STEP, *wanted))),
        decisions=tuple(value["decisions"] or ()),
        closed=bool(value["closed"]),
        agenda=tuple(
            sorted(
                (item for item in items if item.case not in gone),
                key=lambda item: (item.place, item.case),
            )
        ),
        votes={
            case: Vote(vote["count"] or 0, vote["right"] or {}, vote["harm"] or {})
            for case, vote in rows["vote"]
            if case not in gone
        },
        seconds={
            case: shown["seconds"] or 0.0 for case, shown in rows["discussed"] if case not in gone
        },
        gone=tuple(item.case for item in items if item.case in gone),
    )
