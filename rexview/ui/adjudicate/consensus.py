"""The fields for a consensus, and what of it is not saved: small components of our own.

What is given goes by the outbox (:file:`outbox.js`), not through the page's script.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import streamlit as st

from rexview.analysis.adjudication import Difference
from rexview.analysis.study import rubric_of
from rexview.answer_digest import digests_of
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import Stored
from rexview.store.current_state import CurrentState
from rexview.ui.components import component
from rexview.ui.link import keys as link_keys
from rexview.ui.reviews import study_records
from rexview.ui.saving.consensus_words import shown_consensus
from rexview.ui.saving.entries import ADJUDICATE_PAGE
from rexview.ui.saving.outbox import outbox_json
from rexview.ui.server import review_sets
from rexview.vocab import moment
from rexview.words import tr

_STYLE: Final = "adjudicate/assets/consensus.css"
_NOTHING: Final[Mapping[str, Any]] = {"score": None, "comment": None}


def show_consensus(
    review_set: ReviewSet,
    person: Person,
    state: CurrentState,
    about: Difference,
    slot: str,
    shown: str,
    *,
    key: str,
) -> None:
    """Show the fields for what readers scored far apart.

    ``slot`` is the letter of its answer, ``shown`` which answer that is.
    """
    item = (about.case, about.model, about.dimension, about.picture)
    row = state.of("adjudicate", person.id).get(item)
    stands = shown_consensus(review_set, review_sets.reviews(review_set), person, row)
    digest = digests_of(review_set).of(about.case, about.model)
    of_this_answer = row is not None and row.answer_digest in (None, digest)
    mine = row is not None and row.person == person.id
    other = (
        None if row is None or mine else {**stands, "name": row.person_name, "at": moment(row.at)}
    )
    data = {
        "outbox": outbox_json(review_set, ADJUDICATE_PAGE, person),
        "about": {
            "case": about.case,
            "slot": slot,
            "shown": shown,
            "subject": about.dimension,
            "picture": about.picture,
        },
        "help": rubric_of(review_set)[about.dimension].question,
        "revision": state.revision,
        "stands": stands,
        "fields": stands if of_this_answer else _NOTHING,
        "mine": mine,
        "saved": _saved(review_set, row) if row is not None and of_this_answer else "",
        "at": moment(row.at) if row is not None else "",
        "other": other,
    }
    fields = component("rexview_consensus", "adjudicate/assets/consensus.js", style=_STYLE)
    fields(key=key, data=data, on_refresh_change=lambda: None)


def show_unsaved(review_set: ReviewSet, person: Person, case: str, shown: Sequence[str]) -> None:
    """Say what is not saved; ``shown`` says which answers of the case are on screen."""
    key = "adjudicate_unsaved"

    def go() -> None:
        link_keys.go_to_case(str(st.session_state[key].get("go")))

    data = {
        "outbox": outbox_json(review_set, ADJUDICATE_PAGE, person),
        "case": case,
        "shown": list(shown),
    }
    notice = component("rexview_unsaved", "adjudicate/assets/unsaved.js", style=_STYLE)
    notice(key=key, data=data, on_go_change=go, on_refresh_change=lambda: None)


def _saved(review_set: ReviewSet, row: Stored) -> str:
    value = row.value or {}
    if not any(value.values()):
        return ""
    name = study_records.reader_names(review_set, [row.person])[row.person]
    if value.get("score") is None:
        return tr("No score yet, comment kept {time}, {name}").format(
            time=moment(row.at), name=name
        )
    return tr("Saved {time}, {name}").format(time=moment(row.at), name=name)
