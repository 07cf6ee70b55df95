"""PNG, JPEG, WebP, TIFF, BMP and GIF in every mode that is met."""

import io
import struct
import zlib

import cv2
import numpy as np
import pytest
from PIL import Image, ImageOps
from support.growth import growth

from rexview.errors import ImageBroken, ImageTooLarge
from rexview.imaging import read_facts, read_image, render_display
from rexview.imaging.raster import TURNED_WARNING


@pytest.fixture(name="save")
def save_fixture(tmp_path):
    def save(image, name="image.png", **options):
        if isinstance(image, np.ndarray):
            image = Image.fromarray(image)
        image.save(tmp_path / name, **options)
        return tmp_path / name

    return save


@pytest.fixture(name="grey")
def grey_fixture(film):
    return (film >> 4).astype(np.uint8)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.png", {}),
        ("a.webp", {"lossless": True}),
        ("a.tif", {}),
        ("a.tif", {"compression": "tiff_lzw"}),
        ("wrong-name.dcm", {"format": "PNG"}),
    ],
)
def test_eight_bit_grey_as_stored(save, grey, name, options):
    path = save(grey, name, **options)
    radiograph = read_image(path)
    np.testing.assert_array_equal(radiograph.pixels, grey)
    assert (radiograph.kind, radiograph.bits, radiograph.warnings) == ("raster", 8, ())
    for window in ("file", "initial"):
        np.testing.assert_array_equal(render_display(radiograph, window), grey)


@pytest.mark.parametrize("name", ["a.png", "a.tif"])
def test_sixteen_bit_grey(save, film, name):
    deep = film * np.uint16(16)
    radiograph = read_image(save(deep, name))
    np.testing.assert_array_equal(radiograph.pixels, deep)
    assert radiograph.bits == 16


@pytest.mark.parametrize("order", ["<u2", ">u2"])
def test_sixteen_bit_tiff_of_either_byte_order(tmp_path, film, order):
    """A little-endian or big-endian file with one uncompressed strip, written by hand."""
    end = order[0]
    rows, columns = film.shape
    tags = [
        *((256, 4, columns), (257, 4, rows), (258, 3, 16), (259, 3, 1), (262, 3, 1)),
        *((273, 4, 8), (277, 3, 1), (278, 4, rows), (279, 4, rows * columns * 2)),
    ]
    entries = b""
    for tag, kind, value in tags:
        packed = struct.pack(end + ("Hxx" if kind == 3 else "L"), value)
        entries += struct.pack(end + "HHL", tag, kind, 1) + packed
    data = film.astype(order).tobytes()
    head = (b"II" if end == "<" else b"MM") + struct.pack(end + "HL", 42, 8 + len(data))
    directory = struct.pack(end + "H", len(tags)) + entries + bytes(4)
    path = tmp_path / "strip.tif"
    path.write_bytes(head + data + directory)
    found = read_image(path)
    np.testing.assert_array_equal(found.pixels, film)
    expected = (film.astype(float) - film.min()) * 255 / np.ptp(film)
    assert np.abs(render_display(found, "file") - expected).max() <= 0.51


@pytest.mark.parametrize("kind", [np.int32, np.float32])
def test_32_bit_tiff(save, film, kind):
    pixels = film.astype(kind) - kind(2000)
    radiograph = read_image(save(pixels, "a.tif"))
    np.testing.assert_array_equal(radiograph.pixels, pixels)
    expected = (pixels.astype(float) - pixels.min()) * 255 / np.ptp(pixels)
    assert np.abs(render_display(radiograph, "file") - expected).max() <= 0.51


