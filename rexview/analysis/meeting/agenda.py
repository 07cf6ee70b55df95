"""The agenda of a meeting as it is planned: sections, minutes, and what to know of each case."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexview.analysis.meeting.records import AgendaItem, Meeting
from rexview.schema import Case, ReviewSet

MOST_TEXT: Final = 100_000
"""Characters of a list of ids that is typed or pasted."""
_BETWEEN_IDS: Final = re.compile(r"[\n\r\t,;]+")


@dataclass(frozen=True)
class PlannedCase:
    """A case on an agenda, and what is to be known before it is shown.

    Attributes
    ----------
    item : AgendaItem
    case : Case
    seconds : float or None
        How long it was shown in this meeting, None where it was not.
    discussed_in, planned_for : tuple of str
        Names of other meetings: where it was shown or decided about, and open ones that have it on
        their agenda as well.
    same_study, same_patient : tuple of str
        Other cases of this agenda of the same study; and of the same patient, but another study.
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
    """A meeting's agenda in its order.

    ``minutes`` is what all cases together are expected to take, ``without_minutes`` how many cases
    say nothing of that.
    """

    meeting: Meeting
    cases: tuple[PlannedCase, ...]
    minutes: float
    without_minutes: int


@dataclass(frozen=True)
class IdsRead:
    """Ids that were typed or pasted, each once and in their order.

    ``new`` are cases that are not on the agenda yet, ``there`` those that are, ``unknown`` what
    names no case of the set.
    """

    new: tuple[str, ...]
    there: tuple[str, ...]
    unknown: tuple[str, ...]


def agenda_of(review_set: ReviewSet, meeting: Meeting, every: Iterable[Meeting]) -> Agenda:
    """Return the agenda of a meeting; ``every`` has all meetings of the set.

    What was decided about a case by meetings that came with the set's files counts, too.
    """
    found = {case: review_set.case(case) for case in meeting.cases}
    cases = {name: case for name, case in found.items() if case is not None}
    of_study = _together(cases, "study_id")
    of_patient = _together(cases, "patient_id")
    others = [one for one in every if one.id != meeting.id]
    discussed = _discussed_in(review_set, meeting, others)
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


def read_ids(text: str, review_set: ReviewSet, on_agenda: Collection[str]) -> IdsRead:
    """Read a list of ids: lines, cells of a table, or words between commas or blanks.

    What stands between two line ends, tabs, commas or semicolons is an id where the set has one of
    that name; else each of its words is taken for one.
    """
    named: list[str] = []
    for part in _BETWEEN_IDS.split(text[:MOST_TEXT]):
        part = part.strip().strip("\"'")
        named += [part] if review_set.case_row(part) is not None else part.split()
    every = dict.fromkeys(named)
    known = [one for one in every if review_set.case_row(one) is not None]
    return IdsRead(
        new=tuple(one for one in known if one not in on_agenda),
        there=tuple(one for one in known if one in on_agenda),
        unknown=tuple(one for one in every if review_set.case_row(one) is None),
    )


def added(
    meeting: Meeting, cases: Iterable[str], *, section: str = "", found_by: str = ""
) -> tuple[AgendaItem, ...]:
    """Return what puts cases at the end of an agenda; those that are on it are left out."""
    last = max((item.place for item in meeting.agenda), default=0.0)
    new = [case for case in dict.fromkeys(cases) if case not in set(meeting.cases)]
    return tuple(
        AgendaItem(case, last + number, section=section, found_by=found_by)
        for number, case in enumerate(new, start=1)
    )


def _together(cases: Mapping[str, Case], of: str) -> dict[str, list[str]]:
    """Return the cases that share a study or patient, by its id."""
    found = defaultdict[str, list[str]](list)
    for name, case in cases.items():
        if shared := getattr(case, of):
            found[shared].append(name)
    return found


def _discussed_in(
    review_set: ReviewSet, meeting: Meeting, others: Sequence[Meeting]
) -> dict[str, list[str]]:
    """Return the names of other meetings that showed a case or decided about it, by case."""
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
