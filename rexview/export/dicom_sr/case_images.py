"""Provide the images of a case as DICOM: references to originals, or Secondary Captures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from highdicom.sc import SCImage
from numpy.typing import NDArray
from pydicom import Dataset
from pydicom.valuerep import DSfloat

from rexview.errors import ImageError, PathEscape
from rexview.export.dicom_sr.dicom_objects import CaseObjects, long_string, plain_text
from rexview.export.export_job import ExportProgress
from rexview.export.export_records import ExportBox, ExportImage
from rexview.geometry import box_problem
from rexview.imaging import Modality, Radiograph
from rexview.imaging.dicom import ImageReference
from rexview.imaging.image_files import read_reference
from rexview.imaging.radiograph import IDENTITY, Window
from rexview.imaging.transforms import code_pixels, presets

_CAPTURED: Final = "Secondary Capture, made by rexview of a picture that no DICOM object stands for"
_HIDDEN: Final = "Secondary Capture, made by rexview under pseudonyms: its UIDs are new ones"


@dataclass(frozen=True, eq=False)
class DicomImage:
    """An image as other objects refer to it.

    ``reference`` has only its UIDs, size and patient. ``radiograph`` is the description of its
    picture, without pixels; None if it cannot be decoded. ``modality`` maps the pixels of
    ``reference`` to the values of ``window``, which is None for colour.
    """

    image: ExportImage
    reference: Dataset
    radiograph: Radiograph | None = field(default=None, repr=False)
    modality: Modality = IDENTITY
    window: Window | None = None

    @property
    def is_colour(self) -> bool:
        """Whether its pixels are R, G, B."""
        return bool(self.reference.SamplesPerPixel == 3)


class CaseImages:
    """The images of one case, found or made; made ones are written."""

    def __init__(self, objects: CaseObjects, progress: ExportProgress) -> None:
        self._objects, self._progress = objects, progress
        self._made = 0
        self._study: dict[bool, str] = {}

    def gather(self, images: Iterable[ExportImage]) -> list[DicomImage]:
        """Return the images that can be referred to, after reading the originals' studies."""
        every = list(images)
        originals = {image.id: self._original(image) for image in every}
        for image in every:
            if found := originals[image.id]:
                self._study.setdefault(image.prior, found.study)
        gathered = (self._gathered(image, originals[image.id]) for image in every)
        return [one for one in gathered if one is not None]

    def study(self, *, prior: bool = False) -> str:
        """Return the study of new objects: that of an original, if there is one."""
        return self._study.get(prior) or self._objects.uid("study", "prior" if prior else "current")

    def _original(self, image: ExportImage) -> ImageReference | None:
        """Return an original's reference; None with several frames, as boxes are on the first."""
        try:
            found = read_reference(image.source()) if image.source else None
        except (ImageError, PathEscape):
            return None  # reported when its pixels are read
        return found if found and found.frames == 1 else None

    def _gathered(self, image: ExportImage, original: ImageReference | None) -> DicomImage | None:
        self._progress.check()
        radiograph: Radiograph | None = None
        try:
            radiograph = image.read()
        except (ImageError, PathEscape) as error:
            where = f"{self._objects.case.id}, {image.title}"
            left = "it is referred to, without its window" if original else "it is left out"
            self._progress.note(f"{where}: {error} So {left}.")
        if original:
            return self._referred(image, original, radiograph)
        return self._captured(image, radiograph) if radiograph else None

    def _referred(
        self, image: ExportImage, original: ImageReference, radiograph: Radiograph | None
    ) -> DicomImage:
        reference = self._objects.header(original.study)
        reference.SeriesInstanceUID = original.series
        reference.SOPInstanceUID = original.instance
        reference.SOPClassUID = original.sop_class
        reference.Rows, reference.Columns = original.rows, original.columns
        reference.SamplesPerPixel = 3 if radiograph and radiograph.colour else 1
        reference.Modality = "OT"
        if radiograph is None or radiograph.colour:
            return DicomImage(image, reference, radiograph and _without_pixels(radiograph))
        window = _first_window(radiograph)
        return DicomImage(
            image, reference, _without_pixels(radiograph), radiograph.modality, window
        )

    def _captured(self, image: ExportImage, radiograph: Radiograph) -> DicomImage:
        """Make a Secondary Capture (PS3.3 A.8.1) of a picture, in its full depth."""
        self._made += 1
        study = self.study(prior=image.prior)
        pixels, modality, bits = _capture_pixels(radiograph)
        header = self._objects.header(study)
        numbered = self._objects.numbered("OT", study, self._made)
        made = SCImage(
            pixel_array=pixels,
            photometric_interpretation=_photometric(radiograph),
            bits_allocated=pixels.dtype.itemsize * 8,
            coordinate_system="PATIENT",
            patient_orientation=("L", "F"),
            study_instance_uid=study,
            patient_id=header.PatientID,
            patient_name=header.PatientName,
            specific_character_set="ISO_IR 192",
            **numbered,
        )
        ends = image.orientation
        at_ends = [end for end in (ends.right, ends.bottom) if end]
        made.PatientOrientation = at_ends if len(at_ends) == 2 else []
        made.ConversionType = "WSD"
        made.DerivationDescription = _CAPTURED if image.source else _HIDDEN
        made.ImageComments = plain_text(image.title)
        made.BitsStored, made.HighBit = bits, bits - 1
        window = None if radiograph.colour else _first_window(radiograph)
        _add_display_attributes(made, radiograph, modality, window)
        self._objects.save(made, f"image-{self._made:02}-{_image_description(image)}")
        reference = self._objects.header(study)
        for keyword in ("SeriesInstanceUID", "SOPInstanceUID", "SOPClassUID", "Rows", "Columns"):
            setattr(reference, keyword, made[keyword].value)
        reference.SamplesPerPixel, reference.Modality = made.SamplesPerPixel, made.Modality
        return DicomImage(image, reference, _without_pixels(radiograph), modality, window)


