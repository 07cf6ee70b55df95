"""A file of lines that is only added to, and that a crash or a full disk leaves whole."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

_BLOCK: Final = 1 << 20


class AppendOnly:
    """A JSON Lines file that one process adds to.

    A last line that was cut off by a crash is taken away when the file is opened, as nothing that
    was told to be written is lost by that. When a write fails, as on a full disk, the file is cut
    back to what it was.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.mended = _mend(path)
        """Bytes of a torn last line that were taken away."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)  # on Windows
        self._file = os.open(path, flags, 0o644)

    def append(self, lines: Iterable[str], *, sync: bool) -> None:
        """Add lines with one write; with ``sync`` they are on the disk when this returns.

        Raises
        ------
        OSError
            Nothing of them is in the file.
        """
        data = "".join(f"{line}\n" for line in lines).encode()
        if not data:
            return
        before = os.fstat(self._file).st_size
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._file, rest) :]
            if sync:
                os.fsync(self._file)
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._file, before)
            raise

    def close(self) -> None:
        """Close it."""
        os.close(self._file)


def json_line(value: Mapping[str, Any]) -> str:
    """Write an object on one line, in letters that every file can hold."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def _mend(path: Path) -> int:
    """End a file with a whole line; return how many bytes were taken away."""
    try:
        file = path.open("r+b")
    except FileNotFoundError:
        return 0
    with file:
        size = file.seek(0, os.SEEK_END)
        end = _after_last_line(file, size)
        if end == size:
            return 0
        file.seek(end)
        if _is_object(file.read()):  # only its end of line is missing
            file.write(b"\n")
            return 0
        file.truncate(end)
        return size - end


def _after_last_line(file: Any, size: int) -> int:
    """Return where the last line that ends in a line end does."""
    at = size
    while at:
        start = max(0, at - _BLOCK)
        file.seek(start)
        found = file.read(at - start).rfind(b"\n")
        if found >= 0:
            return int(start + found + 1)
        at = start
    return 0


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def lines_of(path: Path, having: bytes = b"") -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Yield the lines of such a file by number, from 1; None for one that is no JSON object.

    Lines without the bytes ``having`` are left out, and not read as JSON.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        for number, line in enumerate(file, start=1):
            if having not in line:
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                value = None
            yield number, value if isinstance(value, dict) else None
