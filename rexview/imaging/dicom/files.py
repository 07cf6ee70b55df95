"""Opening a DICOM file: header parsed up to the pixels, in every encoding of the header."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from pydicom import dcmread, uid
from pydicom.dataset import Dataset
from pydicom.filereader import read_dataset, read_file_meta_info

from rexview.errors import ImageBroken, ImageError
from rexview.imaging.dicom.compressed import inflate
from rexview.imaging.dicom.header import Header
from rexview.imaging.dicom.shape import PIXEL_TAGS, PixelElement, find_pixels
from rexview.imaging.limits import NOT_A_PICTURE, cut_off
from rexview.imaging.memory import BYTES_PER_PIXEL, MEMORY, take

_INFLATED_ROOM: Final = 64 * 2**20
"""Bytes that the header of a deflated file may take beside its pixels."""


@dataclass(frozen=True)
class OpenedDicom:
    """A parsed header, and the file behind it. ``size`` is the file's (inflated) length."""

    header: Header
    syntax: uid.UID
    file: BinaryIO
    size: int
    pixels: PixelElement | None


def is_dicom(head: bytes) -> bool:
    """Whether the first 132 bytes of a file say that it is DICOM (PS3.10 7.1)."""
    return head[128:132] == b"DICM"


@contextmanager
def open_dicom(path: Path, declared: bool, max_pixels: int) -> Iterator[OpenedDicom]:
    """Open a file and parse its header; nothing of the pixels is read.

    Parameters
    ----------
    path : Path
        The file.
    declared : bool
        The file says that it is DICOM. Otherwise it is read all the same (old files lack preamble
        and file meta), but refused unless it has rows and pixels.
    max_pixels : int
        Bounds what a deflated file may unpack to.

    Raises
    ------
    ImageTooLarge, ImageBroken, ImageBusy
        With the reason.
    """
    with MEMORY.scope(), path.open("rb") as file:
        dataset, syntax, stream = _parse(path, file, declared, max_pixels)
        pixels = find_pixels(stream, syntax)
        size = stream.seek(0, io.SEEK_END)
        header = Header(dataset)
        if not declared and (pixels is None or not header.integer("Rows")):
            raise ImageBroken(NOT_A_PICTURE)
        yield OpenedDicom(header, syntax, stream, size, pixels)


def _parse(
    path: Path, file: BinaryIO, declared: bool, max_pixels: int
) -> tuple[Dataset, uid.UID, BinaryIO]:
    try:
        if declared:
            meta = read_file_meta_info(path)
            if meta.get("TransferSyntaxUID") == uid.DeflatedExplicitVRLittleEndian:
                # what it unpacks to is not known before: as much as a picture may need at most
                take(max_pixels * BYTES_PER_PIXEL, max_pixels)
                file.seek(144 + int(meta.FileMetaInformationGroupLength))
                stream = io.BytesIO(inflate(file.read(), 8 * max_pixels + _INFLATED_ROOM))
                parsed = read_dataset(stream, False, True, stop_when=_at_pixels)
                return parsed, uid.ExplicitVRLittleEndian, stream
        dataset = dcmread(file, stop_before_pixels=True, force=not declared)
        syntax = dataset.file_meta.get("TransferSyntaxUID")
        if not syntax:
            implicit, little = dataset.original_encoding
            guess = uid.ExplicitVRLittleEndian if little else uid.ExplicitVRBigEndian
            syntax = uid.ImplicitVRLittleEndian if implicit else guess
    except ImageError:
        raise
    except EOFError:
        raise cut_off() from None
    except Exception:  # pydicom's parser raises whatever the bytes provoke
        if not declared:
            raise ImageBroken(NOT_A_PICTURE) from None
        raise ImageBroken("The DICOM header is damaged and cannot be read.") from None
    return dataset, uid.UID(str(syntax)), file


def _at_pixels(tag: int, vr: str | None, length: int) -> bool:
    return tag in PIXEL_TAGS