def _without_pixels(radiograph: Radiograph) -> Radiograph:
    """Return a picture's description without its pixels, as films are large."""
    return replace(radiograph, pixels=np.empty((0, 0), np.uint8))


def _image_description(image: ExportImage) -> str:
    if image.model:
        return "returned"
    return f"{'prior-' if image.prior else ''}{image.view.lower()}"


def _photometric(radiograph: Radiograph) -> str:
    if radiograph.colour:
        return "RGB"
    return "MONOCHROME1" if radiograph.invert else "MONOCHROME2"


def _capture_pixels(radiograph: Radiograph) -> tuple[NDArray[Any], Modality, int]:
    """Return pixels for a Secondary Capture, their mapping to values, and their bits."""
    if radiograph.colour:
        return radiograph.pixels, IDENTITY, 8
    coded = code_pixels(radiograph)
    whole = coded.codes.dtype.itemsize * 8
    fits = int(coded.codes.max(initial=0)) < 1 << radiograph.bits
    bits = radiograph.bits if 8 <= radiograph.bits <= whole and fits else whole
    return coded.codes, Modality(coded.scale, coded.offset), bits


def _first_window(radiograph: Radiograph) -> Window:
    """Return the viewer's first window."""
    windows, first, _ = presets(radiograph, code_pixels(radiograph))
    return windows[first]


def _add_display_attributes(
    made: Dataset, radiograph: Radiograph, modality: Modality, window: Window | None
) -> None:
    """Add the display attributes: rescaling, window, shape and spacing of pixels."""
    if (modality.slope, modality.intercept) != (1.0, 0.0):
        made.RescaleSlope = DSfloat(modality.slope, auto_format=True)
        made.RescaleIntercept = DSfloat(modality.intercept, auto_format=True)
        made.RescaleType = "US"
    if window and window.kind != "lut":
        made.WindowCenter = DSfloat(window.centre, auto_format=True)
        made.WindowWidth = DSfloat(window.width, auto_format=True)
        made.VOILUTFunction = window.kind.upper()
    spacing = radiograph.spacing
    if spacing:
        distance = [DSfloat(mm, auto_format=True) for mm in (spacing.row_mm, spacing.col_mm)]
        keyword = "PixelSpacing" if spacing.at == "patient" else "NominalScannedPixelSpacing"
        setattr(made, keyword, distance)
    if radiograph.aspect != 1.0 and "PixelSpacing" not in made:
        made.PixelAspectRatio = [round(radiograph.aspect * 1000), 1000]


# Boxes for DICOM objects: their outline on the image, and their values.


@dataclass(frozen=True, eq=False)
class PlacedBox:
    """A box on an image that objects can refer to.

    ``outline`` has its corners, float64 of shape (5, 2): column and row from the top left corner of
    the image, clockwise, closed by repeating the first. It is clipped to the image (``is_cut`` if
    that cut something). Structured reports (PS3.3 C.18.6.1.2) and presentation states (C.10.5.1.2)
    use the same coordinates as our boxes.
    """

    box: ExportBox
    image: DicomImage
    outline: NDArray[np.float64]
    is_cut: bool
    tracking_id: str
    tracking_uid: str

    @property
    def words(self) -> str:
        """The label, and a remark if the position is uncertain."""
        label = long_string(self.box.label, 300) or "Box"
        return f"{label} (place unsure)" if self.box.unsure else label


def place_boxes_on_images(
    objects: CaseObjects, images: Sequence[DicomImage], boxes: Sequence[ExportBox]
) -> tuple[list[PlacedBox], list[tuple[ExportBox, str]]]:
    """Place boxes on the images of a case.

    Returns
    -------
    tuple
        The boxes on an image, and the others with the reason.
    """
    by_id = {one.image.id: one for one in images if one.image.model is None}
    on_image, off_image = [], []
    for number, box in enumerate(boxes, 1):
        image = by_id.get(box.image)
        if image is None:
            off_image.append((box, box.problem or "Its image cannot be read."))
            continue
        size = image.reference.Columns, image.reference.Rows
        if problem := box.problem or box_problem(box.box, *size):
            off_image.append((box, problem))
            continue
        outline, is_cut = _outline(box, image)
        who = box.model or "reference"
        uid = objects.uid("box", who, number, box.image, box.label, box.box)
        tracking_id = long_string(f"{who} box {number}")
        on_image.append(PlacedBox(box, image, outline, is_cut, tracking_id, uid))
    return on_image, off_image


def group_by_image(boxes: Sequence[PlacedBox]) -> Iterator[tuple[DicomImage, list[PlacedBox]]]:
    """Yield each image that has boxes, with its boxes."""
    images = dict.fromkeys(box.image for box in boxes)
    for image in images:
        yield image, [box for box in boxes if box.image is image]


def _outline(box: ExportBox, image: DicomImage) -> tuple[NDArray[np.float64], bool]:
    x, y, width, height = box.box
    columns, rows = float(image.reference.Columns), float(image.reference.Rows)
    left, right = (min(max(at, 0.0), columns) for at in (x, x + width))
    top, bottom = (min(max(at, 0.0), rows) for at in (y, y + height))
    is_cut = (left, top, right, bottom) != (x, y, x + width, y + height)
    corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    return np.array(corners, np.float64), is_cut
