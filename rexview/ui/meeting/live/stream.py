"""What a window of a meeting is told, as server-sent events: no thread waits for anybody."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from rexview.ui.meeting.live.room import KINDS, Room
from rexview.ui.meeting.live.seats import Seat

_HEADERS: Final = {
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",  # nginx would hold events back
    "Content-Encoding": "identity",
}
_BEAT_S: Final = 1.0
"""Seconds between two signs of life: proxies and browsers see that the stream is there."""
_ASK_AGAIN: Final = 1
"""Every so many signs of life it is asked again whether the person may still follow."""
_WRITE_AGAIN: Final = 5
"""Every so many, votes that could not be written are tried again."""
_RETRY_MS: Final = 500
"""After so long a browser opens a stream again that has broken."""
_OPEN: Final[set[asyncio.Event]] = set()
_STOPPING: Final = asyncio.Event()


def end_streams() -> None:
    """End all streams: a server that stops waits for its answers to end."""
    _STOPPING.set()
    for wake in _OPEN:
        wake.set()


def begin_streams() -> None:
    """Let streams be opened: the server has begun."""
    _STOPPING.clear()


class RoomStream(StreamingResponse):
    """The answer that never ends: what is new, the newest only, and signs of life.

    Parameters
    ----------
    room, seat : Room, Seat
        The seat has joined; it is left when the answer ends, also one that never began.
    seen : str
        The number of the state that the window has (``Last-Event-ID``), empty for none.
    may_stay : callable
        Asked now and then; the stream ends when it says no.
    write : callable
        Called now and then for whoever leads: writes votes that could not be written.
    """

    def __init__(
        self,
        room: Room,
        seat: Seat,
        seen: str,
        *,
        may_stay: Callable[[], bool],
        write: Callable[[], Awaitable[None]],
    ) -> None:
        self._leave = partial(room.seats.leave, seat)
        told = _events(room, seat, seen, may_stay, write)
        super().__init__(told, media_type="text/event-stream", headers=_HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until either side ends it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._leave()


async def _events(
    room: Room,
    seat: Seat,
    seen: str,
    may_stay: Callable[[], bool],
    write: Callable[[], Awaitable[None]],
) -> AsyncIterator[str]:
    changed = asyncio.Event()
    told = dict.fromkeys(KINDS, -1)
    if seen == f"{room.epoch}-{room.revisions['state']}":
        told["state"] = room.revisions["state"]
    beats, clock = 0, asyncio.get_running_loop().time
    next_beat = clock() + _BEAT_S
    room.listeners.add(changed.set)
    _OPEN.add(changed)
    try:
        yield f"retry: {_RETRY_MS}\n\n"
        while not _STOPPING.is_set():
            changed.clear()
            for kind in KINDS:
                revision = room.revisions[kind]
                if told[kind] != revision:
                    told[kind] = revision
                    yield _event(kind, room.told(kind, seat), f"{room.epoch}-{revision}")
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), max(0.0, next_beat - clock()))
            if clock() >= next_beat:  # also while there is always something new
                beats += 1
                next_beat = clock() + _BEAT_S
                yield "event: beat\ndata: \n\n"
                room.seats.tick()
                if seat is room.seats.leader and beats % _WRITE_AGAIN == 0:
                    await write()
                if beats % _ASK_AGAIN == 0 and not may_stay():
                    return
    finally:
        room.listeners.discard(changed.set)
        _OPEN.discard(changed)


def _event(kind: str, data: Mapping[str, Any] | None, number: str) -> str:
    name = f"id: {number}\n" if kind == "state" else ""
    return f"event: {kind}\n{name}data: {json.dumps(data, separators=(',', ':'))}\n\n"
