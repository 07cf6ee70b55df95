"""Fetch pictures from addresses, and cache them on disk up to a size limit.

A cached picture is a folder named by its address *and* its state when it was fetched (its tag). So
a changed picture gets another folder, and two processes fetch the same one. Next to it a small
file, named by the address alone, records which state was seen last.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Final, TypeVar

from rexview.addresses import DICOMWEB_SCHEMES, HTTP_SCHEMES, RemoteAddress
from rexview.disk_cache import CACHE_KINDS, FileCache
from rexview.errors import StorageAway, StorageRefused
from rexview.remote.http_storage import DownloadSink
from rexview.settings import Settings

# Fetch a file: which addresses are allowed, by which client, how many at once.

MAX_PARALLEL_FETCHES: Final = 8
"""The most files fetched at the same time from one storage by one process."""
MAX_TURN_WAIT_S: Final = 20.0
"""Longest time that a file waits for its turn."""
SILENT_STORAGE_PAUSE_S: Final = 3.0
"""Time for which a silent storage is not asked again, so that pages stay quick."""
_TURNS: Final[dict[str, threading.BoundedSemaphore]] = {}
"""By storage: only allowed ones are added, which are few."""
_TAKING: Final = threading.Lock()
_AWAY: Final[dict[str, tuple[float, str]]] = {}


def check_allowed(address: RemoteAddress, own: RemoteAddress | None, settings: Settings) -> None:
    """Check that an address is allowed: listed in the settings, or in the set's own folder.

    Raises
    ------
    StorageRefused
        The address is neither.
    """
    allowed = (*settings.remote_hosts, *((own,) if own else ()))
    if not any(address.is_under(base) for base in allowed):
        raise StorageRefused(
            f"Nothing is fetched from {address.origin}. Whoever runs rexview can allow it with the "
            "setting remote_hosts."
        )


def fetch_file(address: RemoteAddress, known: str, out: DownloadSink) -> str | None:
    """Fetch a file; return its tag (may be empty), None if it is unchanged.

    Raises
    ------
    StorageMissing, StorageAway, StorageRefused
    AddressRefused
    """
    with storage_turn(address):  # imports only the client of this storage
        if address.scheme == "s3":
            from rexview.remote import s3

            return s3.fetch_object(address, known, out)
        if address.scheme in DICOMWEB_SCHEMES:
            from rexview.remote import dicomweb

            return dicomweb.fetch_instance(address, known, out)
        if address.scheme in HTTP_SCHEMES:
            from rexview.remote import http_storage

            return http_storage.fetch_over_http(address, known, out)
        from rexview.remote import fsspec_storage

        return fsspec_storage.fetch_with_fsspec(address, out)


@contextmanager
def storage_turn(address: RemoteAddress) -> Iterator[None]:
    """Take a turn at a storage, and remember if it does not answer.

    Each storage has its own turns: a dead one does not block the others.

    Raises
    ------
    StorageAway
        It did not answer a moment ago, or too many others are waiting.
    """
    _check_answers(address)
    with _TAKING:
        turns = _TURNS.setdefault(address.origin, threading.BoundedSemaphore(MAX_PARALLEL_FETCHES))
    if not turns.acquire(timeout=MAX_TURN_WAIT_S):
        raise StorageAway(f"{address.origin} is slow, and others are waiting for it. Try again.")
    try:
        _check_answers(address)  # the threads before may have found it silent
        try:
            yield
        except StorageAway as error:
            _AWAY[address.origin] = (time.monotonic(), str(error))
            raise
        _AWAY.pop(address.origin, None)
    finally:
        turns.release()


def _check_answers(address: RemoteAddress) -> None:
    since, why = _AWAY.get(address.origin, (0.0, ""))
    if why and time.monotonic() - since < SILENT_STORAGE_PAUSE_S:
        raise StorageAway(why)


def unreadable_reason(scheme: str) -> tuple[str, str] | None:
    """Return why this computer cannot read addresses of a kind, and what to do; None if it can.

    Does not check whether a server answers there.
    """
    from rexview.remote import fsspec_storage, s3

    if scheme in HTTP_SCHEMES or (scheme == "s3" and s3.is_botocore_installed()):
        return None
    if scheme == "s3":
        why = "The images lie in S3 storage, which this computer cannot read yet."
        return why, "Run pip install -r requirements-storage.txt, or copy the images into a folder."
    return fsspec_storage.unreadable_scheme(scheme)


RECHECK_AFTER_S: Final = 30.0
"""Time for which a picture counts as unchanged, at storages with tags."""
RECHECK_WHOLE_AFTER_S: Final = 3600.0
"""The same for storages without tags, where checking means a complete download."""
_FILE: Final = "picture"
_NEW: Final = "new"
"""The version of a picture that was never fetched."""
_VERSION_LENGTH: Final = 16
_MOST_REMEMBERED: Final = 50_000
_Known = TypeVar("_Known")


@dataclass(frozen=True)
class _PictureState:
    """The last known state of an address: tag, size, digest, and when it was seen (Unix time)."""

    tag: str
    size: int
    digest: str
    at: float

    def name(self, address: RemoteAddress) -> str:
        return _digest_name(address.text, self.tag, self.digest)


class _KnownAddresses:
    """What this process knows of addresses: time of the last check, and versions given to links."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.at: dict[str, float] = {}
        self.whole: set[str] = set()
        self.links: dict[str, tuple[str, str]] = {}
        self.fetching: dict[str, threading.Lock] = {}

    def note(self, address: RemoteAddress) -> None:
        with self.lock:
            _remember_bounded(self.at, address, time.monotonic())
            if len(self.whole) > _MOST_REMEMBERED:
                self.whole.clear()


