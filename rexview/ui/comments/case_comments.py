"""Comments on a case: the panel, what can be commented on, and the entries for the database.

Others' comments appear within seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, Final
from uuid import UUID

import streamlit as st

from rexview.analysis.case.blinding import BlindedText, cover_names, cover_text
from rexview.analysis.case.comments import find_quote, find_quote_index, screen_words
from rexview.answer_digest import digests_of
from rexview.errors import StoreError
from rexview.people import Person
from rexview.schema import Answer, ReviewSet
from rexview.store import Comment, Entry, Reviews, may_write_kind
from rexview.store.current_state import FROM_FILE
from rexview.ui.web.access import permissions
from rexview.ui.web.components import component
from rexview.ui.web.link.pages import PAGE_CASE, PAGE_SCORE
from rexview.ui.web.saving.entries import (
    CASE_PAGE,
    SCORE_PAGE,
    EntryRefused,
    SentEntry,
    whole_number,
)
from rexview.ui.web.saving.outbox import name_problem, outbox_json, set_name_from_component
from rexview.ui.web.saving.reader_study import ReaderStudy
from rexview.ui.web.server import review_sets
from rexview.words import tr

# The comment targets of a page, and the comments that the user may see there.


@dataclass(frozen=True)
class CommentTargets:
    """The answers of a case by their keys on one page.

    ``names`` has the name on screen by key, ``answers`` the answer in the review set (with its real
    ``model``), ``texts`` its text on screen. ``shown`` identifies the answer of each key: a comment
    made when the key meant another answer is refused.
    """

    page: str
    case: str
    names: Mapping[str, str]
    answers: Mapping[str, Answer]
    texts: Mapping[str, BlindedText]
    shown: Mapping[str, str]

    @property
    def is_blinded(self) -> bool:
        """Whether the page is one for readers, who must not see models or others' comments."""
        return self.page == SCORE_PAGE

    def key_of(self, model: str | None) -> str | None:
        """Return the key of a model's answer."""
        return next((key for key, one in self.answers.items() if one.model == model), None)

    def visible(self, reviews: Reviews, person: Person | None) -> tuple[Comment, ...]:
        """Return the comments on the case that the user may see."""
        every = _comments(reviews, self.case, reviews.revision())
        if not self.is_blinded:
            return every
        if person is None:
            return ()
        named = (CASE_PAGE, FROM_FILE)
        return tuple(one for one in every if one.person == person.id and one.via not in named)


def case_targets(review_set: ReviewSet, case_id: str) -> CommentTargets:
    """Return the comment targets on the Case page: every answer under its model's name."""
    answers = {answer.model: answer for answer in review_set.answers_of(case_id)}
    digests = digests_of(review_set).of_all((case_id, model) for model in answers)
    return CommentTargets(
        CASE_PAGE,
        case_id,
        {model: review_set.model_names[model] for model in answers},
        answers,
        {model: BlindedText(answer.text or "") for model, answer in answers.items()},
        {model: digest for (_, model), digest in digests.items()},
    )


def score_targets(study: ReaderStudy, case_id: str) -> CommentTargets:
    """Return the comment targets on the Score page: answers by their letters.

    A reader sees only their own comments from pages that name no model. Others' comments may reveal
    their scores, and those from the Case page may reveal the model of an answer.
    """
    of_model = {answer.model: answer for answer in study.review_set.answers_of(case_id)}
    answers = {slot: of_model[model] for slot, model in study.slots(case_id).items()}
    return CommentTargets(
        SCORE_PAGE,
        case_id,
        {slot: tr("Answer {slot}").format(slot=slot) for slot in answers},
        answers,
        {slot: cover_text(study.review_set, one.text or "") for slot, one in answers.items()},
        study.shown(case_id),
    )


@lru_cache(maxsize=64)
def _comments(reviews: Reviews, case: str, revision: int) -> tuple[Comment, ...]:
    """Return the comments on a case, read again only after new entries."""
    return reviews.comments(case)


REFRESH_S: Final = 3.0
"""Seconds between two checks for others' comments."""
NAME: Final = "rexview_comments"
_FILES: Final = "comments/assets/comments"
_KEY: Final = "rx_comments"


def show_comments(review_set: ReviewSet, targets: CommentTargets) -> None:
    """Mount the panel: a tab at the lower edge of the window opens it."""
    with st.container(key="rx_comments_place"):
        _live(review_set, targets)


@st.fragment(run_every=REFRESH_S)
def _live(review_set: ReviewSet, targets: CommentTargets) -> None:
    permissions.guard(PAGE_SCORE if targets.is_blinded else PAGE_CASE)
    person = permissions.current_person()
    problem = name_problem(_KEY)
    comments: tuple[Comment, ...] = ()
    revision = 0
    try:
        reviews = review_sets.reviews(review_set)
        revision = reviews.revision()
        comments = targets.visible(reviews, person)
    except StoreError as error:
        problem = problem or tr("Comments cannot be read now. {error}").format(error=error)
    data = {
        "outbox": outbox_json(review_set, targets.page, person),
        "case": targets.case,
        "may": may_write_kind(person, "comment")
        if person
        else permissions.current_role() == "lead",
        "named": person is not None,
        "problem": problem,
        "revision": revision,
        "targets": _targets(review_set, targets),
        "comments": [_comment_json(review_set, one, targets, person) for one in comments],
    }
    panel = component(NAME, f"{_FILES}.js", style=f"{_FILES}.css", title=tr("The comments"))
    panel(
        key=_KEY,
        data=data,
        on_name_change=partial(set_name_from_component, _KEY),
        on_refresh_change=lambda: None,
    )


