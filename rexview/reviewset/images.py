"""Where the images of a review set are, and nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

from rexview.errors import PathEscape
from rexview.schema import ReviewSet

_ESCAPES = re.compile(r"(^|[/\\])\.\.([/\\]|$)|^[/\\~]|^[A-Za-z]:|\x00")


def image_path(review_set: ReviewSet, image_path: str) -> Path:
    """Find the file of an image path as written in the tables.

    Raises
    ------
    PathEscape
        When the path points outside the images folder, by ``..``, as an absolute path or through
        a link.
    """
    base = (review_set.folder / review_set.info.images).resolve()
    if _ESCAPES.search(image_path):
        raise PathEscape("The image path points outside the images folder.")
    found = (base / image_path).resolve()
    if not found.is_relative_to(base):
        raise PathEscape("The image path points outside the images folder.")
    return found
