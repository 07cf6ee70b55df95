"""The pages at the foot of a phone's screen: Streamlit's navigation folds away there."""

from __future__ import annotations

import html
from collections.abc import Sequence
from itertools import groupby
from typing import Final

from rexview.ui.components import component
from rexview.ui.link.in_app import href
from rexview.ui.link.pages import Page
from rexview.words import tr

_FIT: Final = 4
"""So many pages stand side by side; where there are more, the rest opens under "More"."""


def show_phone_pages(pages: Sequence[tuple[Page, str]], here: str) -> None:
    """Put the pages at the foot of a narrow screen; a wide one has them at its top and no foot.

    Parameters
    ----------
    pages : sequence of (Page, str)
        The pages that whoever looks may see, with their titles, in the order of the navigation.
    here : str
        The address of the page that is run.
    """
    component(
        "rexview_phone_pages",
        "app/assets/phone_pages.js",
        style="app/assets/phone_pages.css",
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
    listed = sorted(pages, key=lambda one: not one[0].group)  # in groups first, else as they were
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
