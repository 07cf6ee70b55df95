"""Every transfer syntax and every way to store a pixel; encoders are pydicom's and Pillow's."""

import base64
import struct

import numpy as np
import pytest
from pydicom import dcmread, uid
from pydicom.dataset import Dataset
from pydicom.encaps import encapsulate

from rexview.imaging import ImageBroken, read_image, render_display

LOSSLESS = [
    uid.ImplicitVRLittleEndian,
    uid.ExplicitVRLittleEndian,
    uid.ExplicitVRBigEndian,
    uid.DeflatedExplicitVRLittleEndian,
    uid.RLELossless,
    uid.JPEGLSLossless,
    uid.JPEG2000Lossless,
]


HTJ2K_RAMP = base64.b85decode(
    "|4;u>04YEK0000G0000C00000000000000G0000C0000000000009pH0sl|{2mk^A000XAQUDA90ssL31q1{@0sm"
    "Y86Cj9?kdTm&kdTm&kdTmwh=~7W02crOPjF>!N>E53R%LP^FfKASE;BCwkN^q*00000egFaglfVEbr}qU1bN~Rr0"
    "24p}697j30|#^fc>V$hbO68r6TkoxfFOhX0)lh^bN(_j0KfnhPyhu`f&~lypn@_2b^xTLq@=(h0lu~XzyK>?02YX"
    "jj*gCwj^~Pcae{XMNCZI;1VR4#1R#6%5P|Hv0RPz"
)
"""12 x 16 pixels of 200 x + 37 y modulo 4096, 16 bits, encoded by OpenJPH (imagecodecs)."""


def named(syntax):
    return syntax.name


@pytest.mark.parametrize("syntax", LOSSLESS, ids=named)
@pytest.mark.parametrize("kind", ["u1", "u2", "i2"])
def test_grey_survives_every_lossless_syntax(write_dicom, film, syntax, kind):
    pixels = (film.astype(int) - 2000).astype(kind) if kind == "i2" else (film >> 4).astype(kind)
    radiograph = read_image(write_dicom(pixels, syntax=syntax))
    np.testing.assert_array_equal(radiograph.pixels, pixels)
    assert radiograph.pixels.dtype == np.dtype(kind)
    assert radiograph.pixels.dtype.isnative


@pytest.mark.parametrize("syntax", LOSSLESS, ids=named)
def test_twelve_bits_survive_every_lossless_syntax(write_dicom, film, syntax):
    radiograph = read_image(write_dicom(film, syntax=syntax, BitsStored=12))
    np.testing.assert_array_equal(radiograph.pixels, film)
    assert radiograph.bits == 12


@pytest.mark.parametrize("syntax", LOSSLESS, ids=named)
def test_colour_survives_every_lossless_syntax(write_dicom, film, syntax):
    colour = np.stack([film >> 4, film >> 5, 255 - (film >> 4)], axis=-1).astype(np.uint8)
    radiograph = read_image(write_dicom(colour, syntax=syntax))
    np.testing.assert_array_equal(render_display(radiograph), colour)


def test_eight_bit_pixels_as_big_endian_words(write_dicom, film):
    pixels = (film >> 4).astype(np.uint8)
    path = write_dicom(pixels, syntax=uid.ExplicitVRBigEndian)
    ds = dcmread(path)
    ds["PixelData"].VR = "OW"
    ds.PixelData = pixels.view("<u2").astype(">u2").tobytes()
    ds.save_as(path)
    np.testing.assert_array_equal(read_image(path).pixels, pixels)


def test_jpeg_baseline(write_dicom, film):
    y, x = np.mgrid[0:60, 0:80]
    pixels = (40 + 2 * x + y / 2).astype(np.uint8)
    found = read_image(write_dicom(pixels, syntax=uid.JPEGBaseline8Bit))
    assert np.abs(found.pixels.astype(int) - pixels).max() <= 3
    colour = np.stack([pixels, pixels[::-1], pixels[:, ::-1]], axis=-1)
    found = read_image(write_dicom(colour, syntax=uid.JPEGBaseline8Bit, quality=100))
    assert np.abs(found.pixels.astype(int) - colour).max() <= 6


@pytest.mark.parametrize("syntax", [uid.HTJ2KLossless, uid.HTJ2K], ids=named)
def test_high_throughput_jpeg_2000(write_dicom, syntax):
    y, x = np.mgrid[0:12, 0:16]
    ramp = ((x * 200 + y * 37) % 4096).astype(np.uint16)
    path = write_dicom(ramp)
    ds = dcmread(path)
    ds.PixelData = encapsulate([HTJ2K_RAMP])
    ds["PixelData"].VR = "OB"
    ds.file_meta.TransferSyntaxUID = syntax
    ds.save_as(path)
    np.testing.assert_array_equal(read_image(path).pixels, ramp)


@pytest.mark.parametrize(
    "syntax",
    [uid.ImplicitVRLittleEndian, uid.ExplicitVRLittleEndian, uid.ExplicitVRBigEndian],
    ids=named,
)
def test_file_without_preamble_and_file_meta(write_dicom, film, syntax):
    path = write_dicom(film, syntax=syntax, meta=False, BitsStored=12)
    assert path.read_bytes()[128:132] != b"DICM"
    np.testing.assert_array_equal(read_image(path).pixels, film)


