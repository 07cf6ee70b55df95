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
from rexview.errors import PathEscape
from rexview.reviewset.images import picture_address
from rexview.schema import ReviewSet

MOST_WAITING: Final = 64
_AT_ONCE: Final = 3
_WAITING: Final[OrderedDict[str, tuple[ReviewSet, str]]] = OrderedDict()
_LOCK: Final = threading.Lock()
_AT_WORK: Final = set[threading.Thread]()


def fetch_soon(review_set: ReviewSet, image_path: str) -> None:
    """Fetch a picture in the background, if it lies elsewhere; what is wrong is said when asked."""
    with suppress(PathEscape):
        address = picture_address(review_set, image_path)
        if address is None:
            return
        with _LOCK:
            _WAITING[address.text] = (review_set, image_path)
            _WAITING.move_to_end(address.text)
            while len(_WAITING) > MOST_WAITING:
                _WAITING.popitem(last=False)
            if len(_AT_WORK) < _AT_ONCE:
                thread = threading.Thread(target=_fetch_all, name="pictures ahead", daemon=True)
                _AT_WORK.add(thread)
                thread.start()


def _fetch_all() -> None:
    while True:
        with _LOCK:
            if not _WAITING:
                _AT_WORK.discard(threading.current_thread())
                return
            _, (review_set, image_path) = _WAITING.popitem()
        with suppress(Exception):  # it is said to whoever asks for the picture
            reviewset.image_path(review_set, image_path)
