"""The page Guide and the tour: texts by role, their images, and three first steps."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import streamlit as st
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from rexview.analysis import CaseFilter
from rexview.errors import RexviewError
from rexview.people import Role
from rexview.settings import DEMO_FOLDER
from rexview.ui.web.access import permissions
from rexview.ui.web.access.request_checks import NO_STORE_HEADERS
from rexview.ui.web.components import component
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.in_app import href
from rexview.ui.web.link.link_choices import bind_option_to_link
from rexview.ui.web.link.pages import ADDRESSES, PAGE_BROWSE, PAGE_CASE, PAGE_OVERVIEW
from rexview.ui.web.server import review_sets, server_state
from rexview.words import tr

FOLDER: Final = Path(__file__).resolve().parents[3] / "assets" / "guides"
GUIDES: Final = {
    "clinician": tr("Clinician"),
    "reader": tr("Reader"),
    "lead": tr("Lead"),
    "researcher": tr("Researcher"),
}
"""The file of each guide without ``.md``, and its audience, in the order of the page."""
_PICTURE: Final = re.compile(r"^!\[([^\]]+)\]\(pictures/([\w-]+\.webp)\)$", re.MULTILINE)


class GuidePiece(NamedTuple):
    """Markdown, or an image with its alternative text; one of the two is empty."""

    markdown: str = ""
    picture: str = ""
    words: str = ""


@cache
def read_guide(name: str) -> tuple[GuidePiece, ...]:
    """Return the pieces of a guide in reading order.

    Parameters
    ----------
    name : str
        A key of :data:`GUIDES`.

    Returns
    -------
    tuple of GuidePiece
        Texts and images; an image has its own line in the file.
    """
    # text, alternative text, image, text, alternative text, image, …, text
    found = _PICTURE.split((FOLDER / f"{name}.md").read_text(encoding="utf-8"))
    shown = [GuidePiece(markdown=found[0].strip())]
    for at in range(1, len(found), 3):
        shown += [
            GuidePiece(words=found[at], picture=found[at + 1]),
            GuidePiece(found[at + 2].strip()),
        ]
    return tuple(one for one in shown if one.markdown or one.picture)


@cache
def image_names() -> frozenset[str]:
    """Return the names of all images in guides."""
    return frozenset(one.picture for name in GUIDES for one in read_guide(name) if one.picture)


# The route of the guides' images: they show only the demonstration, so anybody may have them.

_BELOW = "/rexview/guides/"


def image_address(name: str) -> str:
    """Return the address of an image on this server."""
    return f"{server_state.base_path()}{_BELOW}{name}"


def routes() -> list[Route]:
    """Return the route."""
    return [Route(image_address("{name}"), _serve)]


def _serve(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in image_names():  # no other file of the folder, whatever the name
        return PlainTextResponse("There is no such picture.", 404, NO_STORE_HEADERS)
    return FileResponse(
        FOLDER / "pictures" / name,
        media_type="image/webp",
        headers={"Cache-Control": "public, max-age=3600"},
    )


# The guide on its page: its choice, its text, its images.

_FOR_ROLE: Final[dict[Role, str]] = {
    "reader": "reader",
    "adjudicator": "reader",
    "lead": "clinician",  # a user without sign-in is one, too, and starts by reading
    "viewer": "clinician",
}


def choose_guide() -> str:
    """Show a choice of the guide, by default that of the user's role; the link keeps it."""
    role = permissions.current_role()
    first = _FOR_ROLE[role] if role else next(iter(GUIDES))
    kept = bind_option_to_link("guide_for", link_keys.QUERY_GUIDE, GUIDES, first)
    chosen: str = st.segmented_control(
        tr("For a"), list(GUIDES), format_func=GUIDES.__getitem__, required=True, **kept
    )
    return chosen


def show_guide(name: str) -> None:
    """Show a guide: its text, and its images with their alternative texts."""
    with st.container(width=860, key="rx_guide"):
        for piece in read_guide(name):
            if piece.picture:
                source = html.escape(image_address(piece.picture))
                words = html.escape(piece.words)
                st.html(
                    f'<figure class="rx-guide-picture"><a href="{source}" target="_blank">'
                    f'<img src="{source}" alt="{words}" loading="lazy"></a>'
                    f"<figcaption>{words}</figcaption></figure>"
                )
            else:
                st.markdown(piece.markdown, anchors=False)


# The tour: three steps through the demonstration, for first-time users.
#
# The browser stores the progress of the tour (``guide/assets/tour.js``).


class _TourStep(NamedTuple):
    """A step: its page, its text, and the link to the next page, if any."""

    page: str
    title: str
    words: str
    on: str
    to: str = ""
    keys: str = ""


_STEPS: Final = (
    _TourStep(
        PAGE_OVERVIEW,
        tr("Where models fail"),
        tr("Each bar counts the answers with one kind of failure. Every number opens its cases."),
        tr("Show laterality errors"),
        PAGE_BROWSE,
    ),
    _TourStep(
        PAGE_BROWSE,
        tr("The cases behind a number"),
        tr("Filters show beforehand how many cases each would leave. A picture opens its case."),
        tr("Open the first case"),
        PAGE_CASE,
    ),
    _TourStep(
        PAGE_CASE,
        tr("Film, answers, report"),
        tr(
            "The boxes of models are drawn on the film; Reference below it adds the "
            "reference boxes. The answers are shown side by side, with readers' scores, "
            "and errors marked in the words."
        ),
        tr("Done"),
        keys=tr(
            "R shows the reference on the film. J and K go to the next and the previous "
            "case, ? lists all keys."
        ),
    ),
)
_FILTER: Final = CaseFilter(failures=("laterality_error",))


def show_tour_step(address: str) -> None:
    """Show the step for the page at an address, to users on the tour.

    Only the demonstration has a tour; users who may not browse (blinded readers) get none.
    """
    steps = {ADDRESSES[step.page]: step for step in _STEPS}
    if address in steps and _has_tour():
        begins = address == ADDRESSES[_STEPS[0].page]
        _show("rx_tour", {"html": _card(steps[address]), "again": False, "begins": begins})


def show_tour_restart() -> None:
    """Show the tour again to users who were on it before, if there is one."""
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


def _card(step: _TourStep) -> str:
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
