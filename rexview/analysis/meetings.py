"""Records of meetings: planned agenda, votes, times, decisions and minutes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import chain
from typing import Any, Final

import polars as pl

from rexview.answer_digest import digests_of
from rexview.columns.tables import NO_FAILURE
from rexview.schema import Case, ReviewSet
from rexview.store import Reviews
from rexview.store.current_state import CurrentState
from rexview.store.entry import StoredEntry
from rexview.vocab import FAILURES, MEETING_DECISIONS, MEETING_STEPS
from rexview.words import tr

FIRST_STEP: Final = next(iter(MEETING_STEPS))
"""The first step of every meeting: the image and the question."""


@dataclass(frozen=True)
class AgendaItem:
    """A case on an agenda.

    ``place`` is the sort key of the meeting's cases (any number; ties are sorted by case).
    ``found_by`` is the filter from which the case was pinned, as a link's query.
    """

    case: str
    place: float
    section: str = ""
    minutes: float | None = None
    found_by: str = ""


@dataclass(frozen=True)
class CaseVote:
    """The anonymous vote on a case before its models were named.

    ``right`` has the number of people by the model they held right (or ``none`` or ``unsure``),
    ``harm`` the number by grade, ``"0"`` to ``"4"``.
    """

    count: int
    right: Mapping[str, int]
    harm: Mapping[str, int]


@dataclass(frozen=True)
class Meeting:
    """The current state of a meeting, with its agenda in order.

    ``steps`` are keys of :data:`rexview.vocab.MEETING_STEPS` in the order in which a case is
    shown. ``decisions`` are the meeting's own besides :data:`rexview.vocab.MEETING_DECISIONS`.
    ``seconds`` has the time for which each case was shown, without cases that were not. ``gone``
    has ids of cases on the agenda that are no longer in the set.
    """

    id: str
    name: str
    held: date | None
    minutes: int | None
    steps: tuple[str, ...]
    decisions: tuple[str, ...]
    closed: bool
    agenda: tuple[AgendaItem, ...]
    votes: Mapping[str, CaseVote]
    seconds: Mapping[str, float]
    gone: tuple[str, ...] = ()

    @property
    def cases(self) -> tuple[str, ...]:
        """Cases of the agenda, in order."""
        return tuple(item.case for item in self.agenda)


def list_meetings(reviews: Reviews) -> tuple[Meeting, ...]:
    """Return all meetings that are not removed, undated ones first, then the newest first.

    Cases of an agenda that are no longer in the set are only in ``gone``.

    Raises
    ------
    StoreUnreachable, StoreBusy
    """
    state = reviews.current_state()
    rows = _entries_by_meeting(state)
    there = reviews.review_set
    found = [
        _meeting(row, row.value, rows[row.subject or ""], there)
        for row in state.rows("meeting")
        if row.value
    ]
    return tuple(sorted(found, key=lambda one: one.held or date.max, reverse=True))


def find_meeting(reviews: Reviews, meeting_id: str) -> Meeting | None:
    """Return the meeting with an id, None if there is none."""
    state = reviews.current_state()
    row = state.of("meeting", "").get((None, None, meeting_id, None))
    if row is None or row.value is None:
        return None
    return _meeting(row, row.value, _entries_by_meeting(state)[meeting_id], reviews.review_set)


def read_presenter_notes(reviews: Reviews, meeting_id: str, person: str) -> dict[str, str]:
    """Return one person's own notes on the cases of a meeting, by case."""
    rows = reviews.current("presenter_note", person=person)
    return {
        row.case or "": row.value["text"]
        for row in rows
        if row.subject == meeting_id and row.value and row.value["text"]
    }


_EntriesByKind = Mapping[str, Sequence[tuple[str, Mapping[str, Any]]]]
"""Current entries on the cases of one meeting, by kind: case and value."""


def _entries_by_meeting(state: CurrentState) -> defaultdict[str, defaultdict[str, list[Any]]]:
    """Return the current entries on cases of meetings, by meeting and kind."""
    found: defaultdict[str, defaultdict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for kind in ("agenda", "vote", "discussed"):
        for row in state.rows(kind):
            if row.case and row.value:
                found[row.subject or ""][kind].append((row.case, row.value))
    return found


def _meeting(
    row: StoredEntry, value: Mapping[str, Any], rows: _EntriesByKind, there: ReviewSet
) -> Meeting:
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
            case: CaseVote(vote["count"] or 0, vote["right"] or {}, vote["harm"] or {})
            for case, vote in rows["vote"]
            if case not in gone
        },
        seconds={
            case: shown["seconds"] or 0.0 for case, shown in rows["discussed"] if case not in gone
        },
        gone=tuple(item.case for item in items if item.case in gone),
    )


