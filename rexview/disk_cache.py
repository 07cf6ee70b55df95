"""A disk cache for results that take long to compute: bounded, and never required.

An entry is a file, or a folder of files, under a name of hexadecimal digits. It is written to a
temporary place and then moved, so a reader sees all of it or nothing. When all entries of a kind
grow too large, the least recently used are removed first. A disk that is full or read-only costs
time and nothing else: it is logged once, and is the text of :attr:`KeptFiles.trouble`.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

from rexview.settings import Settings

_LOG: Final = logging.getLogger(__name__)
_STALE_SECONDS: Final = 3600.0
_RESCAN_EVERY: Final = 64
_AFTER_EVICTION: Final = 0.9


@dataclass(frozen=True)
class CacheKind:
    """One kind of cache entries, in a folder with its name in the cache folder.

    ``ending`` is that of its entries, ``limit`` the setting (MB) for their total size.
    """

    meaning: str
    ending: str = ""
    limit: str = "cache_mb"


CACHE_KINDS: Final[dict[str, CacheKind]] = {
    "images": CacheKind("decoded pictures and thumbnails", ".rxc"),
    "fetched": CacheKind("pictures fetched from an address", ".rxr", "remote_cache_mb"),
    "sets": CacheKind("large review sets, read and checked", ".rxs", "kept_mb"),
    "scans": CacheKind("what detectors found", ".rxf", "kept_mb"),
    "metrics": CacheKind("metrics of generated reports", ".rxm"),
}
"""Every kind of cache entries, by its folder in the cache folder."""


_PACKAGE: Final = Path(__file__).parent
_READS_SETS: Final = (
    *("reviewset", "remote", "columns", "imaging", "text/choices", "schema"),
    *("text/language.py", "text/language_words.yaml", "words"),
)
"""The code that makes a review set from files; the modules next to these folders belong to it."""
_IMPORTS: Final = re.compile(rb"^(?:from|import) [^(\n]*(?:\([^)]*\))?.*\n", re.MULTILINE)
_DOCSTRINGS: Final = re.compile(
    rb'^[ \t]*r?"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""[ \t]*\n', re.MULTILINE | re.DOTALL
)
_COMMENT_LINES: Final = re.compile(rb"^[ \t]*#.*\n", re.MULTILINE)
_COMMENT_ENDS: Final = re.compile(rb"  # [^\"'\n]*$", re.MULTILINE)
_MODULES: Final = re.compile(rb"rexview(?:\.\w+)+")
_NOT_RUN: Final = (_IMPORTS, _DOCSTRINGS, _COMMENT_LINES, _COMMENT_ENDS, _MODULES)


def cache_code_version(sources: Iterable[Path], *libraries: str) -> str:
    """Return a version of the code that makes entries: its content and the versions of libraries.

    The version is part of an entry's name: entries of other code are never found again, and the
    least recently used are removed first. It depends on the definitions only, in any order. It
    stays the same when a module is renamed, moved, split, merged or described in other words.
    """
    definitions = [part for source in sources for part in _definitions(source.read_bytes())]
    digests = sorted(hashlib.sha256(part).digest() for part in definitions)
    digest = hashlib.sha256("\0".join(libraries).encode())
    return hashlib.sha256(digest.digest() + b"".join(digests)).hexdigest()[:16]


def code_files(starts: Iterable[Path]) -> list[Path]:
    """Return the code at or below some paths, with its lists of words."""
    files = (file for start in starts for file in (start, *start.rglob("*")))
    return [file for file in files if file.suffix in (".py", ".yaml")]


def _definitions(source: bytes) -> list[bytes]:
    """Return the parts of a file between two empty lines, without what does not run.

    That is imports, docstrings, comments and names of modules.
    """
    text = source
    for pattern in _NOT_RUN:
        text = pattern.sub(b"", text)
    return [part for part in re.split(rb"\n{3,}", text.strip()) if part]


@cache
def set_reader_version() -> str:
    """Return the version of the code that reads sets, which decides their rows and numbers."""
    sources = [*_PACKAGE.glob("*.py"), *code_files(_PACKAGE / name for name in _READS_SETS)]
    return cache_code_version(sources, version("polars"), version("pyarrow"))


def open_cache(kind: str, settings: Settings, folder: Path | None = None) -> FileCache:
    """Return the cache of one of :data:`CACHE_KINDS`, in the cache folder or in a given folder."""
    most = getattr(settings, CACHE_KINDS[kind].limit) * 1_000_000
    return FileCache(folder or settings.cache_folder / kind, most, CACHE_KINDS[kind].ending)


def report_caches(settings: Settings, clear: str | None = None) -> Iterator[str]:
    """Yield a line for each kind of cache entries: its size, or how much was removed.

    ``clear`` names the kind to remove, or ``all``; None removes nothing.
    """
    yield str(settings.cache_folder)
    for name, kind in CACHE_KINDS.items():
        kept = open_cache(name, settings)
        if clear in ("all", name):
            removed = kept.clear()
            left = f", {kept.size() / 1e6:,.1f} MB cannot be removed" if kept.size() else ""
            yield f"{name:8} {removed / 1e6:10,.1f} MB removed{left}"
        elif clear is None:
            limit = f"of {getattr(settings, kind.limit):,}"
            yield f"{name:8} {kept.size() / 1e6:10,.1f} MB {limit:14} {kind.meaning}"


class FileCache:
    """A folder of entries, shared by processes, that removes the least recently used ones.

    Parameters
    ----------
    folder : Path
        Created at the first write. Only entries with the ending are ever removed.
    max_bytes : int
        Limit for the size of all entries, including those of other processes. They may briefly
        exceed it by what was written since the last count.
    ending : str
        Ending of the names of the entries' files, such as ``.rxc``.
    """

    def __init__(self, folder: Path, max_bytes: int, ending: str) -> None:
        self.folder = Path(folder)
        self.max_bytes = max_bytes
        self.ending = ending
        self.trouble: str | None = None
        """Why the last entry could not be stored, in words; None if it was."""
        self._lock = threading.Lock()
        self._estimate: int | None = None
        self._writes = 0

    def _path_of(self, name: str) -> Path:
        return self.folder / name[:2] / f"{name}{self.ending}"

    def find(self, name: str) -> Path | None:
        """Return the file or folder of an entry, None without one; counts as a use.

        Links and files of other users of this machine are no entries.
        """
        path = self._path_of(name)
        try:
            found = path.lstat()
        except OSError:
            return None
        if stat.S_ISLNK(found.st_mode) or not _belongs_to_user(found):
            return None
        with suppress(OSError):
            os.utime(path)
        return path

    def discard(self, name: str) -> None:
        """Remove an entry if it exists."""
        _remove(self._path_of(name))

    def keep(self, name: str, size: int, fill: Callable[[Path], None]) -> Path | None:
        """Write an entry, and replace the one of the same name.

        Parameters
        ----------
        name : str
            Hexadecimal digits.
        size : int
            Expected size in bytes. An entry larger than the limit, or than the space on the disk,
            is not written.
        fill : callable
            Makes a file or a folder at the given path. Its exceptions, except ``OSError``, go to
            the caller.

        Returns
        -------
        Path or None
            Place of the entry; None if it was not stored, with the reason in ``trouble``.
        """
        made = self.begin(name, size)
        if made is None:
            return None
        try:
            fill(made)
            return self.finish(name, made)
        except OSError as error:
            self._tell(error.strerror or str(error))
            return None
        finally:
            self.abandon(made)

    def begin(self, name: str, size: int = 0) -> Path | None:
        """Return a private path where the file or folder of an entry can be made.

        Call :meth:`finish` or :meth:`abandon` afterwards. Returns None if it cannot be stored, as
        in :meth:`keep`.
        """
        if size > self.max_bytes:
            self._tell(f"{size / 1e6:,.0f} MB are more than may be kept")
            return None
        try:
            folder = self._path_of(name).parent
            folder.mkdir(parents=True, exist_ok=True)
            if size > shutil.disk_usage(folder).free:
                self._tell("the disk is full")
                return None
            return Path(tempfile.mkdtemp(suffix=".part", dir=folder)) / "entry"
        except OSError as error:
            self._tell(error.strerror or str(error))
            return None

    def finish(self, name: str, made: Path) -> Path | None:
        """Move an entry from the path of :meth:`begin` to its place; return None if that fails.

        The name may differ from that of :meth:`begin`, for example if it depends on the content.
        """
        path = self._path_of(name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            made.chmod(0o700 if made.is_dir() else 0o600)
            if path.is_dir():
                _remove(path)
            made.replace(path)
        except OSError as error:
            self._tell(error.strerror or str(error))
            return None
        finally:
            self.abandon(made)
        self.trouble = None
        self._keep_to_limit(_size_of(path))
        return path

    def abandon(self, made: Path) -> None:
        """Remove the unfinished entry at a path of :meth:`begin`."""
        _remove(made.parent)

    def _tell(self, reason: str) -> None:
        if self.trouble is None:
            _LOG.warning("Nothing is kept in %s: %s.", self.folder, reason)
        self.trouble = reason

    def entries(self) -> list[tuple[float, int, Path]]:
        """Return last use, size in bytes and path of every entry.

        Abandoned unfinished entries are removed.
        """
        found = []
        for path in self.folder.glob(f"??/*{self.ending}"):
            with suppress(OSError):
                if path.suffix != ".part":
                    found.append((path.lstat().st_mtime, _size_of(path), path))
        for path in self.folder.glob("??/*.part"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                    _remove(path)
        return found

    def size(self) -> int:
        """Return the bytes that all entries take."""
        return sum(size for _, size, _ in self.entries())

    def clear(self) -> int:
        """Remove all entries, including unfinished ones; return the bytes freed."""
        before = self.size()
        for path in [*(path for *_, path in self.entries()), *self.folder.glob("??/*.part")]:
            _remove(path)
        with self._lock:
            self._estimate = None
        return before - self.size()

    def _keep_to_limit(self, written: int) -> None:
        with self._lock:
            self._writes += 1
            if self._estimate is not None and self._writes % _RESCAN_EVERY:
                self._estimate += written
                if self._estimate <= self.max_bytes:
                    return
            entries = sorted(self.entries())
            total = sum(size for _, size, _ in entries)
            if total > self.max_bytes:
                for _, size, path in entries[:-1]:  # the newest is in use
                    if total <= _AFTER_EVICTION * self.max_bytes:
                        break
                    if _remove(path):
                        total -= size
            self._estimate = total


def _belongs_to_user(found: os.stat_result) -> bool:
    """True if a file belongs to the present user, or if files have no owner."""
    return not hasattr(os, "getuid") or found.st_uid == os.getuid()


def _size_of(path: Path) -> int:
    if path.is_dir() and not path.is_symlink():
        return sum(file.lstat().st_size for file in path.rglob("*"))
    return path.lstat().st_size


def _remove(path: Path) -> bool:
    """Remove a file or a folder with its content; return True if it is gone."""
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    return not os.path.lexists(path)
