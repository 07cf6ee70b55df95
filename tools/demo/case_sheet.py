"""Make one picture of all Case pages of the demonstration set, as the app shows them.

``python -m tools.demo.case_sheet docs/demo-cases-sheet.jpg``
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from bench.serving import ROOT, serve
from rexview.settings import DEMO_FOLDER
from tools.browser import FOR_PICTURES, ensure_browser

_WIDE, _HIGH, _COLUMNS = 1440, 900, 5
_LIMIT_MS = 180_000  # busy processors take a minute for the first page
_SHARE = 3
"""Divisor of the pages' size."""


def pages(folder: Path = DEMO_FOLDER) -> Iterator[Image.Image]:
    """Yield a picture of each case's page, 1440 x 900 pixels, once its radiograph is drawn."""
    lines = (folder / "cases.jsonl").read_text("utf-8").splitlines()
    ids = [json.loads(line)["id"] for line in lines]
    found = str(ensure_browser())
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        # Without the current user's name and reviews.
        environment = {"XDG_DATA_HOME": home, "XDG_CACHE_HOME": home}
        with serve(ROOT / "app.py", folder, environment=environment) as url:
            browser = playwright.chromium.launch(executable_path=found, args=list(FOR_PICTURES))
            page = browser.new_page(viewport={"width": _WIDE, "height": _HIGH})
            page.set_default_timeout(_LIMIT_MS)
            for case in ids:
                page.goto(f"{url}/case?sort=order&case={case}")
                page.wait_for_selector(f'[data-painted-case="{case}"]')
                page.wait_for_selector(".rx-answer")
                page.wait_for_timeout(500)
                yield Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            browser.close()


def main() -> None:
    """Run the command line: the file to write."""
    size = (_WIDE // _SHARE, _HIGH // _SHARE)
    small = [page.resize(size, Image.Resampling.LANCZOS) for page in pages()]
    rows = -(-len(small) // _COLUMNS)
    sheet = Image.new("RGB", (size[0] * _COLUMNS, size[1] * rows))
    for number, tile in enumerate(small):
        row, column = divmod(number, _COLUMNS)
        sheet.paste(tile, (column * size[0], row * size[1]))
    sheet.save(sys.argv[1], quality=75, optimize=True)


if __name__ == "__main__":
    main()
