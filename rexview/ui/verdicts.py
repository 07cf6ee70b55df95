"""What the reader of this session says about failures: confirmed or rejected, and taken back.

Verdicts are kept with the session only, as flags of a reader of their own; the panels say so. This
module is the one place that knows where they are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

import streamlit as st

from rexview.analysis.case_page import CasePage
from rexview.schema import ReaderFlag, ReviewSet
from rexview.ui import resources, state
from rexview.vocab import FAILURES, VERDICTS

SESSION_READER: Final = "rexview:session"
SESSION_NAME: Final = "You"
KEPT: Final = "Kept for this session"
_KEY: Final = "rx_evidence"
_JS: Final = Path(__file__).with_name("evidence.js")
_Named = tuple[str, str, str, str]  # id of the set, case, model, failure


def _kept() -> dict[_Named, ReaderFlag]:
    kept: dict[_Named, ReaderFlag] = st.session_state.setdefault(state.SESSION_VERDICTS, {})
    return kept


def verdicts_of(review_set: ReviewSet, case_id: str) -> tuple[ReaderFlag, ...]:
    """Return what was said in this session about one case, in the order in which it was said."""
    name = resources.set_id(review_set.folder)
    return tuple(word for named, word in _kept().items() if named[:2] == (name, case_id))


def any_given(review_set: ReviewSet) -> bool:
    """Whether anything was said in this session about this review set."""
    name = resources.set_id(review_set.folder)
    return any(named[0] == name for named in _kept())


def show_not_counted(review_set: ReviewSet) -> None:
    """Say beside counts that this session's verdicts are not in them, if there are any."""
    if any_given(review_set):
        st.caption("Your verdicts of this session are shown with their cases, not in these counts.")


def case_page(review_set: ReviewSet, case_id: str) -> CasePage | None:
    """Return one case with all that is said about it, this session's verdicts included."""
    page = resources.case_page(review_set, case_id)
    return page.with_words(verdicts_of(review_set, case_id)) if page else None


def give(review_set: ReviewSet, case: str, model: str, failure: str, verdict: str | None) -> None:
    """Keep a verdict on a failure of an answer; None takes it back. What is unknown is ignored."""
    known = resources.case_page(review_set, case)
    answered = known is not None and any(answer.model == model for answer in known.answers)
    if not answered or failure not in FAILURES or (verdict is not None and verdict not in VERDICTS):
        return
    named = (resources.set_id(review_set.folder), case, model, failure)
    _kept().pop(named, None)
    if verdict is not None:
        now = datetime.now(UTC)
        _kept()[named] = ReaderFlag(case, model, SESSION_READER, failure, verdict, created=now)


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
            give(review_set, one["case"], one["model"], one["failure"], one["verdict"] or None)

    done = dict(st.session_state.get(done_key, {}))
    with st.container(key="rx_unseen"):
        _component()(key=_KEY, data={"case": case_id, "done": done}, on_said_change=said)
