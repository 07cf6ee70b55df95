"""The Adjudicate page: one case on which readers differ, and the consensus on it.

Models are shown as letters, as on the Score page, and readers as numbers. The consensus is recorded
in addition to the readers' scores.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import streamlit as st

from rexview.analysis.adjudication import (
    CaseDifferences,
    Difference,
    find_next_without_consensus,
    label_readers,
)
from rexview.analysis.case.blinding import build_blinded_page, cover_names
from rexview.analysis.case.case_page import CasePage
from rexview.analysis.colours import assign_slot_colours
from rexview.analysis.query.engine import find_position
from rexview.analysis.query.study_tasks import read_study_rubric
from rexview.answer_digest import digests_of
from rexview.errors import StoreError
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import StoredEntry, may_write_kind
from rexview.store.current_state import CurrentState
from rexview.ui import reviews as study_records
from rexview.ui.answers import answer_card as answers_html
from rexview.ui.safe_text import as_markdown, lines_as_markdown, markdown_html
from rexview.ui.viewer.case_payload import ViewerSettings, show_viewer
from rexview.ui.web.access import permissions
from rexview.ui.web.app.shell import show_nothing_yet
from rexview.ui.web.components import component
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.pages import PAGE_READERS, PAGE_STUDY
from rexview.ui.web.saving.entries import ADJUDICATE_PAGE
from rexview.ui.web.saving.outbox import outbox_json
from rexview.ui.web.saving.reader_study import (
    adjudicator_slots,
    shown_answer_ids,
    visible_consensus,
)
from rexview.ui.web.server import review_sets
from rexview.vocab import DIMENSION_NAMES, time_text
from rexview.words import tr

# The fields for a consensus, and its unsaved entries: small components of our own.
#
# Entries are sent by the outbox (:file:`outbox.js`), not through the page's script.

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
    """Show the fields for a consensus on scores that are far apart.

    ``slot`` is the letter of its answer, ``shown`` the opaque id of that answer.
    """
    item = (about.case, about.model, about.dimension, about.picture)
    row = state.of("adjudicate", person.id).get(item)
    stands = visible_consensus(review_set, review_sets.reviews(review_set), person, row)
    digest = digests_of(review_set).of(about.case, about.model)
    of_this_answer = row is not None and row.answer_digest in (None, digest)
    mine = row is not None and row.person == person.id
    other = (
        None
        if row is None or mine
        else {**stands, "name": row.person_name, "at": time_text(row.at)}
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
        "help": read_study_rubric(review_set)[about.dimension].question,
        "revision": state.revision,
        "stands": stands,
        "fields": stands if of_this_answer else _NOTHING,
        "mine": mine,
        "saved": _saved(review_set, row) if row is not None and of_this_answer else "",
        "at": time_text(row.at) if row is not None else "",
        "other": other,
    }
    fields = component("rexview_consensus", "adjudicate/assets/consensus.js", style=_STYLE)
    fields(key=key, data=data, on_refresh_change=lambda: None)


def show_unsaved(review_set: ReviewSet, person: Person, case: str, shown: Sequence[str]) -> None:
    """Show unsaved entries; ``shown`` has the opaque ids of the answers on screen."""
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


def _saved(review_set: ReviewSet, row: StoredEntry) -> str:
    value = row.value or {}
    if not any(value.values()):
        return ""
    name = study_records.reader_names(review_set, [row.person])[row.person]
    if value.get("score") is None:
        return tr("No score yet, comment kept {time}, {name}").format(
            time=time_text(row.at), name=name
        )
    return tr("Saved {time}, {name}").format(time=time_text(row.at), name=name)


# An adjudicated answer and the readers' scores on it, as HTML.


def answer_html(slot: str, text: str, colour: str) -> str:
    """Return the text of an answer under its letter."""
    body = markdown_html(text) if text.strip() else f'<p class="rx-quiet">{tr("No text.")}</p>'
    return (
        f'<article class="rx-answer" style="--rx-colour:{colour}"><header>'
        f"<h3>{tr('Answer {slot}').format(slot=html.escape(slot))}</h3></header>"
        f'<div class="rx-body" tabindex="0"><div class="rx-text">{body}</div></div></article>'
    )


def scores_beside_html(review_set: ReviewSet, one: Difference, labels: Mapping[str, str]) -> str:
    """Return the readers' scores on one item side by side, with anchors and comments."""
    rubric = read_study_rubric(review_set)[one.dimension]
    cells = "".join(
        f"<div><h4>{html.escape(labels.get(mark.reader, mark.reader))}: <b>{mark.score}</b></h4>"
        f'<p class="rx-quiet">{html.escape(rubric.anchors[mark.score])}</p>'
        + (f"<p>{html.escape(cover_names(review_set, mark.comment))}</p>" if mark.comment else "")
        + "</div>"
        for mark in sorted(one.scores, key=lambda mark: labels.get(mark.reader, mark.reader))
    )
    name = html.escape(DIMENSION_NAMES[one.dimension])
    if one.picture is not None:
        named = tr("{name}, picture {picture:d}")
        escaped = html.escape(DIMENSION_NAMES[one.dimension])
        name = named.format(name=escaped, picture=one.picture + 1)
    return (
        f'<div class="rx-difference"><h3>{name} '
        f"<small>{tr('{n:d} apart').format(n=one.apart)}</small></h3>"
        f'<div class="rx-difference-scores">{cells}</div></div>'
    )


