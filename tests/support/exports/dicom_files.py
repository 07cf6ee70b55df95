"""DICOM files made for one test, written by pydicom and not by our own code."""

import io
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from pydicom import uid
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.encaps import encapsulate

PATIENT = "Zebedee^Quixote"


def write_dicom(folder: Path, pixels: np.ndarray, **options: Any) -> Path:
    """Write a DX file of (rows, columns[, 3]) or (frames, rows, columns) pixels.

    Options: ``syntax`` (UID), ``meta`` (False leaves out preamble and file meta), ``name``,
    ``quality`` (JPEG); every other one is an element, None deletes it.
    """
    syntax = options.pop("syntax", uid.ExplicitVRLittleEndian)
    meta, name = options.pop("meta", True), options.pop("name", "image.dcm")
    quality, frames = options.pop("quality", 95), options.pop("frames", 1)
    colour = pixels.ndim == 3 and frames == 1
    ds = Dataset()
    ds.SOPClassUID = uid.UID("1.2.840.10008.5.1.4.1.1.1.1")
    ds.SOPInstanceUID = uid.UID("1.2.3.4")
    ds.PatientName = PATIENT
    ds.Modality = "DX"
    ds.Rows, ds.Columns = pixels.shape[:2] if frames == 1 else pixels.shape[1:3]
    ds.SamplesPerPixel = 3 if colour else 1
    if colour:
        ds.PlanarConfiguration = 0
    ds.PhotometricInterpretation = "RGB" if colour else "MONOCHROME2"
    if frames > 1:
        ds.NumberOfFrames = frames
    floating = pixels.dtype.kind == "f"
    ds.BitsAllocated = pixels.dtype.itemsize * 8
    if not floating:
        ds.BitsStored = options.pop("BitsStored", ds.BitsAllocated)
        ds.HighBit = options.pop("HighBit", ds.BitsStored - 1)
        ds.PixelRepresentation = 1 if pixels.dtype.kind == "i" else 0
    keyword = {4: "FloatPixelData", 8: "DoubleFloatPixelData"}[pixels.dtype.itemsize] if (
        floating
    ) else "PixelData"  # fmt: skip
    ds.file_meta = FileMetaDataset()
    ds.file_meta.TransferSyntaxUID = syntax
    little = syntax != uid.ExplicitVRBigEndian
    ordered = pixels.astype(pixels.dtype.newbyteorder("<" if little else ">"))
    if syntax in (uid.JPEGBaseline8Bit, uid.JPEGExtended12Bit):
        stream = io.BytesIO()
        Image.fromarray(pixels).save(stream, "JPEG", quality=quality, subsampling=0)
        ds.PixelData = encapsulate([stream.getvalue()])
        if colour:
            ds.PhotometricInterpretation = "YBR_FULL_422"
    elif syntax.is_encapsulated:
        ds.compress(syntax, np.ascontiguousarray(pixels), generate_instance_uid=False)
    else:
        content = ordered.tobytes()
        setattr(ds, keyword, content + b"\0" * (len(content) % 2))
        if keyword == "PixelData":
            ds["PixelData"].VR = "OB" if pixels.dtype.itemsize == 1 else "OW"
    for element, value in options.items():
        if value is None:
            del ds[element]
        else:
            setattr(ds, element, value)
    path = folder / name
    if meta:
        ds.save_as(path, enforce_file_format=True)
    else:
        del ds.file_meta
        ds.save_as(path, implicit_vr=syntax.is_implicit_VR, little_endian=little)
    return path
