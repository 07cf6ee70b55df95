"""What decoding takes: no more than was worked out before, and together no more than allowed."""

import json
import struct
import subprocess
import sys
import threading
import zlib

import numpy as np
import pytest
from PIL import Image
from pydicom import uid

from rexview.errors import ImageBroken, ImageBusy, ImageTooLarge
from rexview.imaging import read_image, thumbnail, viewer_payload
from rexview.imaging.limits import BYTES_PER_PIXEL, DECODING_MEMORY, DecodingMemory

SIDE = 1600
MEASURE = """
import json, os, resource, sys
from pathlib import Path
from rexview.imaging import limits as memory, viewer_payload

warm, *paths = map(Path, sys.argv[1:])
viewer_payload(warm)
asked = []
memory._STRIP_PIXELS = 1 << 14  # what a strip takes is little beside these pictures
room = memory.MEMORY.take
memory.MEMORY.take = lambda needed, allowed: (asked.append(needed), room(needed, 1 << 40))
for path in paths:
    asked.clear()
    out, into = os.pipe()
    child = os.fork()
    if not child:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        viewer_payload(path)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        os.write(into, json.dumps([path.name, peak * 1024, asked[-1]]).encode())
        os._exit(0)
    os.close(into)
    os.waitpid(child, 0)
    print(os.read(out, 1000).decode())
"""


def png(path, width, height, depth, colour, row):
    """Write a PNG of equal rows; nobody else writes all of its kinds."""

    def chunk(name, data):
        return (
            struct.pack(">L", len(data)) + name + data + struct.pack(">L", zlib.crc32(name + data))
        )

    header = struct.pack(">LLBBBBB", width, height, depth, colour, 0, 0, 0)
    body = zlib.compress((b"\0" + row) * height)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    )
    return path


@pytest.fixture
def every_kind(tmp_path, write_dicom):
    """A large picture of every kind that takes its own way to the screen."""
    made = [
        png(tmp_path / f"{name}.png", SIDE, SIDE, depth, colour, bytes(range(1, step + 1)) * SIDE)
        for name, depth, colour, step in (
            ("grey16", 16, 0, 2),
            ("rgb8", 8, 2, 3),
            ("rgba8", 8, 6, 4),
            ("rgb16", 16, 2, 6),
            ("la16", 16, 4, 4),
            ("rgba16", 16, 6, 8),
        )
    ]
    turned = Image.Exif()
    turned[0x0112] = 6
    colour = Image.effect_noise((SIDE, SIDE), 40).convert("RGB")
    for name, mode, options in (
        ("grey.jpg", "L", {}),
        ("colour.jpg", "RGB", {"progressive": True}),
        ("cmyk.jpg", "CMYK", {"progressive": True}),
        ("colour.webp", "RGBA", {"quality": 1, "method": 0}),
        ("float.tif", "F", {}),
        ("wide.tif", "I", {}),
        ("colour.tif", "RGB", {}),
        ("palette.png", "P", {"transparency": 0}),
        ("grey.bmp", "L", {}),
        ("colour.bmp", "RGB", {}),
        ("grey.gif", "L", {}),
        ("colour.gif", "P", {}),
        ("turned.jpg", "L", {"exif": turned}),
        ("turned-colour.jpg", "RGB", {"exif": turned}),
        ("turned.tif", "F", {"exif": turned}),
        ("turned.webp", "RGB", {"exif": turned, "quality": 1, "method": 0}),
    ):
        made.append(tmp_path / name)
        colour.convert("L" if mode in "FI" else "RGB").convert(mode).save(made[-1], **options)
    grey = np.random.default_rng(1).integers(0, 4000, (SIDE, SIDE)).astype(np.uint16)
    three = np.stack([(grey >> 4).astype(np.uint8)] * 3, axis=2)
    three[..., 1] //= 2
    deflated = uid.DeflatedExplicitVRLittleEndian
    for name, pixels, syntax, options in (
        ("native", grey, uid.ExplicitVRLittleEndian, {}),
        ("deflated", grey.astype(np.uint32), deflated, {}),
        ("double", grey.astype(np.float64), deflated, {}),
        ("rgb16", three.astype(np.uint16), deflated, {}),
        ("rle", grey, uid.RLELossless, {}),
        ("jls", grey, uid.JPEGLSLossless, {}),
        ("j2k", grey, uid.JPEG2000Lossless, {}),
        ("j2k-rgb", three, uid.JPEG2000Lossless, {}),
        ("jpeg", three, uid.JPEGBaseline8Bit, {}),
        ("palette", grey, deflated, palette()),
    ):
        made.append(write_dicom(pixels, syntax=syntax, name=f"{name}.dcm", **options))
    return made


def palette(segments=b""):
    """Elements of a colour table, in segments when they are given."""
    made = {"PhotometricInterpretation": "PALETTE COLOR"}
    for step, name in enumerate(("Red", "Green", "Blue"), start=1):
        made[f"{name}PaletteColorLookupTableDescriptor"] = [4096, 0, 16]
        entries = (np.arange(4096) * step).astype("<u2").tobytes()
        kept = f"Segmented{name}" if segments else name
        made[f"{kept}PaletteColorLookupTableData"] = segments or entries
    return made