_PURPOSE: Final = tr(
    "Cases on which two readers differ, worst first. See both scores side by side and "
    "record your consensus; the readers' own scores stay unchanged."
)
_APART: Final = "adjudicate_apart"
_NAMED: Final = "adjudicate_named"
_HEIGHT: Final = "clamp(420px, calc(100dvh - 190px), 1100px)"


@dataclass(frozen=True)
class AdjudicationRound:
    """The cases to adjudicate, the shown one, and the adjudicator."""

    review_set: ReviewSet
    person: Person
    cases: Sequence[CaseDifferences]
    place: int
    state: CurrentState
    letter_key: bytes = field(repr=False)

    @property
    def shown(self) -> CaseDifferences:
        """The case on screen."""
        return self.cases[self.place]

    @property
    def ids(self) -> list[str]:
        """Ids of the cases, worst first."""
        return [one.case for one in self.cases]

    def slots(self, case: str) -> Mapping[str, str]:
        """Return the model of each letter of a case, for this person."""
        return adjudicator_slots(self.review_set, case, self.person, self.letter_key)[1]

    def answers_shown(self) -> Mapping[str, str]:
        """Return the opaque id of the answer of each letter, for the case on screen."""
        reader, slots = adjudicator_slots(
            self.review_set, self.shown.case, self.person, self.letter_key
        )
        return shown_answer_ids(
            self.review_set, self.shown.case, slots, reader=reader, key=self.letter_key
        )

    def page(self, case: str) -> CasePage | None:
        """Return a case with its answers under letters."""
        return build_blinded_page(self.review_set, case, self.slots(case))


def current_round(review_set: ReviewSet) -> AdjudicationRound | None:
    """Return the current adjudication; show a message and return None if there is nothing."""
    person = permissions.require_name(f"# {tr('Adjudicate')}\n\n{_PURPOSE}")
    if not may_write_kind(person, "adjudicate"):
        st.info(tr("Your role does not adjudicate."))
        st.stop()
    if not review_sets.is_newest(review_set):
        st.rerun()  # a consensus is on the current answers
    threshold = float(st.session_state.get(_APART, review_set.info.protocol.disagreement))
    try:
        cases = study_records.case_differences(review_set, threshold)
        reviews = review_sets.reviews(review_set)
        state, letter_key = reviews.current_state(), reviews.letter_key() if cases else b""
    except StoreError as error:
        st.error(lines_as_markdown(error), icon=":material/cloud_off:")
        st.stop()
    if not cases:
        _choose_apart(review_set)
        show_nothing_yet(
            tr(
                "No case has two readers {threshold:g} points or more apart on one "
                "dimension of one answer."
            ).format(threshold=threshold),
            (PAGE_STUDY, tr("Readers' progress")),
            (PAGE_READERS, tr("Readers' agreement")),
        )
        return None
    ids = [one.case for one in cases]
    wanted = link_keys.link_case()
    if wanted not in ids:
        wanted = find_next_without_consensus(cases, None) or ids[0]
    link_keys.go_to_case(wanted)
    return AdjudicationRound(review_set, person, cases, ids.index(wanted), state, letter_key)


def _choose_apart(review_set: ReviewSet) -> None:
    st.number_input(
        tr("Minimum difference in points"),
        1.0,
        4.0,
        review_set.info.protocol.disagreement,
        1.0,
        format="%g",
        key=_APART,
        width=170,
    )


