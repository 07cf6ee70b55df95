"""Read any picture file, or explain why it cannot be shown."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from rexview.errors import ImageBroken, ImageError, ImageMissing, ImageTooLarge
from rexview.imaging.dicom import (
    ImageReference,
    is_dicom,
    open_dicom,
    read_dicom,
    read_image_facts,
    read_image_reference,
)
from rexview.imaging.limits import DECODING_MEMORY, MAX_PIXELS, silence_decoders
from rexview.imaging.radiograph import ImageFacts, Radiograph
from rexview.imaging.raster import is_raster, raster_facts, read_raster

_HEAD: Final = 132
_T = TypeVar("_T")


def read_image(path: Path, *, max_pixels: int = MAX_PIXELS) -> Radiograph:
    """Decode a picture file; its kind is detected from its first bytes, not its name.

    At most ``max_pixels`` pixels are decoded, which is checked first. The limit also bounds the
    memory for decoding (:mod:`rexview.imaging.limits`).

    Raises
    ------
    ImageMissing, ImageTooLarge, ImageBroken, ImageBusy
        The message is for the page: never an absolute path, never a value of the file.
    """

    def decode(kind: str) -> Radiograph:
        if kind == "raster":
            return read_raster(path, max_pixels)
        return read_dicom(path, kind == "dicom", max_pixels)

    return _read_guarded(path, decode)


def read_facts(path: Path) -> ImageFacts:
    """Read size, orientation and view of a picture file without decoding it.

    Raises
    ------
    ImageMissing, ImageTooLarge, ImageBroken
        As :func:`read_image`, as far as the header shows it.
    """

    def look(kind: str) -> ImageFacts:
        if kind == "raster":
            return raster_facts(path)
        with open_dicom(path, kind == "dicom", MAX_PIXELS) as opened:
            return read_image_facts(opened)

    return _read_guarded(path, look)


def read_reference(path: Path) -> ImageReference | None:
    """Read the UIDs by which other DICOM objects refer to a file's image.

    Returns
    -------
    ImageReference or None
        None if the picture is not DICOM, or if nothing can refer to it.

    Raises
    ------
    ImageMissing, ImageTooLarge, ImageBroken
        As :func:`read_facts`.
    """

    def look(kind: str) -> ImageReference | None:
        if kind == "raster":
            return None
        with open_dicom(path, kind == "dicom", MAX_PIXELS) as opened:
            return read_image_reference(opened)

    return _read_guarded(path, look)


def _read_guarded(path: Path, read: Callable[[str], _T]) -> _T:
    """Call a reader with the kind of the file; convert every failure to an ImageError."""
    try:
        with silence_decoders(), DECODING_MEMORY.scope():
            mode = path.stat().st_mode
            if stat.S_ISDIR(mode):
                raise ImageMissing("This is a folder, not a file.")
            if not stat.S_ISREG(mode):  # a pipe would never end
                raise ImageBroken("This is not a file.")
            with path.open("rb") as file:
                head = file.read(_HEAD)
            if not head:
                raise ImageBroken("The file is empty.")
            # a DICOM file may start like a TIFF: the preamble is free (PS3.10 7.1)
            return read("dicom" if is_dicom(head) else "raster" if is_raster(head) else "unknown")
    except ImageError:
        raise
    except (FileNotFoundError, NotADirectoryError):
        raise ImageMissing("There is no such file.") from None
    except OSError:
        raise ImageBroken("The file cannot be read from the disk.") from None
    except MemoryError:
        raise ImageTooLarge("There is not enough memory to open the picture.") from None
    except Exception:  # a hostile or broken file may raise anything
        raise ImageBroken("The file is damaged and cannot be read.") from None
