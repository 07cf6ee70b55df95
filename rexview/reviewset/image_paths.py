"""Find the images of a review set, and allow no other files."""

from __future__ import annotations

import os
import posixpath
import re
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Final
from unicodedata import normalize
from urllib.parse import unquote, urlsplit

from rexview.addresses import RemoteAddress, is_address, parse_address, remote_set_address
from rexview.errors import (
    AddressRefused,
    ImageAway,
    ImageBroken,
    ImageMissing,
    PathEscape,
    StorageAway,
    StorageError,
    StorageMissing,
)
from rexview.remote import remote_pictures
from rexview.remote import remote_pictures as fetching
from rexview.schema import ReviewSet
from rexview.settings import load_settings

NOT_PLAIN_PATH: Final = r"[\x00-\x1f\\]|^[A-Za-z]:|^/|//|/$|(^|/)\.\.?(/|$)|^$"
"""Matches paths that :func:`relative_path` changes or refuses; others are plain already."""
DICOM_SUFFIXES: Final = (".dcm", ".dicom", ".ima")
"""Endings of names (lower case) that suggest DICOM; a name without ending may be DICOM, too."""
_ABSOLUTE: Final = re.compile(r"^[/\\]|^[A-Za-z]:")


def relative_path(image_path: str) -> str:
    """Return a path of the tables in plain form: forward slashes, no ``.`` and ``..``.

    A whole address (``s3://``, ``https://``, ``dicomweb+https://``) stays one.

    Raises
    ------
    PathEscape
        It is absolute, starts with a drive, climbs above the images folder, or contains control
        characters.
    """
    if any(ord(letter) < 32 for letter in image_path):
        raise PathEscape("The image path holds control characters.")
    if is_address(image_path):
        return parse_address(image_path).text
    if _ABSOLUTE.match(image_path):
        raise PathEscape("The image path is absolute; it must be relative to the images folder.")
    plain = posixpath.normpath(image_path.replace("\\", "/"))
    if plain in (".", "..") or plain.startswith("../"):
        raise PathEscape("The image path leads out of the images folder.")
    return plain


def images_folder(folder: Path, images: str) -> Path:
    """Return the local folder of the images, links followed; ``images`` is relative to the set."""
    if images.lower().startswith("file://"):
        images = unquote(urlsplit(images).path)
    return Path(os.path.realpath(folder / Path(images).expanduser()))


def find_image_file(review_set: ReviewSet, image_path: str) -> Path:
    """Find the file of an image, given its path in the tables.

    The file need not exist. From an address the image is first fetched into the cache folder, and
    again if it has changed there (:mod:`rexview.remote.remote_pictures`).

    Raises
    ------
    The path leads out of the images folder: by ``..``, as an absolute path, with a drive letter, or
    through a link.
        When the path leads out of the images folder: by ``..``, as an absolute path, with a drive
        letter, or through a link.
    ImageMissing, ImageAway, ImageBroken
        The image has to be fetched and is missing, or cannot be fetched.
    """
    if address := remote_image_address(review_set, image_path):
        return _fetch_image(review_set, address)
    base = images_folder(review_set.folder, review_set.info.images)
    return join_inside(base, relative_path(image_path))


def find_returned_picture(folder: Path, images: str, path: str) -> Path | None:
    """Find the file of a returned picture; one at an address is fetched once.

    ``images`` is the images base of the set in ``folder``. Returns None for a path that leads out
    of it, and for an address that cannot be reached now, or is not allowed.
    """
    try:
        if is_address(path) or is_address(images):
            address = parse_address(path if is_address(path) else images)
            address = address if is_address(path) else address.joined(relative_path(path))
            own = remote_set_address(folder)
            return remote_pictures.fetch_picture(address, own, load_settings(), look_again=False)
        base = images_folder(folder, images)
        return join_inside(base, relative_path(path))
    except (PathEscape, StorageError):
        return None


def join_disk_spelling(base: Path, relative: str) -> Path:
    """Join a path to a folder, with names in the Unicode form that is on the disk.

    macOS writes é as two characters (NFD) where tables have one (NFC), and other systems take them
    for two names. A name that exists as written is used unchanged; the file need not exist.
    """
    whole = base / relative
    if relative.isascii() or os.path.lexists(whole):
        return whole
    found = base
    for name in PurePosixPath(relative).parts:
        written = found / name
        if not name.isascii() and not os.path.lexists(written):
            written = found / _names_by_form(found).get(normalize("NFC", name), name)
        found = written
    return found


def _names_by_form(folder: Path) -> dict[str, str]:
    try:
        return _names_in_folder(folder, folder.stat().st_mtime_ns)
    except OSError:
        return {}


@lru_cache(maxsize=64)
def _names_in_folder(folder: Path, modified: int) -> dict[str, str]:
    """Return the non-ASCII names in a folder by their NFC form, without forms that two share."""
    found: dict[str, str] = {}
    twice: set[str] = set()
    for file in folder.iterdir():
        if not file.name.isascii():
            form = normalize("NFC", file.name)
            if form in found:
                twice.add(form)
            found[form] = file.name
    return {form: name for form, name in found.items() if form not in twice}


def has_unicode_twin(file: Path) -> bool:
    """True if another file in the same folder differs only in the Unicode form of its name."""
    if file.name.isascii():
        return False
    for form in ("NFC", "NFD"):
        other = file.with_name(normalize(form, file.name))
        try:
            if other.name != file.name and not other.samefile(file):
                return True
        except OSError:
            continue
    return False


def join_inside(base: Path, relative: str) -> Path:
    """Join a plain relative path to a real folder, and follow links only within it.

    Raises
    ------
    PathEscape
        A link leads out of the folder.
    """
    found = Path(os.path.realpath(join_disk_spelling(base, relative)))
    if not found.is_relative_to(base):
        raise PathEscape("The image path leads out of the images folder through a link.")
    return found


def unreadable_address(address: str) -> tuple[str, str] | None:
    """Return why this computer cannot read images at an address, and the remedy; None if it can.

    No request is sent to the server.
    """
    try:
        return fetching.unreadable_reason(parse_address(address).scheme)
    except AddressRefused as refusal:
        return str(refusal), "Correct images in reviewset.yaml."


def remote_image_address(review_set: ReviewSet, image_path: str) -> RemoteAddress | None:
    """Return the address from which an image is fetched; None for a local file.

    Raises
    ------
    PathEscape
    """
    relative = relative_path(image_path)
    if is_address(relative):
        return parse_address(relative)
    images = review_set.info.images
    return parse_address(images).joined(relative) if is_address(images) else None


def _fetch_image(review_set: ReviewSet, address: RemoteAddress) -> Path:
    try:
        return remote_pictures.fetch_picture(
            address, remote_set_address(review_set.folder), load_settings()
        )
    except StorageMissing as error:
        raise ImageMissing(str(error)) from None
    except StorageAway as error:
        raise ImageAway(str(error)) from None
    except StorageError as error:
        raise ImageBroken(str(error)) from None
