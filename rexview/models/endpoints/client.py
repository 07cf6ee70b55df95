"""The openai package, kept to one attempt, one server, and answers of bounded size.

It is imported when the first endpoint is made: it is heavy, and most of the app asks no model.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from rexview.models.endpoints.address import Address
from rexview.models.reply import AttemptFailed
from rexview.request_deadline import set_deadline

if TYPE_CHECKING:
    import httpx2
    import openai

MAX_BODY_BYTES: Final = 64_000_000
"""Of one answer, pictures included; results of a batch are bounded apart."""
_CONNECT_S: Final = 20.0
_OF_OPENAI: Final = ("OpenAI-Organization", "OpenAI-Project")
_NO_KEY: Final = "none"


class BodyTooLarge(Exception):
    """A server sends more than is taken."""


def make_client(
    address: Address, key: str | None, connections: int, timeout_s: float, most_bytes: int
) -> openai.OpenAI:
    """Return a client that retries nothing, follows nobody and reads no more than it should.

    Parameters
    ----------
    address : Address
        Where it asks; a server on this machine is never asked through a proxy.
    key : str or None
        None for servers that want none.
    connections : int
        How many requests there are at once.
    timeout_s : float
        Seconds after which an attempt is given up: without an answer, or before its end.
    most_bytes : int
        Of one body.

    Raises
    ------
    AttemptFailed
        Of kind ``setup``, where openai is not installed.
    """
    try:
        import httpx2
        import openai
    except ImportError:
        raise AttemptFailed(
            "setup",
            "The package openai is not installed: pip install -r requirements.txt.",
            stops_all=True,
        ) from None

    def bound(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.DecodingError("compressed although asked not to", request=response.request)
        response.stream = _bounded_stream(response.stream, most_bytes)

    is_plain = address.is_this_machine and address.url.startswith("http://")
    http_client = openai.DefaultHttpxClient(
        limits=httpx2.Limits(
            max_connections=connections + 2, max_keepalive_connections=connections + 2
        ),
        timeout=httpx2.Timeout(timeout_s, connect=min(_CONNECT_S, timeout_s)),
        follow_redirects=False,
        trust_env=not address.is_this_machine,
        verify=_no_tls() if is_plain else True,
        headers={"accept-encoding": "identity"},
        event_hooks={"response": [bound]},
    )
    set_deadline(http_client, timeout_s)
    # what the environment says of an account at OpenAI is nobody else's business
    elsewhere: Any = {} if address.is_openai else dict.fromkeys(_OF_OPENAI, openai.Omit())
    return openai.OpenAI(
        api_key=key or _NO_KEY,
        default_headers=elsewhere,
        base_url=address.url,
        max_retries=0,
        timeout=httpx2.Timeout(timeout_s, connect=min(_CONNECT_S, timeout_s)),
        http_client=http_client,
    )


def _no_tls() -> ssl.SSLContext:
    """Return what trusts nobody, where nothing is encrypted: certificates take time to read."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _bounded_stream(stream: Any, most_bytes: int) -> Any:
    """Return a response's stream that ends with an error when it is too long."""
    import httpx2

    class Bounded(httpx2.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            count = 0
            for piece in stream:
                count += len(piece)
                if count > most_bytes:
                    raise BodyTooLarge
                yield piece

        def close(self) -> None:
            stream.close()

    return Bounded()
