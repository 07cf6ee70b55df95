"""What was decided, as pages tell it their browser: what stands, who wrote it, and its history."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from rexview.analysis.meeting_steps import letters_of
from rexview.analysis.meetings import Decision, Meeting, decisions, meeting
from rexview.schema import ReviewSet
from rexview.store import Reviews, Stored
from rexview.ui.saving.reader_study import shown_names

_MOST_HISTORY: Final = 20
_About = tuple[str, str, str | None]  # meeting, case, model


def decisions_json(
    review_set: ReviewSet, reviews: Reviews, every: Iterable[Decision], case: str | None = None
) -> list[dict[str, Any]]:
    """Return decisions with all that was written on the same thing before, newest first.

    ``case`` is the one that all are about, if they are.

    Raises
    ------
    StoreError
    """
    history = _history(reviews, case)
    known = review_set.model_names
    return [
        {
            "meeting": one.meeting,
            "meetingName": one.meeting_name,
            "held": one.held.isoformat() if one.held else None,
            "case": one.case,
            "model": one.model,
            "modelName": known.get(one.model or "", one.model),
            "shown": one.digest,
            **_stands(one, history.get((one.meeting, one.case, one.model), [])),
        }
        for one in every
    ]


def presented_json(
    review_set: ReviewSet, reviews: Reviews, meeting_id: str, case: str
) -> dict[str, Any]:
    """Return what a meeting decided about a case, its answers under the letters of the meeting.

    ``shown`` says which answer each letter stands for, without telling whose or what; ``rows`` is
    by letter, ``""`` for the case.

    Raises
    ------
    StoreError
    """
    held = meeting(reviews, meeting_id)
    if held is None:
        return {"rows": {}, "shown": {}}
    letters = letters_in(review_set, reviews, held, case)
    key_of: dict[str | None, str] = {
        None: "",
        **{model: letter for letter, model in letters.items()},
    }
    history = _history(reviews, case)
    return {
        "rows": {
            key_of[one.model]: _stands(one, history.get((meeting_id, case, one.model), []))
            for one in decisions(review_set, case=case)
            if one.meeting == meeting_id and one.model in key_of
        },
        "shown": shown_letters(review_set, reviews, held, case),
    }


def letters_in(
    review_set: ReviewSet, reviews: Reviews, held: Meeting, case: str
) -> Mapping[str, str]:
    """Return the model of each letter of a case in a meeting."""
    models = (answer.model for answer in review_set.answers_of(case))
    return letters_of(held, case, models, reviews.letter_key())


def shown_letters(
    review_set: ReviewSet, reviews: Reviews, held: Meeting, case: str
) -> Mapping[str, str]:
    """Name what stands under each letter, for the browser to send back with a decision."""
    letters = letters_in(review_set, reviews, held, case)
    key = reviews.letter_key()
    return shown_names(review_set, case, letters, reader=_reader(held), key=key)


def _reader(held: Meeting) -> str:
    return f"meeting {held.id}"


def _history(reviews: Reviews, case: str | None) -> dict[_About, list[Stored]]:
    found: dict[_About, list[Stored]] = {}
    for row in reviews.history(kind="decide", case=case):
        found.setdefault((row.subject or "", row.case or "", row.model), []).append(row)
    return found


def _stands(one: Decision, history: list[Stored]) -> dict[str, Any]:
    value = {
        "failure": one.failure,
        "severity": one.severity,
        "decision": one.decision,
        "owner": one.owner,
        "due": one.due.isoformat() if one.due else None,
        "done": one.done or None,
        "comment": one.comment,
    }
    return {
        "value": value,
        "by": one.by,
        "at": one.written.isoformat() if one.written else None,
        "replaced": one.replaced,
        "open": one.is_open,
        "history": [
            {"by": row.person_name, "at": row.at.isoformat(), "value": row.value}
            for row in history[:_MOST_HISTORY]
        ],
        "earlier": max(len(history) - _MOST_HISTORY, 0),
    }
