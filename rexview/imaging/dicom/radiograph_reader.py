"""Read a DICOM file into a Radiograph.

Only the first frame is decoded: a multi-frame film costs no more than one picture. pydicom decodes
through its plugins. Every failure becomes a reason that a reader understands. Grey levels and pixel
spacing in the header are also read here.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray
from pydicom import uid
from pydicom.pixels.decoders.base import get_decoder
from pydicom.pixels.processing import apply_color_lut

from rexview.errors import ImageBroken
from rexview.imaging.dicom.dicom_header import (
    DicomHeader,
    OpenedDicom,
    PixelElement,
    PixelShape,
    check_compressed,
    decoding_bytes,
    frame_count,
    open_dicom,
    read_pixel_shape,
)
from rexview.imaging.limits import MORE_FRAMES, cut_off_error, reserve_memory, row_strips
from rexview.imaging.radiograph import (
    ImageFacts,
    Modality,
    Radiograph,
    Spacing,
    VoiTable,
    Window,
    WindowKind,
)
from rexview.imaging.raster import grey_or_colour
from rexview.imaging.transforms import ROUND, grey_levels

PROJECTION_MODALITIES: Final = frozenset(
    {"CR", "DX", "RG", "RF", "XA", "MG", "IO", "PX", "SC", "OT"}
)
"""Modalities of projection images: a length in the patient is magnified on the detector."""
_BOUNDS: Final = (1e-4, 100.0)
_METHODS: Final = {
    "GEOMETRY": "corrected for the geometric magnification",
    "FIDUCIAL": "calibrated with an object of known size",
}


def _pair(header: DicomHeader, keyword: str) -> tuple[float, float] | None:
    numbers = header.numbers(keyword)
    low, high = _BOUNDS
    if len(numbers) == 2 and all(low <= number <= high for number in numbers):
        return numbers[0], numbers[1]
    return None


def read_spacing(header: DicomHeader) -> Spacing | None:
    """Return the pixel spacing in millimetres, and where it applies.

    Returns
    -------
    Spacing or None
        ``patient`` if the file marks PixelSpacing as calibrated, if it differs from
        ImagerPixelSpacing, or if the picture is no projection; otherwise ``detector``.
    """
    imager = _pair(
        header.holder("ImagerPixelSpacing", "FramePixelDataPropertiesSequence"),
        "ImagerPixelSpacing",
    ) or _pair(header, "NominalScannedPixelSpacing")
    holder = header.holder("PixelSpacing", "PixelMeasuresSequence")
    pixel = _pair(holder, "PixelSpacing")
    method = (header.text("PixelSpacingCalibrationType") or "").upper()
    if pixel is not None:
        if method or (imager is not None and imager != pixel):
            note = (
                f"In the patient: {_METHODS.get(method, 'calibrated, the file does not say how')}"
            )
            description = header.text("PixelSpacingCalibrationDescription")
            note += f" ({description[:64]})." if description else "."
            return Spacing(*pixel, "patient", note)
        if (header.text("Modality") or "OT").upper() not in PROJECTION_MODALITIES:
            return Spacing(*pixel, "patient")
        if imager is None:
            note = "The file does not say whether this spacing is corrected for magnification."
            return Spacing(*pixel, "detector", note)
    if imager is None:
        return None
    factor = header.number("EstimatedRadiographicMagnificationFactor")
    if factor is not None and 1 < factor < 10:
        note = f"At the detector: the patient appears about {factor:.2f} times larger."
    else:
        note = "At the detector: the patient appears somewhat larger than life."
    return Spacing(*imager, "detector", note)


def pixel_aspect(header: DicomHeader, spacing: Spacing | None) -> float:
    """Return a pixel's height / width: from the spacing, else from PixelAspectRatio, else 1."""
    if spacing is not None:
        aspect = spacing.row_mm / spacing.col_mm
    else:
        ratio = header.numbers("PixelAspectRatio")
        aspect = ratio[0] / ratio[1] if len(ratio) == 2 and min(ratio) > 0 else 1.0
    return aspect if 0.05 <= aspect <= 20 else 1.0


