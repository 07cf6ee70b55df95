"""One deadline for a whole HTTP request: connection, headers, and the complete response.

The time limits of httpx apply from one byte to the next. They never stop a server that sends a byte
of its header now and then, or ``100 Continue`` forever. Here every read and write of a request ends
at the same time.
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
"""Bytes sent at a time: a server may take them one by one."""
_thread_deadline: Final = threading.local()


def limit_request_time(client: Any, seconds: float) -> None:
    """Limit each request of an httpx or httpx2 client to some seconds.

    The thread that sends the request has to read the response. httpx has no public access to the
    sockets of a client that obeys the proxies of its environment. So the network backend of its
    connection pools is wrapped; ``tests/test_request_deadline.py`` fails if a new version has none.
    """
    client.event_hooks = {
        **client.event_hooks,
        "request": [
            *client.event_hooks.get("request", []),
            lambda _request: start_deadline(seconds),
        ],
    }
    for transport in (client._transport, *client._mounts.values()):
        pool = getattr(transport, "_pool", None)
        if pool is not None:
            pool._network_backend = _DeadlineBackend(pool._network_backend)


def limit_storage_call_time(client: Any, seconds: float) -> None:
    """Limit each call of a botocore client to some seconds, including its retry.

    The thread that sends the request has to read the response. botocore has no public access to its
    sockets, so the classes of its connections are replaced; ``tests/test_request_deadline.py``
    fails if a new version has none.
    """
    session = client._endpoint.http_session
    classes = session._pool_classes_by_scheme
    for scheme, pool in list(classes.items()):
        name = f"Deadline{pool.__name__}"
        classes[scheme] = type(
            name, (pool,), {"ConnectionCls": _deadline_connection(pool.ConnectionCls)}
        )
    client.meta.events.register("before-call.*", lambda **_: start_deadline(seconds))


def start_deadline(seconds: float) -> None:
    """Set this thread's deadline for reads and writes to some seconds from now."""
    _thread_deadline.until = time.monotonic() + seconds


def _deadline_connection(kind: Any) -> Any:
    """Return a class of urllib3 connections whose reads and writes obey the deadline."""

    class Connection(kind):  # type: ignore[misc]
        def connect(self) -> None:
            context = getattr(self, "ssl_context", None)
            if context is not None:
                context.sslsocket_class = _SecureSocket
            super().connect()

        def _new_conn(self) -> socket.socket:
            opened = super()._new_conn()
            timeout = opened.gettimeout()
            limited = _PlainSocket(fileno=opened.detach())
            limited.settimeout(timeout)
            return limited

    return Connection


class _DeadlineSocket:
    """Reads and writes of a socket that obey the deadline of the calling thread."""

    def recv_into(self: Any, *given: Any) -> int:
        with _deadline_timeout(self):
            return int(super().recv_into(*given))  # type: ignore[misc]

    def sendall(self: Any, *given: Any) -> None:
        with _deadline_timeout(self):
            super().sendall(*given)  # type: ignore[misc]


class _PlainSocket(_DeadlineSocket, socket.socket):
    """A connection without TLS."""


class _SecureSocket(_DeadlineSocket, ssl.SSLSocket):
    """A connection with TLS; Python gives a handshake one limit of its own."""


@contextmanager
def _deadline_timeout(connection: socket.socket) -> Iterator[None]:
    usual = connection.gettimeout()
    connection.settimeout(_time_left(usual, TimeoutError))
    try:
        yield
    finally:
        connection.settimeout(usual)


def _time_left(timeout: float | None, fault: type[Exception]) -> float | None:
    """Return the time left for a step; raise if the time is over."""
    until = getattr(_thread_deadline, "until", None)
    if until is None:
        return timeout
    left = float(until - time.monotonic())
    if left <= 0:
        raise fault("the request did not end in time")
    return left if timeout is None else min(left, timeout)


class _DeadlineBackend:
    """Open connections that obey the deadline of the calling thread."""

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
        timeout = _time_left(timeout, self._core.ConnectTimeout)
        opened = self._inner.connect_tcp(host, port, timeout, local_address, socket_options)
        return _deadline_stream(opened, self._core)

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Any = None
    ) -> Any:
        timeout = _time_left(timeout, self._core.ConnectTimeout)
        return _deadline_stream(
            self._inner.connect_unix_socket(path, timeout, socket_options), self._core
        )

    def sleep(self, seconds: float) -> None:
        self._inner.sleep(seconds)


def _deadline_stream(inner: Any, core: Any) -> Any:
    """Return a connection whose reads and writes obey the deadline."""

    class Stream(core.NetworkStream):  # type: ignore[misc]
        def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
            return bytes(inner.read(max_bytes, _time_left(timeout, core.ReadTimeout)))

        def write(self, buffer: bytes, timeout: float | None = None) -> None:
            for start in range(0, len(buffer), _PIECE):
                inner.write(buffer[start : start + _PIECE], _time_left(timeout, core.WriteTimeout))

        def close(self) -> None:
            inner.close()

        def start_tls(
            self,
            ssl_context: Any,
            server_hostname: str | None = None,
            timeout: float | None = None,
        ) -> Any:
            timeout = _time_left(timeout, core.ConnectTimeout)
            return _deadline_stream(inner.start_tls(ssl_context, server_hostname, timeout), core)

        def get_extra_info(self, info: str) -> Any:
            return inner.get_extra_info(info)

    return Stream()
