"""Export boxes to annotation tools: one module a format, and the images that they share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import cv2

from rexview.errors import ImageError, PathEscape
from rexview.export.export_job import ExportProgress
from rexview.export.export_records import ExportBox, ExportCase, ExportContent, ExportImage
from rexview.geometry import box_problem
from rexview.imaging import Radiograph, render_display
from rexview.imaging.raster import encode_picture_file

# Images with their boxes, in the form that annotation tools need.

NO_LABEL = "no label"
"""The category of a box without a label: the tools require a word."""
_QUALITY = 92
_NOT_A_NAME = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, eq=False)
class AnnotatedImage:
    """An image of a case with its size in stored pixels, and all its boxes that can be drawn.

    ``picture`` is the decoded image if it was requested.
    """

    case: ExportCase
    image: ExportImage
    width: int
    height: int
    boxes: tuple[ExportBox, ...]
    picture: Radiograph | None = None

    def share(self, box: ExportBox) -> tuple[float, float, float, float]:
        """Return a box in fractions of the image's width and height, clipped to the image."""
        x, y, width, height = box.box
        left, right = (min(max(edge / self.width, 0.0), 1.0) for edge in (x, x + width))
        top, bottom = (min(max(edge / self.height, 0.0), 1.0) for edge in (y, y + height))
        return left, top, right - left, bottom - top


def annotated_images(
    case: ExportCase, progress: ExportProgress, *, with_pictures: bool = False
) -> Iterator[AnnotatedImage]:
    """Yield the images of a case, including laterals and priors.

    An image is decoded if its picture is wanted or its size is unknown. Images and boxes that must
    be left out are reported in the export's notes.
    """
    boxes = [*case.reference_boxes, *(box for one in case.answers for box in one.boxes)]
    for box in boxes:
        if box.problem:
            _note_left_out(case, box, box.problem, progress)
    for image in case.images:
        picture, size = None, (image.width, image.height)
        if with_pictures or None in size:
            try:
                picture = image.read()
            except (ImageError, PathEscape) as error:
                progress.note(f"{case.id}, {image.title}: left out with its boxes. {error}")
                continue
            size = picture.width, picture.height
        width, height = size
        if not (width and height):
            continue
        there = []
        for box in case.boxes_on(image.id):  # decoding may have found the size
            if problem := box_problem(box.box, width, height):
                _note_left_out(case, box, problem, progress)
            else:
                there.append(box)
        yield AnnotatedImage(case, image, width, height, tuple(there), picture)


def _note_left_out(
    case: ExportCase, box: ExportBox, problem: str, progress: ExportProgress
) -> None:
    progress.note(f"{case.id}: the box “{box.label or NO_LABEL}” is left out. {problem}")


def display_jpeg(picture: Radiograph) -> bytes:
    """Return the viewer's first display as a JPEG, one pixel for each stored pixel."""
    options = [cv2.IMWRITE_JPEG_QUALITY, _QUALITY]
    return encode_picture_file(render_display(picture, "initial"), ".jpg", options)


@dataclass
class FileNames:
    """File names of images in one export, with a count of each to find duplicates."""

    given: Counter[str] = field(default_factory=Counter)

    def of(self, image: ExportImage) -> str:
        """Return the image's own file name; with pseudonyms, a generated one."""
        name = image.file_name or image.file_stem
        self.given[name] += 1
        return name

    def note(self, progress: ExportProgress) -> None:
        """Report how many names occur more than once."""
        several = sum(count > 1 for count in self.given.values())
        if several:
            progress.note(
                f"{several} names of files occur more than once: the fields case and image tell "
                "the pictures apart."
            )


def plain_model_names(content: ExportContent) -> dict[str, str]:
    """Return a unique name in plain letters for each model, by id."""
    return _unique_names((model.id, model.name) for model in content.models)


def _unique_names(named: Iterable[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, name in named:
        plain = _NOT_A_NAME.sub("_", name.lower()).strip("_") or "model"
        number, wanted = 1, plain
        while wanted in found.values():
            number += 1
            wanted = f"{plain}_{number}"
        found[key] = wanted
    return found
