"""Comments on the case that is shown: written, answered, resolved; others' arrive in seconds.

The panel asks the database every few seconds whether anything is new; what is being typed lives in
the panel itself and is not touched. What it sends goes by the outbox (:file:`outbox.js`), not
through the page's script.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import streamlit as st

from rexview.analysis.case.blinding import cover_names
from rexview.analysis.case.comments import nth_of, screen_words
from rexview.errors import StoreError
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import Comment, may
from rexview.ui.access import permissions
from rexview.ui.comments.targets import CommentTargets
from rexview.ui.components import component
from rexview.ui.link.pages import PAGE_CASE, PAGE_SCORE
from rexview.ui.saving.outbox import name_problem, outbox_json, take_name
from rexview.ui.server import review_sets
from rexview.words import tr

REFRESH_S: Final = 3.0
"""How often the page looks for what others wrote."""
NAME: Final = "rexview_comments"
_FILES: Final = "comments/assets/comments"
_KEY: Final = "rx_comments"


def show_comments(review_set: ReviewSet, targets: CommentTargets) -> None:
    """Put the panel on the page: a tab at the lower edge of the window that opens it."""
    with st.container(key="rx_comments_place"):
        _live(review_set, targets)


@st.fragment(run_every=REFRESH_S)
def _live(review_set: ReviewSet, targets: CommentTargets) -> None:
    permissions.guard(PAGE_SCORE if targets.is_blinded else PAGE_CASE)
    person = permissions.current()
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
        "may": may(person, "comment") if person else permissions.role() == "lead",
        "named": person is not None,
        "problem": problem,
        "revision": revision,
        "targets": _targets(review_set, targets),
        "comments": [_comment_json(review_set, one, targets, person) for one in comments],
    }
    panel = component(NAME, f"{_FILES}.js", style=f"{_FILES}.css", title=tr("The comments"))
    panel(
        key=_KEY, data=data, on_name_change=partial(take_name, _KEY), on_refresh_change=lambda: None
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
            screen, nth = shown.text[start:end], nth_of(shown.text, start, end)
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