def test_jpeg_grey_and_colour(save, grey):
    with Image.open(save(grey, "a.jpg", quality=90)) as image:
        expected = np.asarray(image)
    np.testing.assert_array_equal(read_image(save(grey, "a.jpg", quality=90)).pixels, expected)
    colour = np.stack([grey, grey[::-1], 255 - grey], axis=-1)
    path = save(colour, "b.jpg", quality=95)
    with Image.open(path) as image:
        np.testing.assert_array_equal(read_image(path).pixels, np.asarray(image))


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.webp"])
def test_grey_saved_as_colour_becomes_grey(save, grey, name):
    radiograph = read_image(save(np.repeat(grey[..., None], 3, axis=2), name, quality=95))
    if name == "a.webp":  # WebP stores chroma at half resolution and rounds it
        assert np.abs(render_display(radiograph).astype(int).mean() - grey.mean()) < 3
        return
    assert not radiograph.colour
    assert np.abs(radiograph.pixels.astype(int) - grey).max() <= (0 if name == "a.png" else 12)


@pytest.mark.parametrize("mode", ["LA", "RGBA"])
def test_transparency_lies_over_black(save, grey, mode):
    alpha = np.full_like(grey, 255)
    alpha[:20] = 0
    alpha[20:40] = 128
    channels = [grey] * (len(mode) - 1) + [alpha]
    radiograph = read_image(save(np.stack(channels, axis=-1)))
    expected = grey.astype(float) * alpha / 255
    assert not radiograph.colour
    assert np.abs(radiograph.pixels - expected).max() <= 1


