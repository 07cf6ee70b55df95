"""Writing PNG files."""

import numpy as np
import pytest
from PIL import Image

from rexview.imaging import (
    ImageBroken,
    ImageError,
    ImageTooLarge,
    Window,
    read_image,
    render_display,
)
from rexview.imaging.rendering import parse_window, render_file


def opened(path):
    with Image.open(path) as image:
        assert image.format == "PNG"
        return np.asarray(image)


@pytest.mark.parametrize("window", ["file", "auto", "2000,900", " 2000 , 9e2 "])
def test_picture_is_that_of_display(write_dicom, film, tmp_path, window):
    path = write_dicom(film, WindowCenter="1500", WindowWidth="700")
    render_file(path, tmp_path / "out.png", window)
    chosen = parse_window(window)
    np.testing.assert_array_equal(
        opened(tmp_path / "out.png"), render_display(read_image(path), chosen)
    )
    assert [file.name for file in tmp_path.glob("*.part")] == []


def test_windows_differ(write_dicom, film, tmp_path):
    path = write_dicom(film, WindowCenter="1500", WindowWidth="700")
    pictures = []
    for window in ("file", "auto", Window("", "sigmoid", 2000, 500)):
        render_file(path, tmp_path / "out.png", window)
        pictures.append(opened(tmp_path / "out.png").tobytes())
    assert len(set(pictures)) == 3


def test_colour(tmp_path):
    colour = np.random.default_rng(0).integers(0, 256, (20, 30, 3), dtype=np.uint8)
    Image.fromarray(colour).save(tmp_path / "in.png")
    render_file(tmp_path / "in.png", tmp_path / "out.png")
    np.testing.assert_array_equal(opened(tmp_path / "out.png"), colour)


def test_pixels_become_square(write_dicom, film, tmp_path):
    render_file(write_dicom(film, PixelAspectRatio=[3, 2]), tmp_path / "out.png")
    assert opened(tmp_path / "out.png").shape == (90, 80)


@pytest.mark.parametrize("window", ["", "wide", "40", "40,", "40,400,4", "40,0", "40,nan", "a,b"])
def test_window_that_is_not_understood(write_dicom, film, tmp_path, window):
    with pytest.raises(ImageError, match="window"):
        render_file(write_dicom(film), tmp_path / "out.png", window)
    assert not (tmp_path / "out.png").exists()


def test_failures_are_image_errors(write_dicom, film, tmp_path):
    path = write_dicom(film)
    with pytest.raises(ImageTooLarge):
        render_file(path, tmp_path / "out.png", max_pixels=10)
    with pytest.raises(ImageError, match="cannot be written"):
        render_file(path, tmp_path / "no" / "such" / "folder.png")
    with pytest.raises(ImageError, match="over the file"):
        render_file(path, path)
    with pytest.raises(ImageError, match="cannot be written"):
        render_file(path, tmp_path)
    path.write_bytes(b"text")
    (tmp_path / "out.png").write_bytes(b"as before")
    with pytest.raises(ImageBroken):
        render_file(path, tmp_path / "out.png")
    assert (tmp_path / "out.png").read_bytes() == b"as before"
    assert [file.name for file in tmp_path.glob("*.part")] == []
