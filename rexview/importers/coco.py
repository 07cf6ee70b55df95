"""Read boxes in COCO JSON, as the truth or as a model's, with their images.

A data set (images, annotations, categories) makes the cases: one per image or, if its images have a
``study_id``, one per study. A list of results adds a model's boxes to the data set given with it.
Only boxes are read. Segmentations, key points and crowd marks are ignored, and the log reports it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from rexview.importers.box_placement import (
    BoxReading,
    PictureCases,
    SourceBox,
    assign_model,
    picture_size,
    place_boxes,
    upright_box,
)
from rexview.importers.case_names import safe_path
from rexview.importers.image_placement import place_images
from rexview.importers.receipt import ProblemLog
from rexview.importers.set_rows import CaseImage, SetRows
from rexview.importers.source_files import Probe, SourceFile, read_source_json
from rexview.reviewset.tables.source import RowOrigin
from rexview.text.written_boxes import four_numbers, one_number

CocoKey = int | str
"""A file's key for an image or a category."""
_GIVE_BOXES: Final = "Give bbox as x, y, width, height in pixels, and name every category."
_IMAGE_FIELDS: Final = frozenset(
    (
        *("id", "file_name", "width", "height", "license", "coco_url", "flickr_url"),
        *("date_captured", "view", "view_position", "study_id"),
    )
)


@dataclass(frozen=True)
class CocoImage:
    """An entry of ``images``: file name, size in pixels if given, and further fields."""

    name: str
    size: tuple[int, int] | None
    row: int
    view: str | None = None
    study: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class CocoFile:
    """Content of a COCO file; a list of results has only boxes.

    ``labels`` names the categories.

    ``left_out`` gives the reason for each annotation without a box, by row.
    """

    images: Mapping[CocoKey, CocoImage]
    labels: Mapping[CocoKey, str]
    boxes: tuple[SourceBox, ...]
    results: bool = False
    left_out: Mapping[int, str] = field(default_factory=dict)


def read_coco_file(
    path: Path, log: ProblemLog, labels: Mapping[CocoKey, str] | None = None
) -> CocoFile | None:
    """Read a COCO data set or a list of results; log an error and return None for another file.

    ``labels`` names the categories of a list of results, which has none of its own.
    """
    content = read_source_json(path, log)
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
    names: dict[CocoKey, str] = {}
    categories = content.get("categories")
    for entry in categories if isinstance(categories, list) else []:
        key = _key(entry.get("id")) if isinstance(entry, dict) else None
        if key is not None and isinstance(entry.get("name"), str):
            names.setdefault(key, entry["name"])
    found = _images(path.name, images, log)
    boxes = _Boxes(path.name, log, names)
    return CocoFile(found, names, boxes.read(annotations), left_out=boxes.left_out)


def _key(value: Any) -> CocoKey | None:
    if isinstance(value, bool) or not isinstance(value, int | str | float):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value


def _images(file: str, entries: list[Any], log: ProblemLog) -> dict[CocoKey, CocoImage]:
    found: dict[CocoKey, CocoImage] = {}
    names: set[str] = set()
    for row, entry in enumerate(entries, start=1):
        key = _key(entry.get("id")) if isinstance(entry, dict) else None
        name = entry.get("file_name") if isinstance(entry, dict) else None
        if key is None or not isinstance(name, str) or not name.strip():
            message = "The image has no id or no file_name; it was left out."
            log.warning(file, message, "Give both.", row=row, field="images")
        elif key in found or name in names:
            message = "The id or the file name of this image occurs more than once; the first "
            remedy = "Give every image its own id and file name."
            log.warning(file, f"{message}entry was kept.", remedy, row=row, field="images")
        else:
            names.add(name)
            found[key] = _image(name, row, entry)
    return found


