"""Measure following a meeting over real HTTP: ``python -m rexview bench meeting``.

A presenter and twenty following windows, all in this process, use a real server in another one. The
time of a state is measured by the clock, from before it is sent until a window has read it; it
includes other load on the machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx

from bench.measure import Measured, at_least, at_most, result
from bench.reliability.server import SECRET, ScoreServer
from rexview.people import Person
from rexview.store import Entry, open_reviews
from rexview.store.database.connection import close_databases
from rexview.ui.meeting.live.admission import ADDRESS, KIND
from rexview.ui.web.server import review_sets
from rexview.ui.web.server.sealed_tokens import Grant, LinkSigner
from rexview.vocab import MEETING_STEPS

# A real server with a meeting on its review set, and links for simulated people.

MEETING: Final = "bench"


class MeetingServer(ScoreServer):
    """The app on a copy of the demo, with a meeting on its first cases.

    Attributes
    ----------
    cases : tuple of str
        Cases on the agenda, in order.
    """

    def __init__(self, folder: Path, cases: int, *, own_secret: bool = False) -> None:
        super().__init__(folder, own_secret=own_secret)
        lead = Person("presenter", "Presenter", "lead")
        self.cases: Final = tuple(self.review_set.cases["id"][:cases])
        entries = [
            Entry("agenda", case, subject=MEETING, value={"place": place})
            for place, case in enumerate(self.cases)
        ]
        meeting = Entry("meeting", subject=MEETING, value={"name": "Meeting"})
        open_reviews(self.review_set, self.settings).record([meeting, *entries], lead)
        close_databases()

    def address(self, number: int) -> str:
        """Return the address where a person joins; number 0 may lead, others only follow."""
        who = Person(f"person-{number}", f"Person {number}", "viewer" if number else "lead")
        set_id = review_sets.set_id(self.review_set.folder)
        grant = Grant(KIND, set_id, MEETING, detail=[who.id, who.name, who.role])
        return f"{self.url}/{ADDRESS}/{LinkSigner(SECRET).sign(grant)}"

    def restart(self) -> None:
        """Kill the server and start it again; it has no memory of the participants."""
        self.kill()
        self.start()

    def processor_s(self) -> float | None:
        """Return the server's processor time in seconds; None without ``/proc``."""
        try:
            stat = Path(f"/proc/{self.process}/stat").read_text(encoding="ascii")
        except OSError:
            return None
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


# One window of a meeting without a browser; it follows over real HTTP, like ``live.js``.

_AGAIN_S: Final = 0.5
"""The stream's own delay for browsers (``retry``)."""


class LiveWindow:
    """A window that follows or leads a meeting.

    Attributes
    ----------
    newest : dict of str to object
        The last data by kind of event.
    arrived : list of (str, float, object)
        Every event with its kind, its arrival (``time.perf_counter``) and its data.
    received : list of str
        Everything received, as text: streams, cases and replies.
    connected : int
        How many times the stream was opened.
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
        """Open the stream, and reopen it whenever it ends, until :meth:`leave`."""
        self._following = asyncio.create_task(self._follow())

    async def leave(self) -> None:
        """Close the stream."""
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)
            self._following = None

    def drop(self) -> None:
        """Break the connection; the stream is reopened as in a browser."""
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
        headers = {"Cookie": self._cookie}  # windows share a client, not cookies
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
        """Wait until a condition is true; return its value.

        Raises
        ------
        TimeoutError
            It stays false too long.
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
        """Send an action to the server, with the name of the window."""
        answer = await self._http.post(f"{self.address}/{act}", json={"window": self.name, **body})
        self.received.append(answer.text)
        return answer

    async def vote(self, case: str, **vote: Any) -> httpx.Response:
        """Vote without the name of the window; the cookie of its stream is sent."""
        headers = {"Cookie": self._cookie}
        body = {"case": case, **vote}
        answer = await self._http.post(f"{self.address}/vote", json=body, headers=headers)
        self.received.append(answer.text)
        return answer

    async def lead(self, **before: Any) -> None:
        """Join, request to lead, and wait until the window leads."""
        await self.until(lambda: "people" in self.newest)
        answer = await self.tell("lead", **before)
        answer.raise_for_status()
        await self.until(lambda: self.leads)

    @property
    def leads(self) -> bool:
        """Whether this window leads, by the last event."""
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