def _remember_bounded(known: dict[str, _Known], address: RemoteAddress, value: _Known) -> None:
    """Add a value; drop the oldest ones when there are too many."""
    known[address.text] = value
    while len(known) > _MOST_REMEMBERED:
        known.pop(next(iter(known)))


_KNOWN_ADDRESSES: Final = _KnownAddresses()


def fetch_picture(
    address: RemoteAddress,
    own: RemoteAddress | None,
    settings: Settings,
    *,
    look_again: bool = True,
) -> Path:
    """Return a picture's file; fetch it if it is not cached or, with ``look_again``, has changed.

    While the storage does not answer, return the cached file, if there is one. ``own`` is the
    address of a remote set that names the picture.

    Raises
    ------
    StorageMissing, StorageAway, StorageRefused
    AddressRefused
    """
    check_allowed(address, own, settings)
    if address.scheme in DICOMWEB_SCHEMES:
        from rexview.remote import dicomweb

        dicomweb.check_instance(address)
    kept = _cache(settings)
    if (found := _fresh_file(kept, address, look_again)) is not None:
        return found
    with _KNOWN_ADDRESSES.lock:
        turn = _KNOWN_ADDRESSES.fetching.setdefault(address.text, threading.Lock())
    with turn:
        try:
            return _fresh_file(kept, address, look_again) or _fetch_if_changed(kept, address)
        finally:
            with _KNOWN_ADDRESSES.lock:
                _KNOWN_ADDRESSES.fetching.pop(address.text, None)


def cached_picture(address: RemoteAddress, settings: Settings) -> Path | None:
    """Return the cached file of a picture, None without one; nothing is requested."""
    kept = _cache(settings)
    seen = _last_state(kept, address)
    return _state_file(kept, address, seen) if seen else None


def forget_picture(address: RemoteAddress, settings: Settings) -> None:
    """Remove the cached file of a picture and its record."""
    kept = _cache(settings)
    if seen := _last_state(kept, address):
        kept.discard(seen.name(address))
    kept.discard(_digest_name(address.text))
    _KNOWN_ADDRESSES.at.pop(address.text, None)


def link_version(address: RemoteAddress, settings: Settings) -> str:
    """Return a text that changes when the picture at an address is found to have changed.

    Requests nothing: a page can make links to pictures that were never fetched.
    """
    seen = _last_state(_cache(settings), address)
    name = seen.name(address) if seen else ""
    with _KNOWN_ADDRESSES.lock:
        given, of = _KNOWN_ADDRESSES.links.get(address.text, (name, name))
        if name and of and name != of:
            given = name
        _remember_bounded(_KNOWN_ADDRESSES.links, address, (given, name or of))
    return given[:_VERSION_LENGTH] or _NEW


def is_current_link(address: RemoteAddress, version: str, settings: Settings) -> bool:
    """Whether a link with this version still leads to the same picture."""
    seen = _last_state(_cache(settings), address)
    same = (_NEW, seen.name(address)[:_VERSION_LENGTH] if seen else _NEW)
    return version in same or version == link_version(address, settings)