def _targets(review_set: ReviewSet, targets: CommentTargets) -> list[dict[str, Any]]:
    def on_screen(text: str) -> str:
        return cover_names(review_set, text) if targets.is_blinded else text

    return [
        {
            "key": key,
            "name": targets.names[key],
            "shown": targets.shown[key],
            "boxes": [
                {"index": number, "label": on_screen(box.label), "id": f"{key}/{number + 1}"}
                for number, box in enumerate(answer.boxes)
            ],
        }
        for key, answer in targets.answers.items()
    ]


def _comment_json(
    review_set: ReviewSet, one: Comment, targets: CommentTargets, person: Person | None
) -> dict[str, Any]:
    key = targets.key_of(one.model)
    what = one.on.get("what")
    quote = str(one.on.get("text") or one.on.get("label") or "")
    screen = cover_names(review_set, quote) if targets.is_blinded else quote
    nth = 0
    if what == "span" and key is not None:
        text, shown = targets.answers[key].text or "", targets.texts[key]
        start, end = int(one.on.get("start") or 0), int(one.on.get("end") or 0)
        if text[start:end] == quote:
            start, end = shown.shown(start, end)
            screen, nth = shown.text[start:end], find_quote_index(shown.text, start, end)
    box = one.on.get("index")
    return {
        "id": one.id,
        "key": key,
        "what": what,
        "where": targets.names.get(key or "", "") if one.model else "",
        "quote": screen,
        "words": screen_words(screen) if what == "span" else [],
        "nth": nth,
        "box": f"{key}/{int(box) + 1}" if what == "box" and isinstance(box, int) else None,
        "who": one.person_name,
        "mine": person is not None and one.person == person.id,
        "at": one.at.isoformat() if one.at else None,
        "edited": one.edited.isoformat() if one.edited else None,
        "text": one.text,
        "replyTo": one.reply_to,
        "resolved": one.resolved,
    }


# A browser's comment as an entry for the database.

_NO_ANSWER: Final = tr("What the comment refers to is no longer on this page.")
_CHANGED: Final = tr("The answers were changed after you started. Check the current answers.")


def comment_entry(
    sent: SentEntry, targets: CommentTargets, reviews: Reviews, person: Person
) -> Entry:
    """Make the entry of a comment that is written, changed, resolved, or removed (no value).

    Raises
    ------
    EntryRefused
        Its target does not exist, or the sender does not see it.
    Overtaken
    """
    known = {one.id: one for one in targets.visible(reviews, person)}
    comment = sent.subject or ""
    if comment not in known:  # comments of the set's own files may have any id
        try:
            comment = str(UUID(comment))
        except ValueError:
            raise EntryRefused(tr("The comment has no id.")) from None
    before = known.get(comment)
    content: Mapping[str, Any] = sent.value if isinstance(sent.value, Mapping) else {}
    is_new = sent.kind == "comment" and bool(content)
    if before is None and (not is_new or _is_hidden(reviews, targets, comment)):
        raise EntryRefused(tr("The comment no longer exists."))
    if sent.kind == "resolve":
        resolved = {"resolved": sent.value is True}
        return Entry("resolve", subject=comment, value=resolved, token=sent.token, via=sent.page)
    text, reply_to = _text(content.get("text")) or "", _text(content.get("replyTo"))
    about = known.get(reply_to or "")
    if before is not None:
        rows = reviews.current_state().of("comment", person.id)
        row = rows.get((before.case, before.model, comment, None))
        replace(sent, value=text).check_unseen(row, before.text, {"text": before.text})
        about, reply_to = before, before.reply_to
    elif reply_to is not None and about is None:
        raise EntryRefused(tr("The comment you reply to no longer exists."))
    if about is not None:
        case, model, on = about.case, about.model, about.on
    else:
        case, (model, on) = targets.case, _target(sent, content, targets)
    if targets.is_blinded and model is not None and targets.key_of(model) is None:
        raise EntryRefused(_NO_ANSWER)  # the database's message would name the missing model
    value = {"text": text, "on": dict(on), "reply_to": reply_to} if content else None
    return Entry("comment", case, model, comment, value=value, token=sent.token, via=sent.page)


def _is_hidden(reviews: Reviews, targets: CommentTargets, comment: str) -> bool:
    """Return whether a comment exists that the scoring reader does not see.

    If they wrote it again on an answer, the message of the database would reveal the model.
    """
    if not targets.is_blinded:
        return False
    rows = reviews.history(kind="comment", case=targets.case)
    return any(row.subject == comment for row in rows)


def _target(
    sent: SentEntry, content: Mapping[str, Any], targets: CommentTargets
) -> tuple[str | None, dict[str, Any]]:
    """Return the model and the place of a new comment."""
    if sent.slot is None:
        return None, {"what": "case"}
    answer = targets.answers.get(sent.slot)
    if answer is None:
        raise EntryRefused(_NO_ANSWER)
    if targets.shown.get(sent.slot) != sent.shown:
        raise EntryRefused(_CHANGED)
    number, quote = whole_number(content.get("box")), _text(content.get("quote"))
    if number is not None:
        if not 0 <= number < len(answer.boxes):
            raise EntryRefused(_NO_ANSWER)
        box = answer.boxes[number]
        spot = {"image": box.image, "box": list(box.box), "label": box.label, "index": number}
        return answer.model, {"what": "box", **spot}
    if quote is not None:
        screen = targets.texts[sent.slot]  # covered text must not be found by guessing
        found = find_quote(screen.text, quote, whole_number(content.get("before")) or 0)
        if found is None:
            raise EntryRefused(tr("The words that you selected are not in the answer."))
        start, end = screen.source(found.start, found.end)
        return answer.model, {
            "what": "span",
            "field": "text",
            "start": start,
            "end": end,
            "text": (answer.text or "")[start:end],
        }
    return answer.model, {"what": "answer"}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
