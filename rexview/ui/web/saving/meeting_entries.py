"""Entries for what is prepared, shown, voted and decided in meetings.

All six kinds are sent with the page :data:`~rexview.ui.web.saving.entries.MEETING_PAGE`, from any
page. A browser puts them into the outbox with ``page: "meeting page"``, ``kind``, ``subject`` (the
id of the meeting), ``case`` (``""`` for the meeting itself), ``value``, ``was`` and ``seen``. A
page's script passes the same fields as :class:`~rexview.ui.web.saving.entries.SentEntry` to
:class:`~rexview.ui.web.saving.route.EntryWriter`. Each entry has the whole value, except
``discussed``: its value is ``{"more_seconds": 12.5}``, which is added to the stored value.

A decision about an answer has the model as its ``slot`` and the digest of the answer as ``shown``.
While models are hidden, ``field`` is ``letter``, ``slot`` is the letter that the meeting shows, and
``shown`` is its value from :func:`~rexview.ui.web.saving.meeting_entries.letter_answer_ids`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final
from uuid import UUID, uuid4, uuid5

import polars as pl

from rexview.analysis.meeting_steps import assign_letters
from rexview.analysis.meetings import Decision, Meeting, find_meeting, list_decisions
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import Entry, Reviews, StoredEntry
from rexview.store.current_state import EntrySubject
from rexview.ui.web.saving.entries import CHANGED, EntryRefused, SentEntry, fields_of_kind
from rexview.ui.web.saving.reader_study import shown_answer_ids
from rexview.vocab import MEETING_DECISIONS
from rexview.words import tr

# Decisions in the form for browsers: the value, its writer, and its history.

_MOST_HISTORY: Final = 20
_About = tuple[str, str, str | None]  # meeting, case, model


def decisions_json(
    review_set: ReviewSet, reviews: Reviews, every: Iterable[Decision], case: str | None = None
) -> list[dict[str, Any]]:
    """Return decisions, each with the history of its subject, newest first.

    ``case`` is the case of all decisions, if they have the same one.

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


def case_decisions_json(
    review_set: ReviewSet, reviews: Reviews, meeting_id: str, case: str
) -> dict[str, Any]:
    """Return a meeting's decisions about a case, with answers by the letters of the meeting.

    ``shown`` identifies the answer of each letter, without revealing its model or text. ``rows`` is
    by letter, with ``""`` for the case.

    Raises
    ------
    StoreError
    """
    held = find_meeting(reviews, meeting_id)
    if held is None:
        return {"rows": {}, "shown": {}}
    letters = meeting_letters(review_set, reviews, held, case)
    key_of: dict[str | None, str] = {
        None: "",
        **{model: letter for letter, model in letters.items()},
    }
    history = _history(reviews, case)
    return {
        "rows": {
            key_of[one.model]: _stands(one, history.get((meeting_id, case, one.model), []))
            for one in list_decisions(review_set, case=case)
            if one.meeting == meeting_id and one.model in key_of
        },
        "shown": letter_answer_ids(review_set, reviews, held, case),
    }


def meeting_letters(
    review_set: ReviewSet, reviews: Reviews, held: Meeting, case: str
) -> Mapping[str, str]:
    """Return the model of each letter of a case in a meeting."""
    models = (answer.model for answer in review_set.answers_of(case))
    return assign_letters(held, case, models, reviews.letter_key())


def letter_answer_ids(
    review_set: ReviewSet, reviews: Reviews, held: Meeting, case: str
) -> Mapping[str, str]:
    """Return an opaque id of each letter's answer, for the browser to return."""
    letters = meeting_letters(review_set, reviews, held, case)
    key = reviews.letter_key()
    return shown_answer_ids(review_set, case, letters, reader=_reader(held), key=key)


def _reader(held: Meeting) -> str:
    return f"meeting {held.id}"


def _history(reviews: Reviews, case: str | None) -> dict[_About, list[StoredEntry]]:
    found: dict[_About, list[StoredEntry]] = {}
    for row in reviews.history(kind="decide", case=case):
        found.setdefault((row.subject or "", row.case or "", row.model), []).append(row)
    return found


