"""Twenty people at once on one server: ``python -m rexview bench team``.

Real browsers of people who have signed in, on the machine that also runs the server and PostgreSQL:
half of them score, half browse. They come in over the first minute, and each comes anew now and
then, so that pages are opened while all are at work. One person alone does the same before and
after, in the same run.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

from rexview.bench.browser import SIZE, check_playwright, chromiums
from rexview.bench.measure import Measured, Row, at_most, ratio_at_most, result
from rexview.bench.reliability.server import ScoreServer
from rexview.bench.team.memory import Held, growth, held_mb, processor_s
from rexview.bench.team.person import KINDS, Person
from rexview.bench.team.served import Team, team
from rexview.people import Role

PEOPLE: Final = 20
MINUTES: Final = 3.0
THINK_S: Final = (10.0, 30.0)
"""Between two things that somebody does; drawn evenly. Radiologists take longer over a film."""
_BROWSERS: Final = 2
"""Processes of Chromium that the people share."""
_ALONE_S: Final = 45.0
_ALONE_THINK_S: Final = (1.0, 2.0)
"""Who is alone waits less in between, for enough values: nobody else is there to be slowed by."""
_ARRIVE_S: Final = 60.0
"""In which everybody comes in, one after the other."""
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
    """Of the server, in the minutes with all."""


def run(people: int = PEOPLE, minutes: float = MINUTES) -> Measured:
    """Measure so many people for so many minutes, and one alone before and after.

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
    """Tell what a person costs the server, wherever the browsers are."""
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
    """Let people (number and kind) work at once for so long, each in a browser of their own."""
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
