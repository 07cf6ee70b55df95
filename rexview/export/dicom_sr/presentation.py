"""Make presentation states: boxes as graphics, and the window, for viewers without reports."""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import numpy as np
from highdicom import (
    VOILUT,
    ModalityLUT,
    ModalityLUTTransformation,
    PresentationLUT,
    PresentationLUTTransformation,
)
from highdicom.color import CIELabColor
from highdicom.pr import (
    ColorSoftcopyPresentationState,
    GraphicAnnotation,
    GraphicLayer,
    GraphicObject,
    GrayscaleSoftcopyPresentationState,
    SoftcopyVOILUTTransformation,
    TextObject,
)
from pydicom import Dataset

from rexview.export.dicom_sr.case_images import DicomImage, PlacedBox
from rexview.export.dicom_sr.dicom_objects import CaseObjects, long_string
from rexview.imaging import Modality, Radiograph, Window

_WIDE: Final = 257
"""Factor from 8-bit grey levels to the whole range of 16 bits."""
_SHORT_TEXT: Final = 1024


def presentation_state(
    objects: CaseObjects,
    image: DicomImage,
    boxes: Sequence[PlacedBox],
    *,
    title: str,
    colour: str,
    number: int,
) -> Dataset:
    """Make the presentation state of one image with the boxes of one answer.

    Parameters
    ----------
    title : str
        Whose boxes these are.
    colour : str
        Their colour, as ``#RRGGBB``.
    number : int
        Instance number among the case's presentation states.

    Returns
    -------
    Dataset
        Grayscale (PS3.3 A.33.1), or Color (A.33.2) for a colour picture.
    """
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    layer = GraphicLayer(
        "BOXES",
        order=1,
        description=long_string(f"Boxes: {title}"),
        display_color=CIELabColor.from_rgb(red, green, blue),
    )
    annotation = GraphicAnnotation(
        [image.reference],
        layer,
        graphic_objects=[_outline(box) for box in boxes],
        text_objects=[_label(box) for box in boxes],
    )
    common: dict[str, Any] = {
        **objects.numbered("PR", image.reference.StudyInstanceUID, number),
        "referenced_images": [image.reference],
        "content_label": "BOXES",
        "content_description": long_string(f"{image.image.title}: {title}"),
        "graphic_annotations": [annotation],
        "graphic_layers": [layer],
    }
    for of_content in ("content_date", "content_time"):  # presentation states have neither
        del common[of_content]
    if image.is_colour:
        return ColorSoftcopyPresentationState(**common, icc_profile=_srgb())
    assert image.radiograph is not None
    made = GrayscaleSoftcopyPresentationState(
        **common,
        modality_lut_transformation=_modality(image.modality),
        voi_lut_transformations=[_voi(image.window)] if image.window else None,
        presentation_lut_transformation=_presentation(image.radiograph),
    )
    if image.radiograph.aspect != 1.0:
        shown = made.DisplayedAreaSelectionSequence[0]
        shown.PresentationPixelAspectRatio = [round(image.radiograph.aspect * 1000), 1000]
    return made


@cache
def _srgb() -> bytes:
    """Return highdicom's default colour profile: nothing more is known of R, G, B."""
    found = pkgutil.get_data("highdicom", "_icc_profiles/sRGB_v4_ICC_preference.icc")
    assert found is not None
    return found


def _outline(box: PlacedBox) -> GraphicObject:
    return GraphicObject(
        "POLYLINE",
        box.outline,
        units="PIXEL",
        tracking_id=box.tracking_id,
        tracking_uid=box.tracking_uid,
    )


def _label(box: PlacedBox) -> TextObject:
    x, y = box.outline[0]
    return TextObject(
        long_string(box.words, _SHORT_TEXT) or "Box",
        units="PIXEL",
        anchor_point=(float(x), float(y)),
        anchor_point_visible=False,
        tracking_id=box.tracking_id,
        tracking_uid=box.tracking_uid,
    )


def _modality(modality: Modality) -> ModalityLUTTransformation:
    """Return the transform even if it is the identity: viewers would not use the image's own."""
    if modality.table is not None and modality.table_first >= 0:
        table = ModalityLUT("US", modality.table_first, modality.table)
        return ModalityLUTTransformation(modality_lut=table)
    return ModalityLUTTransformation(modality.intercept, modality.slope, "US")


def _voi(window: Window) -> SoftcopyVOILUTTransformation:
    table = window.table
    if window.kind == "lut" and table and 0 <= table.first < 65_536:
        levels = np.frombuffer(table.levels, np.uint8).astype(np.uint16) * _WIDE
        return SoftcopyVOILUTTransformation(
            voi_luts=[VOILUT(table.first, levels, long_string(window.name))]
        )
    function = "LINEAR" if window.kind == "lut" else window.kind.upper()
    return SoftcopyVOILUTTransformation(
        window_center=[window.centre],
        window_width=[window.width],
        window_explanation=[long_string(window.name)],
        voi_lut_function=function,
    )


def _presentation(radiograph: Radiograph) -> PresentationLUTTransformation:
    """Return the last step: low values black, like the standard's P-Values."""
    if radiograph.presentation is None:
        shape = "INVERSE" if radiograph.invert else "IDENTITY"
        return PresentationLUTTransformation(presentation_lut_shape=shape)
    levels = np.frombuffer(radiograph.presentation, np.uint8).astype(np.uint16) * _WIDE
    if radiograph.invert:
        levels = np.asarray(65_535 - levels, np.uint16)
    return PresentationLUTTransformation(presentation_lut=PresentationLUT(0, levels))
