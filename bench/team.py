"""Measure twenty people at once on one server: ``python -m rexview bench team``.

They use real browsers and have signed in, on the machine that also runs the server and PostgreSQL;
half of them score, half browse. They arrive over the first minute, and reload the page now and
then, so that pages are opened while everybody works. One person alone does the same before and
after, in the same run.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

from bench.browser import SIZE, check_playwright, chromiums
from bench.measure import Measured, Row, at_most, ratio_at_most, result
from bench.reliability.server import ScoreServer
from bench.team_server import Team, team
from rexview.people import Role

# Memory of a server while people work, its growth, and its processor time.

EVERY_S: Final = 5.0
_LEAST_MINUTES: Final = 6
"""With fewer minutes no slope is reported."""


def held_mb(process: int) -> float | None:
    """Return a process's own memory (RssAnon) in MB, without mapped files; None if unknown."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return None
    values = dict(line.split(":", 1) for line in status.splitlines())
    return int(values["RssAnon"].split()[0]) / 1024


def processor_s(process: int) -> float | None:
    """Return a process's processor time so far, in seconds; None if unknown."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@dataclass
class Held:
    """Samples of one process: seconds since the first one, and MB."""

    process: int
    at: list[float] = field(default_factory=list)
    mb: list[float] = field(default_factory=list)

    async def watch(self, seconds: float) -> None:
        """Take samples for the given time."""
        began = time.monotonic()
        while (passed := time.monotonic() - began) < seconds:
            if (held := held_mb(self.process)) is not None:
                self.at.append(passed)
                self.mb.append(held)
            await asyncio.sleep(EVERY_S)

    def by_minute(self) -> list[float]:
        """Return the median of each whole minute, in MB."""
        minutes: dict[int, list[float]] = {}
        for at, mb in zip(self.at, self.mb, strict=True):
            minutes.setdefault(int(at // 60), []).append(mb)
        return [statistics.median(minutes[minute]) for minute in sorted(minutes)]


def growth(by_minute: Sequence[float]) -> tuple[float, float, float] | None:
    """Return the slope in MB a minute with the ends of its 95 % interval (Theil and Sen).

    The first third is left out: caches fill and every page is opened for the first time. None if
    there are too few minutes.
    """
    from scipy.stats import theilslopes

    settled = by_minute[len(by_minute) // 3 :]
    if len(settled) < _LEAST_MINUTES:
        return None
    slope, _, low, high = theilslopes(settled)
    return float(slope), float(low), float(high)


# One person in a real browser, who scores or browses, with pauses.

_READY: Final = '[data-testid="stApp"][data-test-script-state="notRunning"]'
_PAINTED: Final = "[data-painted-case]"
_LIMIT_MS: Final = 60_000
ROWS_SCORED: Final = 3
"""Scores that a reader gives to a case before the next."""
_CASES_A_VISIT: Final = 4
"""Cases after which a person reloads the page."""


class _DayOver(Exception):
    """The time is over."""


@dataclass
class Times:
    """Waiting times in milliseconds by step, and errors."""

    by_step: dict[str, list[float]] = field(default_factory=dict)
    saved: int = 0
    """Entries that the server has confirmed as stored."""
    failed: list[str] = field(default_factory=list)

    def note(self, step: str, began: float) -> None:
        """Record the duration of a step that started at ``began`` and is done now."""
        self.by_step.setdefault(step, []).append(1000 * (time.perf_counter() - began))


class Person:
    """A person with a page, until stopped.

    Parameters
    ----------
    page : playwright.async_api.Page
    address : str
        Address of the app.
    think_s : tuple of float
        Least and most seconds between actions, drawn uniformly.
    seed : int
    """

    def __init__(self, page: Any, address: str, think_s: tuple[float, float], seed: int) -> None:
        self.page, self.address, self.think_s = page, address, think_s
        self.times = Times()
        self._random = random.Random(seed)  # noqa: S311
        page.set_default_timeout(_LIMIT_MS)
        page.on("response", self._hear)
        self._replies: asyncio.Queue[float] = asyncio.Queue()

    def _hear(self, response: Any) -> None:
        if response.request.method == "POST" and "/rexview/reviews" in response.url:
            self._replies.put_nowait(time.perf_counter())
            if response.status != 200:
                self.times.failed.append(f"an entry was answered {response.status}")

    async def live(self, kind: str, ends: float, arrives_s: float = 0.0) -> None:
        """Act as a kind of person (``reads``, ``browses``) until a time of the clock.

        ``arrives_s`` seconds pass before the person opens the first page.
        """
        await asyncio.sleep(arrives_s)
        while True:
            try:
                await _DAYS[kind](self, ends)
            except _DayOver:
                return
            except Exception as error:  # a failing step is counted, and the person goes on
                lines = str(error).strip().splitlines() or [""]
                self.times.failed.append(f"{type(error).__name__}: {lines[0][:120]}")
                await asyncio.sleep(1)
                if time.monotonic() >= ends:
                    return

    async def _think(self, ends: float) -> None:
        """Wait before the next step.

        Raises
        ------
        _DayOver
            The time is over.
        """
        await asyncio.sleep(self._random.uniform(*self.think_s))
        if time.monotonic() >= ends:
            raise _DayOver

    async def _reads(self, ends: float) -> None:
        """Score one case after another on the Score page."""
        began = time.perf_counter()
        await self.page.goto(f"{self.address}/score?task=score")
        await self.page.wait_for_selector(_PAINTED)
        await self.page.wait_for_selector(".rx-pad .row.current")
        self.times.note("Score opens", began)
        for _ in range(_CASES_A_VISIT):
            for _ in range(ROWS_SCORED):
                await self._think(ends)
                await self._give(str(self._random.randint(1, 5)))
            await self._think(ends)
            await self._turn("n", "the next case to score")
        await self._think(ends)

    async def _give(self, key: str) -> None:
        while not self._replies.empty():
            self._replies.get_nowait()
        began = time.perf_counter()
        await self.page.keyboard.press(key)
        await asyncio.wait_for(self._replies.get(), _LIMIT_MS / 1000)
        self.times.note("a score is saved", began)
        self.times.saved += 1

    async def _turn(self, key: str, step: str) -> None:
        was = await self.page.locator(_PAINTED).get_attribute("data-painted-case")
        began = time.perf_counter()
        await self.page.keyboard.press(key)
        await self.page.wait_for_selector(f'[data-painted-case]:not([data-painted-case="{was}"])')
        self.times.note(step, began)

    async def _browses(self, ends: float) -> None:
        """Look at cards, open one, go through the next cases, look at the numbers."""
        began = time.perf_counter()
        await self.page.goto(f"{self.address}/browse")
        await self._cards()
        self.times.note("Browse opens", began)
        await self._think(ends)
        cards = self.page.locator(".rx-card")
        began = time.perf_counter()
        await cards.nth(self._random.randrange(min(6, await cards.count()))).click()
        await self.page.wait_for_selector(_PAINTED)
        self.times.note("a card's case", began)
        for _ in range(_CASES_A_VISIT):
            await self._think(ends)
            await self._turn("j", "the next case")
        for title, shown in (("Overview", ".rx-linked"), ("Browse", ".rx-card")):
            await self._think(ends)
            began = time.perf_counter()
            await self._go(title, shown)
            self.times.note(f"{title}, from the navigation", began)
        await self._think(ends)

    async def _cards(self) -> None:
        await self.page.wait_for_selector(".rx-card")
        await self.page.wait_for_selector(_READY, state="attached")

    async def _go(self, title: str, shown: str) -> None:
        await self.page.get_by_role("link", name=title, exact=True).first.click()
        await self.page.wait_for_selector(shown)
        await self.page.wait_for_selector(_READY, state="attached")


_DAYS: Final[Mapping[str, Callable[[Person, float], Awaitable[None]]]] = {
    "reads": Person._reads,
    "browses": Person._browses,
}
KINDS: Final = tuple(_DAYS)


PEOPLE: Final = 20
MINUTES: Final = 3.0
THINK_S: Final = (10.0, 30.0)
"""Seconds between a person's actions, drawn uniformly. Radiologists take longer over a film."""
_BROWSERS: Final = 2
"""Processes of Chromium that the people share."""
_ALONE_S: Final = 45.0
_ALONE_THINK_S: Final = (1.0, 2.0)
"""A single person pauses less, for enough values: there are no others to be slowed by."""
_ARRIVE_S: Final = 60.0
"""Time in which everybody arrives, one after the other."""
_PATIENCE: Final = 3.0
_ROLES: Final[Mapping[str, Role]] = {"reads": "reader", "browses": "viewer"}
_STEADY_MB: Final = 0.5
_TIMES = dict[str, list[float]]


