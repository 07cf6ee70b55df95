"""What is asked over HTTP: one request, no redirect, a bounded answer."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from functools import cache
from http.cookiejar import DefaultCookiePolicy
from typing import TYPE_CHECKING, BinaryIO, Final

from rexview.addresses import Address
from rexview.errors import StorageAway, StorageError, StorageMissing, StorageRefused
from rexview.request_deadline import set_deadline

if TYPE_CHECKING:
    import httpx


# Where fetched bytes go: counted, digested, stopped when there are too many or too slow.

MOST_BYTES: Final = 512_000_000
"""Of one picture's file: that of an uncompressed image of 64 megapixels and several frames."""
MOST_SECONDS: Final = 90.0
CHUNK: Final = 256 * 1024
TOO_SLOW: Final = "The storage sends the file too slowly. Try again later."


class Sink:
    """A file that is being fetched.

    Parameters
    ----------
    file : BinaryIO
        Written to.
    most_bytes : int
        Larger files are refused as soon as they get larger, whatever length was announced.
    most_seconds : float or None
        How long all of it may take.
    """

    def __init__(
        self,
        file: BinaryIO,
        most_bytes: int = MOST_BYTES,
        most_seconds: float | None = MOST_SECONDS,
    ) -> None:
        self._file = file
        self._most = most_bytes
        self._until = None if most_seconds is None else time.monotonic() + most_seconds
        self._digest = hashlib.sha256()
        self.size = 0

    def expect(self, size: int | None) -> None:
        """Refuse a file by the size that is announced for it.

        Raises
        ------
        StorageRefused
        """
        if size is not None and size > self._most:
            raise StorageRefused(f"The file is larger than {self._most / 1e6:,.0f} MB.")

    def write(self, chunk: bytes) -> None:
        """Write bytes.

        Raises
        ------
        StorageRefused
            The file is larger than is taken.
        StorageAway
            It takes too long.
        """
        self.size += len(chunk)
        self.expect(self.size)
        if self._until is not None and time.monotonic() > self._until:
            raise StorageAway(TOO_SLOW)
        self._digest.update(chunk)
        self._file.write(chunk)

    def digest(self) -> str:
        """SHA-256 of what was written, as 64 hexadecimal digits."""
        return self._digest.hexdigest()


CONNECT_S: Final = 5.0
SILENT_S: Final = 20.0
"""So long a storage may say nothing before it counts as away."""
_BUSY: Final = (408, 425, 429)


@cache
def _client() -> httpx.Client:
    import httpx

    logging.getLogger("httpx").setLevel(logging.WARNING)  # it logs addresses, which name studies
    client = httpx.Client(
        follow_redirects=False,
        timeout=httpx.Timeout(SILENT_S, connect=CONNECT_S),
        limits=httpx.Limits(max_connections=None, keepalive_expiry=30),  # fetching has turns
        headers={"User-Agent": "rexview", "Accept-Encoding": "identity"},
    )
    set_deadline(client, MOST_SECONDS)
    client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    return client


@contextmanager
def asked(address: Address, url: str, headers: Mapping[str, str]) -> Iterator[httpx.Response]:
    """Ask for ``url``, which belongs to the storage of an address; yield the answer, 200 or 304.

    Its body is still to be read.

    Raises
    ------
    StorageMissing, StorageAway, StorageRefused
        Also where the connection breaks while the body is read.
    """
    import httpx

    where = address.origin
    try:
        with closing(_answer(url, headers)) as answer:
            if answer.status_code not in (200, 304):
                raise fault_of(answer.status_code, address)
            if answer.headers.get("Content-Encoding", "identity") != "identity":
                raise StorageRefused(f"{where} packs its answers although it was asked not to.")
            yield answer
    except httpx.TimeoutException:
        raise StorageAway(f"{where} does not answer in time. Try again later.") from None
    except (httpx.ConnectError, httpx.ProxyError):
        raise StorageAway(f"{where} cannot be reached. Try again later.") from None
    except (httpx.TransportError, httpx.StreamError):
        raise StorageAway(f"The connection to {where} broke off. Try again.") from None
    except httpx.HTTPError as error:
        raise StorageAway(f"{where} cannot be asked ({type(error).__name__}).") from None


def _answer(url: str, headers: Mapping[str, str]) -> httpx.Response:
    """Ask once more where a connection that was kept open turns out to be closed."""
    import httpx

    client = _client()
    try:
        return client.send(client.build_request("GET", url, headers=dict(headers)), stream=True)
    except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
        return client.send(client.build_request("GET", url, headers=dict(headers)), stream=True)


def fault_of(status: int, address: Address) -> StorageError:
    """Say what an HTTP status that is no success means."""
    where = address.origin
    if status in (404, 410):
        return StorageMissing(f"{where} has nothing at this address.")
    if status in (401, 403):
        return StorageRefused(f"{where} does not let this computer read it. {_sign_in(address)}")
    if 300 <= status < 400:
        return StorageRefused(f"{where} sends elsewhere, which is not followed. Name that address.")
    if status >= 500 or status in _BUSY:
        return StorageAway(f"{where} is out of order or busy (HTTP {status}). Try again later.")
    return StorageRefused(f"{where} refuses the request (HTTP {status}).")


def _sign_in(address: Address) -> str:
    if address.scheme.startswith("dicomweb"):
        return "Whoever runs rexview sets REXVIEW_DICOMWEB_USER and _PASSWORD, or _TOKEN."
    return "It has to be readable without a sign-in."


def body_of(answer: httpx.Response, most_seconds: float = MOST_SECONDS) -> Iterator[bytes]:
    """Yield the body of an answer as it comes, also where that is byte by byte.

    Raises
    ------
    StorageAway
        All of it takes too long.
    """
    until = time.monotonic() + most_seconds
    for chunk in answer.iter_raw():
        if time.monotonic() > until:
            raise StorageAway(TOO_SLOW)
        yield chunk


def read_body(answer: httpx.Response, out: Sink) -> None:
    """Write the body of an answer; one whose end nobody can tell is refused."""
    announced = answer.headers.get("Content-Length")
    if announced is None and answer.headers.get("Transfer-Encoding", "").lower() != "chunked":
        raise StorageRefused("The server does not say how long the file is.")
    if announced is not None:
        out.expect(int(announced))
    for chunk in body_of(answer):
        out.write(chunk)


def tag_of(answer: httpx.Response) -> str:
    """Return what names the state of what is answered: its ETag, else its date; or nothing."""
    headers = answer.headers
    return headers.get("ETag") or headers.get("Last-Modified") or ""


def conditions(known: str) -> dict[str, str]:
    """Return the headers that ask for something only if it is no longer in a known state."""
    if not known:
        return {}
    is_tag = known.startswith(('"', "W/"))
    return {"If-None-Match" if is_tag else "If-Modified-Since": known}


def fetch(address: Address, known: str, out: Sink) -> str | None:
    """Fetch a file over HTTP; return its tag, None when it is as known."""
    with asked(address, address.url, conditions(known)) as answer:
        if answer.status_code == 304:
            return None
        read_body(answer, out)
        return tag_of(answer)
