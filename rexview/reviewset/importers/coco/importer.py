"""Boxes in COCO JSON, as the truth or as a model's, with the images they are on.

A data set (images, annotations, categories) makes the cases, one an image or, where its images have
a ``study_id``, one a study. A list of results adds a model's boxes to the data set given with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from rexview.reviewset.importers.annotations.box_placement import as_model, place_boxes
from rexview.reviewset.importers.annotations.box_reading import BoxReading
from rexview.reviewset.importers.annotations.found_box import FoundBox
from rexview.reviewset.importers.annotations.picture_cases import PictureCases
from rexview.reviewset.importers.coco.file import CocoFile, Key, read_coco_file
from rexview.reviewset.importers.core.recognise import Probe
from rexview.reviewset.importers.core.set_rows import Place, SetRows
from rexview.reviewset.importers.core.source_files import SourceFile
from rexview.reviewset.importers.images.names import safe_path
from rexview.reviewset.importers.images.placement import place_images
from rexview.reviewset.tables.source import At

_READING: Final = BoxReading("xywh", "pixels")
_BOXES: Final = "annotations"
"""The list that a receipt counts: images are pictures, not rows."""


def recognises(probe: Probe) -> str | None:
    """Say why a file is COCO: a data set's lists, or results with an image and a box each."""
    if probe.kind != "json":
        return None
    if isinstance(probe.json, dict):
        lists = [
            name for name in ("images", "annotations") if isinstance(probe.json.get(name), list)
        ]
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
    labels: dict[Key, str] = {}
    for file in sorted(files, key=_is_list):
        coco = read_coco_file(file.path, rows.log, labels)
        if coco is not None:
            labels = {**coco.labels, **labels}
            read.append((file, coco))
    targets: dict[Key, Place] = {}
    sizes: dict[Key, tuple[int, int] | None] = {}
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
    find = _by_name(rows) if results_only else _by_key(targets)
    has_results = any(coco.results for _, coco in read)
    for file, coco in read:
        told = options.get("model")
        absent_from = "the data set does not list" if not results_only else "are not there"
        _name_left_out(file, coco, rows)
        for is_scored in (False, True):  # who draws a box by hand gives it no score
            boxes = [
                replace(box, size=sizes.get(box.image))
                for box in coco.boxes
                if (box.score is not None) == is_scored
            ]
            is_model = coco.results or is_scored or (told and not has_results)
            model = (told or file.path.stem) if is_model else None
            if boxes or (model is not None and not is_scored and not coco.boxes):
                _place(file, boxes, model, rows, options, find, absent_from)


def add_data_set_boxes(
    file: SourceFile, probe: Probe, rows: SetRows, options: Mapping[str, Any]
) -> bool:
    """Add the reference boxes of a data set to images that are there; False when it is none."""
    if not recognises(probe) or not isinstance(probe.json, dict):
        return False
    coco = read_coco_file(file.path, rows.log)
    if coco is None:
        return False
    by_name = _by_name(rows)

    def find(box: FoundBox) -> Place | None:
        image = coco.images.get(box.image)
        return by_name(replace(box, image=image.name)) if image else None

    boxes = [
        replace(box, size=getattr(coco.images.get(box.image), "size", None)) for box in coco.boxes
    ]
    absent_from = "are not in the folder, or whose name occurs there more than once"
    _name_left_out(file, coco, rows)
    for model in (None, file.path.stem):  # who draws a box by hand gives it no score
        own = [box for box in boxes if (box.score is None) == (model is None)]
        if own:
            _place(file, own, model, rows, options, find, absent_from)
    return True


def _name_left_out(file: SourceFile, coco: CocoFile, rows: SetRows) -> None:
    rows.receipt.rows(file.label, len(coco.boxes) + len(coco.left_out), _BOXES)
    for row, why in coco.left_out.items():
        rows.receipt.unused(At(file.label, row, _BOXES), why)


def _place(
    file: SourceFile,
    boxes: Sequence[FoundBox],
    model: str | None,
    rows: SetRows,
    options: Mapping[str, Any],
    find: Callable[[FoundBox], Place | None],
    absent_from: str,
) -> None:
    if model is not None:
        rows.declare_model(model, draws_boxes=True)
    place_boxes(
        as_model(boxes, model),
        file.label,
        rows,
        options,
        find=find,
        expected=_READING,
        part=_BOXES,
        absent_from=absent_from,
    )


def _by_key(targets: Mapping[Key, Place]) -> Callable[[FoundBox], Place | None]:
    return lambda box: targets.get(box.image)


def _by_name(rows: SetRows) -> Callable[[FoundBox], Place | None]:
    return lambda box: rows.find_case(image=str(box.image), case=str(box.image))


def _is_list(file: SourceFile) -> bool:
    """Whether a JSON file begins as a list: results are read after the sets that name things."""
    with file.path.open("rb") as stream:
        return stream.read(100).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")


def _add_cases(coco: CocoFile, file: SourceFile, rows: SetRows) -> dict[Key, Place]:
    """Add a case for each study or image; return the case and image of each image's key."""
    pictures = PictureCases(rows)
    targets: dict[Key, Place] = {}
    paths: dict[Key, str] = {}
    for key, image in coco.images.items():
        if safe_path(image.name) is None:
            message = "The file_name is not a path inside a folder; the image was left out."
            remedy = "Write it relative to the images folder."
            rows.log.warning(file.label, message, remedy, row=image.row, field="images")
            continue
        fields = {**image.extra, **({"study_id": image.study} if image.study else {})}
        view = {"view": image.view} if image.view else {}
        pictures.case_of(
            (image.name,), At(file.label), image.name, study=image.study, image=view, **fields
        )
        paths[key] = image.name
    for key, path in paths.items():
        place = pictures.find(path)
        if place is not None:
            targets[key] = place
    return targets
