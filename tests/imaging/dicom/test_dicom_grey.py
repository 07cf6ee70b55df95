"""What a DICOM header says about grey, and the order in which it is applied."""

import numpy as np
import pytest
from pydicom import dcmread, uid
from pydicom.dataset import Dataset
from pydicom.pixels.processing import apply_modality_lut, apply_voi_lut

from rexview.imaging import auto_window, read_image, render_display
from rexview.imaging.dicom.radiograph_reader import (
    BAD_RESCALE,
    BAD_TABLE,
    BAD_WINDOW,
    CONTRADICTION,
)
from rexview.imaging.transforms import UNUSABLE_WINDOW, code_pixels, presets

HALF = 0.5 + 1e-9  # ties are met here, and go up


def table_item(entries, first, bits, *, explanation=None, packed=None):
    item = Dataset()
    item.add_new("LUTDescriptor", "SS" if first < 0 else "US", [len(entries) % 65536, first, bits])
    if packed is None:
        item.add_new("LUTData", "US", list(entries))
    else:
        item.add_new("LUTData", "OW", np.array(entries).astype(packed).tobytes())
    if explanation:
        item.LUTExplanation = explanation
    return item


def test_modality_then_window_then_inversion(write_dicom, film):
    """Each step changes the result, so any other order gives another picture."""
    path = write_dicom(
        film,
        RescaleSlope="0.5",
        RescaleIntercept="-100",
        WindowCenter="900",
        WindowWidth="800",
        PhotometricInterpretation="MONOCHROME1",
    )
    t = np.clip((film * 0.5 - 100 - 899.5) / 799 + 0.5, 0, 1)
    expected = 255 - np.floor(t * 255 + HALF)
    picture = render_display(read_image(path), "file")
    np.testing.assert_array_equal(picture, expected)
    assert picture.std() > 20


@pytest.mark.parametrize("function", ["LINEAR", "LINEAR_EXACT", "SIGMOID", None])
@pytest.mark.parametrize("syntax", [uid.ExplicitVRLittleEndian, uid.ImplicitVRLittleEndian])
def test_every_window_of_several(write_dicom, film, function, syntax):
    path = write_dicom(
        film,
        syntax=syntax,
        BitsStored=12,
        WindowCenter=["2000", "1500.5"],
        WindowWidth=["1500", "300"],
        WindowCenterWidthExplanation=["LUNG", "BONE"],
        **({"VOILUTFunction": function} if function else {}),
    )
    radiograph = read_image(path)
    assert [window.name for window in radiograph.windows] == ["LUNG", "BONE"]
    assert {window.kind for window in radiograph.windows} == {(function or "LINEAR").lower()}
    ds = dcmread(path)
    for index, window in enumerate(radiograph.windows):
        theirs = apply_voi_lut(film, ds, index=index) * 255 / 4095
        assert np.abs(render_display(radiograph, window) - theirs).max() <= 0.5 + 1e-6


def test_windows_without_explanation_are_numbered(write_dicom, film):
    one = read_image(write_dicom(film, WindowCenter="9", WindowWidth="5"))
    two = read_image(write_dicom(film, WindowCenter=["9", "8"], WindowWidth=["5", "5"]))
    assert [window.name for window in one.windows] == ["Window of the file"]
    assert [window.name for window in two.windows] == ["Window 1", "Window 2"]


def test_same_window_twice_is_offered_once(write_dicom, film):
    path = write_dicom(film, WindowCenter=["9", "9", "8"], WindowWidth=["5", "5", "5"])
    assert [window.centre for window in read_image(path).windows] == [9, 8]


@pytest.mark.parametrize("syntax", [uid.ExplicitVRLittleEndian, uid.ExplicitVRBigEndian])
@pytest.mark.parametrize(("bits", "packed"), [(12, None), (16, None), (12, "<u2"), (10, None)])
def test_voi_table(write_dicom, film, syntax, bits, packed):
    if packed:
        packed = ">u2" if syntax == uid.ExplicitVRBigEndian else "<u2"
    entries = [round((2**bits - 1) * (i / 999) ** 2) for i in range(1000)]
    item = table_item(entries, 1800, bits, explanation="HARDER", packed=packed)
    path = write_dicom(
        film, syntax=syntax, VOILUTSequence=[item], WindowCenter="2000", WindowWidth="900"
    )
    radiograph = read_image(path)
    assert [(window.name, window.kind) for window in radiograph.windows] == [
        ("HARDER", "lut"),
        ("Window of the file", "linear"),
    ]
    theirs = apply_voi_lut(film, dcmread(path)) * (255 / (2**bits - 1))
    assert np.abs(render_display(radiograph, "file") - theirs).max() <= 0.5 + 1e-6


