"""Decoded pixels and thumbnails on disk, up to a size limit, shared by several processes.

One file is one entry of :mod:`rexview.kept_files`: a magic word, the length and CRC-32 of the rest,
the rest. One that is damaged (a full disk, a crash, another program) is recognised, removed and
made again. The cache is an aid only: when the disk fails, pictures are decoded as if there were
none.
"""

from __future__ import annotations

import hashlib
import struct
import threading
import zlib
from collections.abc import Callable
from functools import cache as cached
from pathlib import Path
from typing import Final

import pydicom

from rexview import kept_files
from rexview.errors import ImageMissing
from rexview.kept_files import KINDS, KeptFiles

_MAGIC: Final = b"RXC1"
_HEAD: Final = struct.Struct("<4sQL")


@cached
def code_version() -> str:
    """Name of the code that makes entries: a digest of this package's sources and of pydicom's.

    Entries made by other code are never found again, and go as the oldest ones.
    """
    return kept_files.code_version(Path(__file__).parent.rglob("*.py"), pydicom.__version__)


def file_key(path: Path, *purpose: object) -> str:
    """Key of what is made from a file for a purpose; changes when the file or the code does.

    Raises
    ------
    OSError
        If the file is not there.
    """
    stat = path.stat()
    parts = (path.resolve(), stat.st_mtime_ns, stat.st_size, code_version(), *purpose)
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


def made_once(
    cache: DiskCache | None, path: Path, make: Callable[[], bytes], *purpose: object
) -> bytes:
    """Return what is made from a file for a purpose, from the cache if it is kept there.

    Raises
    ------
    ImageMissing
        If the file is not there; what ``make`` raises goes to the caller.
    """
    if cache is None:
        return make()
    try:
        key = file_key(path, *purpose)
    except OSError:
        raise ImageMissing("There is no such file.") from None
    return cache.get_or_make(key, make)


class DiskCache:
    """A folder of entries that forgets the longest unused ones.

    Parameters
    ----------
    folder : Path
        Made when first written to.
    max_bytes : int
        Size that the entries together keep to.
    """

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self.folder = Path(folder)
        self.max_bytes = max_bytes
        self._files = KeptFiles(folder, max_bytes, KINDS["images"].ending)
        self._lock = threading.Lock()
        self._making: dict[str, threading.Lock] = {}

    def get(self, key: str) -> bytes | None:
        """The bytes kept under a key (hex digits), or None; counts as a use."""
        path = self._files.find(key)
        if path is None:
            return None
        try:
            with path.open("rb") as file:
                magic, length, crc = _HEAD.unpack(file.read(_HEAD.size))
                content = file.read()
        except OSError:
            return None
        except struct.error:
            magic, length, crc, content = b"", 0, 0, b""
        if magic != _MAGIC or length != len(content) or crc != zlib.crc32(content):
            self._files.discard(key)
            return None
        return content

    def put(self, key: str, content: bytes) -> None:
        """Keep bytes under a key; does nothing when they do not fit or the disk fails."""

        def fill(path: Path) -> None:
            with path.open("wb") as file:
                file.write(_HEAD.pack(_MAGIC, len(content), zlib.crc32(content)))
                file.write(content)

        self._files.keep(key, _HEAD.size + len(content), fill)

    def get_or_make(self, key: str, make: Callable[[], bytes]) -> bytes:
        """The bytes under a key, made and kept when absent.

        Threads that want the same key wait for the one that makes it; what ``make`` raises is not
        kept and goes to the caller.
        """
        found = self.get(key)
        if found is not None:
            return found
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        with making:
            try:
                found = self.get(key)
                if found is None:
                    found = make()
                    self.put(key, found)
                return found
            finally:
                with self._lock:
                    self._making.pop(key, None)

    def size(self) -> int:
        """Bytes that all entries take."""
        return self._files.size()
