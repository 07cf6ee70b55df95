"""Sealed links to images, which the routes of :mod:`rexview.ui.web.app.image_routes` open.

Every function raises ``ImageError`` or ``PathEscape``, with the reason to show, if the image does
not exist or its path leaves the images folder.
"""

from __future__ import annotations

from typing import Final

from rexview import reviewset
from rexview.errors import ImageMissing
from rexview.remote import remote_pictures
from rexview.reviewset.image_paths import remote_image_address
from rexview.schema import ReviewSet
from rexview.ui.web.access import permissions
from rexview.ui.web.server import prefetch, server_state
from rexview.ui.web.server.sealed_tokens import Grant
from rexview.ui.web.server.set_folders import set_id
from rexview.words import tr

WORDLESS: Final = "wordless"


def pixel_url(review_set: ReviewSet, image_path: str, *, wordless: bool = False) -> str:
    """Return a sealed link, relative to the app, to the pixels of one image for the viewer.

    With ``wordless`` the file's free text is left out: for images that models returned.
    """
    prefetch.fetch_soon(review_set, image_path)
    detail = WORDLESS if wordless else None
    return f"rexview/pixels/{_token(review_set, 'pixels', image_path, detail)}"


def thumbnail_url(review_set: ReviewSet, image_path: str) -> str:
    """Return a sealed link, relative to the app, to a thumbnail of one image without boxes."""
    return f"rexview/thumbs/{_token(review_set, 'thumbs', image_path)}"


def image_name(review_set: ReviewSet, image_path: str) -> str:
    """Return an opaque name for the pixels of one image; it changes with the file."""
    version = image_version(review_set, image_path)
    return server_state.signer().name(str(review_set.folder), image_path, version)


def image_version(review_set: ReviewSet, image_path: str) -> str:
    """Return a text that changes with the image file, without downloading a remote file."""
    if address := remote_image_address(review_set, image_path):
        return remote_pictures.link_version(address, server_state.settings())
    path = reviewset.find_image_file(review_set, image_path)
    try:
        stat = path.stat()
    except OSError:
        raise ImageMissing(tr("The image file does not exist.")) from None
    return f"{stat.st_mtime_ns:x}-{stat.st_size:x}"


def is_link_current(review_set: ReviewSet, image_path: str, version: str | None) -> bool:
    """Return whether a link to a remote image still leads to the image it was made for."""
    address = remote_image_address(review_set, image_path)
    return address is None or remote_pictures.is_current_link(
        address, version or "", server_state.settings()
    )


def _token(review_set: ReviewSet, kind: str, image_path: str, detail: str | None = None) -> str:
    version = image_version(review_set, image_path)
    name = set_id(review_set.folder)
    grant = Grant(kind, name, image_path, version, detail, permissions.current_link_owner())
    return server_state.signer().sign(grant)
