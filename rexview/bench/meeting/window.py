"""One window of a meeting, without a browser: it follows as ``live.js`` does, over real HTTP."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import httpx

_AGAIN_S: Final = 0.5
"""As the stream tells browsers (``retry``)."""


class LiveWindow:
    """A window that follows a meeting, or leads it.

    Attributes
    ----------
    newest : dict of str to object
        What was told last, by kind of event.
    arrived : list of (str, float, object)
        Every event with its kind, when it came (``time.perf_counter``) and what it said.
    received : list of str
        All that came, as text: streams, cases and replies.
    connected : int
        How often the stream was opened.
    """

    def __init__(self, http: httpx.AsyncClient, address: str) -> None:
        self._http, self.address = http, address.rstrip("/")
        self.name: Final = secrets.token_hex(16)
        self.newest: dict[str, Any] = {}
        self.arrived: list[tuple[str, float, Any]] = []
        self.received: list[str] = []
        self.connected = 0
        self._last_id = ""
        self._cookie = "none="
        self._number = 0
        self._changed = asyncio.Event()
        self._following: asyncio.Task[None] | None = None
        self._streaming: asyncio.Task[None] | None = None

    async def __aenter__(self) -> LiveWindow:
        self.follow()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.leave()

    def follow(self) -> None:
        """Open the stream, and again whenever it ends, until :meth:`leave`."""
        self._following = asyncio.create_task(self._follow())

    async def leave(self) -> None:
        """Close the stream."""
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)
            self._following = None

    def drop(self) -> None:
        """Let the connection break; the stream is opened again as a browser does."""
        if self._streaming is not None:
            self._streaming.cancel()

    async def _follow(self) -> None:
        while True:
            self._streaming = asyncio.create_task(self._stream())
            try:
                await asyncio.wait([self._streaming])
            finally:
                self._streaming.cancel()
                await asyncio.gather(self._streaming, return_exceptions=True)
            await asyncio.sleep(_AGAIN_S)

    async def _stream(self) -> None:
        headers = {"Cookie": self._cookie}  # windows share a client, and are browsers of their own
        if self._last_id:
            headers["Last-Event-ID"] = self._last_id
        asked = f"{self.address}/events?window={self.name}"
        async with self._http.stream("GET", asked, headers=headers) as answer:
            answer.raise_for_status()
            self.connected += 1
            self._cookie = answer.headers.get("Set-Cookie", self._cookie).partition(";")[0]
            event: dict[str, str] = {}
            async for line in answer.aiter_lines():
                self.received.append(line)
                if line:
                    field, _, value = line.partition(": ")
                    event[field] = value
                elif event:
                    self._hear(event)
                    event = {}

    def _hear(self, event: Mapping[str, str]) -> None:
        kind = event.get("event", "")
        self._last_id = event.get("id", self._last_id)
        if kind in ("", "beat"):
            return
        said = json.loads(event["data"])
        self.newest[kind] = said
        self.arrived.append((kind, time.perf_counter(), said))
        self._changed.set()

    async def until(self, there: Callable[[], Any], within_s: float = 20.0) -> Any:
        """Wait until something has arrived; return it.

        Raises
        ------
        TimeoutError
        """
        limit = time.perf_counter() + within_s
        while not (found := there()):
            self._changed.clear()
            left = limit - time.perf_counter()
            if left <= 0:
                raise TimeoutError(f"{list(self.newest)} came, and not what was waited for")
            await asyncio.wait([asyncio.ensure_future(self._changed.wait())], timeout=left)
        return found

    async def tell(self, act: str, **body: Any) -> httpx.Response:
        """Tell the server something; the name of the window goes along."""
        answer = await self._http.post(f"{self.address}/{act}", json={"window": self.name, **body})
        self.received.append(answer.text)
        return answer

    async def vote(self, case: str, **vote: Any) -> httpx.Response:
        """Vote, without the name of the window: the cookie of its stream goes along."""
        headers = {"Cookie": self._cookie}
        body = {"case": case, **vote}
        answer = await self._http.post(f"{self.address}/vote", json=body, headers=headers)
        self.received.append(answer.text)
        return answer

    async def lead(self, **before: Any) -> None:
        """Join, ask to lead, and wait until it is so."""
        await self.until(lambda: "people" in self.newest)
        answer = await self.tell("lead", **before)
        answer.raise_for_status()
        await self.until(lambda: self.leads)

    @property
    def leads(self) -> bool:
        """Whether this window leads, as far as it was told."""
        people = self.newest.get("people")
        return people is not None and people["leader"] == people["you"]

    async def show(self, case: str, step: int, **more: Any) -> httpx.Response:
        """Share a state."""
        self._number += 1
        state = {"case": case, "step": step, **more}
        return await self.tell("state", n=self._number, state=state)

    async def case(self, case: str) -> httpx.Response:
        """Fetch a case."""
        answer = await self._http.get(f"{self.address}/case", params={"case": case})
        self.received.append(answer.text)
        return answer
