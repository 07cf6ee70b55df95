"""What the viewer gets: a browser that follows the written formulas sees what ``display`` gives."""

import base64
import hashlib
import json
import math
import os
import struct

import numpy as np
import pytest
from PIL import Image
from pydicom import dcmread
from pydicom.dataset import Dataset

from rexview.imaging import (
    DiskCache,
    read_image,
    render_display,
    unframe_payload,
    viewer_payload,
    without_free_text,
)
from rexview.imaging.transforms import QUANTISED, UNUSABLE_WINDOW

KEYS = {
    *("version", "width", "height", "format", "scale", "offset", "invert", "presentation"),
    *("aspect", "presets", "initial", "spacing", "orientation", "view", "bits", "frames"),
    *("warnings", "sha"),
}
ROUND = 0.500000001


def browser(payload, index):
    """Draw a payload as the specification says, one code at a time, without our own code."""
    header = payload.header
    kind = {"u8": "u1", "u16": "<u2", "rgb8": "u1"}[header["format"]]
    codes = np.frombuffer(payload.body, kind)
    if header["format"] == "rgb8":
        return codes.reshape(header["height"], header["width"], 3)
    preset = header["presets"][index]
    c, w = preset["centre"], preset["width"]
    presentation = header["presentation"] and base64.b64decode(header["presentation"])

    def grey(code):
        m = code * header["scale"] + header["offset"]
        if preset["kind"] == "lut":
            values = base64.b64decode(preset["table"]["values"])
            place = math.floor(m) - preset["table"]["first"]
            level = values[min(max(place, 0), len(values) - 1)]
        else:
            if preset["kind"] == "sigmoid":
                t = 1 / (1 + math.exp(-4 * (m - c) / w))
            else:
                linear = preset["kind"] == "linear"
                mid, half, span = (c - 0.5, (w - 1) / 2, w - 1) if linear else (c, w / 2, w)
                t = 0 if m <= mid - half else 1 if m > mid + half else (m - mid) / span + 0.5
            if presentation:
                level = presentation[math.floor(t * (len(presentation) - 1) + ROUND)]
            else:
                level = math.floor(t * 255 + ROUND)
        return 255 - level if header["invert"] else level

    found = {code: grey(code) for code in np.unique(codes).tolist()}
    levels = np.array([found[code] for code in codes.tolist()], dtype=np.uint8)
    return levels.reshape(header["height"], header["width"])


def table_item(entries, first, bits):
    item = Dataset()
    item.LUTDescriptor = [len(entries), first, bits]
    item.add_new("LUTData", "US", entries)
    item["LUTDescriptor"].VR = "US"
    return item


SQUARES = [round(4095 * (i / 511) ** 2) for i in range(512)]
FILES = {
    "plain": {},
    "windows": {"WindowCenter": ["2000", "900"], "WindowWidth": ["1500", "1"]},
    "sigmoid": {"WindowCenter": "2000", "WindowWidth": "900", "VOILUTFunction": "SIGMOID"},
    "rescaled": {
        "RescaleSlope": "0.3",
        "RescaleIntercept": "-7.7",
        "WindowCenter": "500",
        "WindowWidth": "400",
    },
    "negative slope": {"RescaleSlope": "-1", "RescaleIntercept": "4095"},
    "inverted": {"PhotometricInterpretation": "MONOCHROME1"},
    "voi table": {"VOILUTSequence": [table_item(SQUARES, 1800, 12)]},
    "presentation": {
        "PresentationLUTSequence": [table_item(SQUARES, 0, 12)],
        "WindowCenter": "2000",
        "WindowWidth": "1500",
    },
    "both tables": {
        "PresentationLUTSequence": [table_item(SQUARES, 0, 12)],
        "VOILUTSequence": [table_item(SQUARES, 1800, 12)],
    },
    "modality table": {"ModalityLUTSequence": [table_item(SQUARES, 1500, 12)]},
    "blind window": {"WindowCenter": "60000", "WindowWidth": "3"},
}


@pytest.mark.parametrize("kind", ["u1", "u2", "i2", "u4", "f4"])
@pytest.mark.parametrize("name", FILES)
def test_browser_sees_what_display_gives(write_dicom, film, name, kind):
    pixels = (film >> 4 if kind == "u1" else film.astype(kind)).astype(kind)
    path = write_dicom(pixels, **FILES[name])
    radiograph = read_image(path)
    payload = viewer_payload(path)
    header = payload.header
    assert set(header) == KEYS
    names = [preset["name"] for preset in header["presets"]]
    ends = "Full range" if header["format"] == "u16" else "As stored"
    assert names[-2:] == ["Auto", ends]
    assert len(names) == len(radiograph.windows) + 2
    for index, window in enumerate(radiograph.windows):
        np.testing.assert_array_equal(browser(payload, index), render_display(radiograph, window))
    np.testing.assert_array_equal(
        browser(payload, len(names) - 2), render_display(radiograph, "auto")
    )
    np.testing.assert_array_equal(
        browser(payload, header["initial"]), render_display(radiograph, "initial")
    )
    if not radiograph.windows:
        np.testing.assert_array_equal(browser(payload, len(names) - 1), render_display(radiograph))


def test_sixteen_bits_reach_the_viewer(write_dicom):
    pixels = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    payload = viewer_payload(write_dicom(pixels))
    np.testing.assert_array_equal(np.frombuffer(payload.body, "<u2"), pixels.ravel())
    assert (payload.header["format"], payload.header["bits"]) == ("u16", 16)