FOLLOWERS: Final = 20
STATES: Final = 150
CASES: Final = 5
_BETWEEN_S: Final = 0.1
"""Seconds between two states, as somebody moves the window or the pointer."""
_SOON_MS: Final = 500.0
_BACK_MS: Final = 2000.0
_DROPS: Final = 3
_IDLE_S: Final = 5.0
_STEPS: Final = len(MEETING_STEPS)


@dataclass
class _Found:
    """All measurements, in milliseconds and bytes."""

    states: list[float] = field(default_factory=list)
    contents: list[float] = field(default_factory=list)
    back: list[float] = field(default_factory=list)
    restarted: list[float] = field(default_factory=list)
    bytes_a_state: float = 0.0
    bytes_idle: float = 0.0
    server_ms: float | None = None
    server_step_ms: float | None = None


def run(followers: int = FOLLOWERS, states: int = STATES, drops: int = _DROPS) -> Measured:
    """Measure a meeting on the demo's cases."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with MeetingServer(folder, CASES) as server:
            found = asyncio.run(_held(server, followers, states, drops))
    who = f"{followers} followers"
    rows = [
        result(f"a state at {who}, median", statistics.median(found.states), "ms"),
        result(f"a state at {who}, 95 of 100", _most(found.states), "ms", goal=at_most(_SOON_MS)),
        result(
            f"states there within {_SOON_MS:.0f} ms",
            _share(found.states),
            "share",
            goal=at_least(0.95),
        ),
        result(
            f"steps there within {_SOON_MS:.0f} ms",
            _share(found.contents),
            "share",
            goal=at_least(0.95),
            note="with all that is shown at them",
        ),
        result("the next step of a case, median", statistics.median(found.contents), "ms"),
        result(
            "the next step of a case, 95 of 100",
            _most(found.contents),
            "ms",
            note="with what is shown at it, which all fetch at once; without the film",
        ),
        result(
            "back after a drop, 95 of 100",
            _most(found.back),
            "ms",
            goal=at_most(_BACK_MS),
            note="with the newest state; 500 ms of it the browser waits",
        ),
        result(
            "back after the server was killed, slowest",
            max(found.restarted),
            "ms",
            note="from when the new server answers; the presenter's window tells it what was shown",
        ),
        result("a state on the wire, to each", found.bytes_a_state, "bytes"),
        result("nothing happens, a second and window", found.bytes_idle, "bytes"),
        result("the server's processor, a state to all", found.server_ms, "ms"),
        result("the server's processor, a step to all", found.server_step_ms, "ms"),
    ]
    return Measured(rows, notes="Windows and server share this machine's cores.")


def _share(values: Sequence[float]) -> float:
    """Return the share of values that are fast enough."""
    return sum(one <= _SOON_MS for one in values) / len(values)


def _most(values: Sequence[float]) -> float:
    """Return the 95th percentile."""
    return sorted(values)[max(0, -(-95 * len(values) // 100) - 1)]


async def _held(server: MeetingServer, followers: int, states: int, drops: int) -> _Found:
    found = _Found()
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(timeout=60, limits=limits) as http, AsyncExitStack() as windows:
        opened = [LiveWindow(http, server.address(number)) for number in range(followers + 1)]
        for one in opened:
            await windows.enter_async_context(one)
            await one.until(partial(one.newest.__contains__, "people"), 60)
        lead, others = opened[0], opened[1:]
        await lead.lead()
        await _each_step(server, lead, others, found)
        await _moves(server, lead, others, states, found)
        await _drops(lead, others, server.cases[-1], drops, found)
        await _restart(server, lead, others, found)
    return found


async def _each_step(
    server: MeetingServer, lead: LiveWindow, others: Sequence[LiveWindow], found: _Found
) -> None:
    """Go through all cases step by step; every window fetches what is revealed."""

    async def there(window: LiveWindow, case: str, step: int, begun: float) -> None:
        await window.until(partial(_says, window, case=case, step=step), 60)
        answer = await window.case(case)
        answer.raise_for_status()
        assert answer.json()["step"] == step, answer.text[:200]
        found.contents.append(1000 * (time.perf_counter() - begun))

    cpu = server.processor_s()
    for case in server.cases:
        for step in range(_STEPS):
            begun = time.perf_counter()
            sent = asyncio.create_task(lead.show(case, step))
            await asyncio.gather(sent, *(there(one, case, step, begun) for one in others))
            sent.result().raise_for_status()
    found.server_step_ms = _each(cpu, server.processor_s(), len(server.cases) * _STEPS)


def _each(before_s: float | None, after_s: float | None, count: int) -> float | None:
    """Return the processor time of one of ``count`` items, in milliseconds."""
    return None if before_s is None or after_s is None else 1000 * (after_s - before_s) / count


async def _moves(
    server: MeetingServer,
    lead: LiveWindow,
    others: Sequence[LiveWindow],
    states: int,
    found: _Found,
) -> None:
    """Move window, zoom and pointer like a presenter."""
    marks = [[index % 97, index % 89] for index in range(60)]
    sent: dict[int, float] = {}
    before = sum(len(line) for one in others for line in one.received)
    cpu = server.processor_s()
    for number in range(states):
        sent[number] = time.perf_counter()
        answer = await lead.show(
            server.cases[-1], _STEPS - 1, look=str(number), pointed=[0.1, 0.2], marks=marks
        )
        answer.raise_for_status()
        await asyncio.sleep(max(0.0, sent[number] + _BETWEEN_S - time.perf_counter()))
    for one in others:
        await one.until(partial(_says, one, look=str(states - 1)), 60)
    found.server_ms = _each(cpu, server.processor_s(), states)
    total = sum(len(line) for one in others for line in one.received)
    found.bytes_a_state = (total - before) / states / len(others)
    for one in others:
        came = {
            int(said["look"]): when
            for kind, when, said in one.arrived
            if kind == "state" and said and "look" in said
        }
        for number, begun in sent.items():
            # a state that was overtaken counts as arrived with a newer one
            when = min(time_ for which, time_ in came.items() if which >= number)
            found.states.append(1000 * (when - begun))
    await asyncio.sleep(_IDLE_S)
    idle = sum(len(line) for one in others for line in one.received) - total
    found.bytes_idle = idle / _IDLE_S / len(others)


async def _drops(
    lead: LiveWindow, others: Sequence[LiveWindow], case: str, drops: int, found: _Found
) -> None:
    """Break all connections at once while the presenter goes on."""

    async def back(window: LiveWindow, number: int) -> None:
        begun = time.perf_counter()
        window.drop()
        await window.until(partial(_says, window, look=f"drop {number}"), 60)
        found.back.append(1000 * (time.perf_counter() - begun))

    for number in range(drops):
        waiting = [asyncio.create_task(back(one, number)) for one in others]
        await asyncio.sleep(0)
        (await lead.show(case, _STEPS - 1, look=f"drop {number}")).raise_for_status()
        await asyncio.gather(*waiting)


async def _restart(
    server: MeetingServer, lead: LiveWindow, others: Sequence[LiveWindow], found: _Found
) -> None:
    """Restart the server, and let the presenter's window send it the last state."""
    known = lead.newest["cases"]
    for one in (lead, *others):
        one.newest.pop("state", None)
    await asyncio.to_thread(server.restart)
    begun = time.perf_counter()

    async def back(window: LiveWindow) -> None:
        await window.until(partial(_says, window, case=server.cases[-1], step=_STEPS - 1), 60)
        found.restarted.append(1000 * (time.perf_counter() - begun))

    waiting = [asyncio.create_task(back(one)) for one in others]
    await lead.until(lambda: lead.newest["cases"]["epoch"] != known["epoch"], 60)
    reached = {case: step for _, case, step in known["reached"]}
    await lead.lead(reached=reached, closed=[])
    (await lead.show(server.cases[-1], _STEPS - 1)).raise_for_status()
    await asyncio.gather(*waiting)


def _says(window: LiveWindow, **wanted: Any) -> bool:
    """Whether the newest state that has arrived contains these values."""
    state = window.newest.get("state") or {}
    return all(state.get(name) == value for name, value in wanted.items())
