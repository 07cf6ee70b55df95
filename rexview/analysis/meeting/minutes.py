"""The minutes of a meeting as one record: what was shown, how long, votes, what was decided."""

from __future__ import annotations

from dataclasses import dataclass

from rexview.analysis.meeting.decisions import Decision, decisions, open_decisions
from rexview.analysis.meeting.records import Meeting, Vote, meeting
from rexview.schema import ReviewSet
from rexview.store import Reviews


@dataclass(frozen=True)
class MinutesItem:
    """A case in the minutes.

    ``number`` counts the cases from 1; ``on_agenda`` is False for one that was taken off after it
    was shown, voted on or decided. ``seconds`` is how long it was shown, None where it was not.
    """

    number: int
    case: str
    section: str
    question: str
    on_agenda: bool
    seconds: float | None
    vote: Vote | None
    decisions: tuple[Decision, ...]

    @property
    def was_discussed(self) -> bool:
        """Whether the meeting came to this case."""
        return self.seconds is not None or self.vote is not None or bool(self.decisions)


@dataclass(frozen=True)
class Minutes:
    """The minutes of a meeting: its cases in the order of the agenda, others after them."""

    meeting: Meeting
    items: tuple[MinutesItem, ...]

    @property
    def seconds(self) -> float:
        """How long cases were shown, in seconds in all."""
        return sum(item.seconds or 0.0 for item in self.items)

    @property
    def discussed(self) -> tuple[MinutesItem, ...]:
        """The cases that the meeting came to."""
        return tuple(item for item in self.items if item.was_discussed)

    @property
    def postponed(self) -> tuple[MinutesItem, ...]:
        """The cases of the agenda that it did not come to."""
        return tuple(item for item in self.items if not item.was_discussed)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """All that was decided, in the order of the cases."""
        return tuple(one for item in self.items for one in item.decisions)

    @property
    def open(self) -> tuple[Decision, ...]:
        """What is left to do, by its day."""
        return open_decisions(self.decisions)


def minutes(review_set: ReviewSet, reviews: Reviews, meeting_id: str) -> Minutes | None:
    """Return the minutes of a meeting as they stand, None where there is none of this id.

    ``review_set`` has what was written beside what was given (:func:`rexview.store.merged`).

    Raises
    ------
    StoreUnreachable, StoreBusy
    """
    held = meeting(reviews, meeting_id)
    if held is None:
        return None
    decided: dict[str, list[Decision]] = {}
    for one in decisions(review_set):
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