@pytest.mark.parametrize("syntax", [uid.ExplicitVRLittleEndian, uid.ExplicitVRBigEndian])
@pytest.mark.parametrize("packed", ["u1", "u2"])
def test_voi_table_of_eight_bits(write_dicom, film, syntax, packed):
    """Entries two in a word, or one in a word: both are met."""
    entries = np.arange(256)[::-1]
    little = syntax == uid.ExplicitVRLittleEndian
    if packed == "u2":
        kind = "<u2" if little else ">u2"
    else:
        kind = "u1"
        if not little:  # words of two entries, each word in the file's byte order
            entries = entries.reshape(-1, 2)[:, ::-1].ravel()
    item = table_item(entries, 1900, 8, packed=kind)
    picture = render_display(
        read_image(write_dicom(film, syntax=syntax, VOILUTSequence=[item])), "file"
    )
    expected = 255 - np.clip(film.astype(int) - 1900, 0, 255)
    np.testing.assert_array_equal(picture, expected)


def test_voi_table_whose_first_value_is_negative(write_dicom):
    """Stored unsigned, meant as the signed value that the rescale gives."""
    pixels = np.arange(0, 2000, 10, dtype=np.uint16).reshape(10, 20)
    item = table_item(range(0, 4096, 4), 65536 - 1024, 12)
    path = write_dicom(pixels, RescaleSlope="1", RescaleIntercept="-1024", VOILUTSequence=[item])
    window = read_image(path).windows[0]
    assert window.table is not None
    assert window.table.first == -1024
    picture = render_display(read_image(path), "file")
    np.testing.assert_array_equal(
        picture, np.floor(np.minimum(pixels.astype(int), 1023) * 4 * 255 / 4095 + 0.5)
    )


@pytest.mark.parametrize("length", [256, 65536])
def test_modality_table(write_dicom, length):
    pixels = np.arange(300, dtype=np.uint16).reshape(15, 20)
    entries = [(7 * i) % 4096 for i in range(length)]
    path = write_dicom(pixels, ModalityLUTSequence=[table_item(entries, 20, 16, packed="<u2")])
    theirs = apply_modality_lut(pixels, dcmread(path))
    coded = code_pixels(read_image(path))
    np.testing.assert_array_equal(coded.codes * coded.scale + coded.offset, theirs)


def test_modality_table_before_window(write_dicom, film):
    entries = [round(4095 * (i / 4095) ** 0.5) for i in range(4096)]
    path = write_dicom(
        film,
        ModalityLUTSequence=[table_item(entries, 0, 16)],
        WindowCenter="2500",
        WindowWidth="2000",
    )
    ds = dcmread(path)
    theirs = apply_voi_lut(apply_modality_lut(film, ds), ds) * (255 / 65535)
    assert np.abs(render_display(read_image(path), "file") - theirs).max() <= 0.5 + 1e-6


@pytest.mark.parametrize(
    ("photometry", "shape", "inverted", "contradiction"),
    [
        ("MONOCHROME2", None, False, False),
        ("MONOCHROME1", None, True, False),
        ("MONOCHROME2", "IDENTITY", False, False),
        ("MONOCHROME1", "INVERSE", True, False),
        ("MONOCHROME2", "INVERSE", True, True),
        ("MONOCHROME1", "IDENTITY", False, True),
        ("MONOCHROME1", "LIN OD", True, False),
    ],
)
def test_inversion(write_dicom, film, photometry, shape, inverted, contradiction):
    shapes = {"PresentationLUTShape": shape} if shape else {}
    options = {"WindowCenter": "2000", "WindowWidth": "3000"}
    plain = render_display(read_image(write_dicom(film, **options)))
    path = write_dicom(film, PhotometricInterpretation=photometry, **shapes, **options)
    radiograph = read_image(path)
    np.testing.assert_array_equal(render_display(radiograph), 255 - plain if inverted else plain)
    assert (CONTRADICTION in radiograph.warnings) == contradiction