def show_header(now: AdjudicationRound) -> None:
    """Show the progress, links to other cases, and the choice of the list."""
    agreed = sum(one.has_consensus for one in now.cases)
    following = find_next_without_consensus(now.cases, now.shown.case)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        _go_button("previous", tr("Previous"), ":material/chevron_left:", _beside(now, -1))
        _go_button("next", tr("Next"), ":material/chevron_right:", _beside(now, 1))
        _go_button("next_open", tr("Next open"), ":material/skip_next:", following)
        place = tr("{place:,} of {total:,}").format(place=now.place + 1, total=len(now.cases))
        st.html(
            f'<div class="rx-place"><span><b>{place}</b>, '
            f"{tr('worst first')} · {tr('{n:,} settled').format(n=agreed)}</span><span><b>"
            f"{html.escape(now.shown.case)}</b> {tr('{n:d} apart').format(n=now.shown.apart)}"
            "</span></div>"
        )
        _choose_apart(now.review_set)
        if now.review_set.info.protocol.name_readers:
            st.toggle(tr("Names of the readers"), key=_NAMED)
    if agreed == len(now.cases):
        st.success(tr("Every case is settled."))
    scored = {mark.reader for one in now.shown.differences for mark in one.scores}
    if now.person.id in scored:
        st.info(tr("One of these scores is your own."))


def _beside(now: AdjudicationRound, step: int) -> str | None:
    place = now.place + step
    return now.ids[place] if 0 <= place < len(now.cases) else None


def _go_button(name: str, label: str, icon: str, case: str | None) -> None:
    st.button(
        as_markdown(label),
        icon=icon,
        key=f"adjudicate_{name}",
        disabled=case is None,
        on_click=link_keys.go_to_case,
        args=(case,),
    )


def show_picture(now: AdjudicationRound, page: CasePage) -> None:
    """Show the radiographs with the boxes of the answers, by their letters."""
    beside = [case for step in (1, -1) if (case := _beside(now, step))]
    show_viewer(
        now.review_set,
        page,
        partial(find_position, now.ids),
        ViewerSettings(blinded=True, height=_HEIGHT),
        ahead=[one for case in beside if (one := now.page(case))],
    )


def show_question(now: AdjudicationRound, page: CasePage) -> None:
    """Show question and request, and the report on demand unless the study never shows it."""
    st.html(answers_html.question_html(page.case) + answers_html.request_html(page.case))
    whole = now.review_set.case(page.case.id)
    if whole is None or now.review_set.info.protocol.report == "never":
        return
    if sections := answers_html.report_sections_html(whole.report):
        with st.expander(tr("Radiologist’s report")):
            st.html(f'<section class="rx-report">{sections}</section>')


def show_answers(now: AdjudicationRound, page: CasePage) -> None:
    """Show each answer on which readers differ, their scores, and the fields for the consensus."""
    shown = now.answers_shown()
    show_unsaved(now.review_set, now.person, now.shown.case, tuple(shown.values()))
    every = {mark.reader for one in now.shown.differences for mark in one.scores}
    labels = dict(label_readers(every, now.shown.case, key=now.letter_key))
    if now.review_set.info.protocol.name_readers and st.session_state.get(_NAMED):
        labels = study_records.reader_names(now.review_set, every)
        labels |= {key: name for key, name in now.review_set.reader_names.items() if key in every}
    colours = assign_slot_colours(now.slots(now.shown.case))
    for slot, model in now.slots(now.shown.case).items():
        differences = [one for one in now.shown.differences if one.model == model]
        answer = next((one for one in page.answers if one.model == slot), None)
        if not differences or answer is None:
            continue
        st.html(answer_html(slot, answer.text or "", colours[slot]))
        for one in differences:
            _show_difference(now, one, slot, shown[slot], labels)


def _show_difference(
    now: AdjudicationRound, one: Difference, slot: str, shown: str, labels: Mapping[str, str]
) -> None:
    key = f"consensus/{one.case}/{slot}/{one.dimension}/{one.picture}"
    with st.container(border=True, key=f"rx_{key.replace('/', '_')}"):
        st.html(scores_beside_html(now.review_set, one, labels))
        show_consensus(now.review_set, now.person, now.state, one, slot, shown, key=key)
