"""Following a meeting, over real HTTP: ``python -m rexview bench meeting``.

A presenter and twenty windows that follow, all in this process, on a real server in another one.
How long a state takes is by the clock, from before it is sent until a window has read it; a busy
machine shows in it.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx

from rexview.bench.measure import Measured, at_least, at_most, result
from rexview.bench.meeting.served import MeetingServer
from rexview.bench.meeting.window import LiveWindow
from rexview.vocab import MEETING_STEPS

FOLLOWERS: Final = 20
STATES: Final = 150
CASES: Final = 5
_BETWEEN_S: Final = 0.1
"""Between two states: somebody moves the window or the pointer."""
_SOON_MS: Final = 500.0
_BACK_MS: Final = 2000.0
_DROPS: Final = 3
_IDLE_S: Final = 5.0
_STEPS: Final = len(MEETING_STEPS)


@dataclass
class _Found:
    """All that was measured, in milliseconds and bytes."""

    states: list[float] = field(default_factory=list)
    contents: list[float] = field(default_factory=list)
    back: list[float] = field(default_factory=list)
    restarted: list[float] = field(default_factory=list)
    bytes_a_state: float = 0.0
    bytes_idle: float = 0.0
    server_ms: float | None = None
    server_step_ms: float | None = None


def run(followers: int = FOLLOWERS, states: int = STATES, drops: int = _DROPS) -> Measured:
    """Measure a meeting of the demo's cases."""
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
    """Return the share of values that are soon enough."""
    return sum(one <= _SOON_MS for one in values) / len(values)


def _most(values: Sequence[float]) -> float:
    """Return what 95 of 100 values do not exceed."""
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
    """Go through all cases step by step; everybody fetches what is revealed."""

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
    """Return the processor time of one of so many things, in milliseconds."""
    return None if before_s is None or after_s is None else 1000 * (after_s - before_s) / count


async def _moves(
    server: MeetingServer,
    lead: LiveWindow,
    others: Sequence[LiveWindow],
    states: int,
    found: _Found,
) -> None:
    """Move window, zoom and pointer, as whoever presents does."""
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
            # a state that was overtaken counts as there when a newer one was
            when = min(time_ for which, time_ in came.items() if which >= number)
            found.states.append(1000 * (when - begun))
    await asyncio.sleep(_IDLE_S)
    idle = sum(len(line) for one in others for line in one.received) - total
    found.bytes_idle = idle / _IDLE_S / len(others)


async def _drops(
    lead: LiveWindow, others: Sequence[LiveWindow], case: str, drops: int, found: _Found
) -> None:
    """Let all connections break at once while the presenter goes on."""

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
    """Kill the server, start it anew, and let the presenter's window tell it what was shown."""
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
    """Whether the newest state that has arrived says all that."""
    state = window.newest.get("state") or {}
    return all(state.get(name) == value for name, value in wanted.items())
