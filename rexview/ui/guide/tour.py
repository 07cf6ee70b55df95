"""The tour: three steps through the demonstration, for whoever opens it for the first time.

What the tour has come to is kept by the browser (``guide/assets/tour.js``).
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Final, NamedTuple

from rexview.analysis import CaseFilter
from rexview.errors import RexviewError
from rexview.settings import DEMO_FOLDER
from rexview.ui.access import permissions
from rexview.ui.components import component
from rexview.ui.link import keys as link_keys
from rexview.ui.link.in_app import href
from rexview.ui.link.pages import ADDRESSES, PAGE_BROWSE, PAGE_CASE, PAGE_OVERVIEW
from rexview.ui.server import review_sets
from rexview.words import tr


class _Step(NamedTuple):
    """A step: on which page, its words, and what leads on to which page; at the end, nowhere."""

    page: str
    title: str
    words: str
    on: str
    to: str = ""
    keys: str = ""


_STEPS: Final = (
    _Step(
        PAGE_OVERVIEW,
        tr("Where models fail"),
        tr("Each bar counts the answers with one kind of failure. Every number opens its cases."),
        tr("Show laterality errors"),
        PAGE_BROWSE,
    ),
    _Step(
        PAGE_BROWSE,
        tr("The cases behind a number"),
        tr("Filters say beforehand how many cases each would leave. A picture opens its case."),
        tr("Open the first case"),
        PAGE_CASE,
    ),
    _Step(
        PAGE_CASE,
        tr("Film, answers, report"),
        tr(
            "The boxes of models lie on the film; Reference below it adds those of the reference. "
            "The answers stand side by side, with readers' scores and what is wrong marked in the "
            "words."
        ),
        tr("Done"),
        keys=tr(
            "R shows the reference on the film. J and K turn to the next and the previous case, "
            "? lists all keys."
        ),
    ),
)
_FILTER: Final = CaseFilter(failures=("laterality_error",))


def offer_tour(address: str) -> None:
    """Show the step that belongs to the page at an address, to whoever is on the tour.

    Only the demonstration has one; whoever may not browse (a blinded reader) is offered none.
    """
    steps = {ADDRESSES[step.page]: step for step in _STEPS}
    if address in steps and _has_tour():
        begins = address == ADDRESSES[_STEPS[0].page]
        _show("rx_tour", {"html": _card(steps[address]), "again": False, "begins": begins})


def offer_again() -> None:
    """Offer the tour to whoever was on it before, where there is one."""
    if _has_tour():
        address = html.escape(href(PAGE_OVERVIEW, {}))
        link = f'<a href="{address}" data-rx-page>{tr("Take the three-step tour")}</a>'
        drawn = f'<p class="rx-tour-again">{link}</p>'
        _show("rx_tour_again", {"html": drawn, "again": True, "begins": False})


def _show(key: str, data: Mapping[str, str | bool]) -> None:
    script, style = "guide/assets/tour.js", "guide/assets/tour.css"
    component("rexview_tour", script, style=style, title=tr("The tour"))(key=key, data=data)


def _has_tour() -> bool:
    return permissions.may_see(PAGE_BROWSE) and _on_demo()


def _on_demo() -> bool:
    try:
        folder = review_sets.folder_of(link_keys.query_value(link_keys.QUERY_SET))
    except RexviewError:
        return False
    return folder.resolve() == DEMO_FOLDER


def _card(step: _Step) -> str:
    number = tr("{step} of {steps}").format(step=_STEPS.index(step) + 1, steps=len(_STEPS))
    if step.to:
        address = html.escape(href(step.to, link_keys.link_query(_FILTER)))
        on = f'<a class="rx-tour-on" href="{address}" data-rx-page>{html.escape(step.on)}</a>'
    else:
        on = f'<button class="rx-tour-on" data-end>{html.escape(step.on)}</button>'
    end = f"<button data-end>{tr('End tour')}</button>" if step.to else ""
    keys = f'<p class="rx-tour-keys">{html.escape(step.keys)}</p>' if step.keys else ""
    film = " data-film" if step.page == PAGE_CASE else ""
    label = tr("Tour, step {number}").format(number=number)
    return (
        f'<section class="rx-tour"{film} aria-label="{label}">'
        f'<p class="rx-tour-number">{tr("Tour")} · {number}</p><h2>{html.escape(step.title)}</h2>'
        f"<p>{html.escape(step.words)}</p>{keys}<footer>{end}{on}</footer></section>"
    )
