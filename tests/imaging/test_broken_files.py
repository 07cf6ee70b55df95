"""Files that cannot be shown: the right reason, no other exception, no value of the file told."""

import io
import logging
import os
import random
import struct
import warnings
import zlib
from pathlib import Path

import numpy as np
import pydicom
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from pydicom import dcmread, uid
from pydicom.encaps import encapsulate

from rexview.imaging import (
    ImageBroken,
    ImageError,
    ImageMissing,
    ImageTooLarge,
    read_facts,
    read_image,
    render_display,
    thumbnail,
    viewer_payload,
)

CORPUS = Path(pydicom.__file__).parent / "data" / "test_files"
SMALL = sorted(path for path in CORPUS.glob("*.dcm") if path.stat().st_size < 60_000)
CUT_OFF = "cut off"


def reason(path, error=ImageBroken, **options):
    with pytest.raises(error) as caught:
        read_image(path, **options)
    assert type(caught.value) is error
    message = str(caught.value)
    assert message.endswith(".")
    assert str(path.parent) not in message
    return message


def test_missing_file_and_folder(tmp_path):
    assert "no such file" in reason(tmp_path / "nothing.png", ImageMissing)
    assert "folder" in reason(tmp_path, ImageMissing)
    (tmp_path / "file").write_text("x")
    assert "no such file" in reason(tmp_path / "file" / "below.png", ImageMissing)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    assert "not a file" in reason(tmp_path / "pipe.png")


@pytest.mark.parametrize("read", [viewer_payload, thumbnail, read_facts])
def test_every_way_in_reports_alike(tmp_path, read):
    with pytest.raises(ImageMissing):
        read(tmp_path / "nothing.png")
    (tmp_path / "empty.png").touch()
    with pytest.raises(ImageBroken, match="empty"):
        read(tmp_path / "empty.png")


@pytest.mark.parametrize(
    "content",
    [
        b"This is a report, not a picture.\n" * 50,
        b"PK\x03\x04" + bytes(500),
        b"%PDF-1.7\n" + bytes(3000),
        b"<html><body>Log in first</body></html>",
        b"\x00\x00\x00\x0cjP  \r\n\x87\n" + bytes(200),
        b"{}",
        bytes(4096),
        b"\x08\x00",
        b"\xff" * 1000,
    ],
    ids=["text", "zip", "pdf", "html", "jp2", "json", "zeros", "two bytes", "ones"],
)
@pytest.mark.parametrize("name", ["a.dcm", "a.png", "a"])
def test_other_files_are_not_taken_for_dicom(tmp_path, content, name):
    (tmp_path / name).write_bytes(content)
    assert "not a DICOM" in reason(tmp_path / name)


def test_dicom_without_a_picture_says_what_it_is():
    assert "no picture in it (Comprehensive SR Storage)" in reason(CORPUS / "test-SR.dcm")


@pytest.mark.parametrize(
    "syntax",
    [
        uid.ExplicitVRLittleEndian,
        uid.DeflatedExplicitVRLittleEndian,
        uid.RLELossless,
        uid.JPEGBaseline8Bit,
        uid.JPEGLSLossless,
        uid.JPEG2000Lossless,
    ],
    ids=lambda syntax: syntax.name,
)
@pytest.mark.parametrize("share", [0.6, 0.97])
def test_truncated_dicom(write_dicom, film, syntax, share):
    path = write_dicom((film >> 4).astype(np.uint8), syntax=syntax)
    content = path.read_bytes()
    start = 400 if syntax != uid.DeflatedExplicitVRLittleEndian else 340
    path.write_bytes(content[: start + int((len(content) - start) * share)])
    assert CUT_OFF in reason(path)


