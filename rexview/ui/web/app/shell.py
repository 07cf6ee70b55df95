"""The parts shared by all pages: the open review set with its notices, and the frame."""

from __future__ import annotations

import html
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Final, NoReturn

import streamlit as st

from rexview.analysis.case.blinding import cover_names
from rexview.analysis.query.filter.filter_text import ALL_CASES_NAME
from rexview.errors import RexviewError, StoreError
from rexview.remote import remote_sets
from rexview.schema import ReviewSet
from rexview.ui.guide.guides import show_tour_step
from rexview.ui.reviews import show_notices
from rexview.ui.safe_text import as_markdown, lines_as_markdown
from rexview.ui.tables.data_table import show_error
from rexview.ui.web.access import permissions, sign_in
from rexview.ui.web.components import component
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.in_app import href
from rexview.ui.web.link.link_choices import requested_link
from rexview.ui.web.link.pages import (
    ADDRESSES,
    PAGE_ADJUDICATE,
    PAGE_CURATE,
    PAGE_DATA,
    PAGE_MEETING,
    PAGE_RUN_MODELS,
    PAGE_STUDY,
    Page,
)
from rexview.ui.web.saving.outbox import show_outbox_sender
from rexview.ui.web.server import review_sets
from rexview.ui.web.server.server_state import uses_clickhouse
from rexview.ui.web.streamlit_adapter.script_run import Container, StreamlitPage
from rexview.words import tr

# Pages that a set on ClickHouse does not support, and their message.

_IN_MEMORY_ONLY: Final = frozenset(
    ADDRESSES[page]
    for page in (PAGE_STUDY, PAGE_ADJUDICATE, PAGE_MEETING, PAGE_RUN_MODELS, PAGE_CURATE)
)
"""Addresses of the pages that themselves iterate over all cases or answers of a set."""


def stop_if_unsupported() -> None:
    """Explain and stop on a page that needs a set in memory, if the set is on ClickHouse."""
    if uses_clickhouse() and link_keys.current_page() in _IN_MEMORY_ONLY:
        st.info(
            tr(
                "This page needs the whole review set in memory, but this server keeps it "
                "in ClickHouse. Open the set on a server without REXVIEW_ENGINE."
            ),
            icon=":material/database:",
        )
        st.stop()


# The pages at the bottom of a phone's screen, where Streamlit's navigation is folded away.

_FIT: Final = 4
"""Most pages side by side; if there are more, the rest opens under "More"."""


def show_phone_pages(pages: Sequence[tuple[Page, str]], here: str) -> None:
    """Show the pages at the bottom of a narrow screen; a wide one has them only at its top.

    Parameters
    ----------
    pages : sequence of (Page, str)
        The pages that the user may see, with their titles, in the order of the navigation.
    here : str
        The address of the running page.
    """
    component(
        "rexview_phone_pages",
        "web/app/assets/phone_pages.js",
        style="web/app/assets/phone_pages.css",
        title=tr("The list of pages"),
    )(key="rx_phone_pages", data={"html": _bar(pages, here)})


def _bar(pages: Sequence[tuple[Page, str]], here: str) -> str:
    first = [one for one in pages if not one[0].group]
    first = list(pages) if len(pages) <= _FIT + 1 else first[:_FIT]
    rest = [one for one in pages if one not in first]
    shown = "".join(_link(one, here) for one in first)
    if rest:
        inside = any(page.address == here for page, _ in rest)
        shown += (
            f"<details><summary{' data-here' if inside else ''}>{tr('More')}</summary>"
            f"<div>{_in_groups(rest, here)}</div></details>"
        )
    return f'<nav aria-label="{tr("Pages")}" class="rx-phone-pages">{shown}</nav>'


def _in_groups(pages: Sequence[tuple[Page, str]], here: str) -> str:
    listed = sorted(pages, key=lambda one: not one[0].group)  # groups first, otherwise unchanged
    parts = []
    for group, members in groupby(listed, key=lambda one: one[0].group):
        name = html.escape(group)
        head = f"<b>{name}</b>" if group else ""
        label = f' role="group" aria-label="{name}"' if group else ""
        parts.append(f"<div{label}>{head}{''.join(_link(one, here) for one in members)}</div>")
    return "".join(parts)


