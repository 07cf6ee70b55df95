"""Export answers, boxes, scores and decisions as DICOM reports and presentation states.

:mod:`.images` has the images of a case and their boxes: references to the originals, or Secondary
Captures. :mod:`.reports` makes the structured reports and the list of a case. :mod:`.presentation`
makes the boxes and windows that viewers draw. :mod:`.objects` has what all objects share, and the
codes of words. ``docs/exports.md`` describes the contents.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pydicom import Dataset

from rexview.analysis.colours import REFERENCE_IMAGE_COLOUR
from rexview.export.dicom_sr.case_images import (
    CaseImages,
    DicomImage,
    PlacedBox,
    group_by_image,
    place_boxes_on_images,
)
from rexview.export.dicom_sr.dicom_objects import CaseObjects, export_root
from rexview.export.dicom_sr.presentation import presentation_state
from rexview.export.dicom_sr.structured_reports import CaseReports, key_objects
from rexview.export.export_job import ExportProgress
from rexview.export.export_records import ExportBox, ExportContent

# Write an export as DICOM: images, reports and presentation states of each case.

_PLAIN: Final = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_NAME: Final = 40


def write(content: ExportContent, out: Path, progress: ExportProgress) -> None:
    """Write the cases of an export as files ``*.dcm``, each named by its case's number.

    Parameters
    ----------
    content : ExportContent
        The cases to export.
    out : Path
        An empty folder.
    progress : ExportProgress
        Counts the cases, and gets notes on pictures and boxes that could not be written.
    """
    root = export_root(content)
    people = _people(content)
    for case in progress.over(content):
        prefix = out / f"{case.number:04}-{_name(case.id)}_"
        objects = CaseObjects(root, case, content.notice, content.made, prefix)
        _Case(content, objects, people, progress).write()


class _Case:
    """Writer of one case."""

    def __init__(
        self,
        content: ExportContent,
        objects: CaseObjects,
        people: Mapping[str, str],
        progress: ExportProgress,
    ) -> None:
        self._content, self._objects, self._case = content, objects, objects.case
        self._people, self._progress = people, progress
        self._states = 0
        self._written: list[Dataset] = []

    def write(self) -> None:
        case = self._case
        images = CaseImages(self._objects, self._progress)
        returned = [picture for answer in case.answers for picture in answer.pictures]
        gathered = images.gather([*case.images, *returned])
        study = images.study()
        reports = CaseReports(self._objects, study, self._people, self._content.harm_levels)
        boxes, off_image = self._placed(gathered, case.reference_boxes, "the reference")
        of_case = [one for one in gathered if one.image.model is None]
        self._save(reports.of_case(of_case, boxes, off_image), "report-case")
        self._show(boxes, "Reference", REFERENCE_IMAGE_COLOUR, "reference")
        for place, answer in enumerate(case.answers, 1):
            model = self._content.model(answer.model)
            boxes, off_image = self._placed(gathered, answer.boxes, model.name)
            seen = [one for one in gathered if one.image.model in (None, answer.model)]
            name = f"{place:02}-{_name(model.id)}"
            made = reports.of_answer(answer, model, seen, boxes, off_image)
            self._save(made, f"report-{name}")
            self._show(boxes, model.name, model.colour, name)
        meeting = self._content.meeting.name if self._content.meeting else ""
        listed = [*(one.reference for one in gathered), *self._written]
        selection = key_objects(
            self._objects, study, listed, meeting=meeting, notes=self._content.notes
        )
        if selection:
            self._save(selection, "selection")

    def _placed(
        self, images: Sequence[DicomImage], boxes: Sequence[ExportBox], whose: str
    ) -> tuple[list[PlacedBox], list[tuple[ExportBox, str]]]:
        on_image, off_image = place_boxes_on_images(self._objects, images, boxes)
        for box, problem in off_image:
            self._progress.note(
                f"{self._case.id}: the box {box.label!r} of {whose} stands in the report as text "
                f"only. {problem}"
            )
        return on_image, off_image

    def _show(self, boxes: Sequence[PlacedBox], title: str, colour: str, name: str) -> None:
        """Write a presentation state for each image with boxes."""
        for image, there in group_by_image(boxes):
            if not image.is_colour and image.radiograph is None:
                continue  # reported when it was read
            self._states += 1
            state = presentation_state(
                self._objects, image, there, title=title, colour=colour, number=self._states
            )
            self._save(state, f"boxes-{self._states:02}-{name}")

    def _save(self, made: Dataset, name: str) -> None:
        self._objects.save(made, name)
        self._written.append(made)


def _people(content: ExportContent) -> Mapping[str, str]:
    """Return readers' names by id and by name; with pseudonyms, numbered ones."""
    if not content.pseudonyms:
        return content.readers
    numbered = {reader: f"Reader {at}" for at, reader in enumerate(content.readers, 1)}
    return {content.readers[reader]: said for reader, said in numbered.items()} | numbered


def _name(text: str) -> str:
    """Return a part of a file name in plain letters; it need not be unique."""
    return _PLAIN.sub("-", text)[:_LONGEST_NAME].strip("-") or "x"


__all__ = ["write"]
