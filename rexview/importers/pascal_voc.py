"""Read Pascal VOC: one XML file a picture, corners in pixels.

Entities are refused before parsing: a few lines of them can expand to gigabytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from xml.etree import ElementTree

from rexview.importers.box_placement import (
    BoxReading,
    PictureCases,
    SourceBox,
    assign_model,
    picture_size,
    place_boxes,
)
from rexview.importers.set_rows import SetRows
from rexview.importers.source_files import Probe, SourceFile, read_text
from rexview.reviewset.tables.source import RowOrigin
from rexview.text.written_boxes import four_numbers, one_number

_CORNERS: Final = ("xmin", "ymin", "xmax", "ymax")
_SCORES: Final = ("confidence", "score", "probability")
_READ: Final = frozenset(("name", "bndbox", *_SCORES))
_MOST_OBJECTS: Final = 10_000


class NotPascalVoc(ValueError):
    """The text is not a Pascal VOC annotation; the message completes "The file ..."."""


@dataclass
class VocAnnotation:
    """One picture with its boxes; ``broken`` are the objects (from 1) without four numbers."""

    image: str
    boxes: list[SourceBox] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)


def looks_like_voc(text: str) -> bool:
    """True if a file starts like a VOC annotation."""
    start = text[:2000].lstrip("\ufeff \t\r\n")
    return start.startswith("<") and "<annotation" in start


def read_annotation(text: str) -> VocAnnotation:
    """Read one annotation.

    Raises NotPascalVoc if it is not well-formed, contains entities, or lacks the picture's name.
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
    found = VocAnnotation(name.replace("\\", "/"))
    size = picture_size(root.findtext("size/width"), root.findtext("size/height"))
    for row, one in enumerate(root.findall("object")[:_MOST_OBJECTS], start=1):
        corners = one.find("bndbox")
        given = [corners.findtext(key) if corners is not None else None for key in _CORNERS]
        numbers = four_numbers(given)
        if numbers is None:
            found.broken.append(row)
            continue
        score = one_number(next((word for key in _SCORES if (word := one.findtext(key))), None))
        label = (one.findtext("name") or "").strip()
        texts = {part.tag: (part.text or "").strip() for part in one if part.tag not in _READ}
        extra = {k: text for k, text in texts.items() if text not in ("", "0", "Unspecified")}
        box = SourceBox(found.image, label, numbers, row, None, score, size, extra)
        found.boxes.append(box)
    return found


def recognises(probe: Probe) -> str | None:
    """Return why a file is a Pascal VOC annotation, or None."""
    found = probe.kind == "xml" and looks_like_voc(probe.text)
    return "an <annotation> in XML" if found else None


def read_voc(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read Pascal VOC, one file a picture; objects with a confidence are a model's."""
    boxes: list[SourceBox] = []
    pictures = PictureCases(rows)
    for file in files:
        text = read_text(file.path, rows.log, save_as="UTF-8")
        if text is None:
            continue
        try:
            found = read_annotation(text)
        except NotPascalVoc as error:
            message = f"The file {error}"
            rows.log.warning(file.label, message, "Export it again.", kind="voc")
            rows.receipt.file_unread(file.label, "XML", message)
            continue
        rows.receipt.rows(file.label, len(found.boxes) + len(found.broken))
        pictures.case_of((found.image,), RowOrigin(file.label), found.image)
        for row in found.broken:
            rows.receipt.unused(
                RowOrigin(file.label, row), "The object has no four numbers as bndbox."
            )
        boxes += [
            replace(one, file=file.label, model=None if one.score is None else "detector")
            for one in found.boxes
        ]
    boxes, corners = assign_model(boxes, options.get("model")), BoxReading("xyxy", "pixels")
    place_boxes(boxes, "Pascal VOC files", rows, options, expected=corners)
