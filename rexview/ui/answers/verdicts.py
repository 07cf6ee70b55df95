"""Verdicts on failures on the Case page: confirmed, rejected or added by the user.

Written failures are marked and withdrawn in the same way, as entries of their own kind.

The script verdicts.js handles the buttons, asks for reasons and the name, and sends verdicts by the
outbox (:file:`outbox.js`), not through the page's script. The page gets unsaved verdicts (no name
is given yet, or the database refuses them) only to show them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import streamlit as st

from rexview.analysis.case.case_page import CasePage, list_reader_failures
from rexview.analysis.written_failures import WRITTEN_MARK_KIND as MARK
from rexview.analysis.written_failures import MarkedAnswer, current_failures
from rexview.answer_digest import digests_of
from rexview.errors import StoreError
from rexview.people import LONGEST_NAME
from rexview.schema import FailureMark, ReaderFlag, ReviewSet
from rexview.store import may_write_kind
from rexview.ui.answers.flags import UNNAMED, WRITTEN, Visitor, written_failure_names
from rexview.ui.web.access import permissions
from rexview.ui.web.components import component
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.saving.entries import CASE_PAGE
from rexview.ui.web.saving.outbox import name_problem, outbox_json, set_name_from_component
from rexview.ui.web.server import review_sets
from rexview.vocab import FAILURES
from rexview.words import tr

LONGEST_REASON: Final = 4000
KEYS: Final = (
    (tr("e, Shift+E"), tr("next, previous failure")),
    ("a", tr("confirm it")),
    ("d", tr("reject it, or withdraw what you marked in your own words")),
    (tr("Shift+W"), tr("say why")),
    ("u", tr("keep its words and boxes highlighted")),
    (tr("Shift+A"), tr("add a failure")),
    (tr("Shift+N"), tr("comment on the answer")),
)
"""Keys of :file:`verdicts.js` and their actions, for the list of keys."""
_EVIDENCE: Final = "rx_evidence"
_KEY: Final = "rx_verdicts"
_VERDICTS: Final = ("confirmed", "rejected")


def visitor() -> Visitor:
    """Return the user of the page; without sign-in they may judge before giving a name."""
    person = permissions.current_person()
    if person is None:
        return Visitor(UNNAMED, permissions.current_role() == "lead")
    return Visitor(person.id, may_write_kind(person, "verdict"))


def case_page(review_set: ReviewSet, case_id: str) -> CasePage | None:
    """Return one case with all its verdicts, including unsaved ones."""
    page = review_sets.case_page(review_sets.with_current_reviews(review_set), case_id)
    if page is None:
        return None
    page = _with_unsaved_marks(review_set, page)
    newest: dict[tuple[str, str], ReaderFlag] = {}
    for one in _unsaved(review_set, "verdict"):
        model, failure, value = one.get("slot"), one.get("subject"), one.get("value") or {}
        if one.get("case") != case_id or failure not in FAILURES or not isinstance(model, str):
            continue
        newest.pop((model, failure), None)
        verdict, reason = (value.get(name) for name in ("verdict", "comment"))
        if verdict in _VERDICTS:
            comment = str(reason) if reason else None
            newest[model, failure] = ReaderFlag(
                case_id,
                model,
                visitor().reader,
                failure,
                verdict,
                comment,
                created=datetime.now(UTC),
            )
    return page.with_reader_flags(list(newest.values()))


def _with_unsaved_marks(review_set: ReviewSet, page: CasePage) -> CasePage:
    """Add unsaved marks of written failures, and remove withdrawn ones."""
    entries = [one for one in _unsaved(review_set, MARK) if one.get("case") == page.case.id]
    standing = current_failures(review_sets.with_current_reviews(review_set)) if entries else {}
    reader = visitor().reader
    newest: dict[tuple[str, str, str], MarkedAnswer | None] = {}
    for one in entries:
        model, failure, value = one.get("slot"), one.get("subject"), one.get("value")
        if not isinstance(model, str) or failure not in standing:
            continue
        key = model, reader, str(failure)
        newest.pop(key, None)
        newest[key] = None
        if value is not None:
            version, reason = (value.get(name) for name in ("version", "comment"))
            about = page.case.id, model, reader, str(failure), str(version)
            mark = FailureMark(*about, str(reason) if reason else None, datetime.now(UTC))
            newest[key] = MarkedAnswer(mark, standing[str(failure)])
    return page.with_marks([one for one in newest.values() if one], newest)


def _unsaved(review_set: ReviewSet, kind: str) -> list[Mapping[str, Any]]:
    """Return the entries of a kind that the browser reports as unsaved."""
    return [
        one
        for one in _message(review_set).get("entries", ())
        if one.get("kind") == kind and isinstance(one.get("value"), Mapping | None)
    ]


def _message(review_set: ReviewSet) -> Mapping[str, Any]:
    """Return the browser's last message about unsaved verdicts."""
    message: Any = st.session_state.get(link_keys.SESSION_VERDICTS)
    is_of_set = isinstance(message, Mapping) and message.get("set") == review_sets.set_id(
        review_set.folder
    )
    entries = message.get("entries") if is_of_set else None
    if not isinstance(entries, list):
        return {}
    fit = [one for one in entries if isinstance(one, Mapping)]
    return {"key": message.get("key"), "entries": fit}


def judged_json(review_set: ReviewSet, page: CasePage) -> dict[str, Any]:
    """Return the data of one case for :file:`verdicts.js`.

    ``page`` has the shown answers: failures can be added to these.
    """
    try:
        revision = review_sets.reviews(review_set).revision()
    except StoreError:
        revision = 0
    in_words = [
        f"{WRITTEN}{name}"
        for name in current_failures(review_sets.with_current_reviews(review_set))
    ]
    digests = digests_of(review_set).of_all((page.case.id, one.model) for one in page.answers)
    return {
        "case": page.case.id,
        "revision": revision,
        "answers": {
            answer.model: {
                "name": review_set.model_names[answer.model],
                "shown": digests[page.case.id, answer.model],
                "failures": [*list_reader_failures(page.case, answer), *in_words],
            }
            for answer in page.answers
        },
    }


def show_verdicts(review_set: ReviewSet, page: CasePage) -> None:
    """Mount the component that handles flags and their buttons."""

    def keep_unsaved() -> None:
        st.session_state[link_keys.SESSION_VERDICTS] = st.session_state[_KEY].get("unsaved")

    person = permissions.current_person()
    standing = current_failures(review_sets.with_current_reviews(review_set))
    built_in = {failure.id: (failure.name, failure.meaning) for failure in FAILURES.values()}
    data = {
        **judged_json(review_set, page),
        "outbox": outbox_json(review_set, CASE_PAGE, person),
        "set": review_sets.set_id(review_set.folder),
        "unsavedKey": _message(review_set).get("key"),
        "named": person is not None,
        "nameProblem": name_problem(_KEY),
        "longest": {"name": LONGEST_NAME, "reason": LONGEST_REASON},
        "failures": built_in | written_failure_names(standing),
        "versions": {f"{WRITTEN}{name}": one.prompt.hash for name, one in standing.items()},
    }
    with st.container(key="rx_unseen"):
        component("rexview_evidence", "answers/evidence.js")(
            key=_EVIDENCE, data={"case": page.case.id}
        )
        component("rexview_verdicts", "answers/verdicts.js", style="answers/verdicts.css")(
            key=_KEY,
            data=data,
            on_unsaved_change=keep_unsaved,
            on_name_change=partial(set_name_from_component, _KEY),
        )
