"""What every page shares: the open review set with its notices, and what surrounds the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

import streamlit as st

from rexview.analysis.case.blinding import cover_names
from rexview.analysis.filter.wording import ALL_CASES
from rexview.errors import RexviewError, StoreError
from rexview.remote import sets as remote_sets
from rexview.schema import ReviewSet
from rexview.ui.access import permissions, roles
from rexview.ui.app.pages_on_tables import stop_unless_served
from rexview.ui.app.phone_pages import show_phone_pages
from rexview.ui.guide.tour import offer_tour
from rexview.ui.html.safe_text import as_markdown, lines_as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.newest import link_caught_up
from rexview.ui.link.pages import PAGE_DATA, Page
from rexview.ui.reviews.notice import show_notices
from rexview.ui.saving.waiting import send_what_waits
from rexview.ui.server import review_sets
from rexview.ui.streamlit_adapter.script_run import Container, StreamlitPage
from rexview.ui.tables.problem_table import show_error
from rexview.words import tr

_ROOT: Final = Path(__file__).resolve().parents[3]
_SETTLES_S: Final = 1.0
"""So long a page waits for answers that were added to be read; most sets take less."""


def run_page(page: StreamlitPage, seen: Sequence[tuple[Page, str]], above: Container) -> None:
    """Run a page of the navigation with what surrounds it.

    Parameters
    ----------
    page : StreamlitPage
    seen : sequence of (Page, str)
        The pages that the visitor may see, with their titles.
    above : Container
        The place for what stands before the page's own elements.
    """
    signed_in = permissions.role() is not None
    with above:
        if signed_in:
            show_phone_pages(seen, page.url_path)
            offer_tour(page.url_path)
        if permissions.role() == "lead" and (problem := roles.problem()):
            st.warning(lines_as_markdown(problem), icon=":material/manage_accounts:")
    if signed_in:
        link_keys.keep_choices(page.url_path)
    with link_caught_up():
        if signed_in:
            with above:
                send_what_waits(page.url_path)
        page.run()


def try_review_set(
    *, blinded: bool = False, unnamed: bool = False
) -> tuple[ReviewSet | None, RexviewError | None]:
    """Return the review set of this link, with its notice shown, or why there is none.

    It holds what people wrote, too. With ``blinded`` it is as it was given, and the notice names no
    model; with ``unnamed`` only the latter.
    """
    stop_unless_served()
    try:
        folder = review_sets.folder_of(link_keys.query_value(link_keys.QUERY_SET))
        review_set = review_sets.open_set(folder, wait_s=_SETTLES_S)
    except RexviewError as error:
        return None, error
    if blinded or unnamed:
        review_sets.prepare_blinding(review_set)
    if not blinded:
        try:
            review_set = review_sets.with_written(review_set)
        except StoreError as error:
            words = tr("What people wrote cannot be shown now. {reason}")
            message = words.format(reason=lines_as_markdown(error))
            st.warning(message, icon=":material/cloud_off:")
    if trouble := remote_sets.trouble(folder):
        words = tr("{trouble} The tables are shown as they were fetched before.")
        message = words.format(trouble=as_markdown(trouble))
        st.warning(message, icon=":material/cloud_off:")
    show_notices(review_set)
    if notice := review_set.info.notice:
        with st.container(key="rx_notice"):  # plain markdown: st.html waits for modules of its own
            shown = cover_names(review_set, notice) if blinded or unnamed else notice
            st.markdown(as_markdown(shown))
    return review_set, None


def open_review_set(*, blinded: bool = False, unnamed: bool = False) -> ReviewSet:
    """Return the review set of this link as :func:`try_review_set`; else explain and stop."""
    review_set, error = try_review_set(blinded=blinded, unnamed=unnamed)
    if review_set is None:
        _stop_without_set(error)
    return review_set


def _stop_without_set(error: RexviewError | None) -> NoReturn:
    if permissions.may_see(PAGE_DATA):
        show_error(error, key="problems")
        st.page_link(_ROOT / PAGE_DATA, label=tr("Open another review set"))
    else:  # what is wrong with the data may tell what is hidden
        st.error(tr("The review set cannot be opened. Tell whoever leads the review."))
    st.stop()


def page_header(title: str, filter_name: str = ALL_CASES) -> None:
    """Show the title of a page, with the name of its filter where that leaves cases out."""
    if filter_name != ALL_CASES:
        title = f"{title}: {filter_name}"
    with st.container(key="rx_title"):
        st.markdown(f"# {as_markdown(title)}", anchors=False)
