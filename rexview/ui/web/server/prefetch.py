"""Fetches remote images as soon as a user was given a link to them.

A user with a link to an image will probably request it: of the case on the page, and of its
neighbours, whose links the browser has in advance (:mod:`rexview.ui.turning`). The newest request
is served first. Whoever requests an image that is being fetched waits for it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import suppress
from typing import Final

from rexview import reviewset
from rexview.addresses import remote_set_address
from rexview.errors import PathEscape, StorageError
from rexview.remote import remote_pictures
from rexview.reviewset.image_paths import remote_image_address
from rexview.schema import ReviewSet
from rexview.ui.web.server import server_state

MOST_WAITING: Final = 64
"""Images waiting for one storage."""
_AT_ONCE: Final = 3
"""Threads for one storage, so that a storage that does not answer blocks no other."""
_WAITING: Final[dict[str, OrderedDict[str, tuple[ReviewSet, str]]]] = {}
"""Waiting images by storage and address; the newest request is last."""
_LOCK: Final = threading.Lock()
_AT_WORK: Final[dict[threading.Thread, str]] = {}
"""Threads, with the storage that each uses."""


def fetch_soon(review_set: ReviewSet, image_path: str) -> None:
    """Fetch a remote image in the background; errors are reported when it is requested."""
    with suppress(PathEscape, StorageError):
        address = remote_image_address(review_set, image_path)
        if address is None:
            return
        own = remote_set_address(review_set.folder)
        remote_pictures.check_allowed(address, own, server_state.settings())
        with _LOCK:
            waiting = _WAITING.setdefault(address.origin, OrderedDict())
            waiting[address.text] = (review_set, image_path)
            waiting.move_to_end(address.text)
            while len(waiting) > MOST_WAITING:
                waiting.popitem(last=False)
            if list(_AT_WORK.values()).count(address.origin) < _AT_ONCE:
                thread = threading.Thread(
                    target=_fetch_all, args=(address.origin,), name="pictures ahead", daemon=True
                )
                _AT_WORK[thread] = address.origin
                thread.start()


def _fetch_all(origin: str) -> None:
    while True:
        with _LOCK:
            if not _WAITING.get(origin):
                _WAITING.pop(origin, None)
                _AT_WORK.pop(threading.current_thread(), None)
                return
            _, (review_set, image_path) = _WAITING[origin].popitem()
        with suppress(Exception):  # the request for the image reports it
            reviewset.find_image_file(review_set, image_path)