def _image(name: str, row: int, entry: Mapping[str, Any]) -> CocoImage:
    view = entry.get("view") or entry.get("view_position")
    study = _key(entry.get("study_id"))
    return CocoImage(
        name,
        picture_size(entry.get("width"), entry.get("height")),
        row,
        view if isinstance(view, str) else None,
        None if study is None else str(study),
        {
            field: value
            for field, value in entry.items()
            if field not in _IMAGE_FIELDS and value not in (None, "")
        },
    )


class _Boxes:
    def __init__(self, file: str, log: ProblemLog, labels: Mapping[CocoKey, str]) -> None:
        self.file, self.log, self.labels = file, log, labels
        self.left_out: dict[int, str] = {}

    def read(self, entries: list[Any]) -> tuple[SourceBox, ...]:
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
            note = f"{self.file}: {passed_over:,} outlines were passed over; boxes are read."
            self.log.note(note)
        if crowds:
            note = f"{self.file}: {crowds:,} boxes are marked iscrowd; the mark was dropped."
            self.log.note(note)
        return tuple(found)

    def _box(self, row: int, entry: Mapping[str, Any]) -> SourceBox | None:
        image = _key(entry.get("image_id"))
        values = entry.get("bbox")
        box = four_numbers(values) if isinstance(values, list) else None
        if image is None or box is None:
            what = "image_id" if image is None else "four finite numbers as bbox"
            self._leave_out(row, f"The box has no {what}; it was left out.", "bbox")
            return None
        about = entry.get("attributes")
        turn = about.get("rotation") if isinstance(about, Mapping) else None
        if degrees := one_number(turn):  # CVAT stores the box as it was before it was turned
            box = upright_box(box, degrees, about_centre=True)
        key = _key(entry.get("category_id"))
        label = self.labels.get(key) if key is not None else None
        if label is None:
            label = "" if key is None else str(key)
            message = "The category of the box has no name; its number is shown."
            self.log.warning(self.file, message, _GIVE_BOXES, row=row, field="category_id")
        return SourceBox(image, label, box, row, score=one_number(entry.get("score")))

    def _leave_out(self, row: int, message: str, field: str) -> None:
        self.left_out[row] = message
        self.log.warning(self.file, message, _GIVE_BOXES, row=row, field=field)


_READING: Final = BoxReading("xywh", "pixels")
_BLANK: Final = b"\xef\xbb\xbf \t\r\n"
_BOXES: Final = "annotations"
"""The list that a receipt counts: images are pictures, not rows."""


def recognises(probe: Probe) -> str | None:
    """Return why a file is COCO, or None: a data set's lists, or results with image and box."""
    if probe.kind != "json":
        return None
    if isinstance(probe.json, dict):
        lists = [one for one in ("images", "annotations") if isinstance(probe.json.get(one), list)]
        images = probe.json.get("images") or []
        named = not images or (isinstance(images[0], dict) and "file_name" in images[0])
        return "a COCO data set" if len(lists) == 2 and named else None
    first = probe.json[0] if isinstance(probe.json, list) and probe.json else None
    if not isinstance(first, dict) or not {"image_id", "bbox"} <= first.keys():
        return None
    return "a COCO list of results" if first.keys() & {"category_id", "score"} else None