@pytest.mark.parametrize("colours", ["grey", "red", "transparent"])
def test_palette(save, grey, colours):
    index = grey // 16
    image = Image.fromarray(index).convert("P")
    ramp = np.arange(16) * 17
    table = np.stack([ramp, ramp if colours != "red" else ramp // 2, ramp], axis=-1)
    image.putpalette(table.astype(np.uint8).tobytes())
    indices = np.asarray(image)
    options = {"transparency": 0} if colours == "transparent" else {}
    radiograph = read_image(save(image, **options))
    if colours == "red":
        np.testing.assert_array_equal(radiograph.pixels, table[indices])
    else:
        np.testing.assert_array_equal(radiograph.pixels, ramp[indices])


def test_one_bit(save):
    mask = np.indices((9, 13)).sum(axis=0) % 3 == 0
    radiograph = read_image(save(mask))
    np.testing.assert_array_equal(render_display(radiograph), mask * 255)


@pytest.mark.parametrize("channels", [3, 4])
@pytest.mark.parametrize("grey_only", [True, False])
def test_sixteen_bit_png_with_colour_channels(tmp_path, film, channels, grey_only):
    """Pillow cuts such files to 8 bits; a grey picture must keep its depth."""
    deep = film * np.uint16(15)
    planes = [deep, deep if grey_only else deep[::-1], deep]  # B, G, R
    planes += [np.full_like(deep, 65535)] * (channels - 3)
    path = tmp_path / "deep.png"
    assert cv2.imwrite(str(path), np.stack(planes, axis=-1))
    radiograph = read_image(path)
    if grey_only:
        np.testing.assert_array_equal(radiograph.pixels, deep)
        assert radiograph.bits == 16
    else:
        expected = np.stack(planes[2::-1], axis=-1) * (255 / 65535)
        assert np.abs(radiograph.pixels - expected).max() <= 0.51


def test_sixteen_bit_png_with_grey_and_alpha(tmp_path, film):
    """Written by hand: neither Pillow nor OpenCV writes this kind."""
    deep = film * np.uint16(15)
    lines = np.stack([deep, np.full_like(deep, 65535)], axis=-1).astype(">u2")
    raw = b"".join(b"\0" + line.tobytes() for line in lines)

    def chunk(kind, data):
        crc = struct.pack(">L", zlib.crc32(kind + data))
        return struct.pack(">L", len(data)) + kind + data + crc

    head = struct.pack(">LLBBBBB", film.shape[1], film.shape[0], 16, 4, 0, 0, 0)
    path = tmp_path / "ga16.png"
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(raw))
        + chunk(b"IEND", b"")
    )
    np.testing.assert_array_equal(read_image(path).pixels, deep)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.jpg", {"quality": 95}),
        ("a.png", {}),
        ("a.webp", {"lossless": True}),
        ("a.tif", {}),
        ("a.tif", {"compression": "tiff_lzw"}),
    ],
)
def test_exif_orientation_is_applied_and_told(save, grey, orientation, name, options):
    """Pillow says what upright is: its own way to turn is asked for the same grey as plain PNG."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = save(grey, name, exif=exif, **options)
    expected = np.asarray(ImageOps.exif_transpose(Image.open(save(grey, "p.png", exif=exif))))
    radiograph, facts = read_image(path), read_facts(path)
    assert np.abs(radiograph.pixels.astype(int) - expected).max() <= (12 if "jpg" in name else 1)
    assert (facts.height, facts.width) == radiograph.pixels.shape == expected.shape
    assert facts.turned is (orientation != 1)
    assert radiograph.warnings == ((TURNED_WARNING,) if orientation != 1 else ())


def test_exif_orientation_of_a_png_that_pillow_cannot_decode_in_full(tmp_path, film):
    deep = film * np.uint16(15)
    path = tmp_path / "deep.png"
    cv2.imwrite(str(path), np.stack([deep, deep, deep], axis=-1))
    whole = path.read_bytes()
    exif = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
    chunk = struct.pack(">L", len(exif)) + b"eXIf" + exif
    chunk += struct.pack(">L", zlib.crc32(b"eXIf" + exif))
    path.write_bytes(whole[:33] + chunk + whole[33:])
    radiograph = read_image(path)
    np.testing.assert_array_equal(radiograph.pixels, np.rot90(deep, -1))
    assert (read_facts(path).width, read_facts(path).height) == (deep.shape[0], deep.shape[1])


@pytest.mark.parametrize(
    ("name", "format_name"),
    [
        *(("a.bmp", "BMP"), ("a.gif", "GIF"), ("a.tif", "TIFF"), ("a.webp", "WebP")),
        *(("a.png", "PNG"), ("a.jpg", "JPEG")),
    ],
)
def test_told_by_the_first_bytes_whatever_the_name(save, grey, name, format_name):
    path = save(grey, name)
    other = path.with_name("other.dcm")
    path.rename(other)
    assert read_facts(other).format == format_name
    assert np.abs(read_image(other).pixels.astype(int) - grey).max() <= 12


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("compression", [None, "tiff_lzw", "tiff_deflate"])
def test_tiff_keeps_its_depth(save, film, big, compression):
    path = save(film * np.uint16(15), "a.tif", compression=compression, big_tiff=big)
    np.testing.assert_array_equal(read_image(path).pixels, film * np.uint16(15))


def test_first_picture_of_an_animation(tmp_path, grey):
    path = tmp_path / "moving.gif"
    first, second = Image.fromarray(grey), Image.fromarray(255 - grey)
    first.save(path, save_all=True, append_images=[second])
    radiograph = read_image(path)
    np.testing.assert_array_equal(radiograph.pixels, grey)
    assert radiograph.warnings == ("The file has 2 frames; the first is shown.",)


def tiff_of_pages(path, pages):
    """Write a TIFF with so many directories of one pixel."""
    tags = (256, 257, 258, 259, 262, 273, 277, 278, 279)
    values = (1, 1, 8, 1, 1, 8, 1, 1, 1)
    entries = b"".join(
        struct.pack("<HHII", tag, 4, 1, one) for tag, one in zip(tags, values, strict=True)
    )
    content, size = struct.pack("<2sHI", b"II", 42, 8), 2 + len(entries) + 4
    for number in range(1, pages + 1):
        following = 8 + size * number if number < pages else 0
        content += struct.pack("<H", len(tags)) + entries + struct.pack("<I", following)
    path.write_bytes(content)
    return path


def test_of_a_tiff_a_thousand_pages_are_counted_at_most(tmp_path):
    """Pillow would count twenty thousand for seconds."""
    files = [tiff_of_pages(tmp_path / f"{n}.tif", n) for n in (1_500, 2_000, 20_000)]

    def read(file):
        assert read_facts(file).frames == 1_000
        assert read_image(file).pixels.shape == (1, 1)

    assert growth(read, *files) < 5


def test_letters_that_only_look_like_bmp(tmp_path):
    path = tmp_path / "a.bmp"
    path.write_bytes(b"BM is how this text begins, which is no picture." * 9)
    with pytest.raises(ImageBroken, match="not a DICOM, PNG"):
        read_image(path)


@pytest.mark.parametrize("name", ["a.bmp", "a.gif", "a.tif"])
def test_a_few_bytes_that_ask_for_gigabytes(save, grey, name):
    path = save(grey, name)
    content = bytearray(path.read_bytes())
    if name == "a.bmp":
        content[18:26] = struct.pack("<ll", 40_000, 40_000)
    elif name == "a.gif":
        content[6:10] = struct.pack("<HH", 65_000, 65_000)
    else:
        Image.new("1", (40_000, 40_000)).save(path, compression="group4")
        content = path.read_bytes()
    path.write_bytes(content)
    assert path.stat().st_size < 300_000
    with pytest.raises(ImageTooLarge):
        read_image(path)


def test_damaged_exif_does_not_matter(save, grey):
    path = save(grey, "a.jpg", quality=95, exif=b"Exif\0\0II*\0\x08\0\0\0\xff\xff" + b"\xee" * 40)
    assert read_image(path).pixels.shape == grey.shape


def test_first_page_of_several(tmp_path, grey):
    path = tmp_path / "pages.tif"
    first, second = Image.fromarray(grey), Image.fromarray(255 - grey)
    first.save(path, save_all=True, append_images=[second])
    radiograph = read_image(path)
    np.testing.assert_array_equal(radiograph.pixels, grey)
    assert radiograph.frames == 2
    assert radiograph.warnings == ("The file has 2 frames; the first is shown.",)


def test_facts(save, grey):
    facts = read_facts(save(grey))
    assert (facts.width, facts.height, facts.frames) == (80, 60, 1)
    assert (facts.view, facts.patient_orientation) == (None, None)


def test_resolution_is_not_taken_for_millimetres(save, grey):
    radiograph = read_image(save(grey, dpi=(300, 150)))
    assert radiograph.spacing is None
    assert radiograph.aspect == 1


def test_cmyk_jpeg(tmp_path, grey):
    stream = io.BytesIO()
    Image.fromarray(grey).convert("CMYK").save(stream, "JPEG", quality=95)
    (tmp_path / "a.jpg").write_bytes(stream.getvalue())
    shown = render_display(read_image(tmp_path / "a.jpg"))
    assert shown.shape[:2] == grey.shape
    assert np.abs(shown.astype(int).reshape(*grey.shape, -1) - grey[..., None]).mean() < 3


def test_a_grey_picture_that_lossy_coding_took_for_colour_can_be_windowed(tmp_path):
    rng = np.random.default_rng(3)
    grey = cv2.GaussianBlur(rng.integers(0, 256, (120, 140), dtype=np.uint8), (9, 9), 0)
    path = tmp_path / "grey.webp"
    Image.fromarray(grey).convert("RGB").save(path, quality=90)
    assert read_image(path).pixels.ndim == 2
    tinted = np.dstack([grey, grey, np.clip(grey.astype(int) + 12, 0, 255).astype(np.uint8)])
    Image.fromarray(tinted).save(tmp_path / "tinted.png")
    assert read_image(tmp_path / "tinted.png").pixels.ndim == 3


@pytest.mark.parametrize(
    ("marker", "bits", "kind"),
    [
        (0xC1, 12, "12-bit JPEG"),
        (0xC3, 8, "lossless JPEG"),
        (0xC5, 8, "hierarchical JPEG"),
    ],
)
def test_a_kind_of_jpeg_that_is_not_supported_is_not_called_damaged(save, grey, marker, bits, kind):
    path = save(grey, "a.jpg")
    content = bytearray(path.read_bytes())
    start = content.index(b"\xff\xc0")
    content[start + 1], content[start + 4] = marker, bits
    path.write_bytes(content)
    with pytest.raises(ImageBroken, match=rf"not supported here \({kind}\)"):
        read_image(path)
