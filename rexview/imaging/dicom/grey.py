"""What a DICOM header says about grey: modality, windows, presentation, inversion, padding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rexview.imaging.dicom.header import Header
from rexview.imaging.radiograph import Modality, VoiTable, Window, WindowKind
from rexview.imaging.transforms.windowing import ROUND, grey_levels

BAD_RESCALE: Final = "The file's rescale values cannot be used; stored values are shown."
BAD_WINDOW: Final = "A window given in the file cannot be used and is left out."
BAD_TABLE: Final = "A lookup table given in the file cannot be used and is left out."
CONTRADICTION: Final = (
    "The file contradicts itself about whether low values are black or white: "
    "compare the grey scale with what you expect."
)
_KINDS: Final[dict[str, WindowKind]] = {
    "LINEAR": "linear",
    "LINEAR_EXACT": "linear_exact",
    "SIGMOID": "sigmoid",
}


def _table(item: Header) -> tuple[int, NDArray[np.uint16], int] | None:
    """First value mapped, entries and bits of a LUT item (PS3.3 C.11.1.1); None if unusable."""
    descriptor = item.numbers("LUTDescriptor")
    data: Any = item.raw("LUTData")
    if len(descriptor) != 3 or data is None:
        return None
    length, first, bits = (int(number) for number in descriptor)
    length = length % 65536 or 65536  # 0 stands for 65,536; a signed VR shows 32,768 and up as < 0
    if not 8 <= bits <= 16:
        return None
    if isinstance(data, bytes):
        little = item.dataset.original_encoding[1] is not False
        packed = bits == 8 and len(data) < 2 * length
        entries = np.frombuffer(data[: len(data) // 2 * 2], "<u2" if little else ">u2")
        entries = np.frombuffer(data, np.uint8) if packed and little else entries
        if packed and not little:
            entries = entries.astype("<u2").view(np.uint8)
    else:
        try:
            entries = np.atleast_1d(np.array(data, dtype=np.int64) & 0xFFFF)
        except (TypeError, ValueError, OverflowError):
            return None
    entries = entries[:length].astype(np.uint16)
    return (first, entries, bits) if entries.size >= 2 else None


def modality_of(header: Header, notes: list[str]) -> Modality:
    """The modality LUT, else the rescale, else the identity."""
    for item in header.items("ModalityLUTSequence")[:1]:
        table = _table(item)
        if table is not None:
            first, entries, _ = table
            signed = header.integer("PixelRepresentation") == 1
            first -= 65536 if signed and first >= 32768 else 0
            return Modality(table=entries, table_first=first)
        notes.append(BAD_TABLE)
    holder = header.holder("RescaleSlope", "PixelValueTransformationSequence")
    if holder.raw("RescaleSlope") is None or holder.raw("RescaleIntercept") is None:
        return Modality()
    slope, intercept = holder.number("RescaleSlope"), holder.number("RescaleIntercept")
    if not slope or intercept is None or max(abs(slope), abs(intercept)) > 1e12:
        notes.append(BAD_RESCALE)
        return Modality()
    return Modality(slope, intercept)


def presentation_of(header: Header, notes: list[str]) -> bytes | None:
    """The presentation LUT as grey levels (PS3.3 C.11.6)."""
    for item in header.items("PresentationLUTSequence")[:1]:
        table = _table(item)
        if table is not None:
            return grey_levels(table[1], table[2])
        notes.append(BAD_TABLE)
    return None


def is_inverted(header: Header, notes: list[str]) -> bool:
    """Whether low values are white.

    PresentationLUTShape decides where it is present, else MONOCHROME1: both say the same thing
    (PS3.3 C.8.11.3.1.2), so they do not cancel out.
    """
    by_photometry = header.text("PhotometricInterpretation") == "MONOCHROME1"
    shape = (header.text("PresentationLUTShape") or "").upper()
    if shape not in ("IDENTITY", "INVERSE"):
        return by_photometry
    if (shape == "INVERSE") != by_photometry:
        notes.append(CONTRADICTION)
    return shape == "INVERSE"


def padding_of(header: Header) -> tuple[int, int] | None:
    """Range of stored values that are not picture (PS3.3 C.7.5.1.1.2)."""
    value = header.integer("PixelPaddingValue")
    if value is None:
        return None
    limit = header.integer("PixelPaddingRangeLimit")
    ends = [value, value if limit is None else limit]
    if header.integer("PixelRepresentation") == 1:
        ends = [end - 65536 if 32768 <= end < 65536 else end for end in ends]
    return min(ends), max(ends)


def windows_of(header: Header, lowest: float, presentation: bytes | None, notes: list[str]) -> (
    tuple[Window, ...]
):  # fmt: skip
    """The file's windows in the order in which they are offered: tables first, as pydicom does.

    Parameters
    ----------
    header : Header
        Of the file.
    lowest : float
        Smallest value that the modality transform can give; tells whether a table's first value,
        which the standard stores unsigned or signed like the values, is meant as negative.
    presentation : bytes or None
        Presentation LUT, worked into the tables.
    notes : list of str
        Receives a sentence for what cannot be used.
    """
    tables = list(_voi_tables(header, lowest, presentation, notes))
    plain = list(_plain_windows(header, notes))
    windows: dict[tuple[object, ...], Window] = {}
    for window in (*tables, *plain):
        key = (window.kind, window.centre, window.width, window.table)
        windows.setdefault(key, window)
    return tuple(windows.values())


def _voi_tables(
    header: Header, lowest: float, presentation: bytes | None, notes: list[str]
) -> Iterator[Window]:
    holder = header.holder("VOILUTSequence", "FrameVOILUTSequence")
    items = holder.items("VOILUTSequence")
    for place, item in enumerate(items, start=1):
        table = _table(item)
        if table is None:
            notes.append(BAD_TABLE)
            continue
        first, entries, bits = table
        if first >= 32768 and lowest < 0:
            first -= 65536
        levels = grey_levels(entries, bits)
        if presentation is not None:
            positions = np.minimum(entries / float(2**bits - 1), 1.0)
            index = np.floor(positions * (len(presentation) - 1) + ROUND).astype(np.intp)
            levels = np.frombuffer(presentation, dtype=np.uint8)[index].tobytes()
        name = _name(item.text("LUTExplanation"), "Table", place, len(items))
        middle = first + (len(entries) - 1) / 2
        yield Window(name, "lut", middle, float(len(entries)), VoiTable(first, levels))


def _plain_windows(header: Header, notes: list[str]) -> Iterator[Window]:
    holder = header.holder("WindowCenter", "FrameVOILUTSequence")
    centres, widths = holder.numbers("WindowCenter"), holder.numbers("WindowWidth")
    if not centres or not widths:
        if holder.raw("WindowCenter") is not None:
            notes.append(BAD_WINDOW)
        return
    names = holder.texts("WindowCenterWidthExplanation")
    kind = _KINDS.get((holder.text("VOILUTFunction") or "LINEAR").upper())
    if kind is None:
        notes.append(BAD_WINDOW)
        return
    pairs = list(zip(centres, widths, strict=False))
    for place, (centre, width) in enumerate(pairs, start=1):
        if width < 1 if kind == "linear" else width <= 0:
            notes.append(BAD_WINDOW)
            continue
        name = names[place - 1] if place <= len(names) else None
        yield Window(_name(name, "Window", place, len(pairs)), kind, centre, width)


def _name(given: str | None, word: str, place: int, of: int) -> str:
    if given:
        return given[:40]
    return f"{word} {place}" if of > 1 else f"{word} of the file"