@pytest.mark.skipif(sys.platform != "linux", reason="counts memory as Linux does")
def test_no_picture_takes_more_than_was_worked_out(every_kind, tmp_path):
    warm = tmp_path / "warm.png"
    Image.new("L", (8, 8)).save(warm)
    command = [sys.executable, "-c", MEASURE, str(warm), *map(str, every_kind)]
    told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    measured = [json.loads(line) for line in told.splitlines()]
    assert [name for name, _, _ in measured] == [path.name for path in every_kind]
    room = 9_000_000  # code that a decoder loads at first use, and its own buffers
    over = [
        f"{name}: {peak / SIDE**2:.1f} bytes a pixel, {needed / SIDE**2:.1f} worked out"
        for name, peak, needed in measured
        if peak > needed + room
    ]
    assert not over, over


def test_what_needs_too_much_is_refused_before_it_is_decoded(tmp_path, write_dicom):
    colour = np.zeros((40, 40, 3), np.uint16)
    path = write_dicom(colour, syntax=uid.DeflatedExplicitVRLittleEndian)
    assert read_image(path, max_pixels=2400).width == 40
    with pytest.raises(ImageTooLarge, match="MB of memory"):
        read_image(path, max_pixels=1600)


def test_a_tile_counts_as_large_as_it_is(tmp_path):
    """A TIFF of 64 x 64 pixels in one tile of 24,000 x 24,000 is unpacked whole."""
    side, start = 24_000, 8
    fields = [(256, 64), (257, 64), (258, 8), (259, 8), (262, 1), (277, 1)]
    fields += [(322, side), (323, side), (324, start), (325, 8)]
    entries = b"".join(struct.pack("<HHLL", tag, 4, 1, value) for tag, value in fields)
    path = tmp_path / "tile.tif"
    path.write_bytes(
        b"II*\0" + struct.pack("<L", 16) + zlib.compress(b"")[:8].ljust(8, b"\0")
        + struct.pack("<H", len(fields)) + entries + bytes(4)
    )  # fmt: skip
    with pytest.raises(ImageTooLarge, match="MB of memory"):
        read_image(path)


def test_a_colour_table_that_unfolds_without_end_is_refused(write_dicom):
    ends = struct.pack("<HHH", 0, 1, 5)
    longest = struct.pack("<HHH", 1, 65535, 9)
    pixels = np.zeros((8, 8), np.uint8)
    path = write_dicom(pixels, **palette(ends + longest * 20_000))
    with pytest.raises(ImageBroken, match="colour table"):
        read_image(path)
    assert (
        read_image(write_dicom(pixels, **palette(ends + longest[:2] + b"\xff\x0f\t\0"))).width == 8
    )


@pytest.mark.parametrize("make", [viewer_payload, thumbnail, read_image])
def test_room_is_given_back_whatever_happens(tmp_path, make):
    whole, broken = tmp_path / "whole.png", tmp_path / "broken.png"
    Image.new("RGB", (300, 300), (9, 90, 200)).save(whole)
    broken.write_bytes(whole.read_bytes()[:200])
    make(whole)
    assert DECODING_MEMORY.taken == 0
    with pytest.raises(ImageBroken):
        make(broken)
    assert DECODING_MEMORY.taken == 0


def test_pictures_wait_for_one_another_and_come_in_turn():
    memory = DecodingMemory(total=100, seconds=60)
    order, holding, go = [], threading.Event(), threading.Event()

    def first():
        with memory.scope():
            memory.take(80, 1000)
            holding.set()
            go.wait()

    def later(name, needed):
        with memory.scope():
            memory.take(needed, 1000)
            order.append((name, memory.taken))

    threads = [threading.Thread(target=first)]
    threads[0].start()
    holding.wait()
    for name, needed in (("large", 90), ("small", 10), ("larger than all", 500)):
        threads.append(threading.Thread(target=later, args=(name, needed)))
        threads[-1].start()
        while len(memory._queue) < len(threads) - 1:
            pass
    assert order == []  # the small one would fit, but does not overtake
    go.set()
    for thread in threads:
        thread.join()
    assert [name for name, _ in order] == ["large", "small", "larger than all"]
    assert order[2] == ("larger than all", 500)
    assert all(taken <= 100 for _, taken in order[:2])
    assert memory.taken == 0


def test_who_waits_too_long_or_in_too_long_a_queue_is_told(tmp_path):
    memory = DecodingMemory(total=100, seconds=0, most_waiting=1)
    with memory.scope():
        memory.take(60, 1000)
        told = []

        def refused():
            try:
                with memory.scope():
                    memory.take(60, 1000)
            except ImageBusy as error:
                told.append(str(error))

        thread = threading.Thread(target=refused)
        thread.start()
        thread.join()
        memory._queue.append(object())
        with pytest.raises(ImageBusy):
            memory.take(61, 1000)
        memory._queue.clear()
    assert "Try again" in told[0]
    assert memory.taken == 0


def test_a_scope_within_a_scope_takes_once():
    memory = DecodingMemory(total=100)
    with memory.scope():
        memory.take(50, 1000)
        with memory.scope():
            memory.take(60, 1000)
            assert memory.taken == 60
        assert memory.taken == 60
    assert memory.taken == 0


def test_as_many_bytes_are_allowed_as_pixels_want():
    """The largest picture of the usual kind, grey with 16 bits, is opened."""
    assert BYTES_PER_PIXEL >= 7
