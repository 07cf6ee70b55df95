"""Comments on the case that is shown: written, answered, settled; those of others come in seconds.

The panel asks the database every few seconds whether anything is new; what is being typed lives in
the panel itself and is not touched. What it sends waits in the session until the database has taken
it, and in the browser until the page says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import streamlit as st

from rexview.analysis.case.blinding import Covered, cover_names, covered
from rexview.analysis.case.comments import find_quote, nth_of, screen_words
from rexview.analysis.case.record import CasePage
from rexview.errors import StoreError, StoreRefused
from rexview.people import Person
from rexview.schema import Answer, ReviewSet
from rexview.store import Comment, Entry, Reviews, may
from rexview.ui.access import permissions
from rexview.ui.comments import Message, comments_panel, read_messages
from rexview.ui.link import keys as link_keys
from rexview.ui.link.pages import PAGE_CASE, PAGE_SCORE
from rexview.ui.saving.reader_study import Study
from rexview.ui.server import review_sets, server_state

REFRESH_S: Final = 3.0
"""How often the page looks for what others wrote."""
_KEY: Final = "rx_comments"
_DONE_KEPT: Final = 300
_VIA: Final = {False: "case page", True: "score page"}
_NO_ANSWER: Final = "What the comment is on is not on this page any more."
_CHANGED: Final = "The answers were changed after you began. Look at them as they are now."


@dataclass(frozen=True)
class Places:
    """What can be commented on: the answers of a case by their names on this page.

    ``names`` has the name on screen by key, ``answers`` the answer as it is in the review set (its
    ``model`` is the real one), ``texts`` its text as it is on screen. ``own_only`` is for readers
    who must not see what others say. ``shown`` says what a key that is a letter stands for, as
    :meth:`Study.shown` does: a message from when it stood for another answer is refused.
    """

    case: str
    names: Mapping[str, str]
    answers: Mapping[str, Answer]
    texts: Mapping[str, Covered]
    page: str = PAGE_CASE
    own_only: bool = False
    shown: Mapping[str, str] = field(default_factory=dict)

    def key_of(self, model: str | None) -> str | None:
        """Return the key of a model's answer."""
        return next((key for key, one in self.answers.items() if one.model == model), None)


def case_places(page: CasePage, names: Mapping[str, str]) -> Places:
    """Return what can be commented on on the Case page: every answer under its model's name."""
    answers = {answer.model: answer for answer in page.answers}
    texts = {model: Covered(answer.text or "") for model, answer in answers.items()}
    return Places(page.case.id, {model: names[model] for model in answers}, answers, texts)


def score_places(study: Study, case_id: str) -> Places:
    """Return what can be commented on on the Score page: answers by their letters.

    Who scores is shown their own comments only, and only those made where no model is named: those
    of others may tell their scores, and those from the Case page whose answer is whose.
    """
    of_model = {answer.model: answer for answer in study.review_set.answers_of(case_id)}
    answers = {slot: of_model[model] for slot, model in study.slots(case_id).items()}
    return Places(
        case_id,
        {slot: f"Answer {slot}" for slot in answers},
        answers,
        {slot: covered(study.review_set, one.text or "") for slot, one in answers.items()},
        page=PAGE_SCORE,
        own_only=True,
        shown=study.shown(case_id),
    )


@dataclass(frozen=True)
class _Waiting:
    """A message that has not been written yet."""

    set_id: str
    message: Message
    places: Places


def show_comments(review_set: ReviewSet, places: Places) -> None:
    """Put the panel on the page."""
    with st.container(key="rx_comments_place"):
        _live(review_set, places)


