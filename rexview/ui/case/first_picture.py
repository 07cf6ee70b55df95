"""The radiograph of a Case page on a server that has just started, before the rest of the page.

The page's texts, boxes and flags need most of the app. The images need only the review set and the
viewer. So the first run of the page on a new server shows them, and the next run, which has all the
rest, gives the same viewer the boxes. This module imports nothing heavy.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import streamlit as st

from rexview.errors import RexviewError
from rexview.reviewset.image_checks import image_with_facts
from rexview.schema import ReviewSet
from rexview.ui.viewer import VIEWER_KEY, ViewerData, radiograph_viewer
from rexview.ui.viewer.viewer_component import viewer_image
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.server import open_sets, set_folders
from rexview.ui.web.server.server_state import uses_clickhouse
from rexview.ui.web.streamlit_adapter.script_run import Container

_SORT: Final = "sort"
_FILE_ORDER: Final = "order"


class CasePlaces(NamedTuple):
    """The places of the Case page above its details: the header, the viewer, the texts."""

    header: Container
    viewer: Container
    texts: Container


def notices_place() -> Container:
    """Return the place for notices about the review set, at the top of the page."""
    return st.container(key="rx_case_notices")


def case_places() -> CasePlaces:
    """Return the places of the page; they are the same in every run, so that the viewer remains."""
    header = st.container(key="rx_case_head")
    viewer, texts = st.columns([11, 12], gap="medium")
    return CasePlaces(header, viewer, texts)


def show_first_picture() -> bool:
    """Show the images of the link's case; return whether there are any.

    False if only the whole page can find the case, or the error.
    """
    if uses_clickhouse():
        return False
    try:
        folder = set_folders.folder_of(link_keys.query_value(link_keys.QUERY_SET))
        review_set = open_sets.open_set(folder)
    except RexviewError:
        return False  # the page shows the reason
    case_id = _case_of_link(review_set)
    case = review_set.case(case_id) if case_id else None
    if case is None:
        return False
    views = tuple(
        viewer_image(review_set, image_with_facts(review_set, one)) for one in case.images
    )
    if not any(view.pixels for view in views):
        return False
    active = case.key_image.id if case.key_image else None
    notices_place()
    with st.container():  # Streamlit puts the elements of a fragment into such a container
        place = case_places().viewer
    with place:
        radiograph_viewer(
            ViewerData(case.id, views, active=active),
            key=VIEWER_KEY,
            on_navigate=lambda asked: None,
        )
    return True


def _case_of_link(review_set: ReviewSet) -> str | None:
    """Return the link's case; None if a filter has to be queried for it."""
    wanted = link_keys.query_value(link_keys.QUERY_CASE)
    if wanted:
        return wanted
    query = link_keys.query_lists()
    query.pop(link_keys.QUERY_SET, None)
    return review_set.first_case if query == {_SORT: [_FILE_ORDER]} else None
