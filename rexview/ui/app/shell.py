"""What every page shares: page config, navigation, the open review set, the notice, the styles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Final, Literal, NoReturn

import streamlit as st

from rexview.analysis.case.blinding import cover_names
from rexview.analysis.filter.wording import ALL_CASES
from rexview.errors import RexviewError, SettingsError, StoreError
from rexview.remote import sets as remote_sets
from rexview.schema import ReviewSet
from rexview.ui.access import permissions, roles
from rexview.ui.account.widgets import show_account
from rexview.ui.app.pages_on_tables import stop_unless_served
from rexview.ui.app.phone_pages import show_phone_pages
from rexview.ui.guide.tour import offer_tour
from rexview.ui.html.safe_text import as_markdown, lines_as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.newest import link_caught_up
from rexview.ui.link.pages import PAGE_ACCOUNT, PAGE_DATA, PAGE_OVERVIEW, PAGES, Page
from rexview.ui.reviews.notice import show_notices
from rexview.ui.saving.waiting import send_what_waits
from rexview.ui.server import review_sets, server_state
from rexview.ui.server.page_work import PAGE_WORK
from rexview.ui.streamlit_adapter.pressed import hear_the_unheard
from rexview.ui.streamlit_adapter.script_run import StreamlitPage
from rexview.ui.tables.problem_table import show_error
from rexview.words import tr

_UI: Final = Path(__file__).resolve().parents[1]
_ROOT: Final = Path(__file__).resolve().parents[3]
_SETTLES_S: Final = 1.0
"""So long a page waits for answers that were added to be read; most sets take less."""
_STYLES: Final = (
    "app/style.css",
    "case/choice.css",
    "browse/browse.css",
    "case/reports.css",
    "judge/judge.css",
    "scores/scores.css",
    "readers/readers.css",
    "report_generation/report_generation.css",
    "tables/tables.css",
    "scan_progress/strip.css",
    "data/import.css",
    "asking/asking.css",
    "guide/guide.css",
    "app/print.css",
)


@cache
def _style() -> str:
    rules = "\n".join((_UI / name).read_text(encoding="utf-8") for name in _STYLES)
    return f"<style>{rules}</style>"


def run() -> None:
    """Run the app for one visitor: called by ``app.py`` on every page run."""
    PAGE_WORK.note()
    st.set_page_config(
        page_title="rexview", page_icon=str(_ROOT / "assets" / "icon.png"), layout="wide"
    )
    hear_the_unheard()
    try:
        server_state.settings()
        seen = _seen()
        pages = _pages(dict(seen))
    except SettingsError as error:
        st.navigation([lambda: None], position="hidden")
        head = tr("The settings cannot be used.")
        st.error(f"{head}\n\n{lines_as_markdown(error)}", icon=":material/error:")
        st.stop()
    signed_in = permissions.role() is not None
    place: Literal["top", "hidden"] = "top" if signed_in else "hidden"
    page = st.navigation(_in_groups(pages), position=place, expanded=True)
    st.html(_style())
    if signed_in:
        show_phone_pages(seen, page.url_path)
        offer_tour(page.url_path)
    if permissions.role() == "lead" and (problem := roles.problem()):
        st.warning(lines_as_markdown(problem), icon=":material/manage_accounts:")
    if signed_in:
        link_keys.keep_choices(page.url_path)
    with link_caught_up():
        if signed_in:
            send_what_waits(page.url_path)
        page.run()


def _seen() -> list[tuple[Page, str]]:
    """Return the pages that whoever looks may see, with their titles."""
    person = permissions.current()
    return [
        (page, person.name if page.file == PAGE_ACCOUNT and person else page.title)
        for page in PAGES
        if (person is not None if page.file == PAGE_ACCOUNT else permissions.may_see(page.file))
    ]


def _pages(titles: Mapping[Page, str]) -> list[StreamlitPage]:
    """Return every page at its address: those that whoever looks may not see are stand-ins."""
    signed_in = permissions.role() is not None
    pages = []
    for page in PAGES:
        source: Path | Callable[[], None] = _ROOT / page.file
        if not signed_in:
            source = show_account
        elif not permissions.may_see(page.file):
            source = _go_home if page.file == PAGE_OVERVIEW else permissions.show_refusal
        pages.append(
            st.Page(
                source,
                title=as_markdown(titles.get(page, page.title)),
                url_path=page.address or None,
                default=not page.address,
                visibility="visible" if page in titles else "hidden",
            )
        )
    return pages


def _in_groups(pages: list[StreamlitPage]) -> dict[str, list[StreamlitPage]]:
    """Return the pages by the name that they open under, in the order of the navigation.

    A name that would open one page only is left out: that page stands by itself, at the front.
    """
    shown = Counter(
        page.group for page, made in zip(PAGES, pages, strict=True) if made.visibility == "visible"
    )
    groups: dict[str, list[StreamlitPage]] = {"": []}
    for page, made in zip(PAGES, pages, strict=True):
        groups.setdefault(page.group if shown[page.group] > 1 else "", []).append(made)
    return groups


def _go_home() -> None:
    """Go where somebody begins who may not see the first page."""
    st.switch_page(_ROOT / next(page.file for page in PAGES if permissions.may_see(page.file)))


def try_review_set(*, blinded: bool = False) -> tuple[ReviewSet | None, RexviewError | None]:
    """Return the review set of this link, with its notice shown, or why there is none.

    It holds what people wrote, too. With ``blinded`` it is as it was given, and the notice names no
    model.
    """
    stop_unless_served()
    try:
        folder = review_sets.folder_of(link_keys.query_value(link_keys.QUERY_SET))
        review_set = review_sets.open_set(folder, wait_s=_SETTLES_S)
    except RexviewError as error:
        return None, error
    if blinded:
        review_sets.prepare_blinding(review_set)
    else:
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
            st.markdown(as_markdown(cover_names(review_set, notice) if blinded else notice))
    return review_set, None


def open_review_set(*, blinded: bool = False) -> ReviewSet:
    """Return the review set of this link as :func:`try_review_set`; else explain and stop."""
    review_set, error = try_review_set(blinded=blinded)
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
