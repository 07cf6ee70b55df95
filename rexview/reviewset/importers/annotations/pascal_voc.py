"""Pascal VOC: one XML file a picture, corners in pixels.

Entities are refused before parsing: a few lines of them can stand for gigabytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from xml.etree import ElementTree

from rexview.reviewset.importers.annotations.box_reading import FoundBox, four_numbers

_CORNERS: Final = ("xmin", "ymin", "xmax", "ymax")
_SCORES: Final = ("confidence", "score", "probability")
_READ: Final = frozenset(("name", "bndbox", *_SCORES))
_MOST_OBJECTS: Final = 10_000


class NotPascalVoc(ValueError):
    """The text is no Pascal VOC annotation; the message completes "The file ..."."""


@dataclass
class Annotation:
    """One picture with its boxes; ``broken`` are objects (from 1) without four numbers."""

    image: str
    boxes: list[FoundBox] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)


def looks_like_voc(text: str) -> bool:
    """Whether a file begins as a VOC annotation does."""
    start = text[:2000].lstrip("\ufeff \t\r\n")
    return start.startswith("<") and "<annotation" in start


def read_annotation(text: str) -> Annotation:
    """Read one annotation.

    Raises
    ------
    NotPascalVoc
        When it is not well-formed, holds entities, or lacks the picture's name.
    """
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise NotPascalVoc("declares entities, which are not read.")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - entities are refused above
    except (ElementTree.ParseError, RecursionError, ValueError):
        raise NotPascalVoc("is not well-formed XML.") from None
    if root.tag != "annotation":
        raise NotPascalVoc("has no <annotation> as its outermost element.")
    name = (root.findtext("filename") or root.findtext("path") or "").strip()
    if not name:
        raise NotPascalVoc("does not name its picture in <filename>.")
    found = Annotation(name.replace("\\", "/"))
    size = _size(root.find("size"))
    for row, one in enumerate(root.findall("object")[:_MOST_OBJECTS], start=1):
        corners = one.find("bndbox")
        texts = [corners.findtext(key) if corners is not None else None for key in _CORNERS]
        numbers = four_numbers(texts)
        if numbers is None:
            found.broken.append(row)
            continue
        score = next((word for key in _SCORES if (word := one.findtext(key))), None)
        rated = four_numbers([score, 0, 0, 0])
        label = (one.findtext("name") or "").strip()
        found.boxes.append(
            FoundBox(
                found.image,
                label,
                numbers,
                row,
                score=rated[0] if rated else None,
                size=size,
                extra=_others(one),
            )
        )
    return found


def _others(one: ElementTree.Element) -> Mapping[str, Any]:
    return {
        part.tag: part.text.strip()
        for part in one
        if part.tag not in _READ and part.text and part.text.strip() not in ("", "0", "Unspecified")
    }


def _size(element: ElementTree.Element | None) -> tuple[int, int] | None:
    if element is None:
        return None
    numbers = four_numbers([element.findtext("width"), element.findtext("height"), 0, 0])
    return (int(numbers[0]), int(numbers[1])) if numbers and min(numbers[:2]) > 0 else None