# Decisions of meetings, from the set's files and written in the app: all, open, of one case.

ACCEPT_DECISION: Final = "accept"
"""The decision that leaves nothing to do, unless it has an owner or a due day."""


@dataclass(frozen=True)
class Decision:
    """The current decision of a meeting about a case, or about one model's answer to it.

    ``failure`` is a key of :data:`rexview.vocab.FAILURES`, :data:`NO_FAILURE`, or another word.
    ``severity`` is 0 (none) to 4 (grave). ``decision`` is a key of
    :data:`rexview.vocab.MEETING_DECISIONS` or the meeting's own words. ``by`` is the name of the
    person who entered it. ``digest`` is that of the discussed answer, None for a decision about the
    case or without one. ``replaced`` is true if the answer has changed since or is missing.
    """

    meeting: str
    meeting_name: str
    held: date | None
    case: str
    model: str | None
    failure: str | None
    severity: int | None
    decision: str | None
    owner: str | None
    due: date | None
    done: bool
    comment: str | None
    by: str
    written: datetime | None
    digest: str | None = None
    replaced: bool = False

    @property
    def is_open(self) -> bool:
        """True if something is left to do."""
        left = self.decision not in (None, ACCEPT_DECISION) or self.owner or self.due
        return bool(left) and not self.done

    @property
    def decision_words(self) -> str:
        """The decision in words, empty if none was made."""
        return describe_decision(self.decision)

    @property
    def failure_words(self) -> str:
        """The failure in words, empty if it was left open."""
        return describe_agreed_failure(self.failure)

    def is_overdue(self, today: date) -> bool:
        """True if it should have been done before this day."""
        return self.is_open and self.due is not None and self.due < today


def describe_decision(decision: str | None) -> str:
    """Return a decision in words: its name in the list, else the meeting's own words."""
    return MEETING_DECISIONS.get(decision or "", decision or "")


def describe_agreed_failure(failure: str | None) -> str:
    """Return the failure of a decision in words."""
    if failure == NO_FAILURE:
        return tr("No failure")
    known = FAILURES.get(failure or "")
    return known.name if known else failure or ""


def list_decisions(review_set: ReviewSet, *, case: str | None = None) -> tuple[Decision, ...]:
    """Return the decisions on one case or on all, the newest meeting first.

    ``review_set`` includes people's reviews (:func:`rexview.store.merged`).
    """
    rows = review_set.decisions
    if case is not None:
        rows = rows.filter(pl.col("case") == case)
    found = list(rows.iter_rows(named=True))
    pairs = [(row["case"], row["model"]) for row in found if row["model"] is not None]
    digests = digests_of(review_set).of_all(pairs)
    names = review_set.reader_names
    every = [
        _decision(row, names.get(row["reader"], row["reader"]), digests.get(_pair(row)))
        for row in found
    ]
    in_order = sorted(every, key=lambda one: (one.case, one.model or ""))
    return tuple(
        sorted(in_order, key=lambda one: (one.held or date.max, one.meeting), reverse=True)
    )


def filter_open_decisions(every: Iterable[Decision]) -> tuple[Decision, ...]:
    """Return the decisions with something left to do, by due day, those without one last."""
    left = [one for one in every if one.is_open]
    return tuple(sorted(left, key=lambda one: one.due or date.max))


def _pair(row: dict[str, Any]) -> tuple[str, str]:
    return row["case"], row["model"]


def _decision(row: dict[str, Any], by: str, digest: str | None) -> Decision:
    is_of_answer = row["model"] is not None
    read = row["answer_digest"]
    return Decision(
        meeting=row["meeting"],
        meeting_name=row["meeting_name"] or row["meeting"],
        held=row["held"].date() if row["held"] else None,
        case=row["case"],
        model=row["model"],
        failure=row["failure"],
        severity=row["severity"],
        decision=row["decision"],
        owner=row["owner"],
        due=row["due"].date() if row["due"] else None,
        done=bool(row["done"]),
        comment=row["comment"],
        by=by,
        written=row["created"],
        digest=read,
        replaced=is_of_answer and (digest is None or read not in (None, digest)),
    )