@pytest.mark.parametrize("length", [100, 140, 300, 380])
def test_truncated_header(write_dicom, film, length):
    path = write_dicom(film)
    path.write_bytes(path.read_bytes()[:length])
    reason(path)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "TIFF"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_truncated_raster(tmp_path, film, kind, share):
    stream = io.BytesIO()
    Image.fromarray((film >> 4).astype(np.uint8)).save(stream, kind)
    path = tmp_path / "cut"
    path.write_bytes(stream.getvalue()[: int(len(stream.getvalue()) * share)])
    assert CUT_OFF in (message := reason(path)) or "damaged" in message


def test_film_cut_behind_its_first_frame_is_shown(write_dicom, film):
    films = np.stack([film, film, film])
    path = write_dicom(films, syntax=uid.RLELossless, frames=3)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * 0.8)])
    np.testing.assert_array_equal(read_image(path).pixels, film)


@pytest.mark.parametrize("syntax", [uid.ExplicitVRLittleEndian, uid.RLELossless])
def test_more_pixels_than_the_limit(write_dicom, film, syntax):
    path = write_dicom(film, syntax=syntax)
    assert read_image(path, max_pixels=film.size).pixels.size == film.size
    message = reason(path, ImageTooLarge, max_pixels=film.size - 1)
    assert "80 x 60 pixels" in message


def test_header_that_promises_a_huge_picture(write_dicom, film):
    path = write_dicom(film, Rows=65535, Columns=65535)
    assert "65535 x 65535" in reason(path, ImageTooLarge)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "TIFF"])
def test_more_raster_pixels_than_the_limit(tmp_path, film, kind):
    path = tmp_path / "large"
    Image.fromarray((film >> 4).astype(np.uint8)).save(path, kind)
    reason(path, ImageTooLarge, max_pixels=film.size - 1)


def png_head(width, height):
    head = struct.pack(">LLBBBBB", width, height, 8, 0, 0, 0, 0)
    crc = struct.pack(">L", zlib.crc32(b"IHDR" + head))
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">L", 13) + b"IHDR" + head + crc


@pytest.mark.parametrize("side", [9_000, 12_000, 60_000, 2**31 - 1])
def test_png_bomb(tmp_path, side):
    """A few bytes that unpack to gigabytes; Pillow's own guard warns or raises on the way."""
    packed = zlib.compress(bytes(10_000_000), 9)
    idat = struct.pack(">L", len(packed)) + b"IDAT" + packed + bytes(4)
    (tmp_path / "bomb.png").write_bytes(png_head(side, side) + idat)
    reason(tmp_path / "bomb.png", ImageTooLarge)
    with pytest.raises(ImageError):
        thumbnail(tmp_path / "bomb.png")