@st.fragment(run_every=REFRESH_S)
def _live(review_set: ReviewSet, places: Places) -> None:
    permissions.guard(places.page)
    trouble = _write(review_set, permissions.current())
    person = permissions.current()
    comments: tuple[Comment, ...] = ()
    try:
        comments = _visible(review_sets.reviews(review_set), places, person)
    except StoreError as error:
        trouble = trouble or f"Comments cannot be read now. {error}"
    data = {
        "owner": review_sets.set_id(review_set.folder),
        "case": places.case,
        "may": may(person, "comment") if person else permissions.role() == "lead",
        "named": person is not None,
        "trouble": trouble,
        "done": dict(_done()),
        "targets": _targets(review_set, places),
        "comments": [_comment_json(review_set, one, places, person) for one in comments],
    }

    def said(raw: Any) -> None:
        name = review_sets.set_id(review_set.folder)
        for message in read_messages(raw):
            if message.token not in _done():
                _waiting().setdefault(message.token, _Waiting(name, message, places))

    comments_panel(data, key=_KEY, on_said=said)


def _waiting() -> dict[str, _Waiting]:
    waiting: dict[str, _Waiting] = st.session_state.setdefault(link_keys.SESSION_COMMENTS, {})
    return waiting


def _done() -> dict[str, str]:
    """Return what became of each message of this session: nothing, or why it was not taken."""
    done: dict[str, str] = st.session_state.setdefault(f"{link_keys.SESSION_COMMENTS}_done", {})
    return done


def _finish(token: str, reason: str = "") -> None:
    _waiting().pop(token, None)
    done = _done()
    done[token] = reason
    while len(done) > _DONE_KEPT:
        del done[next(iter(done))]


def _write(review_set: ReviewSet, person: Person | None) -> str:
    """Write what waits; return what to tell where that cannot be done now."""
    name = review_sets.set_id(review_set.folder)
    every = list(_waiting().items())
    for _, waiting in every:
        if waiting.message.kind == "name":
            person = _take_name(waiting.message, person)
    for token, waiting in every:
        if waiting.set_id != name or waiting.message.kind == "name":
            continue
        if person is None:
            return "Give your name, then it is sent."
        try:
            reviews = review_sets.reviews(review_set)
            reviews.record([_entry(waiting, reviews, person)], person)
        except (StoreRefused, _Unfit) as error:
            _finish(token, str(error))
        except StoreError as error:
            return f"Not saved yet: kept, and tried again. {error}"
        else:
            _finish(token)
    return ""


def _take_name(message: Message, person: Person | None) -> Person | None:
    try:
        if person is None and not server_state.team():
            person = permissions.take_name(message.text)
        _finish(message.token)
    except ValueError as error:
        _finish(message.token, str(error))
    return person


class _Unfit(Exception):
    """A message that cannot become an entry."""


def _entry(waiting: _Waiting, reviews: Reviews, person: Person) -> Entry:
    """Make the entry of a message.

    Raises
    ------
    _Unfit
        It is about something that is not there, or that whoever sent it does not see.
    """
    message, places = waiting.message, waiting.places
    known = {one.id: one for one in _visible(reviews, places, person)}
    standing = known.get(message.comment)
    via = _VIA[places.own_only]
    if standing is None and (message.kind != "write" or _is_hidden(reviews, waiting)):
        raise _Unfit("The comment is not there any more.")
    if message.kind == "resolve":
        settled = {"resolved": message.resolved}
        subject = message.comment
        return Entry("resolve", subject=subject, value=settled, token=message.token, via=via)
    case, about = places.case, standing
    on: Mapping[str, Any]
    reply_to = standing.reply_to if standing else None
    if about is None and message.reply_to is not None:
        about, reply_to = known.get(message.reply_to), message.reply_to
        if about is None:
            raise _Unfit("What you reply to is not there any more.")
    if about is not None:
        case, model, on = about.case, about.model, about.on
    else:
        model, on = _spot(message, places)
    if places.own_only and model is not None and places.key_of(model) is None:
        raise _Unfit(_NO_ANSWER)  # the database would say which model is not there any more
    value = {"text": message.text, "on": dict(on), "reply_to": reply_to}
    return Entry(
        "comment",
        case,
        model,
        message.comment,
        value=None if message.kind == "remove" else value,
        token=message.token,
        via=via,
    )


