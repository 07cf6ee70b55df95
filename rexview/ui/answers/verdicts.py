"""What whoever looks says about failures on the Case page: confirmed, rejected or added.

Verdicts go to the reviews database. Until they are there (nobody has given a name yet, or the
database does not take them) they wait in the session, are shown, and the page says so. The script
verdicts.js listens to the buttons and asks for reasons and the name; it moves nothing on the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

import streamlit as st

from rexview.analysis.case.record import CasePage, failures_of_reader
from rexview.answer_digest import digests_of
from rexview.errors import StoreError, StoreRefused
from rexview.people import LONGEST_NAME
from rexview.schema import ReaderFlag, ReviewSet
from rexview.store import Entry, may
from rexview.ui.access import permissions
from rexview.ui.components import component
from rexview.ui.link import keys as link_keys
from rexview.ui.server import review_sets
from rexview.vocab import FAILURES

YOU: Final = "You"
UNNAMED: Final = "rexview:unnamed"
"""The reader of what is said before a name is given."""
LONGEST_REASON: Final = 4000
KEYS: Final = (
    ("e, Shift+E", "next, previous failure"),
    ("a", "confirm it"),
    ("d", "reject it"),
    ("Shift+W", "say why"),
    ("u", "keep its words and boxes lit"),
    ("Shift+A", "add a failure"),
    ("Shift+N", "comment on the answer"),
)
"""Keys of :file:`verdicts.js` and what they do, for the list of keys."""
_EVIDENCE: Final = "rx_evidence"
_KEY: Final = "rx_verdicts"
_DONE: Final = "rx_verdicts_done"
_NAME_PROBLEM: Final = "rx_verdicts_name_problem"
_VIA: Final = "case page"
_Waiting = dict[str, tuple[str, Entry, datetime]]  # by token: id of the set, entry, when


def _waiting() -> _Waiting:
    waiting: _Waiting = st.session_state.setdefault(link_keys.SESSION_VERDICTS, {})
    return waiting


def _waiting_of(name: str) -> dict[str, Entry]:
    """Return what waits to be kept of one set, by token, in the order in which it was given."""
    return {token: entry for token, (of_set, entry, _) in _waiting().items() if of_set == name}


@dataclass(frozen=True)
class Looker:
    """Who looks at a page: as which reader, and whether they may confirm and reject."""

    reader: str = UNNAMED
    may_judge: bool = True


ANYBODY: Final = Looker()


def looker() -> Looker:
    """Return who looks at the page; who has not given a name yet, may judge."""
    person = permissions.current()
    if person is None:
        return Looker(UNNAMED, permissions.role() == "lead")
    return Looker(person.id, may(person, "verdict"))


def case_page(review_set: ReviewSet, case_id: str) -> CasePage | None:
    """Return one case with all that is said about it, what waits to be kept included."""
    page = review_sets.case_page(review_sets.newest(review_set), case_id)
    if page is None:
        return None
    name, reader = review_sets.set_id(review_set.folder), looker().reader
    words: dict[tuple[str, str], ReaderFlag] = {}
    for of_set, entry, at in _waiting().values():
        if of_set != name or entry.case != case_id:
            continue
        value = entry.value or {}
        model, failure, verdict = entry.model or "", entry.subject or "", value.get("verdict")
        words.pop((model, failure), None)  # the last word on a failure is the one that counts
        if verdict:
            words[model, failure] = ReaderFlag(
                case_id, model, reader, failure, verdict, value.get("comment"), created=at
            )
    return page.with_words(list(words.values()))


def give(
    review_set: ReviewSet,
    case: str,
    model: str,
    failure: str,
    verdict: str | None,
    token: str,
    reason: str | None = None,
) -> None:
    """Take a verdict on a failure of an answer, to be kept; None takes back what was said."""
    entry = Entry(
        "verdict",
        case,
        model,
        failure,
        value={"verdict": verdict, "comment": reason if verdict else None},
        token=token,
        via=_VIA,
        answer_digest=digests_of(review_set).of(case, model),
    )
    _waiting()[token] = (review_sets.set_id(review_set.folder), entry, datetime.now(UTC))


def keep(review_set: ReviewSet) -> str:
    """Write what waits to the database; where that cannot be, return what to tell.

    Called before the case is drawn, so that what was just said is in it.
    """
    person = permissions.current()
    if person is None:
        return ""
    name = review_sets.set_id(review_set.folder)
    waiting = _waiting_of(name)
    told = ""
    for token, entry in waiting.items():
        try:
            review_sets.reviews(review_set).record([entry], person)
        except StoreRefused as error:
            told = f"Your verdict was not taken. {error}"
        except StoreError as error:
            count = len(_waiting_of(name))
            what = "1 verdict is" if count == 1 else f"{count} verdicts are"
            return f"{what} not kept yet. {error}"
        del _waiting()[token]
    return told


def take_verdicts(review_set: ReviewSet, page: CasePage, trouble: str = "") -> None:
    """Put what listens to flags and their buttons on the page.

    The browser sends all verdicts that it does not know to have arrived, numbered, so that none is
    lost or counted twice however fast they are given.

    Parameters
    ----------
    review_set : ReviewSet
    page : CasePage
        The answers that are shown: failures can be added to these.
    trouble : str
        What :func:`keep` returned.
    """

    def said() -> None:
        message = st.session_state[_KEY].get("said")
        if isinstance(message, Mapping):
            _take(review_set, message)

    name = review_sets.set_id(review_set.folder)
    data = {
        "case": page.case.id,
        "set": name,
        "done": dict(st.session_state.get(_DONE, {})),
        "named": permissions.current() is not None,
        "nameProblem": st.session_state.pop(_NAME_PROBLEM, ""),
        "longest": {"name": LONGEST_NAME, "reason": LONGEST_REASON},
        "waiting": len(_waiting_of(name)),
        "trouble": trouble,
        "failures": {failure.id: [failure.name, failure.meaning] for failure in FAILURES.values()},
        "answers": {
            answer.model: {
                "name": review_set.model_names[answer.model],
                "failures": failures_of_reader(page.case, answer),
            }
            for answer in page.answers
        },
    }
    with st.container(key="rx_unseen"):
        component("rexview_evidence", "answers/evidence.js")(
            key=_EVIDENCE, data={"case": page.case.id}
        )
        component("rexview_verdicts", "answers/verdicts.js", style="answers/verdicts.css")(
            key=_KEY, data=data, on_said_change=said
        )


def _take(review_set: ReviewSet, message: Mapping[str, Any]) -> None:
    sender = str(message.get("sender"))
    done: dict[str, int] = st.session_state.setdefault(_DONE, {})
    given = message.get("verdicts")
    for one in given if isinstance(given, list) else ():
        number, about = _read(one)
        if about is None or number <= done.get(sender, 0):
            continue
        done[sender] = number
        case, model, failure, verdict = about
        reason = str(one.get("reason") or "").strip()[:LONGEST_REASON] or None
        token = str(uuid5(NAMESPACE_URL, repr((sender, number, about))))
        give(review_set, case, model, failure, verdict, token, reason)
    name = message.get("name")
    if isinstance(name, str) and name.strip() and permissions.current() is None:
        try:
            permissions.take_name(name)
        except ValueError as error:
            st.session_state[_NAME_PROBLEM] = str(error)


def _read(one: Any) -> tuple[int, tuple[str, str, str, str | None] | None]:
    """Return the number of a verdict and what it says; None for what no page of ours sends."""
    if not isinstance(one, Mapping) or not isinstance(one.get("n"), int):
        return 0, None
    case, model, failure = (one.get(name) for name in ("case", "model", "failure"))
    verdict = one.get("verdict") or None
    for text in (case, model, failure, "" if verdict is None else verdict):
        if not isinstance(text, str):
            return 0, None
    return one["n"], (str(case), str(model), str(failure), verdict)