def test_header_in_another_encoding_than_announced(write_dicom, film):
    """Implicit VR inside a file that says explicit, as some writers leave it."""
    implicit = write_dicom(film, syntax=uid.ImplicitVRLittleEndian, name="implicit.dcm")
    content = implicit.read_bytes()
    wrong = content.replace(b"1.2.840.10008.1.2\0", b"1.2.840.10008.1.2.1\0")
    delta = len(wrong) - len(content)
    assert delta == 2
    at = content.index(b"UI", 150)
    assert at > 0
    place = wrong.index(b"1.2.840.10008.1.2.1\0")
    size = struct.pack("<H", 20)
    wrong = wrong[: place - 2] + size + wrong[place:]
    (length,) = struct.unpack_from("<L", wrong, 140)
    wrong = wrong[:140] + struct.pack("<L", length + delta) + wrong[144:]
    implicit.write_bytes(wrong)
    np.testing.assert_array_equal(read_image(implicit).pixels, film)


@pytest.mark.parametrize("frames", [2, 7])
@pytest.mark.parametrize("syntax", [uid.ExplicitVRLittleEndian, uid.RLELossless], ids=named)
def test_first_frame_of_a_film_with_a_warning(write_dicom, film, syntax, frames):
    films = np.stack([film + 100 * number for number in range(frames)])
    radiograph = read_image(write_dicom(films, syntax=syntax, frames=frames))
    np.testing.assert_array_equal(radiograph.pixels, film)
    assert radiograph.frames == frames
    assert radiograph.warnings == (f"The file has {frames} frames; the first is shown.",)


def test_overlay_bits_above_the_stored_ones_are_dropped(write_dicom, film):
    overlay = np.uint16(0x8000) * (np.indices(film.shape).sum(axis=0) % 3 == 0).astype(np.uint16)
    found = read_image(write_dicom(film | overlay, BitsStored=12))
    np.testing.assert_array_equal(found.pixels, film)


def test_signed_pixels_in_part_of_a_word(write_dicom):
    """Twelve-bit two's complement whose upper bits are not a sign extension."""
    values = np.array([[-2048, -1, 0], [1, 2047, -700]], dtype=np.int16)
    stored = (values & 0x0FFF).astype(np.int16)
    found = read_image(write_dicom(stored, BitsStored=12))
    np.testing.assert_array_equal(found.pixels, values)


@pytest.mark.parametrize("signed", [False, True])
def test_pixel_that_does_not_begin_at_bit_zero(write_dicom, signed):
    values = np.array([[-2048, -1, 0], [1, 2047, -700]]) + (0 if signed else 2048)
    stored = ((values << 4) | 0b1010).astype(np.int16 if signed else np.uint16)
    found = read_image(write_dicom(stored, BitsStored=12, HighBit=15))
    np.testing.assert_array_equal(found.pixels, values)


def test_bits_stored_beyond_the_allocated_ones_is_survived(write_dicom, film):
    path = write_dicom(film, BitsStored=16)
    content = path.read_bytes()
    tag = struct.pack("<HH2sHH", 0x0028, 0x0101, b"US", 2, 16)
    path.write_bytes(content.replace(tag, struct.pack("<HH2sHH", 0x28, 0x101, b"US", 2, 99)))
    np.testing.assert_array_equal(read_image(path).pixels, film)


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_float_pixels(write_dicom, film, kind):
    pixels = film.astype(kind) / 4096
    radiograph = read_image(write_dicom(pixels))
    np.testing.assert_array_equal(radiograph.pixels, pixels)
    picture = render_display(radiograph, "file").astype(float)
    span = pixels.max() - pixels.min()
    assert np.abs(picture - (pixels - pixels.min()) * 255 / span).max() <= 0.51


def test_planar_configuration(write_dicom, film):
    colour = np.stack([film >> 4, film >> 5, film >> 6], axis=-1).astype(np.uint8)
    path = write_dicom(colour)
    ds = dcmread(path)
    ds.PlanarConfiguration = 1
    ds.PixelData = np.ascontiguousarray(colour.transpose(2, 0, 1)).tobytes()
    ds.save_as(path)
    np.testing.assert_array_equal(read_image(path).pixels, colour)


def test_uncompressed_ybr_full(write_dicom):
    ybr = np.array([[[255, 128, 128], [0, 128, 128]], [[76, 85, 255], [128, 128, 128]]])
    path = write_dicom(ybr.astype(np.uint8), PhotometricInterpretation="YBR_FULL")
    expected = [[[255, 255, 255], [0, 0, 0]], [[254, 0, 0], [128, 128, 128]]]
    assert np.abs(read_image(path).pixels.astype(int) - expected).max() <= 1


