"""How models write boxes: the order of the numbers, and what they count in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from rexview.own_tables import read_table

Convention = Literal[
    "pixels_sent", "pixels_stored", "normalised_1000", "normalised_100", "normalised_1", "unknown"
]
"""How a model counts in boxes: pixels of the picture as sent or as stored, or parts of the picture
as sent (0 to 1000, 0 to 100, 0 to 1)."""
Corners = Literal["xyxy", "yxyx", "xywh", "cxcywh"]
WHOLE: Final[dict[Convention, float]] = {
    "normalised_1000": 1000.0,
    "normalised_100": 100.0,
    "normalised_1": 1.0,
}
"""What the width or height of the picture is, in conventions that count in parts of it."""
_CARDS: Final = Path(__file__).parents[1] / "models" / "asking" / "cards.yaml"


@dataclass(frozen=True)
class BoxForm:
    """How a model writes boxes.

    ``key`` is the JSON field of the coordinates, ``source`` says where this is known from.
    ``calibrated`` is written by the phantom: date and prompt.
    """

    convention: Convention = "unknown"
    corners: Corners = "xyxy"
    key: str = "box"
    source: str = ""
    calibrated: str = ""


@dataclass(frozen=True)
class SentBoxes:
    """How a model that is known by its name writes boxes, and what it is usually sent.

    ``longest_side`` and ``most_pixels`` bound the picture, None where nothing does; a ``square``
    one is padded to a square.
    """

    form: BoxForm = BoxForm()
    longest_side: int | None = None
    most_pixels: int | None = None
    square: bool = False


def sent_boxes(model: str) -> SentBoxes:
    """Return how a model writes boxes, by its name; unknown where its card says nothing."""
    name = model.lower()
    names = {name, name.replace("\\", "/").rpartition("/")[2], name.replace("_", "-")}
    for card in _cards():
        if any(fnmatchcase(one, pattern) for one in names for pattern in card["match"]):
            limits = {key: card.get(key) for key in ("longest_side", "most_pixels")}
            return SentBoxes(
                BoxForm(**card.get("boxes", {})), **limits, square=bool(card.get("square"))
            )
    return SentBoxes()


@cache
def _cards() -> tuple[Mapping[str, Any], ...]:
    return tuple(read_table(_CARDS)["models"])
