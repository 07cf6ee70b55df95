"""Copy the tables of review sets in S3 storage into the cache folder.

The copy is a folder like that of any set, so that all readers work with it. Pictures stay in the
storage. The copy is updated file by file, each one atomically, once all changed files have arrived.
Nothing is ever written to the storage.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from rexview.addresses import RemoteAddress, is_address, remote_set_address
from rexview.columns import TABLES
from rexview.errors import FileRefused, StorageError, StorageMissing, StorageRefused
from rexview.remote.http_storage import DownloadSink
from rexview.remote.remote_pictures import storage_turn
from rexview.settings import Settings
from rexview.untrusted_input import parse_untrusted_yaml

if TYPE_CHECKING:
    from rexview.remote import s3


RECHECK_TABLES_S: Final = 10.0
"""Shortest time between checks for changed tables while a page is open."""
MAX_SET_FILES: Final = 5_000
"""The most tables and other files of a set, and folders in it."""
MAX_LISTED_OBJECTS: Final = 20_000
"""The most objects that are listed in one folder of a set to find its tables: 20 requests."""
MAX_LISTED_PICTURES: Final = 20_000
"""The most pictures that are listed when a set opens: 20 requests."""
INFO_FILE: Final = "reviewset.yaml"
_ENDINGS: Final = (
    *(".yaml", ".yml", ".jsonl", ".csv", ".parquet", ".json", ".md", ".txt"),
    *(".ndjson", ".tsv", ".xlsx", ".xls", ".pq"),
)
_STATE: Final = ".remote-state.json"
_AT_ONCE: Final = 4
_LONGEST_NAME: Final = 255


@dataclass
class _SetCopy:
    """What this process knows of the copy of a set."""

    lock: threading.Lock
    looked: float = 0.0
    trouble: str | None = None
    remarks: tuple[str, ...] = ()
    thread: threading.Thread | None = None


_COPIES: Final[dict[Path, _SetCopy]] = {}
_COPYING: Final = threading.Lock()


def _copy_of(folder: Path) -> _SetCopy:
    with _COPYING:
        return _COPIES.setdefault(folder, _SetCopy(threading.Lock()))


def update_copy(folder: Path, settings: Settings) -> None:
    """Update the copy of a set.

    Raises
    ------
    StorageMissing, StorageAway, StorageRefused
        The copy is unchanged.
    """
    copy = _copy_of(folder)
    with copy.lock:
        try:
            copy.remarks = _update_files(folder, settings)
            copy.trouble = None
        except StorageError as error:
            copy.trouble = str(error)
            raise
        finally:
            copy.looked = time.monotonic()


def update_copy_soon(folder: Path, settings: Settings) -> None:
    """Update the copy of a set in the background, unless that was just done.

    Does nothing for a local set.
    """
    if remote_set_address(folder) is None:
        return
    copy = _copy_of(folder)
    with _COPYING:
        is_due = time.monotonic() - copy.looked >= RECHECK_TABLES_S
        if not is_due or (copy.thread is not None and copy.thread.is_alive()):
            return
        copy.thread = threading.Thread(
            target=_try_update_copy,
            args=(folder, settings),
            name="look for newer tables",
            daemon=True,
        )
        copy.thread.start()


def _try_update_copy(folder: Path, settings: Settings) -> None:
    with suppress(StorageError):  # `trouble` reports it
        update_copy(folder, settings)


def copy_problem(folder: Path) -> str | None:
    """Return why the newest tables of a set could not be copied; None if they were."""
    copy = _COPIES.get(folder)
    return copy.trouble if copy else None


def remarks(folder: Path) -> tuple[str, ...]:
    """Return sentences on folders of the set that were not listed completely."""
    copy = _COPIES.get(folder)
    return copy.remarks if copy else ()


def has_copy(folder: Path) -> bool:
    """Whether there is a complete copy of a set, of any age."""
    return (folder / _STATE).is_file()


def list_picture_paths(images: str, folder: Path) -> frozenset[str] | None:
    """Return the paths of all pictures below the images base of a set in S3 storage.

    None if they are unknown: too many, not allowed to be listed, or stored elsewhere.
    """
    own = remote_set_address(folder)
    if own is None or not images.startswith(own.text.rstrip("/") + "/"):
        return None
    from rexview.remote import s3

    base = RemoteAddress(own.scheme, own.host, images.removeprefix(f"{own.origin}/").rstrip("/"))
    try:
        with storage_turn(base):
            found = s3.list_objects(base, MAX_LISTED_PICTURES)
    except StorageError:
        return None
    if not found.is_whole:
        return None
    names = (one.key for one in found.objects if one.key[-1] != "/")
    return frozenset(name.removeprefix(f"{base.path}/") for name in names)


def _update_files(folder: Path, settings: Settings) -> tuple[str, ...]:
    address = remote_set_address(folder)
    if address is None or address.scheme != "s3":
        raise StorageRefused("A review set lies in a folder, or in S3 storage (s3://bucket/name/).")
    before = _read_state(folder)
    there, remarks = _list_tables(address)
    most = settings.remote_cache_mb * 1_000_000
    size = sum(one.size for one in there.values())
    if size > most:
        raise StorageRefused(
            f"The tables of the set take {size / 1e6:,.0f} MB, more than remote_cache_mb allows."
        )
    wanted = {
        name: one
        for name, one in there.items()
        if before.get(name) != one.tag or not _has_listed_size(folder / name, one)
    }
    gone = [name for name in before if name not in there]
    if not wanted and not gone and has_copy(folder):
        return remarks
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=".", suffix=".part", dir=folder.parent))
        try:
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                fetching = [
                    pool.submit(_fetch, address, name, one, work, most)
                    for name, one in wanted.items()
                ]
                for one_file in fetching:
                    one_file.result()
            _replace_files(folder, work, list(wanted), gone)
            _write_state(folder, work, {name: one.tag for name, one in there.items()})
            return remarks
        finally:
            shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        raise StorageRefused(
            f"The tables of the set cannot be kept on this computer: {error.strerror}."
        ) from None


def _list_tables(address: RemoteAddress) -> tuple[dict[str, s3.S3Object], tuple[str, ...]]:
    """List the files to copy by their path in the set, and remarks on incomplete listings."""
    from rexview.remote import s3

    with storage_turn(address):
        top = s3.list_objects(address, MAX_LISTED_OBJECTS, deep=False)
    if not top.objects and not top.folders:
        raise StorageMissing(f"{address.text} has nothing: no folder of that name is there.")
    if len(top.folders) >= MAX_SET_FILES:  # each of them costs a request
        raise StorageRefused(
            f"{address.text} has more than {MAX_SET_FILES:,} folders. Name the folder of a "
            "review set."
        )
    if not top.is_whole:
        raise _too_many(address)
    prefix = f"{address.path.rstrip('/')}/" if address.path.strip("/") else ""
    images = _images_of(address, prefix, top.objects)
    found, remarks = list(top.objects), []
    for one in top.folders:
        name = one.removeprefix(prefix).strip("/")
        if name.lower() in TABLES or not f"{name}/".startswith(images):
            is_table = name.lower() in TABLES
            inside = RemoteAddress(address.scheme, address.host, one)
            with storage_turn(inside):
                listing = s3.list_objects(inside, MAX_LISTED_OBJECTS, deep=not is_table)
            if is_table and not listing.is_whole:
                raise _too_many(inside)
            if not listing.is_whole:
                remarks.append(_incomplete_remark(inside))
            found += listing.objects
    there = {
        relative: one
        for one in found
        if _is_copied(relative := one.key.removeprefix(prefix)) and one.key.startswith(prefix)
    }
    if len(there) >= MAX_SET_FILES:
        raise StorageRefused(
            f"{address.text} has more than {MAX_SET_FILES:,} files besides pictures."
        )
    return there, tuple(remarks)


def _too_many(folder: RemoteAddress) -> StorageRefused:
    return StorageRefused(
        f"{folder.text.rstrip('/')}/ holds more than {MAX_LISTED_OBJECTS:,} objects, so that "
        "tables in it "
        "may not be found. Put pictures into a folder of their own, which images in "
        f"{INFO_FILE} names."
    )


def _incomplete_remark(folder: RemoteAddress) -> str:
    return (
        f"{folder.text.rstrip('/')}/ holds more than {MAX_LISTED_OBJECTS:,} objects: of the "
        "runs, metrics "
        "or other files of the set in it only some may have been found."
    )


def _images_of(address: RemoteAddress, prefix: str, top: list[s3.S3Object]) -> str:
    """Return the folder of a set's pictures, which are not copied, such as ``images/``."""
    usual = "images/"
    if not any(one.key == prefix + INFO_FILE for one in top):
        return usual
    from rexview.remote import s3

    with tempfile.TemporaryFile() as file, storage_turn(address):
        s3.fetch_object(address.joined(INFO_FILE), "", DownloadSink(file, 1_000_000))
        file.seek(0)
        try:
            read = parse_untrusted_yaml(file.read().decode("utf-8-sig"))[0]
        except (FileRefused, UnicodeError):
            return usual
    images = read.get("images") if isinstance(read, dict) else None
    if not isinstance(images, str) or is_address(images):
        return usual
    return f"{images.strip('/')}/"


