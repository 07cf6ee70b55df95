"""Every file of pydicom's own test corpus is shown as pydicom shows it, or broken with a reason.

pydicom is the oracle: its decoders, its modality, VOI and presentation transforms in floats. Only
files that lie in the installed package are used; nothing is fetched.
"""

import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pydicom
import pytest
from pydicom import uid
from pydicom.pixels import get_decoder, pixel_array
from pydicom.pixels.processing import (
    apply_color_lut,
    apply_modality_lut,
    apply_presentation_lut,
    apply_voi_lut,
)
from support.rows import each_row

from rexview.imaging import ImageError, read_facts, read_image, render_display
from rexview.imaging.dicom import isolated_libjpeg

ROOT = Path(pydicom.__file__).parent / "data"
FILES = sorted(path for path in ROOT.rglob("*") if path.is_file() and path.suffix != ".py")
CORPUS = [path for path in FILES if "__pycache__" not in path.parts]
PICTURES_AT_LEAST = 90

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:pydicom")  # the oracle's own


def decoded_by_pydicom(path):
    """Yield header and first frame of a file from each of pydicom's own decoders that manages it.

    They differ among themselves by more than one grey level for lossy colour.
    """
    try:
        ds = pydicom.dcmread(path, force=True)
        if "TransferSyntaxUID" not in ds.file_meta:
            implicit, little = ds.original_encoding
            explicit = uid.ExplicitVRLittleEndian if little else uid.ExplicitVRBigEndian
            ds.file_meta.TransferSyntaxUID = uid.ImplicitVRLittleEndian if implicit else explicit
        decoder = get_decoder(ds.file_meta.TransferSyntaxUID)
        plugins = [""]
        if ds.file_meta.TransferSyntaxUID.is_encapsulated:
            plugins = [
                name for name in decoder.available_plugins if name != isolated_libjpeg.PLUGIN
            ]
    except Exception:
        return
    for plugin in plugins:
        with suppress(Exception):
            yield ds, pixel_array(ds, index=0, decoding_plugin=plugin)


def shown_by_pydicom(ds, pixels):
    """The picture that pydicom's transforms make, in floats 0-255."""
    if ds.PhotometricInterpretation == "PALETTE COLOR":
        palette = apply_color_lut(pixels, ds)
        return palette * (255 / np.iinfo(palette.dtype).max)
    if pixels.ndim == 3:
        return pixels * (255 / (2.0**ds.BitsStored - 1))
    values = apply_modality_lut(pixels, ds)
    if "VOILUTSequence" in ds:
        bits = ds.VOILUTSequence[0].LUTDescriptor[2]
        low, high = 0, 2**bits - 1
        values = apply_voi_lut(values.astype(np.int64), ds)
    elif "WindowWidth" in ds:
        slope, intercept = ds.get("RescaleSlope", 1), ds.get("RescaleIntercept", 0)
        signed = ds.PixelRepresentation == 1
        low = -(2 ** (ds.BitsStored - 1)) if signed else 0
        low, high = (end * slope + intercept for end in (low, low + 2**ds.BitsStored - 1))
        values = apply_voi_lut(values, ds)
    elif ds.BitsAllocated <= 8:
        low, high = 0, 2**ds.BitsStored - 1  # no window, 8 bits: as stored
    else:
        low, high = values.min(), values.max()  # no window: as any viewer of arrays shows it
    grey = (values.astype(np.float64) - low) * 255 / max(float(high) - float(low), 1e-300)
    if "PresentationLUTShape" in ds:
        return apply_presentation_lut(np.append(grey.ravel(), [0, 255]), ds)[:-2].reshape(
            grey.shape
        )
    return 255 - grey if ds.PhotometricInterpretation == "MONOCHROME1" else grey


@each_row("path", CORPUS, ids=lambda path: str(path.relative_to(ROOT)))
def test_shown_as_pydicom_shows_it_or_broken_with_a_reason(path):
    expected = [shown_by_pydicom(*found) for found in decoded_by_pydicom(path)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            radiograph = read_image(path)
            picture = render_display(radiograph, "file")
    except ImageError as error:
        reason = str(error)
    else:
        reason = ""
    if reason:
        assert not expected, f"pydicom decodes it; we say: {reason}"
        assert reason.endswith(".")
        assert str(ROOT) not in reason
        return
    assert picture.dtype == np.uint8
    if not expected:
        return
    if expected[0].ndim == 3 and picture.ndim == 2:
        picture = np.repeat(picture[..., None], 3, axis=2)
    assert {picture.shape} == {theirs.shape for theirs in expected}
    assert min(np.abs(picture - theirs).max() for theirs in expected) <= 1.0


def test_the_corpus_is_there():
    """Keeps the test above from passing because nothing could be decoded."""
    shown = 0
    for path in CORPUS:
        try:
            read_image(path)
        except ImageError:
            continue
        shown += 1
    assert shown >= PICTURES_AT_LEAST


@each_row("path", CORPUS, ids=lambda path: str(path.relative_to(ROOT)))
def test_facts_agree_with_the_decoded_picture(path):
    try:
        radiograph = read_image(path)
    except ImageError:
        return
    facts = read_facts(path)
    assert (facts.height, facts.width) == radiograph.pixels.shape[:2]
    assert (facts.frames, facts.view) == (radiograph.frames, radiograph.view)
    assert facts.patient_orientation == radiograph.patient_orientation
