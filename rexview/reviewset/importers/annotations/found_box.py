"""A box as some tool wrote it, before it is known which four numbers those are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class FoundBox:
    """A box of a source.

    ``image`` is what the source calls its picture: a path, a file name, a name without ending, or a
    number that the source gave it. ``numbers`` are as written. ``model`` is None for a reference
    box; ``size`` is width and height in pixels of the picture that the box was drawn on, where the
    source says so. ``row`` is where the box stands in its file, which ``file`` names where a source
    has many. ``extra`` is what else is said of it.
    """

    image: str | int
    label: str
    numbers: tuple[float, float, float, float]
    row: int
    model: str | None = None
    score: float | None = None
    size: tuple[int, int] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    file: str = ""
