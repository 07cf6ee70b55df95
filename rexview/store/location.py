"""Where the reviews of a review set are kept, and under which key."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import platformdirs
from sqlalchemy import URL

from rexview.schema import ReviewSet
from rexview.settings import DEMO_FOLDER, Settings
from rexview.store.trouble import read_only

FILE_NAME: Final = "reviews.sqlite"


@dataclass(frozen=True)
class Location:
    """An address for SQLAlchemy and the key of the set there.

    ``own`` says that the database is this set's alone, so that its rows are the set's even after
    its folder was moved.
    """

    url: str
    key: str
    own: bool


def set_key(review_set: ReviewSet) -> str:
    """Return what names a review set in a database: its ``id``, else made of its folder's path."""
    if review_set.info.id:
        return review_set.info.id
    path = os.fsencode(review_set.folder.resolve())
    return f"folder-{hashlib.sha256(path).hexdigest()[:20]}"


def location_of(review_set: ReviewSet, settings: Settings) -> Location:
    """Find the database of a review set.

    It is the one of the settings if there is one; else a file in the set's folder; else, where
    nothing may be written there or the set is the embedded demo, a file in the user's data folder.

    Raises
    ------
    StoreUnreachable
        There is a database in the folder that may not be written to: it is not left aside, as what
        stands in it would not be seen.
    """
    key = set_key(review_set)
    if settings.database_url:
        return Location(settings.database_url, key, own=False)
    folder = review_set.folder.resolve()
    beside = folder / FILE_NAME
    if folder != DEMO_FOLDER:
        if may_write(folder) and (not beside.exists() or os.access(beside, os.W_OK)):
            return Location(_sqlite(beside), key, own=True)
        if beside.exists():
            raise read_only()
    return Location(_sqlite(_in_data_folder(review_set, key)), key, own=True)


def may_write(folder: Path) -> bool:
    """Whether files can be made in a folder, found out by making one (it leaves no trace)."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def data_folder() -> Path:
    """Return the folder for reviews that cannot lie beside their set."""
    return Path(platformdirs.user_data_dir("rexview")) / "reviews"


def _in_data_folder(review_set: ReviewSet, key: str) -> Path:
    name = re.sub(r"[^A-Za-z0-9]+", "-", review_set.folder.resolve().name).strip("-")[:40] or "set"
    digest = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return data_folder() / f"{name}-{digest}.sqlite"


def _sqlite(file: Path) -> str:
    """Return the address of a file, whatever is in its name."""
    return URL.create("sqlite", database=str(file)).render_as_string()