def _link(one: tuple[Page, str], here: str) -> str:
    page, title = one
    current = ' aria-current="page"' if page.address == here else ""
    address = html.escape(href(page.file, {}))
    return f'<a href="{address}" data-rx-page{current}>{html.escape(title)}</a>'


_ROOT: Final = Path(__file__).resolve().parents[4]
_SETTLES_S: Final = 1.0
"""Longest wait of a page for added answers to be read; most sets need less."""


def run_page(page: StreamlitPage, seen: Sequence[tuple[Page, str]], above: Container) -> None:
    """Run a page of the navigation with its frame.

    Parameters
    ----------
    page : StreamlitPage
    seen : sequence of (Page, str)
        The pages that the visitor may see, with their titles.
    above : Container
        The place for elements before the page's own.
    """
    signed_in = permissions.current_role() is not None
    with above:
        if signed_in:
            show_phone_pages(seen, page.url_path)
            show_tour_step(page.url_path)
        if permissions.current_role() == "lead" and (problem := sign_in.roles_problem()):
            st.warning(lines_as_markdown(problem), icon=":material/manage_accounts:")
    if signed_in:
        link_keys.keep_choices(page.url_path)
    with requested_link():
        if signed_in:
            with above:
                show_outbox_sender(page.url_path)
        page.run()


def try_review_set(
    *, blinded: bool = False, unnamed: bool = False
) -> tuple[ReviewSet | None, RexviewError | None]:
    """Return the review set of this link, with its notice shown, or why there is none.

    It includes people's entries. With ``blinded`` it does not, and the notice names no model;
    ``unnamed`` affects only the notice.
    """
    stop_if_unsupported()
    try:
        folder = review_sets.folder_of(link_keys.query_value(link_keys.QUERY_SET))
        review_set = review_sets.open_set(folder, wait_s=_SETTLES_S)
    except RexviewError as error:
        return None, error
    if blinded or unnamed:
        review_sets.prepare_blinding(review_set)
    if not blinded:
        try:
            review_set = review_sets.with_reviews(review_set)
        except StoreError as error:
            words = tr("Reviews cannot be shown now. {reason}")
            message = words.format(reason=lines_as_markdown(error))
            st.warning(message, icon=":material/cloud_off:")
    if trouble := remote_sets.copy_problem(folder):
        words = tr("{trouble} The tables are shown as last fetched.")
        message = words.format(trouble=as_markdown(trouble))
        st.warning(message, icon=":material/cloud_off:")
    show_notices(review_set)
    if notice := review_set.info.notice:
        with st.container(key="rx_notice"):  # plain markdown: st.html waits for its own modules
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
    else:  # errors in the data may reveal what is hidden
        st.error(tr("The review set cannot be opened. Tell the review lead."))
    st.stop()


def page_header(title: str, filter_name: str = ALL_CASES_NAME) -> None:
    """Show the title of a page, with the name of its filter if the filter excludes cases."""
    if filter_name != ALL_CASES_NAME:
        title = f"{title}: {filter_name}"
    with st.container(key="rx_title"):
        st.markdown(f"# {as_markdown(title)}", anchors=False)


# The message of a page with nothing to show yet, with links to pages that change that.


def show_nothing_yet(words: str, *leads: tuple[str, str]) -> None:
    """Show that there is nothing yet, with links.

    Parameters
    ----------
    words : str
        Why there is nothing, as Markdown with names escaped.
    *leads : (str, str)
        A page (``link.pages.PAGE_…``) and its action, as our own Markdown. Pages that the user may
        not see are left out. The link keeps the review set but not the filter, which may be why
        there is nothing.
    """
    st.info(words)
    seen = [(page, label) for page, label in leads if permissions.may_see(page)]
    if seen:
        with st.container(horizontal=True, gap="medium"):
            for page, label in seen:
                st.page_link(_ROOT / page, label=label, query_params=link_keys.link_query())
