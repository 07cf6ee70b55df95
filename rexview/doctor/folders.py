"""Whether the folders that rexview writes to can be written to, and how much room is left."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rexview.addresses import address_of_set
from rexview.doctor.finding import Known, Said, note, ok, wrong
from rexview.kept_files import KINDS
from rexview.settings import DEMO_FOLDER, Settings
from rexview.store.location import data_folder, may_write

_LEAST: Final = 200_000_000
"""With less room, in bytes, work stops soon."""
_UPLOAD: Final = 1_000_000_000
_OF_EXPORTS: Final = 1_000_000_000


def look_at_folders(known: Known) -> Iterator[Said]:
    """Try each folder by making a file in it, which leaves no trace."""
    settings = known.settings
    yield _folder("cache", settings.cache_folder, _most_kept(settings))
    yield _folder("exports", settings.cache_folder / "exports", _OF_EXPORTS)
    yield _folder("data of users", data_folder().parent, _LEAST)
    yield _folder("uploads", Path(tempfile.gettempdir()), _UPLOAD)
    folder = settings.review_set
    if folder == DEMO_FOLDER or address_of_set(folder) is not None or not folder.is_dir():
        return
    if may_write(folder):
        yield ok("set", f"{folder}, {_room(folder)}")
    else:
        yield note(
            "set",
            f"{folder} may not be written to.",
            "Reading and scoring need no more; runs of models and imports into it do.",
        )


def _most_kept(settings: Settings) -> int:
    return sum(int(getattr(settings, kind.limit)) for kind in KINDS.values()) * 1_000_000


def _folder(about: str, folder: Path, wanted: int) -> Said:
    """Look at a folder, or where it would be made, and for room for ``wanted`` bytes."""
    there = next((one for one in (folder, *folder.parents) if one.exists()), folder)
    if not there.is_dir():
        said = f"{folder} cannot be made: {there} is no folder."
        return wrong(about, said, "Move it away, or name another folder.")
    if not may_write(there):
        said = f"{there} may not be written to."
        return wrong(about, said, "Give the user who runs rexview the right, or name another one.")
    free = shutil.disk_usage(there).free
    said = f"{folder}, {_room(there)}"
    if free < _LEAST:
        return wrong(about, said, "Make room on this disk.")
    if free < wanted:
        limits = "make room, or set lower limits (docs/settings.md)."
        remedy = f"It may grow to {wanted / 1e9:,.1f} GB: {limits}"
        return note(about, said, remedy)
    return ok(about, said)


def _room(folder: Path) -> str:
    return f"{shutil.disk_usage(folder).free / 1e9:,.1f} GB free"