def decode_first_frame(
    file: BinaryIO,
    header: DicomHeader,
    element: PixelElement,
    shape: PixelShape,
    syntax: uid.UID,
    size: int,
) -> NDArray[Any]:
    """Decode the first frame of an (inflated) DICOM file that is ``size`` bytes long.

    Returns
    -------
    ndarray
        (rows, columns) stored values with unused bits removed, or (rows, columns, 3) in R, G, B;
        in the machine's byte order.

    Raises
    ------
    ImageBroken
        No decoder succeeds.
    """
    options = _options(header, element, shape, syntax)
    plugins: tuple[str, ...] = ("",)
    reason = "The pixel data do not fit the header."
    if syntax.is_encapsulated:
        offsets = options.get("extended_offsets")
        plugins, reason = check_compressed(file, element, shape, syntax, size, offsets)
    else:
        _check_native(element, shape, size, options)
    lift = _bits_below(header, shape, syntax)
    options["correct_unused_bits"] = lift == 0
    for plugin in plugins:
        file.seek(element.start)
        frame = _try_plugin(file, syntax, plugin, options)
        if frame is not None:
            frame = _drop_bits(frame, shape, lift) if lift else frame
            return frame.astype(frame.dtype.newbyteorder("="), copy=False)
    raise ImageBroken(reason)


def _try_plugin(
    file: BinaryIO, syntax: uid.UID, plugin: str, options: dict[str, Any]
) -> NDArray[Any] | None:
    try:
        frame, _ = get_decoder(syntax).as_array(
            file, index=0, validate=True, raw=False, decoding_plugin=plugin, **options
        )
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:
        # Decoders may raise anything, and a panic of one written in Rust is not even an Exception;
        # the
        # next decoder may succeed.
        return None
    return frame


def _options(
    header: DicomHeader, element: PixelElement, shape: PixelShape, syntax: uid.UID
) -> dict[str, Any]:
    """Return the options for pydicom's decoders."""
    options: dict[str, Any] = {
        "transfer_syntax_uid": syntax,
        "pixel_keyword": element.keyword,
        "pixel_vr": element.vr,
        "rows": shape.rows,
        "columns": shape.columns,
        "number_of_frames": shape.frames,
        "samples_per_pixel": shape.samples,
        "photometric_interpretation": shape.photometry,
        "bits_allocated": shape.allocated,
    }
    if element.keyword == "PixelData":
        options["bits_stored"] = shape.bits
        options["pixel_representation"] = 1 if header.integer("PixelRepresentation") == 1 else 0
    if shape.samples > 1:
        options["planar_configuration"] = 1 if header.integer("PlanarConfiguration") == 1 else 0
    offsets, lengths = header.raw("ExtendedOffsetTable"), header.raw("ExtendedOffsetTableLengths")
    if offsets and lengths and len(offsets) == len(lengths):
        options["extended_offsets"] = (offsets, lengths)
    return options


def _check_native(
    element: PixelElement, shape: PixelShape, size: int, options: dict[str, Any]
) -> None:
    """Reject uncompressed data that end early; detect 4:2:2 colour without subsampling."""
    needed = (shape.rows * shape.columns * shape.samples * shape.allocated + 7) // 8
    if shape.photometry == "YBR_FULL_422":
        if element.length >= needed * shape.frames:
            options["photometric_interpretation"] = "YBR_FULL"
        else:
            needed = needed * 2 // 3
    if size - element.start < needed:
        raise cut_off_error()
    if element.length < needed:
        raise ImageBroken("There are fewer pixels than the size of the picture asks for.")


def _bits_below(header: DicomHeader, shape: PixelShape, syntax: uid.UID) -> int:
    """Return the number of unused low bits: 0 except for old files with an odd HighBit."""
    high = header.integer("HighBit")
    plain = not syntax.is_encapsulated or syntax == uid.RLELossless
    if high is None or not plain or not shape.bits <= high < shape.allocated:
        return 0
    return high + 1 - shape.bits


def _drop_bits(frame: NDArray[Any], shape: PixelShape, below: int) -> NDArray[Any]:
    """Drop the bits above and below the pixel's own; keep the sign."""
    spare = shape.allocated - shape.bits
    moved: NDArray[Any] = np.right_shift(np.left_shift(frame, spare - below), spare)
    return moved


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


def _read_lut_item(item: DicomHeader) -> tuple[int, NDArray[np.uint16], int] | None:
    """Return a LUT item's first value, entries and bits (PS3.3 C.11.1.1); None if unusable."""
    descriptor = item.numbers("LUTDescriptor")
    data: Any = item.raw("LUTData")
    if len(descriptor) != 3 or data is None:
        return None
    length, first, bits = (int(number) for number in descriptor)
    length = length % 65536 or 65536  # 0 means 65,536; a signed VR shows 32,768 and up as < 0
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


def read_modality(header: DicomHeader, notes: list[str]) -> Modality:
    """Return the modality LUT, otherwise the rescale, otherwise the identity."""
    for item in header.items("ModalityLUTSequence")[:1]:
        table = _read_lut_item(item)
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


