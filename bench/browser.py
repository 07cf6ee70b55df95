"""Start a real browser for the benchmarks of pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

from bench.measure import missing
from bench.serving import BenchUnavailable
from rexview.doctor.server_checks import NO_BROWSER, browser_path

SIZE: Final = {"width": 1440, "height": 900}
LIMIT_MS: Final = 600_000
"""Time limit of a page; a benchmark reports the time that it really took."""


@contextmanager
def chromium() -> Iterator[Any]:
    """Run a browser until the block ends; ``REXVIEW_CHROMIUM`` names it.

    Raises
    ------
    BenchUnavailable
        Playwright is not installed, or no browser is found.
    """
    check_playwright()
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(**_launch())
        except Error as error:
            raise BenchUnavailable(NO_BROWSER) from error
        yield browser
        browser.close()


@asynccontextmanager
async def chromiums(count: int) -> AsyncIterator[Sequence[Any]]:
    """Run several browsers at once for asynchronous code; otherwise like :func:`chromium`.

    Raises
    ------
    BenchUnavailable
        As for :func:`chromium`.
    """
    check_playwright()
    from playwright.async_api import Error, async_playwright

    async with async_playwright() as playwright:
        try:
            browsers = [await playwright.chromium.launch(**_launch()) for _ in range(count)]
        except Error as error:
            raise BenchUnavailable(NO_BROWSER) from error
        yield browsers
        for browser in browsers:
            await browser.close()


def check_playwright() -> None:
    """Check that Playwright is installed.

    Raises
    ------
    BenchUnavailable
        It is not.
    """
    if absent := missing("playwright"):
        raise BenchUnavailable(f"This needs Playwright: {absent}")


def _launch() -> dict[str, Any]:
    return {"executable_path": browser_path(), "args": ["--no-sandbox"]}


@contextmanager
def new_page(browser: Any) -> Iterator[Any]:
    """Open a page as a new visitor, and close it at the end."""
    context = browser.new_context(viewport=SIZE)
    context.set_default_timeout(LIMIT_MS)
    try:
        yield context.new_page()
    finally:
        context.close()
