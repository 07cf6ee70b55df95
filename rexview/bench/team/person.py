"""One person in a real browser, who reads and scores, or browses, and thinks in between."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

_READY: Final = '[data-testid="stApp"][data-test-script-state="notRunning"]'
_PAINTED: Final = "[data-painted-case]"
_LIMIT_MS: Final = 60_000
ROWS_SCORED: Final = 3
"""Scores that a reader gives a case before the next."""
_CASES_A_VISIT: Final = 4
"""Cases after which somebody comes anew: the page is loaded again."""


class _DayOver(Exception):
    """It is time to stop."""


@dataclass
class Times:
    """What people waited for, in milliseconds by step, and what went wrong."""

    by_step: dict[str, list[float]] = field(default_factory=dict)
    saved: int = 0
    """Entries that the server has said to be in the database."""
    failed: list[str] = field(default_factory=list)

    def note(self, step: str, began: float) -> None:
        """Note that a step that began then is done now."""
        self.by_step.setdefault(step, []).append(1000 * (time.perf_counter() - began))


class Person:
    """Somebody with a page, until told to stop.

    Parameters
    ----------
    page : playwright.async_api.Page
    address : str
        Of the app.
    think_s : tuple of float
        Least and most seconds between what they do; drawn evenly.
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
        """Do what a person of a kind (``reads``, ``browses``) does until a time of the clock.

        ``arrives_s`` seconds pass before the person opens the first page.
        """
        await asyncio.sleep(arrives_s)
        while True:
            try:
                await _DAYS[kind](self, ends)
            except _DayOver:
                return
            except Exception as error:  # a step that fails is counted, and the person goes on
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
        """Look at cards, open one, go on to the next cases, look at the numbers."""
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
