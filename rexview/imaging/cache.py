"""Decoded pixels and thumbnails on disk, up to a size limit, shared by several processes.

One file is one entry: a magic word, the length and CRC-32 of the rest, the rest. A file is written
beside its place and moved into it, so a reader sees all of it or nothing; one that is damaged all
the same (a full disk, a crash, another program) is recognised, removed and made again. The cache is
an aid only: when the disk fails, pictures are decoded as if there were none.
"""

from __future__ import annotations

import hashlib
import os
import struct
import tempfile
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache as cached
from pathlib import Path
from typing import Final

import pydicom

from rexview.errors import ImageMissing

_MAGIC: Final = b"RXC1"
_HEAD: Final = struct.Struct("<4sQL")
_SUFFIX: Final = ".rxc"
_STALE_SECONDS: Final = 3600.0
_RESCAN_EVERY: Final = 64
_AFTER_EVICTION: Final = 0.9


@cached
def code_version() -> str:
    """Name of the code that makes entries: a digest of this package's sources and of pydicom's.

    Entries made by other code are never found again, and go as the oldest ones.
    """
    digest = hashlib.sha256(pydicom.__version__.encode())
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


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
        Made when first written to. Only files with the cache's own suffix are ever removed.
    max_bytes : int
        Size that the entries together keep to; other processes' entries count. For a moment
        they may exceed it by what was written since the last count.
    """

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self.folder = Path(folder)
        self.max_bytes = max_bytes
        self._lock = threading.Lock()
        self._making: dict[str, threading.Lock] = {}
        self._estimate: int | None = None
        self._writes = 0

    def _path_of(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}{_SUFFIX}"

    def get(self, key: str) -> bytes | None:
        """The bytes kept under a key (hex digits), or None; counts as a use."""
        path = self._path_of(key)
        try:
            with path.open("rb") as file:
                magic, length, crc = _HEAD.unpack(file.read(_HEAD.size))
                content = file.read()
        except OSError:
            return None
        except struct.error:
            magic, length, crc, content = b"", 0, 0, b""
        if magic != _MAGIC or length != len(content) or crc != zlib.crc32(content):
            with suppress(OSError):
                path.unlink()
            return None
        with suppress(OSError):
            os.utime(path)
        return content

    def put(self, key: str, content: bytes) -> None:
        """Keep bytes under a key; does nothing when they do not fit or the disk fails."""
        size = _HEAD.size + len(content)
        if size > self.max_bytes:
            return
        path = self._path_of(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(suffix=".part", dir=path.parent)
        except OSError:
            return
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_HEAD.pack(_MAGIC, len(content), zlib.crc32(content)))
                file.write(content)
            Path(name).replace(path)
        except OSError:
            with suppress(OSError):
                Path(name).unlink()
            return
        self._keep_to_limit(size)

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
        return sum(size for _, size, _ in self._entries())

    def _entries(self) -> list[tuple[float, int, Path]]:
        """Last use, size and path of every entry.

        Unfinished files that nobody writes any more are removed.
        """
        found = []
        for path in self.folder.glob(f"??/*{_SUFFIX}"):
            with suppress(OSError):
                stat = path.stat()
                found.append((stat.st_mtime, stat.st_size, path))
        for path in self.folder.glob("??/*.part"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                    path.unlink()
        return found

    def _keep_to_limit(self, written: int) -> None:
        with self._lock:
            self._writes += 1
            if self._estimate is not None and self._writes % _RESCAN_EVERY:
                self._estimate += written
                if self._estimate <= self.max_bytes:
                    return
            entries = sorted(self._entries())
            total = sum(size for _, size, _ in entries)
            if total > self.max_bytes:
                for _, size, path in entries:
                    if total <= _AFTER_EVICTION * self.max_bytes:
                        break
                    with suppress(OSError):
                        path.unlink()
                        total -= size
            self._estimate = total