# The minutes of a meeting as one record: cases, times, votes and decisions.


@dataclass(frozen=True)
class MinutesItem:
    """A case in the minutes.

    ``number`` counts the cases from 1. ``on_agenda`` is False for a case that was removed after it
    was shown, voted on or decided. ``seconds`` is the time for which it was shown, None if it was
    not.
    """

    number: int
    case: str
    section: str
    question: str
    on_agenda: bool
    seconds: float | None
    vote: CaseVote | None
    decisions: tuple[Decision, ...]

    @property
    def was_discussed(self) -> bool:
        """True if the meeting discussed this case."""
        return self.seconds is not None or self.vote is not None or bool(self.decisions)


@dataclass(frozen=True)
class Minutes:
    """The minutes of a meeting: its cases in the order of the agenda, others after them."""

    meeting: Meeting
    items: tuple[MinutesItem, ...]

    @property
    def seconds(self) -> float:
        """Total time for which cases were shown, in seconds."""
        return sum(item.seconds or 0.0 for item in self.items)

    @property
    def discussed(self) -> tuple[MinutesItem, ...]:
        """Cases that the meeting discussed."""
        return tuple(item for item in self.items if item.was_discussed)

    @property
    def postponed(self) -> tuple[MinutesItem, ...]:
        """Cases that the meeting did not discuss."""
        return tuple(item for item in self.items if not item.was_discussed)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """All decisions, in the order of the cases."""
        return tuple(one for item in self.items for one in item.decisions)

    @property
    def open(self) -> tuple[Decision, ...]:
        """Open decisions, by due day."""
        return filter_open_decisions(self.decisions)


def build_minutes(review_set: ReviewSet, reviews: Reviews, meeting_id: str) -> Minutes | None:
    """Return the current minutes of a meeting, None if there is no meeting with this id.

    ``review_set`` includes people's reviews (:func:`rexview.store.merged`).

    Raises
    ------
    StoreUnreachable, StoreBusy
    """
    held = find_meeting(reviews, meeting_id)
    if held is None:
        return None
    decided: dict[str, list[Decision]] = {}
    for one in list_decisions(review_set):
        if one.meeting == meeting_id:
            decided.setdefault(one.case, []).append(one)
    sections = {item.case: item.section for item in held.agenda}
    cases = dict.fromkeys([*held.cases, *held.seconds, *held.votes, *decided])
    items: list[MinutesItem] = []
    for case_id in cases:
        case = review_set.case(case_id)
        if case is None:
            continue
        items.append(
            MinutesItem(
                number=len(items) + 1,
                case=case_id,
                section=sections.get(case_id, ""),
                question=case.question,
                on_agenda=case_id in sections,
                seconds=held.seconds.get(case_id),
                vote=held.votes.get(case_id),
                decisions=tuple(decided.get(case_id, ())),
            )
        )
    return Minutes(held, tuple(items))


# Planning of a meeting's agenda: sections, minutes, and facts about each case.

MAX_IDS_TEXT: Final = 100_000
"""Most characters of a typed or pasted list of ids."""
_BETWEEN_IDS: Final = re.compile(r"[\n\r\t,;]+")


@dataclass(frozen=True)
class PlannedCase:
    """A case on an agenda, with facts for the planning.

    Attributes
    ----------
    item : AgendaItem
    case : Case
    seconds : float or None
        Time for which it was shown in this meeting, None if it was not.
    discussed_in, planned_for : tuple of str
        Names of other meetings that showed it or decided about it, and of open meetings that also
        have it on their agenda.
    same_study, same_patient : tuple of str
        Other cases of this agenda from the same study, and from the same patient but another study.
    """

    item: AgendaItem
    case: Case
    seconds: float | None
    discussed_in: tuple[str, ...]
    planned_for: tuple[str, ...]
    same_study: tuple[str, ...]
    same_patient: tuple[str, ...]


@dataclass(frozen=True)
class Agenda:
    """A meeting's agenda in order.

    ``minutes`` is the expected time of all cases together, ``without_minutes`` the number of cases
    without an expected time.
    """

    meeting: Meeting
    cases: tuple[PlannedCase, ...]
    minutes: float
    without_minutes: int


