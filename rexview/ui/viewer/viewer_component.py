"""The radiograph viewer as a Streamlit component, and its data of a case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

import streamlit as st

from rexview.errors import ImageError, PathEscape
from rexview.geometry import UNKNOWN_ORIENTATION, Orientation
from rexview.reviewset.image_checks import ImageWithFacts
from rexview.schema import ReviewSet
from rexview.ui.web.access.image_links import image_name, pixel_url
from rexview.ui.web.components import component
from rexview.vocab import FRONTAL_VIEWS, VIEWS
from rexview.words import tr

# The viewer's data of one case: frozen records, and their JSON for the browser.
#
# Boxes are x, y, width, height in pixels of the stored image. Texts are shown as plain text.

MODEL_KEYS: Final = "123456789"
REFERENCE_KEY: Final = "r"
ALL_KEY: Final = "0"
"""The key that shows and hides all boxes."""


@dataclass(frozen=True)
class PixelLink:
    """A link to the pixels of one image.

    ``url`` is relative to the app. ``cache_key`` stays the same when the link to the same pixels is
    renewed, and changes with the file.
    """

    url: str
    cache_key: str


@dataclass(frozen=True)
class ViewerImage:
    """One view of the case, or one image that a model returned.

    ``word`` is one of :data:`rexview.vocab.VIEWS`. With ``error``, a sentence for the user, the
    view is shown as broken; otherwise ``pixels`` is needed. ``flipped`` is True if its pixels are
    mirrored against the edges named in its file. ``pixel_mm`` is the pixel spacing at the detector
    if only the set gives it. ``group`` is the id of the image's group, None for images of the case.
    """

    id: str
    title: str
    word: str = "UNKNOWN"
    pixels: PixelLink | None = None
    error: str | None = None
    prior: bool = False
    kind: Literal["image", "returned"] = "image"
    orientation: Orientation = UNKNOWN_ORIENTATION
    flipped: bool = False
    pixel_mm: float | None = None
    group: str | None = None

    def __post_init__(self) -> None:
        if self.pixels is None and not self.error:
            raise ValueError(f"view {self.id} has neither pixels nor the reason why not")


@dataclass(frozen=True)
class ViewerBox:
    """One box that can be drawn.

    ``side`` and ``place`` are words such as "on the patient's right" and "lower third". ``note`` is
    a remark on this box such as "the label says left". ``finding`` links the box to words on the
    page (``data-rx-finding``), ``flags`` to the flags that have it as evidence.
    """

    id: str
    image: str
    label: str
    x: float
    y: float
    width: float
    height: float
    side: str | None = None
    place: str | None = None
    score: float | None = None
    note: str | None = None
    finding: str | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class BoxGroup:
    """The boxes of one model, or the reference boxes.

    ``key`` is the keyboard key that shows and hides them. ``undrawable`` boxes are only counted,
    with their ``reasons``.
    """

    id: str
    name: str
    colour: str
    kind: Literal["model", "reference"] = "model"
    key: str | None = None
    boxes: tuple[ViewerBox, ...] = ()
    undrawable: int = 0
    reasons: tuple[str, ...] = ()
    shown: bool = True


@dataclass(frozen=True)
class Neighbours:
    """Ids of the cases before and after, None at the ends."""

    previous: str | None = None
    next: str | None = None


@dataclass(frozen=True)
class ViewerData:
    """The viewer's data of one case.

    ``active`` is the view shown first (by default the first one). ``ahead`` holds neighbouring
    cases if the browser cannot fetch them (``turning``): the viewer shows one at once when the user
    turns to it, before the page has followed. ``taken_keys`` are keys that the page needs itself:
    the viewer uses them with Shift.
    ``blinded`` means that the user must not see what is hidden: no setting of theirs shows the
    reference from the start. With ``one_group`` only the boxes and images of the group last named
    by the page can be shown (event ``rexview:group`` of the browser's window), and none before.
    ``page_keys`` are the page's own keys with their meaning, for the list of keys. ``turning`` lets
    the browser fetch further cases (:mod:`rexview.ui.turning.ticket`).
    """

    case: str
    views: tuple[ViewerImage, ...] = ()
    groups: tuple[BoxGroup, ...] = ()
    active: str | None = None
    neighbours: Neighbours = Neighbours()
    ahead: tuple[ViewerData, ...] = ()
    taken_keys: str = ""
    blinded: bool = False
    one_group: bool = False
    page_keys: tuple[tuple[str, str], ...] = ()
    turning: Mapping[str, Any] | None = None

    def to_json(self, height: str | None) -> dict[str, Any]:
        """Return the browser's data; ``height`` is a CSS length, None for the free height."""
        return {
            "case": self.case,
            "active": self.active,
            "height": height,
            "views": [_view(view) for view in self.views],
            "groups": [asdict(group) for group in self.groups],
            "neighbours": asdict(self.neighbours),
            "takenKeys": self.taken_keys,
            "blinded": self.blinded,
            "oneGroup": self.one_group,
            "pageKeys": self.page_keys,
            "ahead": [one.to_json(height) for one in self.ahead],
            "turning": self.turning,
        }


def _link(link: PixelLink) -> dict[str, str]:
    return {"url": link.url, "key": link.cache_key}


def _view(view: ViewerImage) -> dict[str, Any]:
    found: Mapping[str, Any] = asdict(view.orientation)
    return {
        "id": view.id,
        "title": view.title,
        "word": view.word,
        "frontal": view.word in FRONTAL_VIEWS,
        "prior": view.prior,
        "kind": view.kind,
        "group": view.group,
        "error": view.error,
        "orientation": {**found, "known": view.orientation.known},
        "flipped": view.flipped,
        "pixel_mm": view.pixel_mm,
        **(_link(view.pixels) if view.pixels else {"url": None, "key": view.id}),
    }


def hide_until_requested(groups: Iterable[BoxGroup]) -> tuple[BoxGroup, ...]:
    """Return groups of which one at a time is available, hidden until requested."""
    return tuple(replace(group, key=ALL_KEY, shown=False) for group in groups)


def assign_keys(groups: Iterable[BoxGroup]) -> tuple[BoxGroup, ...]:
    """Assign the keys 1 to 9 to the models' groups in order, and the reference its own."""
    keys = iter(MODEL_KEYS)
    return tuple(
        replace(group, key=REFERENCE_KEY if group.kind == "reference" else next(keys, None))
        for group in groups
    )


NAME: Final = "rexview_viewer"
VIEWER_KEY: Final = "viewer"
"""Streamlit's key of the viewer, the same on all pages."""
_FILES: Final = "viewer/assets/viewer"


def radiograph_viewer(
    data: ViewerData, *, key: str, on_navigate: Callable[[Any], None], height: str | None = None
) -> None:
    """Mount the viewer.

    The server gets nothing that the user does to the image, except for ``on_navigate``. It is
    called with the case that the user turned to, as in :func:`.follow_browser`,
    before Streamlit runs the page (or the fragment) again, so that one run shows that case. ``key``
    stays the same from case to case: the viewer then remains and only gets the new data. ``height``
    is a CSS length, by default the window's free height below what is above the viewer.
    """

    def navigate() -> None:
        asked = st.session_state[key].get("navigate")
        if asked:
            on_navigate(asked)

    viewer = component(
        NAME,
        f"{_FILES}.js",
        style=f"{_FILES}.css",
        isolate_styles=True,
        title=tr("The viewer"),
    )
    viewer(
        key=key,
        data=data.to_json(height),
        on_navigate_change=navigate,
        on_report_change=lambda: None,
    )


# The images of a case in the viewer, without boxes and answers.


def pixel_link(review_set: ReviewSet, path: str, *, wordless: bool = False) -> PixelLink:
    """Return the link to the pixels of an image; ``wordless`` as in :func:`pixel_url`.

    Raises
    ------
    ImageError, PathEscape
    """
    url = pixel_url(review_set, path, wordless=wordless)
    return PixelLink(url, image_name(review_set, path))


def viewer_image(review_set: ReviewSet, known: ImageWithFacts) -> ViewerImage:
    """Return the viewer's image of a case, or the reason why it cannot be shown."""
    image = known.image
    title = VIEWS.get(image.view, image.view)
    if image.prior:
        title = tr("Prior, {view}").format(view=title)
    try:
        pixels = pixel_link(review_set, image.path)
    except (ImageError, PathEscape) as error:
        return ViewerImage(image.id, title, image.view, error=str(error), prior=image.prior)
    return ViewerImage(
        image.id,
        title,
        image.view,
        pixels,
        prior=image.prior,
        orientation=known.orientation,
        flipped=bool(image.laterality_flip),
        pixel_mm=image.pixel_mm,
    )