def test_signed_values_are_recoded(write_dicom):
    pixels = np.array([[-32768, -1], [0, 32767]], dtype=np.int16)
    header = (payload := viewer_payload(write_dicom(pixels))).header
    codes = np.frombuffer(payload.body, "<u2").astype(float)
    np.testing.assert_array_equal(codes * header["scale"] + header["offset"], pixels.ravel())


def test_colour(tmp_path, film):
    colour = np.stack([film >> 4, film >> 5, film >> 6], axis=-1).astype(np.uint8)
    Image.fromarray(colour).save(tmp_path / "a.png")
    payload = viewer_payload(tmp_path / "a.png")
    assert payload.header["format"] == "rgb8"
    assert (payload.header["presets"], payload.header["initial"]) == ([], None)
    np.testing.assert_array_equal(browser(payload, None), colour)


@pytest.mark.parametrize(
    ("name", "kind", "initial"),
    [
        ("windows", "u2", 0),
        ("plain", "u2", 0),  # Auto, the first of two
        ("plain", "u1", 1),  # as stored
        ("blind window", "u2", 1),
    ],
)
def test_which_window_is_shown_first(write_dicom, film, name, kind, initial):
    pixels = (film >> 4 if kind == "u1" else film).astype(kind)
    header = viewer_payload(write_dicom(pixels, **FILES[name])).header
    assert header["initial"] == initial
    assert (UNUSABLE_WINDOW in header["warnings"]) == (name == "blind window")


def test_header_tells_what_the_page_needs(write_dicom, film):
    path = write_dicom(
        film,
        BitsStored=12,
        ViewPosition="AP",
        PatientOrientation=["R", "F"],
        ImagerPixelSpacing=[0.4, 0.2],
    )
    header = viewer_payload(path).header
    assert (header["width"], header["height"], header["bits"]) == (80, 60, 12)
    assert (header["aspect"], header["frames"], header["view"]) == (2, 1, "AP")
    assert header["spacing"]["row_mm"] == 0.4
    assert header["spacing"]["at"] == "detector"
    assert header["orientation"] == {
        "left": "L",
        "right": "R",
        "top": "H",
        "bottom": "F",
        "source": "PatientOrientation",
        "mirrored": True,
        "turned": False,
    }


def test_coarser_values_are_told(write_dicom, film):
    assert QUANTISED in viewer_payload(write_dicom(film.astype(np.float32) / 7)).header["warnings"]
    assert viewer_payload(write_dicom(film)).header["warnings"] == []


def test_framing(write_dicom, film):
    payload = viewer_payload(write_dicom(film[:, :79]))
    framed = payload.framed
    assert framed[:4] == b"RXV1"
    (length,) = struct.unpack_from("<L", framed, 4)
    assert (8 + length) % 8 == 0
    assert json.loads(framed[8 : 8 + length]) == payload.header
    body = framed[8 + length :]
    assert len(body) == 60 * 79 * 2
    assert hashlib.blake2b(body, digest_size=16).hexdigest() == payload.header["sha"]
    again = unframe_payload(framed)
    assert (again.header, bytes(again.body)) == (payload.header, body)
    with pytest.raises(ValueError, match="not a viewer payload"):
        unframe_payload(b"other bytes")


def test_payload_is_kept_until_the_file_changes(write_dicom, film, tmp_path):
    cache = DiskCache(tmp_path / "cache", 10**8)
    path = write_dicom(film)
    first = viewer_payload(path, cache)
    before = path.stat()
    path.write_bytes(b"x" * before.st_size)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert viewer_payload(path, cache).framed == first.framed  # not decoded again
    (tmp_path / "image.dcm").unlink()
    second = write_dicom(film + 1)
    ds = dcmread(second)
    ds.WindowCenter, ds.WindowWidth = 9, 9
    ds.save_as(second)
    assert viewer_payload(second, cache).header["sha"] != first.header["sha"]


def test_free_text_of_a_file_can_be_left_out(write_dicom):
    words = "ZEPHYRION 7"
    path = write_dicom(
        np.arange(6000, dtype=np.uint16).reshape(60, 100),
        Manufacturer=words,
        SoftwareVersions=words,
        SeriesDescription=words,
        ViewPosition=words,
        WindowCenter=[3000, 2000],
        WindowWidth=[1000, 500],
        WindowCenterWidthExplanation=[words, "Auto"],
        PatientOrientation=[words, words],
        PixelSpacing=[0.1, 0.1],
        PixelSpacingCalibrationType="GEOMETRY",
        PixelSpacingCalibrationDescription=words,
        ImagerPixelSpacing=[0.2, 0.2],
    )
    payload = viewer_payload(path)
    assert words.encode() in payload.framed, "there is something to leave out"
    plain = without_free_text(payload)
    assert words.encode() not in plain.framed
    assert [one["name"] for one in plain.header["presets"]][:2] == ["Window 1", "Window 2"]
    assert [one["name"] for one in plain.header["presets"]][2:] == ["Auto", "Full range"]
    assert bytes(plain.body) == bytes(payload.body)
    assert set(plain.header) == KEYS
    for name in KEYS - {"presets", "spacing", "view"}:
        assert plain.header[name] == payload.header[name]


def test_a_colour_picture_without_words_is_the_same(tmp_path):
    path = tmp_path / "colour.png"
    Image.fromarray(np.arange(3600, dtype=np.uint8).reshape(30, 40, 3)).save(path)
    payload = viewer_payload(path)
    assert without_free_text(payload).framed == payload.framed
