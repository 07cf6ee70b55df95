"""Where the images of a review set are, and nowhere else."""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Final
from unicodedata import normalize
from urllib.parse import unquote, urlsplit

from rexview.errors import ImageBroken, ImageMissing, PathEscape
from rexview.schema import ReviewSet
from rexview.settings import load_settings

NOT_PLAIN: Final = r"[\x00-\x1f\\]|^[A-Za-z]:|^/|//|/$|(^|/)\.\.?(/|$)|^$"
"""What a path holds that :func:`relative_path` changes or refuses; others are plain already."""
DICOM_SUFFIXES: Final = (".dcm", ".dicom", ".ima")
"""Ends of names (lower case) that suggest DICOM; no ending at all may, too."""
_ABSOLUTE: Final = re.compile(r"^[/\\]|^[A-Za-z]:")
_PARTS: Final = {
    **{scheme: scheme for scheme in ("http", "s3", "gs", "gcs", "abfs", "sftp", "ssh", "smb")},
    "https": "http",
    "az": "abfs",
}
"""The part of fsspec that reads addresses of a kind."""
_URL: Final = re.compile(r"^[A-Za-z][A-Za-z0-9+.\-]+://")


def relative_path(image_path: str) -> str:
    """Bring a path of the tables into its plain form: forward slashes, no ``.`` and ``..`` left.

    Raises
    ------
    PathEscape
        When it is absolute, starts with a drive, climbs above the images folder, or holds control
        characters.
    """
    if any(ord(letter) < 32 for letter in image_path):
        raise PathEscape("The image path holds control characters.")
    if _ABSOLUTE.match(image_path):
        raise PathEscape("The image path is absolute; it must be relative to the images folder.")
    plain = posixpath.normpath(image_path.replace("\\", "/"))
    if plain in (".", "..") or plain.startswith("../"):
        raise PathEscape("The image path leads out of the images folder.")
    return plain


def is_url(images: str) -> bool:
    """Whether the images base is an address rather than a local folder."""
    return bool(_URL.match(images)) and not images.lower().startswith("file://")


def images_folder(folder: Path, images: str) -> Path:
    """Local folder of the images, links followed; ``images`` is relative to the set."""
    if images.lower().startswith("file://"):
        images = unquote(urlsplit(images).path)
    return Path(os.path.realpath(folder / Path(images).expanduser()))


def image_path(review_set: ReviewSet, image_path: str) -> Path:
    """Find the file of an image, given its path as it stands in the tables.

    The file need not exist. From an address the image is fetched into the cache folder first;
    images there are taken not to change.

    Raises
    ------
    PathEscape
        When the path leads out of the images folder: by ``..``, as an absolute path, with a drive
        letter, or through a link.
    ImageMissing, ImageBroken
        When the image is to be fetched and is not there, or cannot be fetched.
    """
    relative = relative_path(image_path)
    if is_url(review_set.info.images):
        return _fetched(f"{review_set.info.images.rstrip('/')}/{relative}")
    base = images_folder(review_set.folder, review_set.info.images)
    return contained(base, relative)


def find_picture(folder: Path, images: str, path: str) -> Path | None:
    """Find the file of a returned picture; None at an address, whose files are not fetched for it.

    ``images`` is the images base of the set in ``folder``; a path that leads out of it has no file.
    """
    if is_url(images):
        return None
    base = images_folder(folder, images)
    try:
        return contained(base, relative_path(path))
    except PathEscape:
        return None


def spelled(base: Path, relative: str) -> Path:
    """Join a path to a folder, each name as the disk has it where only its letters' form differs.

    macOS writes é as two characters (NFD) where tables have one (NFC), and other systems take them
    for two names. A name that is there as it is written is taken so; the file need not exist.
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
        return _listed(folder, folder.stat().st_mtime_ns)
    except OSError:
        return {}


@lru_cache(maxsize=64)
def _listed(folder: Path, modified: int) -> dict[str, str]:
    """Names in a folder by their NFC form, those that are not ASCII; not where two share a form."""
    found: dict[str, str] = {}
    twice: set[str] = set()
    for file in folder.iterdir():
        if not file.name.isascii():
            form = normalize("NFC", file.name)
            if form in found:
                twice.add(form)
            found[form] = file.name
    return {form: name for form, name in found.items() if form not in twice}


def has_twin(file: Path) -> bool:
    """Whether another file beside this one differs from it in the form of its letters only."""
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


def contained(base: Path, relative: str) -> Path:
    """Join a plain relative path to a real folder, and follow links only within it.

    Raises
    ------
    PathEscape
        When a link leads out of the folder.
    """
    found = Path(os.path.realpath(spelled(base, relative)))
    if not found.is_relative_to(base):
        raise PathEscape("The image path leads out of the images folder through a link.")
    return found


def unreadable_address(address: str) -> tuple[str, str] | None:
    """Say why this computer cannot read images at an address, and what to do; None if it can.

    Whether somebody answers there is not asked.
    """
    scheme = address.partition("://")[0].lower()
    try:
        import fsspec

        fsspec.get_filesystem_class(scheme)
    except ImportError:
        why = f"The images lie at an address ({scheme}://) that this computer cannot read yet."
        part = _PARTS.get(scheme)
        install = f'Run pip install "fsspec[{part}]"' if part else "Install the package for it"
        return why, f"{install}, or copy the images into a folder."
    except ValueError:
        why = f"The images lie at an address of a kind that is not known ({scheme}://)."
        return why, "Name a folder in images (reviewset.yaml), or an address such as https://."
    return None


def _fetched(url: str) -> Path:
    name = hashlib.sha256(url.encode()).hexdigest()
    target = (
        load_settings().cache_folder / "fetched" / name[:2] / (name + PurePosixPath(url).suffix)
    )
    if target.is_file():
        return target
    if cannot := unreadable_address(url):
        raise ImageMissing(" ".join(cannot))
    import fsspec

    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, part = tempfile.mkstemp(dir=target.parent, suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as out, fsspec.open(url, "rb") as source:
            shutil.copyfileobj(source, out)
        Path(part).replace(target)
    except FileNotFoundError:
        raise ImageMissing("The image is not at its address.") from None
    except Exception as error:  # each kind of address has errors of its own
        raise ImageBroken(f"The image cannot be fetched ({type(error).__name__}).") from error
    finally:
        Path(part).unlink(missing_ok=True)
    return target