def test_uncompressed_422_colour_that_is_not_subsampled(write_dicom):
    """A third more pixel data than 4:2:2 needs: the announced subsampling is wrong."""
    ybr = np.full((4, 6, 3), 128, dtype=np.uint8)
    ybr[0, 0] = (76, 85, 255)
    found = read_image(write_dicom(ybr, PhotometricInterpretation="YBR_FULL_422"))
    assert np.abs(found.pixels[0, 0].astype(int) - [254, 0, 0]).max() <= 1


@pytest.mark.parametrize("bits", [8, 16])
def test_palette_colour(write_dicom, bits):
    index = np.array([[0, 1, 2], [3, 2, 1]], dtype=np.uint8)
    top = 2**bits - 1
    entries = {"Red": [0, top, 0, top // 2], "Green": [0, 0, top, 0], "Blue": [top, 0, 0, 0]}
    options = {"PhotometricInterpretation": "PALETTE COLOR"}
    for colour, values in entries.items():
        dtype = np.uint8 if bits == 8 else "<u2"
        name = f"{colour}PaletteColorLookupTable"
        options[f"{name}Descriptor"] = [4, 0, bits]
        options[f"{name}Data"] = np.array(values, dtype=dtype).tobytes()
    found = read_image(write_dicom(index, **options)).pixels
    expected = np.stack([np.array(values)[index] for values in entries.values()], axis=-1)
    assert np.abs(found - expected * 255 / top).max() <= 0.51


def test_palette_without_its_table_is_broken(write_dicom, film):
    path = write_dicom((film >> 4).astype(np.uint8), PhotometricInterpretation="PALETTE COLOR")
    with pytest.raises(ImageBroken, match="colour table"):
        read_image(path)


@pytest.mark.parametrize("kind", ["u1", "u2"])
def test_grey_saved_as_colour_can_be_windowed(write_dicom, film, kind):
    grey = (film >> (4 if kind == "u1" else 0)).astype(kind)
    radiograph = read_image(write_dicom(np.repeat(grey[..., None], 3, axis=2)))
    assert not radiograph.colour
    np.testing.assert_array_equal(radiograph.pixels, grey)


def test_sixteen_bit_colour_is_brought_to_eight(write_dicom):
    colour = np.array([[[0, 32768, 65535], [65535, 0, 128]]], dtype=np.uint16)
    assert read_image(write_dicom(colour)).pixels.tolist() == [[[0, 128, 255], [255, 0, 0]]]


def test_one_bit_pixels(write_dicom):
    mask = (np.indices((16, 24)).sum(axis=0) % 5 == 0).astype(np.uint8)
    packed = np.packbits(mask.ravel(), bitorder="little").tobytes()
    path = write_dicom(mask, BitsAllocated=1, PixelData=packed)
    ds = dcmread(path)
    ds.BitsStored, ds.HighBit = 1, 0
    ds.save_as(path)
    radiograph = read_image(path)
    np.testing.assert_array_equal(radiograph.pixels, mask)
    np.testing.assert_array_equal(render_display(radiograph), mask * 255)


@pytest.mark.parametrize(
    ("samples", "photometry"), [(1, "RGB"), (3, "MONOCHROME2")], ids=["grey", "colour"]
)
def test_contradiction_about_colour_is_shown_with_a_warning(write_dicom, film, samples, photometry):
    grey = (film >> 4).astype(np.uint8)
    pixels = grey if samples == 1 else np.stack([grey, grey // 2, grey // 3], axis=-1)
    radiograph = read_image(write_dicom(pixels, PhotometricInterpretation=photometry))
    np.testing.assert_array_equal(radiograph.pixels, pixels)
    assert "contradicts itself" in radiograph.warnings[0]


def test_unknown_compression_is_named(write_dicom, film):
    path = write_dicom(film, syntax=uid.RLELossless)
    ds = dcmread(path)
    ds.file_meta.TransferSyntaxUID = uid.MPEG2MPML
    ds.save_as(path)
    with pytest.raises(ImageBroken, match=r"compressed in a way.*MPEG2"):
        read_image(path)


def test_enhanced_multiframe_answers_for_its_first_frame(write_dicom, film):
    def item(**elements):
        ds = Dataset()
        for keyword, value in elements.items():
            setattr(ds, keyword, value)
        return ds

    shared = item(
        PixelValueTransformationSequence=[item(RescaleSlope=2, RescaleIntercept=-100)],
        PixelMeasuresSequence=[item(PixelSpacing=[0.5, 0.25])],
    )
    frame = item(FrameVOILUTSequence=[item(WindowCenter=500, WindowWidth=1000)])
    path = write_dicom(
        film,
        Modality="CT",
        SharedFunctionalGroupsSequence=[shared],
        PerFrameFunctionalGroupsSequence=[frame],
    )
    radiograph = read_image(path)
    assert (radiograph.modality.slope, radiograph.modality.intercept) == (2, -100)
    assert [(window.centre, window.width) for window in radiograph.windows] == [(500, 1000)]
    assert radiograph.spacing is not None
    assert (radiograph.spacing.row_mm, radiograph.spacing.col_mm) == (0.5, 0.25)
    assert radiograph.aspect == 2
