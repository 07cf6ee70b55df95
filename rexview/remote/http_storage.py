"""Send single HTTP requests: no redirect, an answer of bounded size."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from functools import cache
from http.cookiejar import DefaultCookiePolicy
from typing import TYPE_CHECKING, BinaryIO, Final

from rexview.addresses import RemoteAddress
from rexview.errors import StorageAway, StorageError, StorageMissing, StorageRefused
from rexview.request_deadline import limit_request_time

if TYPE_CHECKING:
    import httpx


# A destination that counts and digests bytes, and stops a download that is too large or too slow.

MAX_DOWNLOAD_BYTES: Final = 512_000_000
"""Limit for one picture's file: an uncompressed image of 64 megapixels with several frames."""
MAX_DOWNLOAD_SECONDS: Final = 90.0
CHUNK: Final = 256 * 1024
TOO_SLOW: Final = "The storage sends the file too slowly. Try again later."


class DownloadSink:
    """Destination of a download.

    Parameters
    ----------
    file : BinaryIO
        Opened for writing.
    most_bytes : int
        Size limit, enforced while writing, whatever length was announced.
    most_seconds : float or None
        Time limit of the whole download, in seconds.
    """

    def __init__(
        self,
        file: BinaryIO,
        most_bytes: int = MAX_DOWNLOAD_BYTES,
        most_seconds: float | None = MAX_DOWNLOAD_SECONDS,
    ) -> None:
        self._file = file
        self._most = most_bytes
        self._until = None if most_seconds is None else time.monotonic() + most_seconds
        self._digest = hashlib.sha256()
        self.size = 0

    def expect(self, size: int | None) -> None:
        """Refuse a file by its announced size.

        Raises
        ------
        StorageRefused
            The size is over the limit.
        """
        if size is not None and size > self._most:
            raise StorageRefused(f"The file is larger than {self._most / 1e6:,.0f} MB.")

    def write(self, chunk: bytes) -> None:
        """Write bytes.

        Raises
        ------
        StorageRefused
            The file is larger than the limit.
        StorageAway
            The download takes too long.
        """
        self.size += len(chunk)
        self.expect(self.size)
        if self._until is not None and time.monotonic() > self._until:
            raise StorageAway(TOO_SLOW)
        self._digest.update(chunk)
        self._file.write(chunk)

    def digest(self) -> str:
        """SHA-256 of the written bytes, as 64 hexadecimal digits."""
        return self._digest.hexdigest()


CONNECT_S: Final = 5.0
SILENCE_LIMIT_S: Final = 20.0
"""Longest silence before a storage counts as away."""
_BUSY: Final = (408, 425, 429)


@cache
def _client() -> httpx.Client:
    import httpx

    logging.getLogger("httpx").setLevel(logging.WARNING)  # it logs addresses with study ids
    client = httpx.Client(
        follow_redirects=False,
        timeout=httpx.Timeout(SILENCE_LIMIT_S, connect=CONNECT_S),
        limits=httpx.Limits(max_connections=None, keepalive_expiry=30),  # `asking` has turns
        headers={"User-Agent": "rexview", "Accept-Encoding": "identity"},
    )
    limit_request_time(client, MAX_DOWNLOAD_SECONDS)
    client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    return client


@contextmanager
def open_response(
    address: RemoteAddress, url: str, headers: Mapping[str, str]
) -> Iterator[httpx.Response]:
    """Request ``url`` of an address's storage; yield the answer, 200 or 304.

    The caller reads its body.

    Raises
    ------
    StorageMissing, StorageAway, StorageRefused
        Also if the connection breaks while the body is read.
    """
    import httpx

    where = address.origin
    try:
        with closing(_send_request(url, headers)) as answer:
            if answer.status_code not in (200, 304):
                raise status_error(answer.status_code, address)
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


def _send_request(url: str, headers: Mapping[str, str]) -> httpx.Response:
    """Send a request, a second time if a kept connection turns out to be closed."""
    import httpx

    client = _client()
    try:
        return client.send(client.build_request("GET", url, headers=dict(headers)), stream=True)
    except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
        return client.send(client.build_request("GET", url, headers=dict(headers)), stream=True)


def status_error(status: int, address: RemoteAddress) -> StorageError:
    """Return the error for an HTTP status that is no success."""
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


def _sign_in(address: RemoteAddress) -> str:
    if address.scheme.startswith("dicomweb"):
        return "Whoever runs rexview sets REXVIEW_DICOMWEB_USER and _PASSWORD, or _TOKEN."
    return "It has to be readable without a sign-in."


def iterate_body(
    answer: httpx.Response, most_seconds: float = MAX_DOWNLOAD_SECONDS
) -> Iterator[bytes]:
    """Yield the body of an answer as it arrives, even byte by byte.

    Raises
    ------
    StorageAway
        The whole body takes too long.
    """
    until = time.monotonic() + most_seconds
    for chunk in answer.iter_raw():
        if time.monotonic() > until:
            raise StorageAway(TOO_SLOW)
        yield chunk


def download_body(answer: httpx.Response, out: DownloadSink) -> None:
    """Write the body of an answer; a body without a detectable end is refused."""
    announced = answer.headers.get("Content-Length")
    if announced is None and answer.headers.get("Transfer-Encoding", "").lower() != "chunked":
        raise StorageRefused("The server does not say how long the file is.")
    if announced is not None:
        out.expect(int(announced))
    for chunk in iterate_body(answer):
        out.write(chunk)


def response_tag(answer: httpx.Response) -> str:
    """Return the tag of an answer: its ETag, otherwise its date, otherwise an empty text."""
    headers = answer.headers
    return headers.get("ETag") or headers.get("Last-Modified") or ""


def condition_headers(known: str) -> dict[str, str]:
    """Return the headers that request a resource only if it has changed since ``known``."""
    if not known:
        return {}
    is_tag = known.startswith(('"', "W/"))
    return {"If-None-Match" if is_tag else "If-Modified-Since": known}


def fetch_over_http(address: RemoteAddress, known: str, out: DownloadSink) -> str | None:
    """Fetch a file over HTTP; return its tag, None if it is unchanged."""
    with open_response(address, address.url, condition_headers(known)) as answer:
        if answer.status_code == 304:
            return None
        download_body(answer, out)
        return response_tag(answer)
