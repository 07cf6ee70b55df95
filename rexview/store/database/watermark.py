"""The newest entry of a SQLite database, noted in a file of its own beside it.

SQLite keeps the newest entries in a second file, ``-wal``, until they are copied into the first. If
that file goes, so do they, and nothing in the database tells. What is noted here after each entry
is in neither of the two, so that the loss is noticed.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

_LENGTH: Final = 200
"""Bytes of the note, always the same: it is written in place, which a full disk allows, too."""


@dataclass(frozen=True)
class NewestEntry:
    """The entry that was the newest: its ``token``, its number and when it was written (UTC)."""

    id: int
    token: str
    at: str


class Watermark:
    """The note of the newest entry of one database file."""

    def __init__(self, database: Path) -> None:
        # not called reviews.sqlite-…: whoever removes SQLite's companions does not remove it
        self.file: Final = database.with_suffix(".newest")

    def read(self) -> NewestEntry | None:
        """Return what is noted; None where nothing is, or nothing that can be read."""
        try:
            found = json.loads(self.file.read_bytes())
            return NewestEntry(int(found["id"]), str(found["token"]), str(found["at"]))
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def write(self, entry: NewestEntry | None) -> None:
        """Note an entry, or that there is none; where that cannot be, the older note stays.

        An older note than the database never leads to a false alarm, so that nothing is done about
        it: what was to be saved is saved.
        """
        try:
            if entry is None:
                self.file.unlink(missing_ok=True)
                return
            text = json.dumps(asdict(entry)).encode("ascii").ljust(_LENGTH - 1) + b"\n"
            number = os.open(
                self.file, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644
            )
            try:
                os.write(number, text)
            finally:
                os.close(number)
        except OSError:
            pass
