"""Cache decoded pixels and thumbnails on disk, shared by processes and limited in size.

One entry is one file of :mod:`rexview.disk_cache`: a magic word, length and CRC-32 of the content,
and the content. A damaged entry (a full disk, a crash, another program) is detected, removed and
made again. The cache is optional: if the disk fails, pictures are decoded each time.
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

from rexview import disk_cache
from rexview.disk_cache import CACHE_KINDS, FileCache
from rexview.errors import ImageMissing

_MAGIC: Final = b"RXC1"
_HEAD: Final = struct.Struct("<4sQL")


@cached
def imaging_code_version() -> str:
    """Return a digest of this package's sources and of pydicom's.

    Entries made by other code are never found again, and are evicted as the oldest.
    """
    return disk_cache.cache_code_version(Path(__file__).parent.rglob("*.py"), pydicom.__version__)


def cache_key(path: Path, *purpose: object) -> str:
    """Return the key of a result made from a file; it changes with the file and the code.

    Raises
    ------
    OSError
        The file does not exist.
    """
    stat = path.stat()
    parts = (path.resolve(), stat.st_mtime_ns, stat.st_size, imaging_code_version(), *purpose)
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


def get_or_make_file(
    cache: DiskCache | None, path: Path, make: Callable[[], bytes], *purpose: object
) -> bytes:
    """Return a result made from a file for a purpose, from the cache if it is there.

    Raises
    ------
    ImageMissing
        The file does not exist. Errors of ``make`` are passed on.
    """
    if cache is None:
        return make()
    try:
        key = cache_key(path, *purpose)
    except OSError:
        raise ImageMissing("There is no such file.") from None
    return cache.get_or_make(key, make)


class DiskCache:
    """A folder of entries that evicts those unused for longest.

    Parameters
    ----------
    folder : Path
        Created at the first write.
    max_bytes : int
        Limit for the total size of the entries.
    """

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self.folder = Path(folder)
        self.max_bytes = max_bytes
        self._files = FileCache(folder, max_bytes, CACHE_KINDS["images"].ending)
        self._lock = threading.Lock()
        self._making: dict[str, threading.Lock] = {}

    def get(self, key: str) -> bytes | None:
        """Return the bytes under a key (hex digits), or None; counts as a use."""
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
        """Store bytes under a key; do nothing if they do not fit or the disk fails."""

        def fill(path: Path) -> None:
            with path.open("wb") as file:
                file.write(_HEAD.pack(_MAGIC, len(content), zlib.crc32(content)))
                file.write(content)

        self._files.keep(key, _HEAD.size + len(content), fill)

    def get_or_make(self, key: str, make: Callable[[], bytes]) -> bytes:
        """Return the bytes under a key; make and store them if absent.

        Threads that want the same key wait for the one that makes it. Errors of ``make`` are passed
        on and not stored.
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
        """Total size of the entries in bytes."""
        return self._files.size()