def _stands(one: Decision, history: list[StoredEntry]) -> dict[str, Any]:
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


MEETING_KINDS: Final = ("meeting", "agenda", "presenter_note", "discussed", "vote", "decide")
MOST_CASES: Final = 1000
"""Cases on the agenda of one meeting."""
_NEW_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_LONGEST_SHOWN_S: Final = 100_000.0
_NOT_RIGHT: Final = frozenset({"none", "unsure"})
"""Choices in a vote that are no model: no answer is right, or undecided."""


def new_meeting_id() -> str:
    """Return an id for a new meeting."""
    return f"m-{uuid4().hex[:12]}"


def meeting_entries(
    review_set: ReviewSet, reviews: Reviews, person: Person, sent: SentEntry
) -> list[Entry]:
    """Make the entries of one action about a meeting.

    A decision in new words adds them to the meeting's own list.

    Raises
    ------
    EntryRefused
        There is no such meeting or case, or the page cannot send this value.
    Overtaken
        The writer has not seen the stored value.
    StoreError
        The stored value cannot be read.
    """
    subject = sent.subject or ""
    state = reviews.current_state()
    if sent.kind == "meeting":
        row = state.of("meeting", person.id).get((None, None, subject, None))
        if sent.case:
            raise EntryRefused(tr("A meeting is not about a single case."))
        if row is None and not _NEW_ID.fullmatch(subject):
            raise EntryRefused(tr("This is not the id of a meeting."))
        return [_made(sent, row, fields_of_kind("meeting", sent.value))]
    if review_set.case(sent.case) is None:
        raise EntryRefused(tr("This case no longer exists."))
    held = find_meeting(reviews, subject)
    if held is None:
        if sent.kind == "decide" and _was_given(review_set, sent):
            return [_decided(sent, state.of("decide", person.id))]
        raise EntryRefused(tr("This meeting no longer exists."))
    if sent.field == "letter" and sent.slot is not None:
        sent = _of_model(review_set, reviews, held, sent)
    row = state.of(sent.kind, person.id).get((sent.case, sent.slot, subject, None))
    if sent.kind == "agenda":
        _check_agenda(held, sent)
    elif sent.case not in held.cases and (row is None or row.value is None):
        raise EntryRefused(tr("This case is not on the agenda of the meeting."))
    if held.closed and sent.kind in ("agenda", "discussed", "vote"):
        raise EntryRefused(tr("“{name}” is closed. Open it again first.").format(name=held.name))
    if sent.kind == "discussed":
        return [_discussed(sent, row)]
    if sent.slot is not None and row is None and not _is_answered(review_set, sent):
        raise EntryRefused(tr("This answer no longer exists."))
    value = fields_of_kind(sent.kind, sent.value)
    if sent.kind == "decide":
        decided = _decided(sent, state.of("decide", person.id))
        return [*_new_words(held, reviews, sent, value), decided]
    if sent.kind == "vote" and value:
        _check_vote(review_set, sent.case, value)
    return [_made(sent, row, value)]


def meeting_page_value(row: StoredEntry | None) -> dict[str, Any] | None:
    """Return a row's value in the page's form; None if there is none."""
    return None if row is None else fields_of_kind(row.kind, row.value)


def _made(sent: SentEntry, row: StoredEntry | None, value: Mapping[str, Any] | None) -> Entry:
    """Make an entry that replaces the value its writer saw; others may write at the same time."""
    stands = meeting_page_value(row)
    was = fields_of_kind(sent.kind, sent.was)
    told = {**(stands or {}), "by": row.person_name} if row else {}
    replace(sent, was=was, value=value).check_unseen(row, stands, told)
    return Entry(
        sent.kind,
        sent.case or None,
        sent.slot,
        sent.subject,
        value=value,
        token=sent.token,
        via=sent.page,
        over=(row.value if row else None,),
    )