@cache
def _cache_in(folder: Path, megabytes: int) -> FileCache:
    return FileCache(folder, megabytes * 1_000_000, CACHE_KINDS["fetched"].ending)


def _cache(settings: Settings) -> FileCache:
    """Return the cache, one object for the whole process, which tracks its size."""
    return _cache_in(settings.cache_folder / "fetched", settings.remote_cache_mb)


def _fresh_file(kept: FileCache, address: RemoteAddress, look_again: bool) -> Path | None:
    """Return the cached file if it needs no new check."""
    looked = _KNOWN_ADDRESSES.at.get(address.text)
    seen = _last_state(kept, address)
    if seen is None:
        return None
    if not look_again:
        is_fresh = True
    elif seen.tag:
        is_fresh = looked is not None and time.monotonic() - looked < RECHECK_AFTER_S
    else:
        is_fresh = 0 <= time.time() - seen.at < RECHECK_WHOLE_AFTER_S
    return _state_file(kept, address, seen) if is_fresh else None


def _fetch_if_changed(kept: FileCache, address: RemoteAddress) -> Path:
    """Fetch a picture, unless the cached one is current."""
    seen = _last_state(kept, address)
    held = _state_file(kept, address, seen) if seen else None
    made = kept.begin(_digest_name(address.text))
    if made is None:
        raise _no_room(kept)
    try:
        made.mkdir()
        try:
            with (made / _FILE).open("wb") as file:
                sink = DownloadSink(file)
                tag = fetch_file(address, seen.tag if seen and held else "", sink)
        except StorageAway:
            if held is not None:
                return held
            raise
        if tag is None and held is not None:
            _KNOWN_ADDRESSES.note(address)
            return held
        _check_instance(address, made / _FILE)
        now = _PictureState(tag or "", sink.size, sink.digest(), time.time())
        if sink.size > kept.max_bytes:
            raise _no_room(kept)
        if (found := _state_file(kept, address, now)) is None:
            kept.discard(now.name(address))  # a damaged one
            kept.finish(now.name(address), made)
            found = _state_file(kept, address, now)  # ours, or that of a faster process
        if found is None:
            raise _no_room(kept)
        _remember(kept, address, now)
        return found
    except OSError as error:
        raise StorageRefused(
            f"The picture was fetched but cannot be kept on this server: {error.strerror}."
        ) from None
    finally:
        kept.abandon(made)


def _check_instance(address: RemoteAddress, file: Path) -> None:
    """Check that an archive sent the requested instance."""
    if address.scheme not in DICOMWEB_SCHEMES:
        return
    import pydicom

    from rexview.remote import dicomweb

    try:
        given = pydicom.dcmread(file, stop_before_pixels=True, specific_tags=["SOPInstanceUID"])
        uid = str(given.get("SOPInstanceUID", ""))
    except Exception:  # pydicom may raise anything for a damaged file
        uid = ""
    if uid != dicomweb.instance_uid(address):
        raise StorageRefused(f"{address.origin} answers with another instance than was asked for.")


def _no_room(kept: FileCache) -> StorageRefused:
    why = kept.trouble or "it is larger than remote_cache_mb allows"
    return StorageRefused(f"The picture was fetched but cannot be kept on this server: {why}.")


def _remember(kept: FileCache, address: RemoteAddress, seen: _PictureState) -> None:
    text = json.dumps(asdict(seen))
    kept.keep(_digest_name(address.text), len(text), lambda path: _write(path, text))
    _KNOWN_ADDRESSES.note(address)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _last_state(kept: FileCache, address: RemoteAddress) -> _PictureState | None:
    path = kept.find(_digest_name(address.text))
    if path is None:
        return None
    try:
        return _PictureState(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        kept.discard(_digest_name(address.text))
        return None


def _state_file(kept: FileCache, address: RemoteAddress, seen: _PictureState) -> Path | None:
    """Return the cached file of a state; a file that differs from its record is removed.

    Its bytes are checked once in a process, its size each time.
    """
    name = seen.name(address)
    entry = kept.find(name)
    if entry is None:
        return None
    file = entry / _FILE
    with suppress(OSError):
        if file.stat().st_size == seen.size:
            if name in _KNOWN_ADDRESSES.whole:
                return file
            with file.open("rb") as opened:
                if hashlib.file_digest(opened, "sha256").hexdigest() == seen.digest:
                    _KNOWN_ADDRESSES.whole.add(name)
                    return file
    shutil.rmtree(entry, ignore_errors=True)
    return None


def _digest_name(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()
