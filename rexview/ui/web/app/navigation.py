"""The start of every page run: page config, navigation, styles, and the first radiograph.

Streamlit runs this before any page. A server that has just started shows the radiograph of a Case
page before it imports the other parts of the app. So this module imports nothing heavy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Final, Literal

import streamlit as st

from rexview.errors import SettingsError
from rexview.ui.case.first_picture import show_first_picture
from rexview.ui.safe_text import as_markdown, lines_as_markdown
from rexview.ui.web.access import permissions
from rexview.ui.web.link.pages import ADDRESSES, PAGE_ACCOUNT, PAGE_CASE, PAGE_OVERVIEW, PAGES, Page
from rexview.ui.web.server import server_state, warm_up
from rexview.ui.web.server.page_work import PAGE_WORK
from rexview.ui.web.streamlit_adapter.script_run import (
    StreamlitPage,
    run_missed_callbacks,
    within_page,
)
from rexview.words import tr

_UI: Final = Path(__file__).resolve().parents[2]
_ROOT: Final = Path(__file__).resolve().parents[4]
_STYLES: Final = (
    "web/app/style.css",
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
    "web/app/print.css",
)

_IN_MENU: Final = "background: color-mix(in srgb, currentColor 14%, transparent);"
"""Style of the open page's menu: as Streamlit shows a page outside menus."""


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
    run_missed_callbacks()
    try:
        server_state.settings()
        seen = _seen()
        pages = _pages(dict(seen))
    except SettingsError as error:
        st.navigation([lambda: None], position="hidden")
        head = tr("The settings cannot be used.")
        st.error(f"{head}\n\n{lines_as_markdown(error)}", icon=":material/error:")
        st.stop()
    signed_in = permissions.current_role() is not None
    place: Literal["top", "hidden"] = "top" if signed_in else "hidden"
    page = st.navigation(_in_groups(pages), position=place, expanded=True)
    above = st.container(key="rx_above")
    above.html(_style() + _mark_group(page, pages))
    if not warm_up.is_done():
        if signed_in and page.url_path == ADDRESSES[PAGE_CASE]:
            with within_page(page):
                shown = show_first_picture()
            if shown:
                warm_up.wait_after_picture()
                st.rerun()
        warm_up.wait()
    from rexview.ui.web.app.shell import run_page

    run_page(page, seen, above)


def _seen() -> list[tuple[Page, str]]:
    """Return the pages that the user may see, with their titles."""
    person = permissions.current_person()
    return [
        (page, person.name if page.file == PAGE_ACCOUNT and person else page.title)
        for page in PAGES
        if (person is not None if page.file == PAGE_ACCOUNT else permissions.may_see(page.file))
    ]


def _pages(titles: Mapping[Page, str]) -> list[StreamlitPage]:
    """Return every page at its address; pages that the user may not see get a placeholder."""
    signed_in, alone = permissions.current_role() is not None, not server_state.requires_sign_in()
    pages = []
    for page in PAGES:
        source: Path | Callable[[], None] = _ROOT / page.file
        if not signed_in:
            source = _show_account
        elif not permissions.may_see(page.file):
            source = _go_home if page.file == PAGE_OVERVIEW else permissions.show_refusal
        pages.append(
            st.Page(
                source,
                title=as_markdown(titles.get(page, page.title)),
                url_path=page.address or None,
                icon=":material/person:" if page.file == PAGE_ACCOUNT and alone else None,
                default=not page.address,
                visibility="visible" if page in titles else "hidden",
            )
        )
    return pages


def _in_groups(pages: list[StreamlitPage]) -> dict[str, list[StreamlitPage]]:
    """Return the pages by the name of their group, in the order of the navigation.

    A group with only one page is dropped: that page is listed by itself, at the front.
    """
    shown = Counter(
        page.group for page, made in zip(PAGES, pages, strict=True) if made.visibility == "visible"
    )
    groups: dict[str, list[StreamlitPage]] = {"": []}
    for page, made in zip(PAGES, pages, strict=True):
        groups.setdefault(page.group if shown[page.group] > 1 else "", []).append(made)
    return groups


def _mark_group(here: StreamlitPage, pages: list[StreamlitPage]) -> str:
    """Return a style that marks the menu of the open page; empty if it is in none.

    Streamlit marks only pages outside menus.
    """
    by_name = _in_groups(pages)
    alone = [one for one in by_name.pop("") if one.visibility == "visible"]
    for place, members in enumerate(by_name.values(), start=len(alone) + 1):
        if any(one.url_path == here.url_path for one in members):
            menu = (
                f'[data-testid="stTopNav"] > :nth-child({place}) > [data-testid="stTopNavSection"]'
            )
            return f"<style>{menu} {{ {_IN_MENU} }} {menu} p {{ font-weight: 600; }}</style>"
    return ""


def _show_account() -> None:
    from rexview.ui.account import show_account

    show_account()


def _go_home() -> None:
    """Open the first page of a user who may not see the app's first page."""
    st.switch_page(_ROOT / next(page.file for page in PAGES if permissions.may_see(page.file)))
