"""What whoever looks says about failures on the Case page: confirmed or rejected, and taken back.

Verdicts go to the reviews database. Until they are there (nobody has given a name yet, or the
database does not take them) they wait in the session, are shown, and the page says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

import streamlit as st

from rexview.analysis.case_page import CasePage
from rexview.answer_digest import digests_of
from rexview.errors import StoreError, StoreRefused
from rexview.schema import ReaderFlag, ReviewSet
from rexview.store import Entry, may
from rexview.ui import people, resources, state

YOU: Final = "You"
UNNAMED: Final = "rexview:unnamed"
"""The reader of what is said before a name is given."""
_KEY: Final = "rx_evidence"
_JS: Final = Path(__file__).with_name("evidence.js")
_VIA: Final = "case page"
_Waiting = dict[str, tuple[str, Entry, datetime]]  # by token: id of the set, entry, when


def _waiting() -> _Waiting:
    waiting: _Waiting = st.session_state.setdefault(state.SESSION_VERDICTS, {})
    return waiting


@dataclass(frozen=True)
class Looker:
    """Who looks at a page: as which reader, and whether they may confirm and reject."""

    reader: str = UNNAMED
    may_judge: bool = True


ANYBODY: Final = Looker()


def looker() -> Looker:
    """Return who looks at the page; who has not given a name yet, may judge."""
    person = people.current()
    if person is None:
        return Looker(UNNAMED, people.role() == "lead")
    return Looker(person.id, may(person, "verdict"))


def case_page(review_set: ReviewSet, case_id: str) -> CasePage | None:
    """Return one case with all that is said about it, what waits to be kept included."""
    page = resources.case_page(resources.newest(review_set), case_id)
    if page is None:
        return None
    name, reader = resources.set_id(review_set.folder), looker().reader
    words = []
    for of_set, entry, at in _waiting().values():
        verdict = (entry.value or {}).get("verdict")
        if of_set == name and entry.case == case_id and verdict:
            model, failure = entry.model or "", entry.subject or ""
            words.append(ReaderFlag(case_id, model, reader, failure, verdict, created=at))
    return page.with_words(words)


def give(
    review_set: ReviewSet, case: str, model: str, failure: str, verdict: str | None, token: str
) -> None:
    """Take a verdict on a failure of an answer, to be kept; None takes back what was said."""
    entry = Entry(
        "verdict",
        case,
        model,
        failure,
        value={"verdict": verdict},
        token=token,
        via=_VIA,
        answer_digest=digests_of(review_set).of(case, model),
    )
    _waiting()[token] = (resources.set_id(review_set.folder), entry, datetime.now(UTC))


def keep(review_set: ReviewSet) -> None:
    """Write what waits to the database; where that cannot be, say so and what to do.

    Called before the case is drawn, so that what was just said is in it.
    """
    name = resources.set_id(review_set.folder)
    waiting = {token: entry for token, (of_set, entry, _) in _waiting().items() if of_set == name}
    if not waiting:
        return
    person = people.current()
    if person is None:
        st.info("Give your name to keep what you said.", icon=":material/edit:")
        people.ask_name("verdict_name")
        return
    for token, entry in waiting.items():
        try:
            resources.reviews(review_set).record([entry], person)
        except StoreRefused as error:
            st.error(f"Your verdict was not taken. {error}", icon=":material/error:")
        except StoreError as error:
            _show_unkept(error)
            return
        del _waiting()[token]


def _show_unkept(error: StoreError) -> None:
    count = len(_waiting())
    what = "1 verdict is" if count == 1 else f"{count} verdicts are"
    st.error(f"{what} not kept yet. {error}", icon=":material/cloud_off:")
    st.button("Keep now", key="rx_keep_verdicts", help="Try again to write to the database")


@cache
def _component() -> Callable[..., Any]:
    script = _JS.read_text(encoding="utf-8")
    return st.components.v2.component("rexview_evidence", js=script)


def take_verdicts(review_set: ReviewSet, case_id: str) -> None:
    """Put what listens to flags and their buttons on the page (it shows nothing itself).

    The browser sends all verdicts that it does not know to have arrived, numbered, so that none is
    lost or counted twice however fast they are given.
    """
    done_key = f"{_KEY}_done"

    def said() -> None:
        message = st.session_state[_KEY].get("said")
        if not isinstance(message, Mapping):
            return
        sender = str(message.get("sender"))
        done: dict[str, int] = st.session_state.setdefault(done_key, {})
        for one in message.get("verdicts") or ():
            if one["n"] <= done.get(sender, 0):
                continue
            done[sender] = one["n"]
            about = (one["case"], one["model"], one["failure"], one["verdict"] or None)
            token = str(uuid5(NAMESPACE_URL, repr((sender, one["n"], about))))
            give(review_set, *about, token)

    done = dict(st.session_state.get(done_key, {}))
    with st.container(key="rx_unseen"):
        _component()(key=_KEY, data={"case": case_id, "done": done}, on_said_change=said)