def read_presentation_lut(header: DicomHeader, notes: list[str]) -> bytes | None:
    """Return the presentation LUT as grey levels (PS3.3 C.11.6)."""
    for item in header.items("PresentationLUTSequence")[:1]:
        table = _read_lut_item(item)
        if table is not None:
            return grey_levels(table[1], table[2])
        notes.append(BAD_TABLE)
    return None


def is_inverted(header: DicomHeader, notes: list[str]) -> bool:
    """Whether low values are white.

    PresentationLUTShape decides if present, otherwise MONOCHROME1. Both mean the same (PS3.3
    C.8.11.3.1.2), so they do not cancel out.
    """
    by_photometry = header.text("PhotometricInterpretation") == "MONOCHROME1"
    shape = (header.text("PresentationLUTShape") or "").upper()
    if shape not in ("IDENTITY", "INVERSE"):
        return by_photometry
    if (shape == "INVERSE") != by_photometry:
        notes.append(CONTRADICTION)
    return shape == "INVERSE"


def read_padding_range(header: DicomHeader) -> tuple[int, int] | None:
    """Return the range of stored values that are padding (PS3.3 C.7.5.1.1.2)."""
    value = header.integer("PixelPaddingValue")
    if value is None:
        return None
    limit = header.integer("PixelPaddingRangeLimit")
    ends = [value, value if limit is None else limit]
    if header.integer("PixelRepresentation") == 1:
        ends = [end - 65536 if 32768 <= end < 65536 else end for end in ends]
    return min(ends), max(ends)


def read_windows(
    header: DicomHeader, lowest: float, presentation: bytes | None, notes: list[str]
) -> tuple[Window, ...]:
    """Return the file's windows in the order offered: tables first, as in pydicom.

    Parameters
    ----------
    header : DicomHeader
        Header of the file.
    lowest : float
        Smallest value that the modality transform can give. It decides whether a table's first
        value, stored unsigned or signed like the values, is negative.
    presentation : bytes or None
        Presentation LUT, applied to the tables.
    notes : list of str
        Receives a sentence for each unusable part.
    """
    tables = list(_voi_tables(header, lowest, presentation, notes))
    plain = list(_plain_windows(header, notes))
    windows: dict[tuple[object, ...], Window] = {}
    for window in (*tables, *plain):
        key = (window.kind, window.centre, window.width, window.table)
        windows.setdefault(key, window)
    return tuple(windows.values())


def _voi_tables(
    header: DicomHeader, lowest: float, presentation: bytes | None, notes: list[str]
) -> Iterator[Window]:
    holder = header.holder("VOILUTSequence", "FrameVOILUTSequence")
    items = holder.items("VOILUTSequence")
    for place, item in enumerate(items, start=1):
        table = _read_lut_item(item)
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
        name = _window_name(item.text("LUTExplanation"), "Table", place, len(items))
        middle = first + (len(entries) - 1) / 2
        yield Window(name, "lut", middle, float(len(entries)), VoiTable(first, levels))


def _plain_windows(header: DicomHeader, notes: list[str]) -> Iterator[Window]:
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
        yield Window(_window_name(name, "Window", place, len(pairs)), kind, centre, width)


def _window_name(given: str | None, word: str, place: int, of: int) -> str:
    if given:
        return given[:40]
    return f"{word} {place}" if of > 1 else f"{word} of the file"


_PALETTES: Final = ("Red", "Green", "Blue", "Alpha")
_LONGEST_TABLE: Final = 65_536
_DISCRETE, _LINEAR = 0, 1
NO_PALETTE: Final = "The picture's colour table is missing or damaged."


def read_dicom(path: Path, declared: bool, max_pixels: int) -> Radiograph:
    """Decode the first frame of a DICOM file, with everything needed to show it.

    Parameters are those of :func:`rexview.imaging.dicom.dicom_header.open_dicom`.

    Raises
    ------
    ImageTooLarge, ImageBroken, ImageBusy
        With the reason.
    """
    with open_dicom(path, declared, max_pixels) as opened:
        header, element = opened.header, opened.pixels
        if element is None:
            raise _no_picture(header)
        shape = read_pixel_shape(header, element, max_pixels)
        unpacked = opened.size if isinstance(opened.file, BytesIO) else 0
        reserve_memory(decoding_bytes(shape, opened.syntax, unpacked), max_pixels)
        pixels = decode_first_frame(opened.file, header, element, shape, opened.syntax, opened.size)
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
    spacing = read_spacing(header)
    return Radiograph(
        pixels,
        "dicom",
        bits,
        aspect=pixel_aspect(header, spacing),
        spacing=spacing,
        patient_orientation=read_patient_orientation(header),
        view=read_view(header),
        frames=shape.frames,
        warnings=tuple(dict.fromkeys(notes)),
        **grey,
    )


