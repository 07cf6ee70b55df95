"""A small HTTP/1.1 server on asyncio that may also break the rules: trickle, be silent, cut off.

An ASGI server takes care that none of that happens, which is why there is none here.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

MOST_BODY = 300_000_000


@dataclass
class Asked:
    """One HTTP request, with its body in full; ``headers`` have lower-case names."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Answered:
    """One HTTP response, and how it is to be sent.

    ``cut`` is where the connection ends: ``before`` anything, in the ``middle`` of the body, or
    nowhere. ``delay_s`` are seconds of silence first, ``trickle_s`` those over which the body comes
    byte by byte.
    """

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    trickle_s: float = 0.0
    cut: str | None = None
    sent: Callable[[], None] = lambda: None
    """Called when the whole body has been handed over."""

    @classmethod
    def of(cls, value: Any, status: int = 200, **more: Any) -> Answered:
        """Return a response of JSON."""
        return cls(status=status, body=json.dumps(value).encode(), **more)


Handle = Callable[[Asked], Awaitable[Answered]]


async def _read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Asked | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {
        name.strip().lower(): value.strip()
        for name, colon, value in (line.partition(":") for line in lines)
        if colon
    }
    if headers.get("expect") == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    if headers.get("transfer-encoding") == "chunked":
        pieces = []
        while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
            pieces.append(await reader.readexactly(size))
            await reader.readexactly(2)
        await reader.readuntil(b"\r\n")
        body = b"".join(pieces)
    else:
        body = await reader.readexactly(min(int(headers.get("content-length", 0)), MOST_BODY))
    path, _, query = target.partition("?")
    return Asked(method, path, query, headers, body)


async def _send(answered: Answered, writer: asyncio.StreamWriter) -> bool:
    """Send it; return whether the connection can be used again."""
    if answered.delay_s:
        await asyncio.sleep(answered.delay_s)
    if answered.cut == "before":
        writer.transport.abort()
        return False
    head = [f"HTTP/1.1 {answered.status} {'OK' if answered.status < 400 else 'Error'}"]
    head += [f"content-type: {answered.content_type}", f"content-length: {len(answered.body)}"]
    head += [f"{name}: {value}" for name, value in answered.headers.items()]
    writer.write("\r\n".join([*head, "", ""]).encode("latin-1"))
    body = answered.body
    if answered.cut == "middle":
        writer.write(body[: len(body) // 2])
        await writer.drain()
        writer.close()
        return False
    if answered.trickle_s:
        steps = 20
        size = max(1, -(-len(body) // steps))
        for start in range(0, len(body), size):
            writer.write(body[start : start + size])
            await writer.drain()
            await asyncio.sleep(answered.trickle_s / steps)
    else:
        writer.write(body)
    await writer.drain()
    answered.sent()
    return True


async def serve(handle: Handle, port: int = 0, host: str = "127.0.0.1") -> asyncio.Server:
    """Begin to answer by ``handle``; port 0 takes a free one."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (asked := await _read(reader, writer)) is not None:
                if not await _send(await handle(asked), writer):
                    return
                if asked.headers.get("connection") == "close":
                    return
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # who asked has gone, or the server ends
        finally:
            writer.close()

    return await asyncio.start_server(connected, host, port, limit=2**20, backlog=1024)