def _decided(sent: SentEntry, rows: Mapping[EntrySubject, StoredEntry]) -> Entry:
    """Make a decision about the answer that was seen."""
    row = rows.get((sent.case, sent.slot, sent.subject, None))
    return replace(_made(sent, row, fields_of_kind("decide", sent.value)), answer_digest=sent.shown)


def _was_given(review_set: ReviewSet, sent: SentEntry) -> bool:
    """Return whether a decision came with the set: its meeting is not in our database."""
    row = {"case": sent.case, "model": sent.slot, "meeting": sent.subject}
    same = [pl.col(name).eq_missing(pl.lit(value)) for name, value in row.items()]
    return not review_set.decisions.filter(*same).is_empty()


def _is_answered(review_set: ReviewSet, sent: SentEntry) -> bool:
    return any(answer.model == sent.slot for answer in review_set.answers_of(sent.case))


def _of_model(review_set: ReviewSet, reviews: Reviews, held: Meeting, sent: SentEntry) -> SentEntry:
    """Replace the letter by its model."""
    model = meeting_letters(review_set, reviews, held, sent.case).get(sent.slot or "")
    shown = letter_answer_ids(review_set, reviews, held, sent.case)
    if model is None or sent.shown != shown[sent.slot or ""]:
        raise EntryRefused(CHANGED)
    return replace(sent, slot=model, shown=None)


def _check_agenda(held: Meeting, sent: SentEntry) -> None:
    if sent.value is not None and sent.case not in held.cases and len(held.cases) >= MOST_CASES:
        raise EntryRefused(
            tr("An agenda has at most {n:,} cases. Begin another meeting.").format(n=MOST_CASES)
        )


def _check_vote(review_set: ReviewSet, case: str, value: Mapping[str, Any]) -> None:
    """Check that the case has the answers voted for, and that votes do not exceed people."""
    right, harm = value["right"] or {}, value["harm"] or {}
    if not isinstance(right, Mapping) or not isinstance(harm, Mapping):
        raise EntryRefused(tr("These are not votes."))
    models = {answer.model for answer in review_set.answers_of(case)}
    if set(right) - models - _NOT_RIGHT:
        raise EntryRefused(tr("A vote is for an answer that the case no longer has."))
    for of in (right, harm):
        given = [times for times in of.values() if isinstance(times, int)]
        if isinstance(value["count"], int) and sum(given) > value["count"]:
            raise EntryRefused(tr("There are more votes than people."))


def _discussed(sent: SentEntry, row: StoredEntry | None) -> Entry:
    """Add to the time for which a case was shown: successive presenters both count."""
    value = None
    if sent.value is not None:
        more = sent.value.get("more_seconds") if isinstance(sent.value, Mapping) else None
        if isinstance(more, bool) or not isinstance(more, int | float):
            raise EntryRefused(tr("This request does not come from this page."))
        if not 0 <= more <= _LONGEST_SHOWN_S:
            raise EntryRefused(tr("No case is shown for that long."))
        before = (row.value or {}).get("seconds") or 0.0 if row else 0.0
        value = {"seconds": round(before + more, 1)}
    return Entry(
        "discussed", sent.case, None, sent.subject, value=value, token=sent.token, via=sent.page
    )


def _new_words(
    held: Meeting, reviews: Reviews, sent: SentEntry, value: Mapping[str, Any] | None
) -> list[Entry]:
    """Add the words of a decision to the meeting's own list, unless a list has them."""
    word = (value or {}).get("decision")
    if not isinstance(word, str) or word in MEETING_DECISIONS or word in held.decisions:
        return []
    row = reviews.current_state().of("meeting", "")[None, None, held.id, None]
    if not word.strip() or row.value is None:
        raise EntryRefused(tr("The decision is empty."))
    return [
        Entry(
            "meeting",
            subject=held.id,
            value={**row.value, "decisions": [*held.decisions, word]},
            token=str(uuid5(UUID(sent.token), "meeting")),
            via=sent.page,
            over=(row.value,),
        )
    ]