def test_deflated_bomb(write_dicom, film):
    """A small file that unpacks to far more than its picture."""
    path = write_dicom(film, syntax=uid.DeflatedExplicitVRLittleEndian)
    ds = dcmread(path)
    ds.PixelData = bytes(80_000_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ds.save_as(path)
    assert path.stat().st_size < 200_000
    assert "unpacks to more" in reason(path, ImageTooLarge, max_pixels=film.size)


@pytest.mark.parametrize("syntax", [uid.JPEG2000Lossless, uid.JPEGLSLossless, uid.JPEGBaseline8Bit])
def test_codestream_larger_than_its_header(write_dicom, film, syntax):
    """The DICOM header is small, the compressed picture inside says it is enormous."""
    path = write_dicom((film >> 4).astype(np.uint8), syntax=syntax)
    content = path.read_bytes()
    if syntax == uid.JPEG2000Lossless:
        old, new = struct.pack(">LL", 80, 60), struct.pack(">LL", 65535, 65535)
    else:
        old, new = struct.pack(">HH", 60, 80), struct.pack(">HH", 65535, 65535)
    assert old in content
    path.write_bytes(content.replace(old, new, 1))
    assert "another size" in reason(path)


def test_compressed_data_of_something_else(write_dicom, film):
    path = write_dicom((film >> 4).astype(np.uint8), syntax=uid.JPEG2000Lossless)
    ds = dcmread(path)
    ds.PixelData = encapsulate([b"not a codestream at all " * 20])
    ds["PixelData"].VR = "OB"
    ds.save_as(path)
    assert "damaged" in reason(path)


@pytest.mark.parametrize(
    "elements",
    [
        {"Rows": 0},
        {"Columns": None},
        {"BitsAllocated": 12},
        {"BitsAllocated": None},
        {"SamplesPerPixel": 4},
        {"PhotometricInterpretation": "HSV"},
        {"Rows": 61},
    ],
    ids=str,
)
def test_header_that_does_not_describe_the_pixels(write_dicom, film, elements):
    reason(write_dicom(film, **elements))


def test_no_patient_data_in_reasons_warnings_or_logs(write_dicom, film, patient_name, caplog):
    """Bad values next to the patient's name: pydicom's own messages would quote them."""
    caplog.set_level(logging.DEBUG)
    secret = patient_name.split("^")[0]
    shown = write_dicom(film, name=f"{secret}.dcm", ViewPosition="PA")
    content = shown.read_bytes()
    assert b"MONOCHROME2 " in content
    broken = content.replace(b"OW\0\0", b"OB\0\0").replace(
        b"MONOCHROME2 ", secret.encode() + b"12345"
    )
    shown.write_bytes(broken)
    assert secret not in reason(shown)
    odd = write_dicom(film, WindowCenter="9", WindowWidth="5", name="odd.dcm")
    assert b"DS\x02\x009 " in odd.read_bytes()
    odd.write_bytes(odd.read_bytes().replace(b"DS\x02\x009 ", b"DS\x02\x00Ze"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        radiograph = read_image(odd)
    assert not caught
    assert not any(secret in text for text in radiograph.warnings)
    assert secret not in caplog.text
    assert "Ze" not in caplog.text


def look(path):
    """Take every way in; nothing but an ImageError may come out."""
    try:
        read_facts(path)
    except ImageError as error:
        told = str(error)
        assert told.endswith(".")
    try:
        radiograph = read_image(path, max_pixels=1_000_000)
    except ImageError:
        return False
    picture = render_display(radiograph, "file")
    assert picture.dtype == np.uint8
    assert picture.shape == render_display(radiograph, "auto").shape
    payload = viewer_payload(path, max_pixels=1_000_000)
    assert (
        len(payload.body)
        == radiograph.height
        * radiograph.width
        * {
            "u8": 1,
            "u16": 2,
            "rgb8": 3,
        }[payload.header["format"]]
    )
    return True


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.name)
def test_mutated_dicom_never_does_worse(path, tmp_path):
    rng = random.Random(path.name)
    content = path.read_bytes()
    target = tmp_path / "mutated"
    for _ in range(25):
        mutated = bytearray(content)
        for _ in range(rng.choice([1, 2, 8, 32])):
            place = rng.randrange(min(len(mutated), rng.choice([2500, len(mutated)])))
            mutated[place] = rng.choice([0, 255, rng.randrange(256), mutated[place] ^ 1])
        if rng.random() < 0.2:
            mutated = mutated[: rng.randrange(len(mutated))]
        target.write_bytes(mutated)
        look(target)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "TIFF"])
def test_mutated_raster_never_does_worse(kind, tmp_path, film):
    stream = io.BytesIO()
    Image.fromarray((film >> 4).astype(np.uint8)).save(stream, kind)
    rng = random.Random(kind)
    target = tmp_path / "mutated"
    for _ in range(150):
        mutated = bytearray(stream.getvalue())
        for _ in range(rng.choice([1, 2, 8])):
            place = rng.randrange(min(len(mutated), rng.choice([120, len(mutated)])))
            mutated[place] = rng.randrange(256)
        target.write_bytes(mutated)
        look(target)


HEADS = [b"", bytes(128) + b"DICM", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"II*\0", b"RIFF"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(head=st.sampled_from(HEADS), tail=st.binary(max_size=400))
def test_any_bytes(tmp_path, head, tail):
    (tmp_path / "any").write_bytes(head + tail)
    look(tmp_path / "any")
