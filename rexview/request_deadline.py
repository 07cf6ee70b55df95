"""One deadline for a whole HTTP request: connection, headers, and all of the answer.

The time limits of httpx count from one byte to the next. A server that sends a byte of its header
now and then, or says ``100 Continue`` for ever, is never given up by them. Here every read and
write of a request ends at the same moment.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final

_PIECE: Final = 16_384
"""Bytes that are sent at a time: a server may take them one by one."""
_of_thread: Final = threading.local()


def set_deadline(client: Any, seconds: float) -> None:
    """Let each request of a client of httpx, or of httpx2, end within some seconds.

    The answer is to be read by the thread that asks. httpx has no public way to the sockets of a
    client that obeys the proxies of its environment, so the network backend of its connection pools
    is wrapped; ``tests/test_request_deadline.py`` notices if a new version has none.
    """
    client.event_hooks = {
        **client.event_hooks,
        "request": [
            *client.event_hooks.get("request", []),
            lambda _request: begin_deadline(seconds),
        ],
    }
    for transport in (client._transport, *client._mounts.values()):
        pool = getattr(transport, "_pool", None)
        if pool is not None:
            pool._network_backend = _Backend(pool._network_backend)


def set_storage_deadline(client: Any, seconds: float) -> None:
    """Let each call of a client of botocore end within some seconds, its second attempt included.

    The answer is to be read by the thread that asks. botocore has no public way to its sockets, so
    the classes of its connections are replaced; ``tests/test_request_deadline.py`` notices if a new
    version has none.
    """
    session = client._endpoint.http_session
    classes = session._pool_classes_by_scheme
    for scheme, pool in list(classes.items()):
        name = f"Deadline{pool.__name__}"
        classes[scheme] = type(name, (pool,), {"ConnectionCls": _connection(pool.ConnectionCls)})
    client.meta.events.register("before-call.*", lambda **_: begin_deadline(seconds))


def begin_deadline(seconds: float) -> None:
    """Let what this thread reads and writes end so many seconds from now."""
    _of_thread.until = time.monotonic() + seconds


def _connection(kind: Any) -> Any:
    """Return a class of connections of urllib3 whose reads and writes end at the deadline."""

    class Connection(kind):  # type: ignore[misc]
        def connect(self) -> None:
            context = getattr(self, "ssl_context", None)
            if context is not None:
                context.sslsocket_class = _SecureSocket
            super().connect()

        def _new_conn(self) -> socket.socket:
            opened = super()._new_conn()
            timeout = opened.gettimeout()
            limited = _Socket(fileno=opened.detach())
            limited.settimeout(timeout)
            return limited

    return Connection


class _Limited:
    """Reads and writes of a socket that end at the deadline of the thread that asks."""

    def recv_into(self: Any, *given: Any) -> int:
        with _in_time(self):
            return int(super().recv_into(*given))  # type: ignore[misc]

    def sendall(self: Any, *given: Any) -> None:
        with _in_time(self):
            super().sendall(*given)  # type: ignore[misc]


class _Socket(_Limited, socket.socket):
    """A connection without TLS."""


class _SecureSocket(_Limited, ssl.SSLSocket):
    """A connection with TLS; Python gives a handshake one limit of its own."""


@contextmanager
def _in_time(connection: socket.socket) -> Iterator[None]:
    usual = connection.gettimeout()
    connection.settimeout(_left(usual, TimeoutError))
    try:
        yield
    finally:
        connection.settimeout(usual)


def _left(timeout: float | None, fault: type[Exception]) -> float | None:
    """Return how long something may take; raise if the time is over."""
    until = getattr(_of_thread, "until", None)
    if until is None:
        return timeout
    left = float(until - time.monotonic())
    if left <= 0:
        raise fault("the request did not end in time")
    return left if timeout is None else min(left, timeout)


class _Backend:
    """Opens connections that obey the deadline of whoever uses them."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._core: Any = import_module(type(inner).__module__.partition(".")[0])

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> Any:
        timeout = _left(timeout, self._core.ConnectTimeout)
        opened = self._inner.connect_tcp(host, port, timeout, local_address, socket_options)
        return _stream(opened, self._core)

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Any = None
    ) -> Any:
        timeout = _left(timeout, self._core.ConnectTimeout)
        return _stream(self._inner.connect_unix_socket(path, timeout, socket_options), self._core)

    def sleep(self, seconds: float) -> None:
        self._inner.sleep(seconds)


def _stream(inner: Any, core: Any) -> Any:
    """Return a connection whose reads and writes end at the deadline."""

    class Stream(core.NetworkStream):  # type: ignore[misc]
        def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
            return bytes(inner.read(max_bytes, _left(timeout, core.ReadTimeout)))

        def write(self, buffer: bytes, timeout: float | None = None) -> None:
            for start in range(0, len(buffer), _PIECE):
                inner.write(buffer[start : start + _PIECE], _left(timeout, core.WriteTimeout))

        def close(self) -> None:
            inner.close()

        def start_tls(
            self,
            ssl_context: Any,
            server_hostname: str | None = None,
            timeout: float | None = None,
        ) -> Any:
            timeout = _left(timeout, core.ConnectTimeout)
            return _stream(inner.start_tls(ssl_context, server_hostname, timeout), core)

        def get_extra_info(self, info: str) -> Any:
            return inner.get_extra_info(info)

    return Stream()
