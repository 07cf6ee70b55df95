"""The fields for a consensus: what stands in them, and what of it is written.

What cannot be written waits in the session. A consensus is never written over one of somebody else
that the page had not shown: it waits until its writer, told of the other, keeps it or takes theirs.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import streamlit as st

from rexview.analysis.case.blinding import cover_names
from rexview.analysis.readers.consensus import Difference
from rexview.analysis.study.worklist import rubric_of
from rexview.answer_digest import digests_of
from rexview.errors import StoreError, StoreOvertaken, StoreRefused
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import Entry, Stored
from rexview.ui.access import permissions
from rexview.ui.html.safe_text import as_markdown, lines_as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.reviews import study_records
from rexview.ui.server import review_sets
from rexview.vocab import SCORE_MAX, SCORE_MIN

_VIA: Final = "adjudicate page"
_WAITING: Final = "rexview_consensus"
_OVERTAKEN: Final = "rexview_consensus_overtaken"
_TAB_ONLY: Final = "It waits in this tab only, and is gone when the tab is closed or reloaded."
_NOTHING: Final[Mapping[str, Any]] = {"score": None, "comment": None}
_Value = Mapping[str, Any]


@dataclass(frozen=True)
class Fields:
    """The fields for one consensus: ``key`` names them, ``about`` is what they settle."""

    key: str
    review_set: ReviewSet
    person: Person
    about: Difference

    @property
    def score(self) -> str:
        """Key of the field for the score."""
        return f"{self.key}/score"

    @property
    def comment(self) -> str:
        """Key of the field for the words."""
        return f"{self.key}/comment"

    @property
    def shown(self) -> str:
        """Key of the value that stood when the page showed it last."""
        return f"{self.key}/shown"

    @property
    def aside(self) -> str:
        """Key of the person's own value that gave way to somebody else's."""
        return f"{self.key}/aside"

    @property
    def standing(self) -> _Value:
        """What has been agreed, as the database holds it."""
        agreed = self.about.consensus
        return _value(agreed.score, agreed.comment) if agreed else _NOTHING

    @property
    def given(self) -> _Value:
        """What the fields hold."""
        words = (st.session_state.get(self.comment) or "").strip()
        return _value(st.session_state.get(self.score), words)

    def put(self, value: _Value) -> None:
        """Put a value into the fields."""
        st.session_state[self.score] = value["score"]
        st.session_state[self.comment] = value["comment"] or ""


def _value(score: int | None, comment: str) -> _Value:
    return {"score": score, "comment": comment or None}


def show_consensus(fields: Fields) -> None:
    """Show the fields, and below them what is saved or what somebody else recorded meanwhile."""
    _fill(fields)
    about = fields.about
    st.segmented_control(
        "Consensus",
        range(SCORE_MIN, SCORE_MAX + 1),
        key=fields.score,
        help=as_markdown(rubric_of(fields.review_set)[about.dimension].question),
        on_change=_settle,
        args=(fields,),
    )
    st.text_area(
        "Why",
        key=fields.comment,
        height=68,
        max_chars=4000,
        placeholder="What the consensus rests on",
        on_change=_settle,
        args=(fields,),
    )
    other = _newer_of_others(fields)
    if other is not None:
        _show_other(fields, other)
        return
    if about.consensus is not None:
        who = study_records.reader_names(fields.review_set, [about.consensus.adjudicator])
        name = html.escape(who[about.consensus.adjudicator])
        at = f"{about.consensus.at:%d %b %Y, %H:%M} UTC"
        what = "Saved" if about.is_settled else "No score yet, comment kept"
        st.html(f'<p class="rx-quiet">{what} {at}, {name}</p>')
    aside = st.session_state.get(fields.aside)
    if aside is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"Yours, not saved: {_words(fields.review_set, aside)}")
            st.button("Use mine", key=f"{fields.key}/back", on_click=_bring_back, args=(fields,))


def _fill(fields: Fields) -> None:
    """Put what waits or stands into fields that are new; never into those somebody may type in."""
    session = st.session_state
    if all(key in session for key in (fields.score, fields.comment, fields.shown)):
        return
    waiting = _waiting().get(fields.key)
    if waiting is None:
        session[fields.shown] = fields.standing
    fields.put(fields.standing if waiting is None else waiting.value or _NOTHING)


def _newer_of_others(fields: Fields) -> Stored | None:
    """Return what somebody else recorded since the page showed what stood, None without any."""
    if fields.key not in _overtaken():
        agreed = fields.about.consensus
        own = agreed is not None and agreed.adjudicator == fields.person.id
        if own or fields.standing in (st.session_state[fields.shown], fields.given):
            return None
    about = fields.about
    item = (about.model, about.dimension, about.picture)
    try:
        rows = review_sets.reviews(fields.review_set).current("adjudicate", case=about.case)
    except StoreError:
        return None
    found = next((one for one in rows if (one.model, one.subject, one.picture) == item), None)
    if found is None or found.person == fields.person.id:
        _overtaken().discard(fields.key)
        return None
    return found


def _show_other(fields: Fields, other: Stored) -> None:
    """Say who recorded what and when, and let the person choose."""
    theirs = other.value or _NOTHING
    at = f"{other.at:%d %b %Y, %H:%M} UTC"
    what = _words(fields.review_set, theirs)
    own = f"Yours is not saved. {_TAB_ONLY}" if fields.key in _waiting() else ""
    name = as_markdown(other.person_name)
    st.warning(f"{name} recorded {what} on {at}, after this page was shown. {own}")
    with st.container(horizontal=True):
        if fields.given != _NOTHING:
            st.button(
                "Keep mine", key=f"{fields.key}/keep", on_click=_keep_mine, args=(fields, theirs)
            )
        st.button("Take theirs", key=f"{fields.key}/take", on_click=_take, args=(fields, theirs))


def _words(review_set: ReviewSet, value: _Value) -> str:
    score = "no score" if value["score"] is None else f"**{as_markdown(value['score'])}**"
    comment = cover_names(review_set, value["comment"] or "")
    return f"{score}, “{as_markdown(comment)}”" if comment else score


def _keep_mine(fields: Fields, theirs: _Value) -> None:
    st.session_state[fields.shown] = theirs
    _settle(fields)


def _take(fields: Fields, theirs: _Value) -> None:
    own = fields.given
    if own not in (_NOTHING, theirs, st.session_state[fields.shown]):
        st.session_state[fields.aside] = own
    _waiting().pop(fields.key, None)
    _overtaken().discard(fields.key)
    st.session_state[fields.shown] = theirs
    fields.put(theirs)


def _bring_back(fields: Fields) -> None:
    fields.put(st.session_state.pop(fields.aside))
    _settle(fields)


def _waiting() -> dict[str, Entry]:
    waiting: dict[str, Entry] = st.session_state.setdefault(_WAITING, {})
    return waiting


def _overtaken() -> set[str]:
    """Return the fields that wait for their writer, not for the database."""
    overtaken: set[str] = st.session_state.setdefault(_OVERTAKEN, set())
    return overtaken


def _settle(fields: Fields) -> None:
    about, shown = fields.about, st.session_state[fields.shown]
    over = (shown, None) if shown == _NOTHING else (shown,)
    item = (about.case, about.model, about.dimension, about.picture)
    digest = digests_of(fields.review_set).of(about.case, about.model)
    _waiting()[fields.key] = Entry(
        "adjudicate", *item, fields.given, via=_VIA, over=over, answer_digest=digest
    )
    _overtaken().discard(fields.key)
    _record(fields.review_set)


def _record(review_set: ReviewSet) -> StoreError | None:
    """Write what waits; what cannot be written now waits on."""
    person = permissions.current()
    for key, entry in list(_waiting().items()):
        unknown = review_set.case(entry.case or "") is None
        if person is None or unknown or key in _overtaken():
            continue
        try:
            (row,) = review_sets.reviews(review_set).record([entry], person)
        except StoreOvertaken:
            _overtaken().add(key)
            continue
        except StoreRefused as error:
            del _waiting()[key]
            return error
        except StoreError as error:
            return error
        del _waiting()[key]
        st.session_state[f"{key}/shown"] = row.value
    return None


def keep_waiting(review_set: ReviewSet, case: str) -> None:
    """Try again what waits, and say what is not saved; ``case`` is the one on screen."""
    error = _record(review_set)
    if isinstance(error, StoreRefused):
        st.error(
            f"The consensus was not saved. {lines_as_markdown(error)}", icon=":material/error:"
        )
    elif error is not None:
        told = f"The consensus is not saved yet. {_TAB_ONLY} {lines_as_markdown(error)}"
        st.error(told, icon=":material/cloud_off:")
        st.button("Save now", key="adjudicate_again")
    entries = (entry for key, entry in _waiting().items() if key in _overtaken())
    elsewhere = {entry.case: None for entry in entries if entry.case not in (None, case)}
    for other in elsewhere:
        name = as_markdown(str(other))
        st.warning(
            f"Your consensus on {name} is not saved: somebody else recorded one meanwhile. "
            f"{_TAB_ONLY}"
        )
        there = ({link_keys.QUERY_CASE: other},)
        st.button(
            f"Go to {name}", key=f"overtaken/{other}", on_click=link_keys.set_query, args=there
        )
