"""Files of pictures written anew: the pixels and what says how to show them, nothing else."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Final

import numpy as np
import pydicom
from PIL import Image
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import (
    ImplicitVRLittleEndian,
    SecondaryCaptureImageStorage,
    generate_uid,
)

from rexview.errors import ImageBroken
from rexview.imaging.read import read_image

_OF_PIXELS: Final = frozenset(
    (
        *("SamplesPerPixel", "PhotometricInterpretation", "PlanarConfiguration", "NumberOfFrames"),
        *("Rows", "Columns", "BitsAllocated", "BitsStored", "HighBit", "PixelRepresentation"),
        *("PixelAspectRatio", "PixelPaddingValue", "PixelPaddingRangeLimit"),
        *("LossyImageCompression", "BurnedInAnnotation", "Modality"),
        *("PixelSpacing", "ImagerPixelSpacing", "NominalScannedPixelSpacing"),
        *("EstimatedRadiographicMagnificationFactor", "PixelSpacingCalibrationType"),
        *("WindowCenter", "WindowWidth", "VOILUTFunction", "VOILUTSequence"),
        *("RescaleSlope", "RescaleIntercept", "RescaleType", "ModalityLUTSequence"),
        *("PresentationLUTShape", "PresentationLUTSequence", "LUTDescriptor", "LUTData"),
        "RedPaletteColorLookupTableDescriptor",
        *("GreenPaletteColorLookupTableDescriptor", "BluePaletteColorLookupTableDescriptor"),
        *("RedPaletteColorLookupTableData", "GreenPaletteColorLookupTableData"),
        *("BluePaletteColorLookupTableData", "PatientOrientation", "ViewPosition"),
        *("ViewCodeSequence", "CodeValue", "CodingSchemeDesignator"),
        *("SharedFunctionalGroupsSequence", "PerFrameFunctionalGroupsSequence"),
        *("PixelMeasuresSequence", "FrameVOILUTSequence", "FramePixelDataPropertiesSequence"),
        "PixelValueTransformationSequence",
        *("ExtendedOffsetTable", "ExtendedOffsetTableLengths"),
        *("PixelData", "FloatPixelData", "DoubleFloatPixelData"),
    )
)
"""Attributes of DICOM that say how the pixels are shown: numbers and closed words, no free text."""
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_PNG_KEPT: Final = (b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"sBIT")
_MOST: Final = 65_535


def clean_file(source: Path, target: Path) -> Path:
    """Write a picture anew, with the same pixels; return ``target`` with its ending.

    DICOM keeps its pixels as they are coded, with only those attributes that show them. PNG keeps
    its own pixels, too. Everything else becomes PNG, upright where EXIF says how, which is how the
    app counts boxes on it.

    Raises
    ------
    ImageError
        It cannot be read.
    OSError
    """
    as_png = target.with_name(f"{target.name}.png")
    picture = read_image(source)  # first: what is broken may hold anything
    with source.open("rb") as file:
        head = file.read(len(_PNG))
    if head == _PNG and _write_png(source.read_bytes(), as_png):
        return as_png
    if picture.kind == "dicom":
        as_dicom = target.with_name(f"{target.name}.dcm")
        _write_dicom(source, as_dicom)
        return as_dicom
    pixels = picture.pixels
    most = 255
    if pixels.ndim == 2 and pixels.dtype != np.uint8:
        if int(pixels.min(initial=0)) < 0 or int(pixels.max(initial=0)) > _MOST:
            raise ImageBroken("The picture has values that PNG cannot hold.")
        pixels, most = pixels.astype(np.uint16), _MOST
    if picture.invert:
        pixels = (most - pixels).astype(pixels.dtype)
    Image.fromarray(np.ascontiguousarray(pixels)).save(as_png, "PNG")
    return as_png


def _write_png(content: bytes, target: Path) -> bool:
    """Copy the chunks of a PNG that are its picture; False where EXIF may turn it, or it is cut."""
    kept, place = BytesIO(), len(_PNG)
    kept.write(_PNG)
    while place + 12 <= len(content):
        size = int.from_bytes(content[place : place + 4])
        name = content[place + 4 : place + 8]
        if name == b"eXIf" or place + 12 + size > len(content):
            return False
        if name in _PNG_KEPT:
            kept.write(content[place : place + 12 + size])
        elif name in (b"tEXt", b"zTXt") and b"exif" in content[place : place + 60].lower():
            return False
        if name == b"IEND":
            break  # what stands behind it is shown by nobody
        place += 12 + size
    target.write_bytes(kept.getvalue())
    return True


def _write_dicom(source: Path, target: Path) -> None:
    given = pydicom.dcmread(source, force=True)
    kept = _shown(given)
    kept.SOPClassUID = SecondaryCaptureImageStorage
    kept.SOPInstanceUID = generate_uid()
    kept.StudyInstanceUID, kept.SeriesInstanceUID = generate_uid(), generate_uid()
    kept.PatientName, kept.PatientID, kept.StudyID = "", "", ""
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = kept.SOPClassUID
    meta.MediaStorageSOPInstanceUID = kept.SOPInstanceUID
    meta.TransferSyntaxUID = given.file_meta.get("TransferSyntaxUID", ImplicitVRLittleEndian)
    kept.file_meta = meta
    kept.save_as(target, enforce_file_format=True)


def _shown(given: Dataset) -> Dataset:
    """Copy the attributes that show the pixels, also those of sequences."""
    kept = Dataset()
    for element in given:
        if element.keyword not in _OF_PIXELS:
            continue
        if element.VR == "SQ":
            setattr(kept, element.keyword, [_shown(item) for item in element.value])
        else:
            kept.add(element)
    return kept
