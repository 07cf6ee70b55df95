"""From a DICOM file to a Radiograph."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pydicom import uid
from pydicom.pixels.processing import apply_color_lut

from rexview.errors import ImageBroken
from rexview.imaging.colour import grey_or_colour
from rexview.imaging.dicom.files import OpenedDicom, open_dicom
from rexview.imaging.dicom.grey import (
    is_inverted,
    modality_of,
    padding_of,
    presentation_of,
    windows_of,
)
from rexview.imaging.dicom.header import Header
from rexview.imaging.dicom.pixels import decode
from rexview.imaging.dicom.shape import Shape, frames_of, needed_bytes, shape_of
from rexview.imaging.dicom.spacing import aspect_of, spacing_of
from rexview.imaging.limits import MORE_FRAMES
from rexview.imaging.memory import strips, take
from rexview.imaging.radiograph import ImageFacts, Modality, Radiograph

_PALETTES: Final = ("Red", "Green", "Blue", "Alpha")
_LONGEST_TABLE: Final = 65_536
_DISCRETE, _LINEAR = 0, 1
NO_PALETTE: Final = "The picture's colour table is missing or damaged."


def read_dicom(path: Path, declared: bool, max_pixels: int) -> Radiograph:
    """Decode the first frame of a DICOM file, and what is needed to show it.

    Parameters are those of :func:`rexview.imaging.dicom.files.open_dicom`.

    Raises
    ------
    ImageTooLarge, ImageBroken, ImageBusy
        With the reason.
    """
    with open_dicom(path, declared, max_pixels) as opened:
        header, element = opened.header, opened.pixels
        if element is None:
            raise _no_picture(header)
        shape = shape_of(header, element, max_pixels)
        unpacked = opened.size if isinstance(opened.file, BytesIO) else 0
        take(needed_bytes(shape, opened.syntax, unpacked), max_pixels)
        pixels = decode(opened.file, header, element, shape, opened.syntax, opened.size)
    notes = list(shape.notes)
    if shape.frames > 1:
        notes.append(MORE_FRAMES.format(frames=shape.frames))
    if shape.photometry == "PALETTE COLOR" or shape.samples == 3:
        grey: dict[str, Any] = {}
        pixels = _colour(pixels, header, shape, opened.syntax.is_little_endian)
        bits = pixels.dtype.itemsize * 8
    else:
        bits = shape.bits
        grey = _grey(pixels, header, notes)
    spacing = spacing_of(header)
    return Radiograph(
        pixels,
        "dicom",
        bits,
        aspect=aspect_of(header, spacing),
        spacing=spacing,
        patient_orientation=orientation_words(header),
        view=view_word(header),
        frames=shape.frames,
        warnings=tuple(dict.fromkeys(notes)),
        **grey,
    )


def _no_picture(header: Header) -> ImageBroken:
    kind = uid.UID(header.text("SOPClassUID") or "")
    name = f" ({kind.name})" if kind.name and kind.name != str(kind) else ""
    return ImageBroken(f"This DICOM file has no picture in it{name}.")


def _colour(
    pixels: NDArray[Any], header: Header, shape: Shape, little_endian: bool
) -> NDArray[Any]:
    """R, G, B of 8 bits, or one grey channel, from palette indices or colour samples."""
    bits = min(shape.bits, pixels.dtype.itemsize * 8)
    if shape.photometry == "PALETTE COLOR":
        pixels = _through_palette(pixels, header, little_endian)
        bits = pixels.dtype.itemsize * 8
    return grey_or_colour(pixels[..., :3], bits)


def _through_palette(pixels: NDArray[Any], header: Header, little_endian: bool) -> NDArray[Any]:
    """(rows, columns, 3) R, G, B in the depth of the file's colour table."""
    described = header.numbers("RedPaletteColorLookupTableDescriptor")
    wide = len(described) < 3 or int(described[2]) // 8 != 1
    kind = ("<u2" if little_endian else ">u2") if wide else "u1"
    for name in _PALETTES:
        segments = header.raw(f"Segmented{name}PaletteColorLookupTableData")
        if segments and _unfolds_too_far(segments, kind):
            raise ImageBroken(NO_PALETTE)
    found: NDArray[Any] | None = None
    try:
        for rows in strips(*pixels.shape):
            colour = apply_color_lut(pixels[rows], header.dataset)[..., :3]
            if found is None:
                found = np.empty((*pixels.shape, 3), colour.dtype)
            found[rows] = colour
    except Exception:  # a damaged table raises anything
        raise ImageBroken(NO_PALETTE) from None
    assert found is not None
    return found


def _unfolds_too_far(segments: bytes, kind: str) -> bool:
    """Whether a segmented colour table (PS3.3 C.7.9.2) is longer than a table can be.

    Six bytes can ask for 65,535 entries, where a whole table has at most 65,536. Segments that
    repeat others count as too long: they multiply.
    """
    words = np.frombuffer(segments[: len(segments) // 2 * 2], kind)
    at, entries = 0, 0
    while at + 1 < len(words):
        code, length = int(words[at]), int(words[at + 1])
        entries += length
        if code not in (_DISCRETE, _LINEAR) or entries > _LONGEST_TABLE:
            return True
        at += 2 + (length if code == _DISCRETE else 1)
    return False


def _grey(pixels: NDArray[Any], header: Header, notes: list[str]) -> dict[str, Any]:
    """The grey-scale attributes of a Radiograph."""
    modality = modality_of(header, notes)
    presentation = presentation_of(header, notes)
    lowest = _lowest_value(pixels.dtype, modality)
    return {
        "modality": modality,
        "windows": windows_of(header, lowest, presentation, notes),
        "invert": is_inverted(header, notes),
        "presentation": presentation,
        "padding": padding_of(header),
    }


def _lowest_value(dtype: np.dtype[Any], modality: Modality) -> float:
    """Smallest value that the modality transform can give for a pixel type."""
    if modality.table is not None:
        return 0.0
    if dtype.kind == "f":
        return float("-inf")
    limits = np.iinfo(dtype)
    return min(float(end) * modality.slope for end in (limits.min, limits.max)) + modality.intercept


def orientation_words(header: Header) -> tuple[str, ...] | None:
    """PatientOrientation (0020,0020), when both words are there."""
    words = header.texts("PatientOrientation")
    return words if len(words) == 2 and all(words) else None


def view_word(header: Header) -> str | None:
    """The file's word for the view: ViewPosition, else the meaning of its view code."""
    word = header.text("ViewPosition")
    if word:
        return word
    for item in header.items("ViewCodeSequence")[:1]:
        return item.text("CodeMeaning")
    return None


def facts_of(opened: OpenedDicom) -> ImageFacts:
    """Read the facts of an opened file that has a picture."""
    header = opened.header
    rows, columns = header.integer("Rows"), header.integer("Columns")
    if opened.pixels is None or not rows or not columns:
        raise _no_picture(header)
    return ImageFacts(
        columns,
        rows,
        frames_of(header),
        orientation_words(header),
        view_word(header),
        format="DICOM",
        burned_in=_burned_in(header),
    )


def _burned_in(header: Header) -> bool | None:
    """Read what a file says about identifying text in its pixels (PS3.3 C.7.6.1)."""
    said = (header.text("BurnedInAnnotation") or "").upper()
    return {"YES": True, "NO": False}.get(said)