def test_presentation_table_after_the_window(write_dicom, film):
    entries = [round(4095 * (i / 255) ** 3) for i in range(256)]
    window = {"WindowCenter": "2000", "WindowWidth": "3000"}
    path = write_dicom(film, PresentationLUTSequence=[table_item(entries, 0, 12)], **window)
    t = np.clip((film - 1999.5) / 2999 + 0.5, 0, 1)
    p_values = np.array(entries)[np.floor(t * 255 + 0.5).astype(int)]
    expected = np.floor(p_values * 255 / 4095 + 0.5)
    np.testing.assert_array_equal(render_display(read_image(path)), expected)


def test_presentation_table_after_a_voi_table(write_dicom, film):
    voi = [round(4095 * i / 1999) for i in range(2000)]
    presentation = [round(255 * (i / 4095) ** 2) for i in range(4096)]
    path = write_dicom(
        film,
        VOILUTSequence=[table_item(voi, 1000, 12)],
        PresentationLUTSequence=[table_item(presentation, 0, 8)],
    )
    after_voi = np.array(voi)[np.clip(film.astype(int) - 1000, 0, 1999)]
    np.testing.assert_array_equal(
        render_display(read_image(path)), np.array(presentation)[after_voi]
    )


@pytest.mark.parametrize(
    "elements",
    [
        {"WindowCenter": "100", "WindowWidth": "0"},
        {"WindowCenter": "100", "WindowWidth": "0.5"},
        {"WindowCenter": "100", "WindowWidth": "-40"},
        {"WindowCenter": "100", "WindowWidth": "0", "VOILUTFunction": "SIGMOID"},
        {"WindowCenter": "100", "WindowWidth": "50", "VOILUTFunction": "CUBIC"},
        {"WindowCenter": "100"},
    ],
)
def test_unusable_window_is_left_out_with_a_warning(write_dicom, film, elements):
    radiograph = read_image(write_dicom(film, **elements))
    assert radiograph.windows == ()
    assert BAD_WINDOW in radiograph.warnings
    assert render_display(radiograph, "file").std() > 20


@pytest.mark.parametrize(
    ("slope", "intercept"), [("0", "5"), ("1e300", "0"), ("1", "1e30")], ids=str
)
def test_unusable_rescale_is_left_out_with_a_warning(write_dicom, film, slope, intercept):
    radiograph = read_image(write_dicom(film, RescaleSlope=slope, RescaleIntercept=intercept))
    assert (radiograph.modality.slope, radiograph.modality.intercept) == (1, 0)
    assert BAD_RESCALE in radiograph.warnings


@pytest.mark.parametrize("keyword", ["VOILUTSequence", "ModalityLUTSequence"])
@pytest.mark.parametrize("bits", [0, 7, 17])
def test_unusable_table_is_left_out_with_a_warning(write_dicom, film, keyword, bits):
    radiograph = read_image(write_dicom(film, **{keyword: [table_item([1, 2, 3], 0, bits)]}))
    assert BAD_TABLE in radiograph.warnings
    np.testing.assert_array_equal(code_pixels(radiograph).codes, film)


def test_window_made_for_other_values_is_offered_but_not_begun_with(write_dicom, film):
    """Written before a rescale that was never stored: the picture would be black."""
    radiograph = read_image(write_dicom(film, WindowCenter="60000", WindowWidth="200"))
    windows, initial, warning = presets(radiograph, code_pixels(radiograph))
    assert windows[0].centre == 60000
    assert windows[initial].name == "Auto"
    assert warning == UNUSABLE_WINDOW


@pytest.mark.parametrize("limit", [None, 40], ids=["value", "range"])
@pytest.mark.parametrize("signed", [False, True])
def test_padding_does_not_count_for_the_automatic_window(write_dicom, film, limit, signed):
    pixels = film.astype(np.int16 if signed else np.uint16)
    clean = auto_window(read_image(write_dicom(pixels)))
    padding = -2000 if signed else 0
    padded = pixels.copy()
    padded[:, 12:40:3] = padding
    if limit is not None:
        padded[30:40] = padding + limit // 2
    path = write_dicom(padded)
    ds = dcmread(path)
    vr = "SS" if signed else "US"
    ds.add_new("PixelPaddingValue", vr, padding)
    if limit is not None:
        ds.add_new("PixelPaddingRangeLimit", vr, padding + limit)
    ds.save_as(path)
    found = auto_window(read_image(path))
    span = clean.width
    assert abs(found.centre - clean.centre) < 0.06 * span
    assert abs(found.width - clean.width) < 0.12 * span