def read_coco(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read COCO data sets and lists of results."""
    rows.name = rows.name or files[0].path.stem.strip("_").replace("_", " ")
    named = f"Imported from COCO JSON: {', '.join(file.label for file in files)}."
    rows.description = rows.description or named
    read: list[tuple[SourceFile, CocoFile]] = []
    labels: dict[CocoKey, str] = {}
    for file in sorted(files, key=lambda one: Probe(one.path).head.lstrip(_BLANK).startswith(b"[")):
        coco = read_coco_file(file.path, rows.log, labels)
        if coco is not None:
            labels = {**coco.labels, **labels}
            read.append((file, coco))
    targets: dict[CocoKey, CaseImage] = {}
    sizes: dict[CocoKey, tuple[int, int] | None] = {}
    for file, coco in read:
        if not coco.results:
            sizes |= {key: image.size for key, image in coco.images.items()}
            targets |= _add_cases(coco, file, rows)
    results_only = bool(read) and all(coco.results for _, coco in read)
    if results_only and not rows.log.has_errors and not any(True for _ in rows.images()):
        message = "A list of results says nothing about its images."
        remedy = "Give the COCO data set as well, that has “images” and “categories”."
        rows.log.error(read[0][0].label, message, remedy)
        return
    beside = [file.path.parent for file in files]
    place_images(rows, options.get("images"), beside, files[0].label)
    find = _by_name(rows) if results_only else lambda box: targets.get(box.image)
    absent_from = "are not there" if results_only else "the data set does not list"
    no_results = bool(options.get("model")) and not any(coco.results for _, coco in read)
    for file, coco in read:
        is_model = coco.results or no_results
        _place(file, coco, sizes, rows, options, find, absent_from, is_model=is_model)


def add_data_set_boxes(
    file: SourceFile, probe: Probe, rows: SetRows, options: Mapping[str, Any]
) -> bool:
    """Add the reference boxes of a data set to known images; return False for another file."""
    if not recognises(probe) or not isinstance(probe.json, dict):
        return False
    coco = read_coco_file(file.path, rows.log)
    if coco is None:
        return False
    by_name = _by_name(rows)

    def find(box: SourceBox) -> CaseImage | None:
        image = coco.images.get(box.image)
        return by_name(replace(box, image=image.name)) if image else None

    sizes = {key: image.size for key, image in coco.images.items()}
    absent_from = "are not in the folder, or whose name occurs there more than once"
    _place(file, coco, sizes, rows, options, find, absent_from, is_model=False)
    return True


def _place(
    file: SourceFile,
    coco: CocoFile,
    sizes: Mapping[CocoKey, tuple[int, int] | None],
    rows: SetRows,
    options: Mapping[str, Any],
    find: Callable[[SourceBox], CaseImage | None],
    absent_from: str,
    *,
    is_model: bool,
) -> None:
    """Place boxes without scores, and those with scores as a model's: people give no scores."""
    rows.receipt.rows(file.label, len(coco.boxes) + len(coco.left_out), _BOXES)
    for row, why in coco.left_out.items():
        rows.receipt.unused(RowOrigin(file.label, row, _BOXES), why)
    for is_scored in (False, True):
        boxes = [
            replace(box, size=sizes.get(box.image))
            for box in coco.boxes
            if (box.score is not None) == is_scored
        ]
        model = (options.get("model") or file.path.stem) if is_model or is_scored else None
        if not boxes and (model is None or is_scored or coco.boxes):
            continue
        if model is not None:
            rows.declare_model(model, draws_boxes=True)
        place_boxes(
            assign_model(boxes, model),
            file.label,
            rows,
            options,
            find=find,
            expected=_READING,
            part=_BOXES,
            absent_from=absent_from,
        )


def _by_name(rows: SetRows) -> Callable[[SourceBox], CaseImage | None]:
    return lambda box: rows.find_case(image=str(box.image), case=str(box.image))


def _add_cases(coco: CocoFile, file: SourceFile, rows: SetRows) -> dict[CocoKey, CaseImage]:
    """Add a case for each study or image; return the case and image of each image's key."""
    pictures = PictureCases(rows)
    paths: dict[CocoKey, str] = {}
    for key, image in coco.images.items():
        if safe_path(image.name) is None:
            message = "The file_name is not a path inside a folder; the image was left out."
            remedy = "Write it relative to the images folder."
            rows.log.warning(file.label, message, remedy, row=image.row, field="images")
            continue
        fields = {**image.extra, **({"study_id": image.study} if image.study else {})}
        view = {"view": image.view} if image.view else {}
        at = RowOrigin(file.label)
        pictures.case_of((image.name,), at, image.name, study=image.study, image=view, **fields)
        paths[key] = image.name
    places = {key: pictures.find(path) for key, path in paths.items()}
    return {key: place for key, place in places.items() if place is not None}