def _is_copied(relative: str) -> bool:
    """Whether a file is copied: a table or a text with a safe name."""
    parts = relative.split("/")
    return (
        PurePosixPath(relative).suffix.lower() in _ENDINGS
        and "\\" not in relative
        and all(part.isprintable() and part[:1] not in ("", ".", "~") for part in parts)
        and all(len(part.encode("utf-8", "replace")) <= _LONGEST_NAME for part in parts)
    )


def _has_listed_size(file: Path, told: s3.S3Object) -> bool:
    try:
        return file.stat().st_size == told.size
    except OSError:
        return False


def _fetch(address: RemoteAddress, name: str, told: s3.S3Object, work: Path, most: int) -> None:
    """Fetch a file in its listed state, and give it the modification time of that state."""
    from rexview.remote import s3

    target = work / name
    target.parent.mkdir(parents=True, exist_ok=True)
    wanted = RemoteAddress(address.scheme, address.host, told.key)
    with storage_turn(wanted), target.open("wb") as file:
        s3.fetch_object(wanted, told.tag, DownloadSink(file, most, most_seconds=None), must_be=True)
    moment = int(told.modified * 1_000_000_000)
    os.utime(target, ns=(moment, moment))


def _replace_files(folder: Path, work: Path, names: list[str], gone: list[str]) -> None:
    """Move fetched files into place, then delete those that are gone from the storage."""
    for name in names:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (work / name).replace(target)
    for name in gone:
        (folder / name).unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)


def _read_state(folder: Path) -> Mapping[str, str]:
    try:
        read = json.loads((folder / _STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


def _write_state(folder: Path, work: Path, state: Mapping[str, str]) -> None:
    made = work / _STATE
    made.write_text(json.dumps(state, ensure_ascii=False), encoding="utf-8")
    made.replace(folder / _STATE)
