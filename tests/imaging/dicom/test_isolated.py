"""libjpeg in its own process: decodes, and can neither hang nor crash the one that asks."""

import sys
from pathlib import Path

import numpy as np
import pydicom
import pytest
from libjpeg import decode_pixel_data
from pydicom import dcmread, uid
from pydicom.encaps import get_frame

from rexview.imaging import read_image
from rexview.imaging.dicom import isolated_libjpeg
from rexview.imaging.dicom.isolated_libjpeg import DecoderProcess, is_available

CORPUS = Path(pydicom.__file__).parent / "data" / "test_files"
WORKER = Path(isolated_libjpeg.__file__).with_name("libjpeg_worker.py")
ANSWER = "out.write(b'\\0' + (3).to_bytes(8, 'little') + b'abc'); out.flush()"
LOOP = f"""
import sys, time
out = sys.stdout.buffer
while head := sys.stdin.buffer.read(8):
    frame = sys.stdin.buffer.read(int.from_bytes(head, 'little'))
    if frame == b'hang':
        time.sleep(600)
    if frame == b'crash':
        sys.exit(3)
    if frame == b'half':
        out.write(b'\\0' + (30).to_bytes(8, 'little') + b'abc'); out.flush(); sys.exit(0)
    {ANSWER}
"""


def frame_of(name):
    ds = dcmread(CORPUS / name)
    return get_frame(ds.PixelData, 0, number_of_frames=1)


@pytest.fixture(name="worker")
def worker_fixture():
    process = DecoderProcess([sys.executable, "-P", str(WORKER)])
    yield process
    process.close()


@pytest.fixture(name="unreliable")
def unreliable_fixture():
    process = DecoderProcess([sys.executable, "-c", LOOP], seconds=60.0)
    yield process
    process.close()


@pytest.mark.parametrize("name", ["JPGExtended.dcm", "SC_rgb_jpeg_gdcm.dcm"])
def test_same_pixels_as_in_this_process(worker, name):
    frame = frame_of(name)
    for _ in range(2):
        assert worker.decode(frame) == bytes(decode_pixel_data(frame, version=2))


def test_damaged_frame_raises_and_the_next_one_is_decoded(worker):
    frame = frame_of("JPGExtended.dcm")
    with pytest.raises(RuntimeError, match="damaged"):
        worker.decode(b"no JPEG at all")
    assert len(worker.decode(frame)) == 1024 * 256 * 2


@pytest.mark.parametrize("frame", [b"hang", b"crash", b"half"])
def test_hang_or_crash_raises_and_the_next_one_is_decoded(unreliable, frame):
    assert unreliable.decode(b"good") == b"abc"
    unreliable.seconds = 0.5
    with pytest.raises(RuntimeError, match="crashed or took too long"):
        unreliable.decode(frame)
    unreliable.seconds = 60.0
    assert unreliable.decode(b"good") == b"abc"


def test_twelve_bit_and_lossless_jpeg_go_through_it(monkeypatch):
    frames = []
    decode = DecoderProcess.decode

    def spy(self, frame):
        frames.append(frame)
        return decode(self, frame)

    monkeypatch.setattr(DecoderProcess, "decode", spy)
    assert read_image(CORPUS / "JPGExtended.dcm").pixels.dtype == np.uint16
    assert read_image(CORPUS / "SC_rgb_jpeg_gdcm.dcm").pixels.shape == (100, 100, 3)
    assert len(frames) == 2


def test_twelve_bits_of_a_writer_that_left_the_scan_open():
    """What libjpeg-turbo 3 gives for the same frame: 0 to 264, mean 14.4."""
    pixels = read_image(CORPUS / "JPEG-lossy.dcm").pixels
    assert (pixels.shape, pixels.dtype) == ((1024, 256), np.uint16)
    assert (pixels.min(), pixels.max()) == (0, 264)


def test_availability():
    assert is_available(uid.JPEGLosslessSV1)
    assert not is_available(uid.JPEG2000)
