"""Decode picture files and turn them into what a reader sees.

:mod:`.read` decodes DICOM, PNG, JPEG, WebP, TIFF, BMP and GIF. :mod:`.transforms` turns stored
values into grey levels in DICOM's order. :mod:`.encode` prepares pixels for the browser viewer at
full depth, :mod:`.rendering` makes thumbnails and PNG files, and :mod:`.cache` stores results on
disk. An EXIF orientation is applied where pixels are decoded. Nothing else turns or mirrors them,
so that boxes fit. Every failure is an ``ImageError``, and its message gives the page the reason in
words.
"""

from rexview.errors import ImageBroken, ImageError, ImageMissing, ImageTooLarge
from rexview.imaging.cache import DiskCache
from rexview.imaging.encode import (
    encode_radiograph,
    header_without_free_text,
    unframe_payload,
    viewer_payload,
    without_free_text,
)
from rexview.imaging.image_files import read_facts, read_image
from rexview.imaging.limits import MAX_PIXELS
from rexview.imaging.radiograph import (
    ImageFacts,
    Modality,
    Radiograph,
    VoiTable,
    Window,
)
from rexview.imaging.rendering import thumbnail
from rexview.imaging.transforms import auto_window, render_display

__all__ = [
    "MAX_PIXELS",
    "DiskCache",
    "ImageBroken",
    "ImageError",
    "ImageFacts",
    "ImageMissing",
    "ImageTooLarge",
    "Modality",
    "Radiograph",
    "VoiTable",
    "Window",
    "auto_window",
    "encode_radiograph",
    "header_without_free_text",
    "read_facts",
    "read_image",
    "render_display",
    "thumbnail",
    "unframe_payload",
    "viewer_payload",
    "without_free_text",
]
