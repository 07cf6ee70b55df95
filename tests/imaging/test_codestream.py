"""Sizes of compressed pictures, read from their own headers."""

import io

import numpy as np
import pytest
from PIL import Image
from pydicom import dcmread, uid
from pydicom.encaps import get_frame

from rexview.imaging.codestream import coded_size


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize(
    "syntax",
    [uid.JPEGBaseline8Bit, uid.JPEGLSLossless, uid.JPEG2000Lossless],
    ids=lambda syntax: syntax.name,
)
def test_size(write_dicom, film, syntax, colour):
    grey = (film >> 4).astype(np.uint8)
    pixels = np.stack([grey, grey // 2, grey // 3], axis=-1) if colour else grey
    frame = get_frame(dcmread(write_dicom(pixels, syntax=syntax)).PixelData, 0, number_of_frames=1)
    assert coded_size(frame) == (60, 80, 3 if colour else 1)
    for length in range(60):
        assert coded_size(frame[:length]) in (None, (60, 80, 3 if colour else 1))


def test_size_behind_other_segments(film):
    stream = io.BytesIO()
    image = Image.fromarray((film >> 4).astype(np.uint8))
    image.save(stream, "JPEG", comment=b"\xff\xc0" * 300, progressive=True)
    assert coded_size(stream.getvalue()) == (60, 80, 1)


def test_jp2_box_around_the_codestream(film):
    stream = io.BytesIO()
    Image.fromarray((film >> 4).astype(np.uint8)).save(stream, "JPEG2000")
    assert stream.getvalue()[4:8] == b"jP  "
    assert coded_size(stream.getvalue()) == (60, 80, 1)


@pytest.mark.parametrize("frame", [b"", b"\xff\xd8", b"\xff\xd8\xff\xd9", b"text", bytes(5000)])
def test_none_when_there_is_no_size(frame):
    assert coded_size(frame) is None
