"""Find a Chromium for the browser tests, or install one.

In order: ``REXVIEW_CHROMIUM``, an installed Chromium or Chrome, Playwright's own; if there is none,
Playwright's is downloaded; where that is not possible, the system's package is installed.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from tools.packages import attempt, install_package

COMMANDS = (
    "chromium-headless-shell",  # draws no window: a quarter less work for every page
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
PACKAGES = ("chromium-headless-shell", "chromium")
"""Debian's packages; the first available one is used."""
MAC_APPS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
"""Arguments for tests: run as root in a container too, and without background requests."""
FOR_PICTURES = (*ARGUMENTS, "--font-render-hinting=none")
"""For screenshots: hinted letters on whole pixels swallow the spaces between words."""
START_LIMIT_MS = 180_000
"""Time limit for starting; a busy machine first reads the browser from a slow disk."""


class BrowserMissing(Exception):
    """No browser was found or could be installed; the message says what to do."""


def candidates() -> Iterator[Path]:
    """Yield the browsers on this machine, best first."""
    named = os.environ.get("REXVIEW_CHROMIUM")
    if named:
        yield Path(named)
    for command in COMMANDS:
        found = shutil.which(command)
        if found:
            yield Path(found)
    yield from (Path(app) for app in MAC_APPS if Path(app).exists())
    own = _playwrights_own()
    if own is not None and own.exists():
        yield own


def find_browser() -> Path | None:
    """Return the first browser that really starts, or None."""
    return next((path for path in candidates() if _starts(path)), None)


def ensure_browser() -> Path:
    """Return a browser that starts, after installing one if needed.

    Raises
    ------
    BrowserMissing
        No browser starts; lists what was tried.
    """
    found = find_browser()
    installers: list[Callable[[], str]] = [_install_playwrights, _install_package]
    tried = []
    for install in installers:
        if found:
            break
        tried.append(install())
        found = find_browser()
    if found is None:
        raise BrowserMissing(
            "no Chromium or Chrome was found and none could be installed "
            f"({'; '.join(tried)}). Install one, or name it in REXVIEW_CHROMIUM."
        )
    return found


def _playwrights_own() -> Path | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return Path(playwright.chromium.executable_path)


def _starts(path: Path) -> bool:
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as playwright:
        try:
            playwright.chromium.launch(
                executable_path=path, args=list(ARGUMENTS), timeout=START_LIMIT_MS
            ).close()
        except Error:
            return False
    return True


def _install_playwrights() -> str:
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    return attempt("Playwright's download", command)


def _install_package() -> str:
    return install_package(*PACKAGES)