@dataclass
class _Found:
    alone: _TIMES
    together: _TIMES
    failed: list[str]
    confirmed: int
    stored: int
    before_mb: float
    held: Held
    after_mb: float
    minutes: float = 0.0
    processor_s: float | None = None
    """Of the server, in the minutes with everybody."""


def run(people: int = PEOPLE, minutes: float = MINUTES) -> Measured:
    """Measure ``people`` people for some minutes, and one alone before and after.

    Raises
    ------
    BenchUnavailable
        There is no browser, no Playwright or no PostgreSQL.
    """
    check_playwright()
    kinds = list(islice(cycle(KINDS), people))
    with tempfile.TemporaryDirectory() as place:
        roles = [_ROLES[kind] for kind in [*KINDS, *kinds]]
        with team(Path(place), roles) as (known, server):
            found = asyncio.run(_measured(known, server, kinds, 60 * minutes))
    return Measured(
        [
            *_page_rows(found, people),
            *_memory_rows(found, people),
            *_work_rows(found, people),
            *_score_rows(found),
        ],
        details={"what went wrong": [{"what": one} for one in found.failed[:20]]},
        notes=f"Browsers, server and database share this machine's cores. Think times "
        f"{THINK_S[0]:g} to {THINK_S[1]:g} s; memory is the server's own (RssAnon), by minute: "
        + ", ".join(f"{mb:.0f}" for mb in found.held.by_minute()),
    )


