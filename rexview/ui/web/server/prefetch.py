"""Pictures that lie elsewhere are fetched as soon as somebody was given a link to them.

Whoever is given a link to a picture will probably ask for it: of the case on the page, and of its
neighbours, whose links the browser has ahead (:mod:`rexview.ui.turning`). The newest wish comes
first; who asks for a picture that is on its way waits for it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import suppress
from typing import Final

from rexview import reviewset
from rexview.addresses import address_of_set
from rexview.errors import PathEscape, StorageError
from rexview.remote import pictures
from rexview.reviewset.images import picture_address
from rexview.schema import ReviewSet
from rexview.ui.web.server import server_state

MOST_WAITING: Final = 64
"""Pictures of one storage."""
_AT_ONCE: Final = 3
"""Threads for one storage: one that does not answer holds up no other."""
_WAITING: Final[dict[str, OrderedDict[str, tuple[ReviewSet, str]]]] = {}
"""By storage, and there by address; the newest wish last."""
_LOCK: Final = threading.Lock()
_AT_WORK: Final[dict[threading.Thread, str]] = {}
"""Threads, with the storage that each asks."""


def fetch_soon(review_set: ReviewSet, image_path: str) -> None:
    """Fetch a picture in the background, if it lies elsewhere; what is wrong is said when asked."""
    with suppress(PathEscape, StorageError):
        address = picture_address(review_set, image_path)
        if address is None:
            return
        own = address_of_set(review_set.folder)
        pictures.check_allowed(address, own, server_state.settings())
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
        with suppress(Exception):  # it is said to whoever asks for the picture
            reviewset.image_path(review_set, image_path)
