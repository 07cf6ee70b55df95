"""COCO JSON: images, categories and boxes; and lists of detection results.

Only boxes are read; segmentations, key points and crowd marks are passed over, which is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from rexview.reviewset.importers.annotations.box_reading import four_numbers, turned_box
from rexview.reviewset.importers.annotations.found_box import FoundBox
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.core.source_files import read_json

Key = int | str
"""What a file calls an image or a category."""
_IMAGE_FIELDS: Final = frozenset(
    (
        *("id", "file_name", "width", "height", "license", "coco_url", "flickr_url"),
        *("date_captured", "view", "view_position", "study_id"),
    )
)


@dataclass(frozen=True)
class CocoImage:
    """An entry of ``images``: file name, size in pixels where given, and what else it says."""

    name: str
    size: tuple[int, int] | None
    row: int
    view: str | None = None
    study: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class CocoFile:
    """What a COCO file holds. A list of results has boxes only; ``labels`` names the categories.

    ``left_out`` says why there is no box of an annotation, by its row.
    """

    images: Mapping[Key, CocoImage]
    labels: Mapping[Key, str]
    boxes: tuple[FoundBox, ...]
    results: bool = False
    left_out: Mapping[int, str] = field(default_factory=dict)


def read_coco_file(
    path: Path, log: ProblemLog, labels: Mapping[Key, str] | None = None
) -> CocoFile | None:
    """Read a COCO data set, or a list of results; log an error and return None if it is neither.

    ``labels`` names the categories of a list of results, which has none of its own.
    """
    content = read_json(path, log)
    if content is None:
        return None
    if isinstance(content, list):
        boxes = _Boxes(path.name, log, labels or {})
        return CocoFile({}, {}, boxes.read(content), results=True, left_out=boxes.left_out)
    images = content.get("images") if isinstance(content, dict) else None
    annotations = content.get("annotations", []) if isinstance(content, dict) else None
    if not isinstance(images, list) or not isinstance(annotations, list):
        message = "The file is not COCO JSON: it has no lists “images” and “annotations”."
        remedy = "Give a COCO data set, or a COCO list of results together with its data set."
        log.error(path.name, message, remedy)
        return None
    names = _labels(content.get("categories"))
    found = _images(path.name, images, log)
    boxes = _Boxes(path.name, log, names)
    return CocoFile(found, names, boxes.read(annotations), left_out=boxes.left_out)


def _key(value: Any) -> Key | None:
    if isinstance(value, bool) or not isinstance(value, int | str | float):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value


def _labels(categories: Any) -> dict[Key, str]:
    found: dict[Key, str] = {}
    for entry in categories if isinstance(categories, list) else []:
        key = _key(entry.get("id")) if isinstance(entry, dict) else None
        if key is not None and isinstance(entry.get("name"), str):
            found.setdefault(key, entry["name"])
    return found


def _images(file: str, entries: list[Any], log: ProblemLog) -> dict[Key, CocoImage]:
    found: dict[Key, CocoImage] = {}
    names: set[str] = set()
    for row, entry in enumerate(entries, start=1):
        key = _key(entry.get("id")) if isinstance(entry, dict) else None
        name = entry.get("file_name") if isinstance(entry, dict) else None
        if key is None or not isinstance(name, str) or not name.strip():
            message = "The image has no id or no file_name; it was left out."
            log.warning(file, message, "Give both.", row=row, field="images")
        elif key in found or name in names:
            message = (
                "The id or the file name of this image occurs more than once; the first entry "
                "was kept."
            )
            remedy = "Give every image its own id and file name."
            log.warning(file, message, remedy, row=row, field="images")
        else:
            names.add(name)
            found[key] = _image(name, row, entry)
    return found


def _image(name: str, row: int, entry: Mapping[str, Any]) -> CocoImage:
    width, height = entry.get("width"), entry.get("height")
    sized = isinstance(width, int) and isinstance(height, int) and width > 0 and height > 0
    view = entry.get("view") or entry.get("view_position")
    study = _key(entry.get("study_id"))
    return CocoImage(
        name=name,
        size=(int(width), int(height)) if sized else None,  # type: ignore[arg-type]
        row=row,
        view=view if isinstance(view, str) else None,
        study=None if study is None else str(study),
        extra={
            field: value
            for field, value in entry.items()
            if field not in _IMAGE_FIELDS and value not in (None, "")
        },
    )


class _Boxes:
    """Reads annotations or results."""

    def __init__(self, file: str, log: ProblemLog, labels: Mapping[Key, str]) -> None:
        self.file, self.log, self.labels = file, log, labels
        self.left_out: dict[int, str] = {}

    def read(self, entries: list[Any]) -> tuple[FoundBox, ...]:
        found = []
        passed_over = crowds = 0
        for row, entry in enumerate(entries, start=1):
            if not isinstance(entry, dict):
                self._leave_out(row, "The entry is not an object; it was left out.", "entry")
                continue
            passed_over += bool(entry.get("segmentation")) or bool(entry.get("keypoints"))
            crowds += bool(entry.get("iscrowd"))
            box = self._box(row, entry)
            if box is not None:
                found.append(box)
        if passed_over:
            self.log.note(
                f"{self.file}: {passed_over:,} outlines were passed over; boxes are read."
            )
        if crowds:
            self.log.note(
                f"{self.file}: {crowds:,} boxes are marked iscrowd; the mark was dropped."
            )
        return tuple(found)

    def _box(self, row: int, entry: Mapping[str, Any]) -> FoundBox | None:
        image = _key(entry.get("image_id"))
        values = entry.get("bbox")
        box = four_numbers(values) if isinstance(values, list) else None
        if image is None or box is None:
            what = "image_id" if image is None else "four finite numbers as bbox"
            self._leave_out(row, f"The box has no {what}; it was left out.", "bbox")
            return None
        score = entry.get("score")
        number = four_numbers([score, 0, 0, 0])
        about = entry.get("attributes")
        turn = about.get("rotation") if isinstance(about, Mapping) else None
        degrees = four_numbers([turn or 0, 0, 0, 0])
        if degrees and degrees[0]:  # CVAT keeps the box as it was before it was turned
            box = turned_box(box, degrees[0], about_centre=True)
        found = FoundBox(image, self._label(row, entry), box, row)
        return replace(found, score=number[0] if number else None)

    def _label(self, row: int, entry: Mapping[str, Any]) -> str:
        key = _key(entry.get("category_id"))
        if key is not None and key in self.labels:
            return self.labels[key]
        self._warn(row, "The category of the box has no name; its number is shown.", "category_id")
        return "" if key is None else str(key)

    def _leave_out(self, row: int, message: str, field: str) -> None:
        self.left_out[row] = message
        self._warn(row, message, field)

    def _warn(self, row: int | None, message: str, field: str) -> None:
        remedy = "Give bbox as x, y, width, height in pixels, and name every category."
        self.log.warning(self.file, message, remedy, row=row, field=field)