def _no_picture(header: DicomHeader) -> ImageBroken:
    kind = uid.UID(header.text("SOPClassUID") or "")
    name = f" ({kind.name})" if kind.name and kind.name != str(kind) else ""
    return ImageBroken(f"This DICOM file has no picture in it{name}.")


def _colour(
    pixels: NDArray[Any], header: DicomHeader, shape: PixelShape, little_endian: bool
) -> NDArray[Any]:
    """Return R, G, B of 8 bits, or one grey channel, from palette indices or colour samples."""
    bits = min(shape.bits, pixels.dtype.itemsize * 8)
    if shape.photometry == "PALETTE COLOR":
        pixels = _through_palette(pixels, header, little_endian)
        bits = pixels.dtype.itemsize * 8
    return grey_or_colour(pixels[..., :3], bits)


def _through_palette(
    pixels: NDArray[Any], header: DicomHeader, little_endian: bool
) -> NDArray[Any]:
    """Return R, G, B of shape (rows, columns, 3) in the depth of the file's colour table."""
    described = header.numbers("RedPaletteColorLookupTableDescriptor")
    wide = len(described) < 3 or int(described[2]) // 8 != 1
    kind = ("<u2" if little_endian else ">u2") if wide else "u1"
    for name in _PALETTES:
        segments = header.raw(f"Segmented{name}PaletteColorLookupTableData")
        if segments and _unfolds_too_far(segments, kind):
            raise ImageBroken(NO_PALETTE)
    found: NDArray[Any] | None = None
    try:
        for rows in row_strips(*pixels.shape):
            colour = apply_color_lut(pixels[rows], header.dataset)[..., :3]
            if found is None:
                found = np.empty((*pixels.shape, 3), colour.dtype)
            found[rows] = colour
    except Exception:  # a damaged table may raise anything
        raise ImageBroken(NO_PALETTE) from None
    assert found is not None
    return found


def _unfolds_too_far(segments: bytes, kind: str) -> bool:
    """Whether a segmented colour table (PS3.3 C.7.9.2) expands beyond the size of a table.

    Six bytes can ask for 65,535 entries, and a whole table has at most 65,536. Segments that repeat
    others count as too long: they multiply.
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


def _grey(pixels: NDArray[Any], header: DicomHeader, notes: list[str]) -> dict[str, Any]:
    """Return the grey-scale attributes of a Radiograph."""
    modality = read_modality(header, notes)
    presentation = read_presentation_lut(header, notes)
    lowest = _lowest_value(pixels.dtype, modality)
    return {
        "modality": modality,
        "windows": read_windows(header, lowest, presentation, notes),
        "invert": is_inverted(header, notes),
        "presentation": presentation,
        "padding": read_padding_range(header),
    }


def _lowest_value(dtype: np.dtype[Any], modality: Modality) -> float:
    """Return the smallest value that the modality transform can give for a pixel type."""
    if modality.table is not None:
        return 0.0
    if dtype.kind == "f":
        return float("-inf")
    limits = np.iinfo(dtype)
    return min(float(end) * modality.slope for end in (limits.min, limits.max)) + modality.intercept


def read_patient_orientation(header: DicomHeader) -> tuple[str, ...] | None:
    """Return PatientOrientation (0020,0020) if both words are present."""
    words = header.texts("PatientOrientation")
    return words if len(words) == 2 and all(words) else None


def read_view(header: DicomHeader) -> str | None:
    """Return the file's word for the view: ViewPosition, otherwise the meaning of its view code."""
    word = header.text("ViewPosition")
    if word:
        return word
    for item in header.items("ViewCodeSequence")[:1]:
        return item.text("CodeMeaning")
    return None


def read_image_facts(opened: OpenedDicom) -> ImageFacts:
    """Read the facts of an opened file with a picture."""
    header = opened.header
    rows, columns = header.integer("Rows"), header.integer("Columns")
    if opened.pixels is None or not rows or not columns:
        raise _no_picture(header)
    return ImageFacts(
        columns,
        rows,
        frame_count(header),
        read_patient_orientation(header),
        read_view(header),
        format="DICOM",
        burned_in=_burned_in(header),
    )


def _burned_in(header: DicomHeader) -> bool | None:
    """Read whether the pixels contain identifying text (PS3.3 C.7.6.1); None if not given."""
    said = (header.text("BurnedInAnnotation") or "").upper()
    return {"YES": True, "NO": False}.get(said)