@dataclass(frozen=True)
class ParsedIds:
    """The ids in a typed or pasted list, each once and in order.

    ``new`` are cases that are not on the agenda yet, ``there`` cases that are, ``unknown`` words
    that are no case of the set.
    """

    new: tuple[str, ...]
    there: tuple[str, ...]
    unknown: tuple[str, ...]


def build_agenda(review_set: ReviewSet, meeting: Meeting, every: Iterable[Meeting]) -> Agenda:
    """Return the agenda of a meeting; ``every`` has all meetings of the set.

    Decisions of meetings in the set's files count, too.
    """
    found = {case: review_set.case(case) for case in meeting.cases}
    cases = {name: case for name, case in found.items() if case is not None}
    of_study = _cases_by_attribute(cases, "study_id")
    of_patient = _cases_by_attribute(cases, "patient_id")
    others = [one for one in every if one.id != meeting.id]
    discussed = _meetings_by_case(review_set, meeting, others)
    still_open = [(one.name, set(one.cases)) for one in others if not one.closed]
    rows = []
    for item in meeting.agenda:
        case = cases.get(item.case)
        if case is None:
            continue
        study = of_study.get(case.study_id or "", [])
        patient = of_patient.get(case.patient_id or "", [])
        rows.append(
            PlannedCase(
                item=item,
                case=case,
                seconds=meeting.seconds.get(case.id),
                discussed_in=tuple(discussed.get(case.id, ())),
                planned_for=tuple(
                    name
                    for name, planned in still_open
                    if case.id in planned and name not in discussed.get(case.id, ())
                ),
                same_study=tuple(one for one in study if one != case.id),
                same_patient=tuple(one for one in patient if one not in (case.id, *study)),
            )
        )
    given = [row.item.minutes for row in rows if row.item.minutes is not None]
    return Agenda(meeting, tuple(rows), sum(given), len(rows) - len(given))


def parse_ids(text: str, review_set: ReviewSet, on_agenda: Collection[str]) -> ParsedIds:
    """Parse a list of ids: lines, cells of a table, or words between commas or spaces.

    A part between two line ends, tabs, commas or semicolons is an id if the set has such a case;
    else each of its words is an id.
    """
    named: list[str] = []
    for part in _BETWEEN_IDS.split(text[:MAX_IDS_TEXT]):
        part = part.strip().strip("\"'")
        named += [part] if review_set.case_row(part) is not None else part.split()
    every = dict.fromkeys(named)
    known = [one for one in every if review_set.case_row(one) is not None]
    return ParsedIds(
        new=tuple(one for one in known if one not in on_agenda),
        there=tuple(one for one in known if one in on_agenda),
        unknown=tuple(one for one in every if review_set.case_row(one) is None),
    )


def make_agenda_items(
    meeting: Meeting, cases: Iterable[str], *, section: str = "", found_by: str = ""
) -> tuple[AgendaItem, ...]:
    """Return items that add cases at the end of an agenda, without those that are on it."""
    last = max((item.place for item in meeting.agenda), default=0.0)
    new = [case for case in dict.fromkeys(cases) if case not in set(meeting.cases)]
    return tuple(
        AgendaItem(case, last + number, section=section, found_by=found_by)
        for number, case in enumerate(new, start=1)
    )


def _cases_by_attribute(cases: Mapping[str, Case], of: str) -> dict[str, list[str]]:
    """Return the cases that share a study or patient, by its id."""
    found = defaultdict[str, list[str]](list)
    for name, case in cases.items():
        if shared := getattr(case, of):
            found[shared].append(name)
    return found


def _meetings_by_case(
    review_set: ReviewSet, meeting: Meeting, others: Sequence[Meeting]
) -> dict[str, list[str]]:
    """Return the names of other meetings that showed or decided about a case, by case."""
    decisions = review_set.decisions.filter(
        pl.col("case").is_in(meeting.cases), pl.col("meeting") != meeting.id
    ).select("case", pl.coalesce("meeting_name", "meeting"))
    names = defaultdict[str, dict[str, None]](dict)
    for other in others:
        for case in other.seconds:
            names[case][other.name] = None
    for case, name in decisions.iter_rows():
        names[case][name] = None
    return {case: list(found) for case, found in names.items()}
