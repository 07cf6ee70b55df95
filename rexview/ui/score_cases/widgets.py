"""The parts of the Score page: which case is shown, the pad and the picture, the reveal."""

from __future__ import annotations

from functools import partial
from typing import Final

import streamlit as st

from rexview.analysis.colours import slot_colours
from rexview.analysis.engine import position_in
from rexview.errors import StoreError
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import may
from rexview.ui.access import permissions
from rexview.ui.html.safe_text import lines_as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.saving.reader_study import Study, study_of
from rexview.ui.saving.route import write_ticket
from rexview.ui.score_cases.pad import score_pad
from rexview.ui.score_cases.pad_data import pad_data, reader_page
from rexview.ui.server import resources
from rexview.ui.viewer.case_payload import show_viewer

HEIGHT: Final = "clamp(560px, calc(100dvh - 120px), 1200px)"
"""What the window leaves below the navigation and the notice."""
_PURPOSE: Final = (
    "# Score cases\n\nScore each answer from 1 to 5 on every dimension. Which model gave it, and "
    "what other readers said, stays hidden while you score."
)
TAKEN_KEYS: Final = "123456789?npsgujkea"
"""Keys of the pad (``score_pad/assets/keys.js``), and the digits that would be next to them."""


def reader() -> Person:
    """Return who scores; where nobody gave a name yet ask for it, and stop those who may not."""
    person = permissions.require_name(_PURPOSE)
    if not may(person, "score"):
        st.info("Your role does not score.")
        st.stop()
    return person


def study_now(review_set: ReviewSet, person: Person) -> Study:
    """Return the study as it stands; explain and stop where it cannot be read or is empty.

    Where the set's files were changed since, the page is run anew: its fragment would go on showing
    answers as they were, and nothing that is said of these is taken.
    """
    if not resources.is_newest(review_set):
        st.rerun()
    try:
        study = study_of(review_set, person)
    except StoreError as error:
        st.error(lines_as_markdown(error), icon=":material/error:")
        st.stop()
    if not study.worklist:
        if study.reviews.assignments():
            st.info("Cases have been assigned to readers, and none of them to you.")
        else:
            st.info("There is nothing for you to score in this review set.")
        st.stop()
    return study


def case_to_show(study: Study) -> str:
    """Return the case of the link if it is on the worklist, else the one to go on with."""
    wanted = link_keys.query_value(link_keys.QUERY_CASE)
    if wanted is not None and wanted in study.places:
        return wanted
    case = study.resume() or study.worklist[0]
    link_keys.set_query({link_keys.QUERY_CASE: case})
    return case


def _go(case: str | None) -> None:
    link_keys.set_query({link_keys.QUERY_CASE: case})


def show_picture(study: Study, case_id: str) -> None:
    """Show the radiographs with the boxes of the answer being scored, once they are asked for."""
    page = reader_page(study, case_id)
    if page is None:
        return
    place = study.places[case_id]
    beside = [study.worklist[at] for at in (place + 1, place - 1) if 0 <= at < len(study.worklist)]
    pages = [one for case in beside if (one := reader_page(study, case))]
    slots = list(dict.fromkeys(answer.model for one in (page, *pages) for answer in one.answers))
    slots.sort(key=lambda slot: (len(slot), slot))
    show_viewer(
        study.review_set,
        page,
        partial(position_in, study.worklist),
        pages,
        slot_colours(slots),
        names={slot: f"Answer {slot}" for slot in slots},
        taken_keys=TAKEN_KEYS,
        height=HEIGHT,
        one_group=True,
    )


def show_pad(study: Study, case_id: str) -> None:
    """Show the pad."""
    ticket = write_ticket(study.review_set, study.person)
    data = pad_data(study, case_id, ticket=ticket)
    score_pad(data, key="score_pad", on_go=_go, height=HEIGHT)