def _page_rows(found: _Found, people: int) -> list[Row]:
    rows = []
    for step, together in sorted(found.together.items()):
        alone = found.alone.get(step)
        for name, part in (("median", 0.5), ("95 of 100", 0.95)):
            rows.append(
                result(
                    f"{step}, {people} people, {name}",
                    _part(together, part),
                    "ms",
                    alternative=_part(alone, part) if alone else None,
                    name="one person",
                    goal=ratio_at_most(_PATIENCE) if part == 0.5 else None,
                    note=f"of {len(together)}; alone of {len(alone or ())}",
                )
            )
    return rows


def _memory_rows(found: _Found, people: int) -> list[Row]:
    by_minute = found.held.by_minute()
    settled = by_minute[len(by_minute) // 3 :]
    if not settled:
        return [result("memory of the server", None, "MB", note="no /proc on this system")]
    most = max(found.held.mb)
    each = (statistics.median(settled) - found.before_mb) / people
    rows = [
        result("memory of the server, most", most, "MB"),
        result("memory of the server before, one person was there", found.before_mb, "MB"),
        result("memory a person", each, "MB", note="median with all, less the one before"),
        result("memory of the server, all have left", found.after_mb, "MB"),
    ]
    slope = growth(by_minute)
    if slope is None:
        return [*rows, result("growth a minute", None, "MB", note="too few minutes (--minutes)")]
    note = f"95 % interval {slope[1]:.2f} to {slope[2]:.2f}, of {len(settled)} minutes"
    return [*rows, result("growth a minute", slope[0], "MB", goal=at_most(_STEADY_MB), note=note)]


def _work_rows(found: _Found, people: int) -> list[Row]:
    """Return a person's cost for the server, wherever the browsers run."""
    if not found.processor_s or not found.minutes:
        return []
    share = found.processor_s / found.minutes / 60
    each = 1000 * found.processor_s / found.minutes / people
    note = f"{people} people take {share:.2f} of one core"
    return [result("processor of the server a person and minute", each, "ms", note=note)]


def _score_rows(found: _Found) -> list[Row]:
    lost = float(max(0, found.confirmed - found.stored))
    note = f"{found.confirmed} confirmed, {found.stored} in the database"
    return [
        result("scores lost", lost, "scores", goal=at_most(0), note=note),
        result("steps that failed", float(len(found.failed)), "steps", goal=at_most(0)),
    ]


def _part(values: Sequence[float], part: float) -> float:
    return sorted(values)[max(0, -int(-part * len(values) // 1) - 1)]


async def _measured(known: Team, server: ScoreServer, kinds: list[str], seconds: float) -> _Found:
    everybody: list[Person] = []
    async with chromiums(_BROWSERS) as browsers:

        async def one_at_a_time() -> list[Person]:
            there: list[Person] = []
            for number, kind in enumerate(KINDS):
                there += await _at_work(browsers, known, [(number, kind)], _ALONE_S, _ALONE_THINK_S)
            everybody.extend(there)
            return there

        await one_at_a_time()  # fills caches, and does not count
        alone = await one_at_a_time()
        before = held_mb(server.process) or 0.0
        held = Held(server.process)
        watching = asyncio.create_task(held.watch(seconds))
        numbered = list(enumerate(kinds, start=len(KINDS)))
        began_s, began = processor_s(server.process), time.monotonic()
        together = await _at_work(browsers, known, numbered, seconds, THINK_S, _ARRIVE_S)
        ended_s, minutes = processor_s(server.process), (time.monotonic() - began) / 60
        everybody.extend(together)
        await watching
        alone += await one_at_a_time()
        after = held_mb(server.process) or 0.0
    return _Found(
        alone=_joined(alone),
        together=_joined(together),
        failed=[one for person in everybody for one in person.times.failed],
        confirmed=sum(one.times.saved for one in everybody),
        stored=len(server.scores()),
        before_mb=before,
        held=held,
        after_mb=after,
        minutes=minutes,
        processor_s=None if began_s is None or ended_s is None else ended_s - began_s,
    )


def _joined(people: Sequence[Person]) -> _TIMES:
    joined: _TIMES = {}
    for person in people:
        for step, values in person.times.by_step.items():
            joined.setdefault(step, []).extend(values)
    return joined


async def _at_work(
    browsers: Sequence[Any],
    known: Team,
    who: Sequence[tuple[int, str]],
    seconds: float,
    think_s: tuple[float, float],
    arrive_s: float = 0.0,
) -> list[Person]:
    """Let people (number and kind) work at once for some time, each in their own browser."""
    arrivals = [arrive_s * place / len(who) for place in range(len(who))]
    ends = time.monotonic() + seconds
    async with AsyncExitStack() as opened:
        people = []
        for (number, _), browser in zip(who, cycle(browsers), strict=False):
            context = await browser.new_context(viewport=SIZE)
            opened.push_async_callback(context.close)
            await context.add_cookies(known.cookies(number))
            people.append(Person(await context.new_page(), known.address, think_s, number))
        days = zip(people, who, arrivals, strict=True)
        await asyncio.gather(*(person.live(kind, ends, late) for person, (_, kind), late in days))
    return people
