"""Finding a browser for the tests: what is installed, else what Playwright brought."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

VARIABLE = "REXVIEW_CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PLACES = (
    Path("/usr/bin/chromium"),
    Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"),
    Path("/Applications/Chromium.app/Contents/MacOS/Chromium"),
    Path("C:/Program Files/Google/Chrome/Application/chrome.exe"),
)


def find_chromium() -> str | None:
    """Return the path of a Chromium or Chrome: named by ``REXVIEW_CHROMIUM``, installed, or
    downloaded by Playwright; None when there is none.
    """
    named = os.environ.get(VARIABLE)
    if named:
        return named if Path(named).is_file() else None
    for name in NAMES:
        found = shutil.which(name)
        if found:
            return found
    for place in PLACES:
        if place.is_file():
            return str(place)
    return _playwrights_own()


def _playwrights_own() -> str | None:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if path and Path(path).is_file() else None