def _is_hidden(reviews: Reviews, waiting: _Waiting) -> bool:
    """Whether a message names a comment that who scores does not see, and is not sent again.

    To write it anew on an answer would tell, by what the database says, whose answer that is.
    """
    message, places = waiting.message, waiting.places
    if not places.own_only:
        return False
    every = reviews.history(kind="comment", case=places.case)
    rows = [row for row in every if row.subject == message.comment]
    again = any(row.token == message.token and row.via == _VIA[True] for row in rows)
    return bool(rows) and not again


def _spot(message: Message, places: Places) -> tuple[str | None, Mapping[str, Any]]:
    """Return the model and the place that a new comment is on."""
    if message.case != places.case:
        raise _Unfit(_NO_ANSWER)
    spot = message.spot
    if spot.key is None:
        return None, {"what": "case"}
    answer = places.answers.get(spot.key)
    if answer is None:
        raise _Unfit(_NO_ANSWER)
    if places.shown.get(spot.key) != spot.shown:
        raise _Unfit(_CHANGED)
    if spot.box is not None:
        if spot.box >= len(answer.boxes):
            raise _Unfit(_NO_ANSWER)
        box = answer.boxes[spot.box]
        place = {"image": box.image, "box": list(box.box), "label": box.label, "index": spot.box}
        return answer.model, {"what": "box", **place}
    if spot.quote is not None:
        screen = places.texts[spot.key]  # what is covered there must not be found by guessing
        found = find_quote(screen.text, spot.quote, spot.before)
        if found is None:
            raise _Unfit("The words that you chose are not in the answer.")
        start, end = screen.source(found.start, found.end)
        words = (answer.text or "")[start:end]
        where = {"field": "text", "start": start, "end": end, "text": words}
        return answer.model, {"what": "span", **where}
    return answer.model, {"what": "answer"}


def _visible(reviews: Reviews, places: Places, person: Person | None) -> tuple[Comment, ...]:
    """Return the comments on the case that whoever looks may see."""
    every = _comments(reviews, places.case, reviews.revision())
    if not places.own_only:
        return every
    named = _VIA[False]
    own = (one for one in every if person is not None and one.person == person.id)
    return tuple(one for one in own if one.via != named)


@lru_cache(maxsize=64)
def _comments(reviews: Reviews, case: str, revision: int) -> tuple[Comment, ...]:
    """Return the comments on a case, read anew only when anything was written."""
    return reviews.comments(case)


def _targets(review_set: ReviewSet, places: Places) -> list[dict[str, Any]]:
    def words(text: str) -> str:
        return cover_names(review_set, text) if places.own_only else text

    return [
        {
            "key": key,
            "name": places.names[key],
            "shown": places.shown.get(key),
            "boxes": [
                {"index": number, "label": words(box.label), "id": f"{key}/{number + 1}"}
                for number, box in enumerate(answer.boxes)
            ],
        }
        for key, answer in places.answers.items()
    ]


def _comment_json(
    review_set: ReviewSet, one: Comment, places: Places, person: Person | None
) -> dict[str, Any]:
    key = places.key_of(one.model)
    what = one.on.get("what")
    quote = str(one.on.get("text") or one.on.get("label") or "")
    screen = cover_names(review_set, quote) if places.own_only else quote
    nth = 0
    if what == "span" and key is not None:
        text, shown = places.answers[key].text or "", places.texts[key]
        start, end = int(one.on.get("start") or 0), int(one.on.get("end") or 0)
        if text[start:end] == quote:
            start, end = shown.shown(start, end)
            screen, nth = shown.text[start:end], nth_of(shown.text, start, end)
    box = one.on.get("index")
    return {
        "id": one.id,
        "key": key,
        "what": what,
        "where": places.names.get(key or "", "") if one.model else "",
        "quote": screen,
        "words": screen_words(screen) if what == "span" else [],
        "nth": nth,
        "box": f"{key}/{int(box) + 1}" if what == "box" and isinstance(box, int) else None,
        "who": one.person_name,
        "mine": person is not None and one.person == person.id,
        "at": one.at.isoformat(),
        "edited": one.edited.isoformat() if one.edited else None,
        "text": one.text,
        "replyTo": one.reply_to,
        "resolved": one.resolved,
    }
