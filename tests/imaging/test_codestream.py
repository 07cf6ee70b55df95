"""Sizes of compressed pictures, read from their own headers."""

import io

import numpy as np
import pytest
from PIL import Image
from pydicom import dcmread, uid
from pydicom.encaps import get_frame

from rexview.imaging.codestream import rare_jpeg_feature, read_coded_size, repair_scan_headers


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
    assert read_coded_size(frame) == (60, 80, 3 if colour else 1)
    for length in range(60):
        assert read_coded_size(frame[:length]) in (None, (60, 80, 3 if colour else 1))


def test_size_behind_other_segments(film):
    stream = io.BytesIO()
    image = Image.fromarray((film >> 4).astype(np.uint8))
    image.save(stream, "JPEG", comment=b"\xff\xc0" * 300, progressive=True)
    assert read_coded_size(stream.getvalue()) == (60, 80, 1)


def test_jp2_box_around_the_codestream(film):
    stream = io.BytesIO()
    Image.fromarray((film >> 4).astype(np.uint8)).save(stream, "JPEG2000")
    assert stream.getvalue()[4:8] == b"jP  "
    assert read_coded_size(stream.getvalue()) == (60, 80, 1)


@pytest.mark.parametrize("frame", [b"", b"\xff\xd8", b"\xff\xd8\xff\xd9", b"text", bytes(5000)])
def test_none_when_there_is_no_size(frame):
    assert read_coded_size(frame) is None


def test_only_what_few_decoders_know_is_rare(film):
    stream = io.BytesIO()
    Image.fromarray((film >> 4).astype(np.uint8)).save(stream, "JPEG", progressive=True)
    assert rare_jpeg_feature(stream.getvalue()) is None
    assert rare_jpeg_feature(b"\xff\xd8\xff\xc1\0\x0b\x0c" + bytes(20)) == "12-bit JPEG"
    assert rare_jpeg_feature(b"\xff\xd8\xff\xc1\0\x0b") is None
    assert rare_jpeg_feature(b"text") is None


def test_a_scan_is_mended_only_where_the_standard_leaves_no_choice(film):
    stream = io.BytesIO()
    image = Image.fromarray((film >> 4).astype(np.uint8))
    image.save(stream, "JPEG")
    whole = stream.getvalue()
    end = whole.index(b"\xff\xda") + 2 + 8
    broken = whole[: end - 3] + b"\0\0\0" + whole[end:]
    assert repair_scan_headers(broken) == whole
    stream = io.BytesIO()
    image.save(stream, "JPEG", progressive=True)
    assert repair_scan_headers(stream.getvalue()) == stream.getvalue()
    for length in range(0, end, 7):
        assert repair_scan_headers(whole[:length]) == whole[:length]
