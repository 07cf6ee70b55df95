"""Find the database of a review set's reviews, and the set's key in it."""

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

from rexview.addresses import remote_set_address, set_display_name, set_place_key
from rexview.schema import ReviewSet
from rexview.settings import DEMO_FOLDER, Settings
from rexview.store.database.errors import read_only_error

FILE_NAME: Final = "reviews.sqlite"
FOLDER_KEY_PREFIX: Final = "folder-"
"""First part of the key of a set without an ``id``."""


@dataclass(frozen=True)
class DatabaseLocation:
    """A database address for SQLAlchemy, and the set's key in that database.

    A ``dedicated`` database belongs to this set only, so its rows are the set's even after its
    folder was moved.
    """

    url: str
    key: str
    dedicated: bool


def set_key(review_set: ReviewSet) -> str:
    """Return the set's key in a database: its ``id``, or else one made from its folder's path."""
    return review_set.info.id or _folder_key(review_set)


def _folder_key(review_set: ReviewSet) -> str:
    path = os.fsencode(set_place_key(review_set.folder))
    return f"{FOLDER_KEY_PREFIX}{hashlib.sha256(path).hexdigest()[:20]}"


def find_location(review_set: ReviewSet, settings: Settings) -> DatabaseLocation:
    """Find the database of a review set.

    This is the database of the settings if there is one, or else a file in the set's folder. If
    that folder is read-only or is the embedded demo, it is a file in the user's data folder. A file
    in the data folder stays in use when the set's folder becomes writable again, until
    :func:`rexview.store.merge_databases.merge_databases` joins it into a file there.

    Raises
    ------
    StoreUnreachable
        The folder contains a database that is read-only. It is not ignored, since its entries would
        not be shown.
    """
    key = set_key(review_set)
    if settings.database_url:
        return DatabaseLocation(settings.database_url, key, dedicated=False)
    beside = set_folder_file(review_set)
    with_user = data_folder_files(review_set)
    if beside is not None:
        writable = is_writable(beside.parent)
        if beside.exists():
            if writable and os.access(beside, os.W_OK):
                return DatabaseLocation(sqlite_address(beside), key, dedicated=True)
            raise read_only_error()
        if writable and not with_user:
            return DatabaseLocation(sqlite_address(beside), key, dedicated=True)
    file = next(iter(with_user), own_file(review_set))
    return DatabaseLocation(sqlite_address(file), key, dedicated=True)


def find_best_location(review_set: ReviewSet, settings: Settings) -> DatabaseLocation:
    """Find the best place for a set's reviews: its own folder if possible.

    Raises
    ------
    StoreUnreachable
    """
    beside = set_folder_file(review_set)
    if settings.database_url or beside is None or beside.exists() or not is_writable(beside.parent):
        return find_location(review_set, settings)
    return DatabaseLocation(sqlite_address(beside), set_key(review_set), dedicated=True)


def set_folder_file(review_set: ReviewSet) -> Path | None:
    """Return the database file in the set's folder, whether it exists or not.

    None for the demo, which is not ours, and for a remote set: its cache folder may disappear at
    any time.
    """
    folder = review_set.folder.resolve()
    is_ours = folder != DEMO_FOLDER and remote_set_address(review_set.folder) is None
    return folder / FILE_NAME if is_ours else None


def data_folder_files(review_set: ReviewSet) -> tuple[Path, ...]:
    """Return the files in the user's data folder with reviews of a set, the likeliest first.

    A file is found by the set's ``id`` and by its folder's path, whatever the folder's name. The
    folder may have been renamed, or the set may have got an ``id`` later.
    """
    found: dict[Path, None] = {}
    for key in (set_key(review_set), _folder_key(review_set)):
        found |= dict.fromkeys(sorted(data_folder().glob(f"*-{_digest(key)}.sqlite")))
    return tuple(found)


def review_files(review_set: ReviewSet) -> tuple[Path, ...]:
    """Return all SQLite files with reviews of a set, the one in its folder first."""
    beside = set_folder_file(review_set)
    here = (beside,) if beside is not None and beside.exists() else ()
    return (*here, *data_folder_files(review_set))


def is_writable(folder: Path) -> bool:
    """True if files can be created in a folder, tested by creating one (it leaves no trace)."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def data_folder() -> Path:
    """Return the folder for reviews that cannot be stored in their set's folder."""
    return Path(platformdirs.user_data_dir("rexview")) / "reviews"


def own_file(review_set: ReviewSet) -> Path:
    """Return the file in the user's data folder that reviews of a set are first written to."""
    name = set_display_name(review_set.folder.resolve())
    name = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:40] or "set"
    return data_folder() / f"{name}-{_digest(set_key(review_set))}.sqlite"


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def sqlite_address(file: Path) -> str:
    """Return the address of a file, with its name escaped."""
    return URL.create("sqlite", database=str(file)).render_as_string()
