"""Fetching a file from an address: which may be asked, by what, how many at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rexview.addresses import DICOMWEB, WEB, Address
from rexview.errors import StorageAway, StorageRefused
from rexview.remote.sink import Sink
from rexview.settings import Settings

AT_ONCE: Final = 8
"""Files that are fetched at the same time from one storage in one process."""
WAIT_S: Final = 20.0
"""So long a file waits for its turn."""
REST_S: Final = 3.0
"""So long a storage that did not answer is not asked again: pages stay quick."""
_TURNS: Final[dict[str, threading.BoundedSemaphore]] = {}
"""By storage: only those that may be asked get here, which are few."""
_TAKING: Final = threading.Lock()
_AWAY: Final[dict[str, tuple[float, str]]] = {}


def check_allowed(address: Address, own: Address | None, settings: Settings) -> None:
    """Check that an address may be asked: it is listed in the settings, or in the set's own folder.

    Raises
    ------
    StorageRefused
    """
    allowed = (*settings.remote_hosts, *((own,) if own else ()))
    if not any(address.is_under(base) for base in allowed):
        raise StorageRefused(
            f"Nothing is fetched from {address.origin}. Whoever runs rexview can allow it with the "
            "setting remote_hosts."
        )


def fetch(address: Address, known: str, out: Sink) -> str | None:
    """Fetch a file; return its tag (which may be empty), None when it is as known.

    Raises
    ------
    StorageMissing, StorageAway, StorageRefused
    AddressRefused
    """
    with asking(address):  # a server imports only the clients of the storages that it asks
        if address.scheme == "s3":
            from rexview.remote import s3

            return s3.fetch(address, known, out)
        if address.scheme in DICOMWEB:
            from rexview.remote import dicomweb

            return dicomweb.fetch(address, known, out)
        if address.scheme in WEB:
            from rexview.remote import web

            return web.fetch(address, known, out)
        from rexview.remote import other

        return other.fetch(address, out)


@contextmanager
def asking(address: Address) -> Iterator[None]:
    """Wait for a turn with a storage, ask, and remember when it does not answer.

    Each storage has turns of its own: one that is dead holds up no other.

    Raises
    ------
    StorageAway
        It did not answer a moment ago, or too many others are asking.
    """
    _check_answers(address)
    with _TAKING:
        turns = _TURNS.setdefault(address.origin, threading.BoundedSemaphore(AT_ONCE))
    if not turns.acquire(timeout=WAIT_S):
        raise StorageAway(f"{address.origin} is slow, and others are waiting for it. Try again.")
    try:
        _check_answers(address)  # those who were waited for may have found out
        try:
            yield
        except StorageAway as error:
            _AWAY[address.origin] = (time.monotonic(), str(error))
            raise
        _AWAY.pop(address.origin, None)
    finally:
        turns.release()


def _check_answers(address: Address) -> None:
    since, why = _AWAY.get(address.origin, (0.0, ""))
    if why and time.monotonic() - since < REST_S:
        raise StorageAway(why)


def unreadable(scheme: str) -> tuple[str, str] | None:
    """Say why this computer cannot read addresses of a kind, and what to do; None if it can.

    Whether somebody answers there is not asked.
    """
    from rexview.remote import other, s3

    if scheme in WEB or (scheme == "s3" and s3.is_installed()):
        return None
    if scheme == "s3":
        why = "The images lie in S3 storage, which this computer cannot read yet."
        return why, "Run pip install -r requirements-storage.txt, or copy the images into a folder."
    return other.unreadable(scheme)
