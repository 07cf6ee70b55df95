"""Take the screenshots of the guides and the README from the running app on a copy of the demo.

``python -m tools.guide_pictures`` writes all of them to ``assets/guides/pictures`` and ``docs``;
with names of pictures, only these.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from PIL import Image
from playwright.sync_api import Locator, Page, ViewportSize, sync_playwright

from bench.serving import ROOT, serve
from rexview.settings import DEMO_FOLDER
from tools.browser import FOR_PICTURES, ensure_browser

OUT: Final = ROOT / "assets" / "guides" / "pictures"
README_PICTURE: Final = ROOT / "docs" / "case-page.jpg"
_SIZE: Final[ViewportSize] = {"width": 1280, "height": 800}
_README_SIZE: Final[ViewportSize] = {"width": 1440, "height": 900}
_KEPT: Final[dict[str, dict[str, Any]]] = {
    ".webp": {"quality": 70, "method": 6},
    ".jpg": {"quality": 85},
}
"""Options for writing a picture, by the ending of its name."""
_SHARPER: Final = 1.25
_LIMIT_MS: Final = 180_000
_STILL: Final = '[data-testid="stApp"][data-test-script-state="notRunning"]'
_SETTLED_MS: Final = 1500
"""Time for the rest of a page after the awaited element: fades, thumbnails."""
_AGENDA: Final = ("c02", "c30", "c07", "c18")

Scene = Callable[[Page, str], Locator | None]
"""Brings a page to the scene, from the address of the server; may return the element to cut out."""


def _at(address: str, *there: str) -> Scene:
    """Return a scene that opens an address and waits for an element."""

    def scene(page: Page, url: str) -> None:
        page.goto(f"{url}/{address}")
        for selector in there:
            page.wait_for_selector(selector)

    return scene


def _painted(case: str) -> str:
    return f'[data-painted-case="{case}"]'


def _verdict(page: Page, url: str) -> Locator:
    _at("case?failure=laterality_error&case=c02", _painted("c02"), ".rx-verdicts")(page, url)
    page.wait_for_timeout(_SETTLED_MS)
    return page.locator(".rx-flags").first


def _name(page: Page, url: str) -> None:
    """Enter the name that a server asks for once."""
    page.goto(f"{url}/score")
    page.get_by_role("textbox", name="Your name").fill("Anna Abel")
    page.get_by_role("button", name="Go on").click()


def _study(page: Page, url: str) -> None:
    page.goto(f"{url}/study")
    for group, names in {"First": ("Anna Abel", "Lea Lindgren"), "Second": ("Adam Ames",)}.items():
        field = page.get_by_role("combobox", name=f"{group} readers")
        for name in names:
            field.fill(name)
            field.press("Enter")
        field.press("Escape")
    page.get_by_role("button", name="Assign").wait_for()


def _import(page: Page, url: str) -> Locator:
    page.goto(f"{url}/data")
    page.get_by_role("tab", name="Import").click()
    page.wait_for_timeout(_SETTLED_MS)
    return page.get_by_test_id("stTabs")


def _agenda(page: Page, url: str) -> None:
    page.goto(f"{url}/meeting")
    page.get_by_role("button", name="New meeting").click()
    page.get_by_role("textbox", name="Name").fill("Tuesday conference")
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="Add cases").click()
    page.get_by_role("textbox", name="Case ids").fill("\n".join(_AGENDA))
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("button", name="Present").wait_for()
    page.keyboard.press("Escape")
    page.reload()
    page.get_by_role("button", name="Present").wait_for()


def _present(page: Page, url: str) -> None:
    page.goto(f"{url}/meeting")
    page.get_by_role("button", name="Present").click()
    page.wait_for_selector(_painted(_AGENDA[0]))
    page.wait_for_selector(".bar .next")
    page.locator(".bar .next").click()


SCENES: Final[dict[str, Scene]] = {
    "overview": _at("", ".rx-headline, .rx-tile, h1"),
    "browse": _at("browse?failure=laterality_error", ".rx-card img"),
    "case": _at("case?failure=laterality_error&case=c02", _painted("c02"), ".rx-answer"),
    "verdict": _verdict,
    "score": _at("score", "[data-painted-case]", ".row[data-key]"),
    "correct": _at("score?task=correct", "[data-painted-case]"),
    "study": _study,
    "agenda": _agenda,
    "present": _present,
    "data": _import,
    "run": _at("run?run_model=gpt-5-mini", 'text="Runs"'),
    "scores": _at("scores", "table"),
}
"""Scenes in order: a meeting is made before it is presented."""


def _readme(page: Page, url: str) -> None:
    page.set_viewport_size(_README_SIZE)
    SCENES["case"](page, url)


PICTURES: Final[dict[str, tuple[Scene, Path]]] = {
    **{name: (scene, OUT / f"{name}.webp") for name, scene in SCENES.items()},
    README_PICTURE.stem: (_readme, README_PICTURE),
}
"""Every picture with its file."""


def take(names: list[str]) -> None:
    """Take pictures of scenes and write them.

    Parameters
    ----------
    names : list of str
        Keys of :data:`PICTURES`.
    """
    found = str(ensure_browser())
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        folder = Path(home) / "demo"
        shutil.copytree(DEMO_FOLDER, folder)
        environment = {"XDG_DATA_HOME": home, "XDG_CACHE_HOME": home}
        with serve(ROOT / "app.py", folder, environment=environment) as url:
            browser = playwright.chromium.launch(executable_path=found, args=list(FOR_PICTURES))
            context = browser.new_context(viewport=_SIZE, device_scale_factor=_SHARPER)
            context.set_default_timeout(_LIMIT_MS)
            page = context.new_page()
            _name(page, url)
            for name in names:
                scene, kept = PICTURES[name]
                page.set_viewport_size(_SIZE)
                part = scene(page, url)
                page.wait_for_timeout(_SETTLED_MS)
                page.wait_for_selector(_STILL)
                page.wait_for_timeout(_SETTLED_MS)
                seen = part.screenshot() if part else page.screenshot()
                Image.open(io.BytesIO(seen)).convert("RGB").save(kept, **_KEPT[kept.suffix])
            browser.close()


def main() -> None:
    """Run the command line: names of pictures, or none for all."""
    OUT.mkdir(parents=True, exist_ok=True)
    take(sys.argv[1:] or list(PICTURES))


if __name__ == "__main__":
    main()
