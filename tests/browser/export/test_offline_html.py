"""The exported HTML file in a real browser, opened from the disk: it asks for nothing and works."""

from __future__ import annotations

import base64
import json
import re

import numpy as np
import pytest
from support.browser.axe import Axe
from support.browser.waiting import PATIENCE_MS
from support.exports.exported_set import exported, write_exported_set
from support.hostile_set import HOST, write_hostile_set
from support.review_folder import RAMP, named, write_review_set

from rexview.export.export_formats import EXPORT_FORMATS
from rexview.export.export_job import ExportProgress, write_export
from rexview.export.export_request import ExportRequest
from rexview.export.html import build_script, html_safe_json
from rexview.export.html.film_packing import film_from_radiograph, pack_films
from rexview.imaging import Radiograph, encode_radiograph

pytestmark = pytest.mark.browser
_UNPACK = """async ([script, header, data]) => {
    const { rasterFrom } = new Function(`${script}\\nreturn ${/const (module\\d+) = [^]*$/
        .exec(script.slice(script.lastIndexOf('const module')))[1]};`)();
    const raster = await rasterFrom(JSON.parse(header), data);
    const [finest] = raster.levels;
    return { codes: Array.from(finest.codes), factor: finest.factor, width: finest.width };
}"""


@pytest.fixture
def opened(browser, tmp_path):
    """Return a function that writes an export and opens it from the disk.

    Whatever it asks for, says in the console or fails at is kept, and fails the test.
    """
    contexts, asked, said, allowed = [], [], [], set()

    def hear(message):
        if not message.text.startswith("Canvas2D"):  # of the test's own look at the film
            said.append(message.text)

    def open_file(folder, wanted=None, width=1440, **options):
        out = tmp_path / f"page-{len(contexts)}.html"
        content, _ = exported(folder, wanted)
        write_export(content, EXPORT_FORMATS["html"], out, ExportProgress())
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", hear)
        page.on("pageerror", lambda error: said.append(str(error.stack or error)))
        allowed.add(out.as_uri())
        page.goto(out.as_uri())
        page.locator("article:not([hidden])").wait_for()
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert set(asked) == allowed
    assert said == []


@pytest.fixture
def deep_set(tmp_path):
    """Write a set with a film of 16 bits, larger than a case may take, and boxes on it."""
    noise = np.random.default_rng(1).integers(0, 4096, (2400, 2000), dtype=np.uint16)
    noise[1200:1240, 500:540] = 65535
    case = {
        "id": "deep",
        "question": "Where is it?",
        "question_type": "open",
        "images": [{"id": "pa", "path": "deep.png", "view": "PA", "width": 2000, "height": 2400}],
        "reference_boxes": [{"image": "pa", "label": "square", "box": [500, 1200, 40, 40]}],
    }
    boxes = [{"image": "pa", "label": "there", "box": [520, 1190, 60, 60], "score": 0.5}]
    answer = {"case": "deep", "model": "m", "text": "There.", "boxes": boxes}
    return write_review_set(
        tmp_path / "deep",
        info={"name": "Deep", "notice": "Made for a test.", "models": named(m="Model M")},
        cases=[case],
        answers=[answer],
        pictures={"deep.png": noise},
    )


def painted(page):
    """Wait until the film is drawn."""
    page.locator(".rx[data-painted-case]").wait_for()


def grey_at(page, x, y):
    """Return the grey level that is drawn at a place of the stored image."""
    return page.evaluate(
        """([x, y]) => {
            const canvas = document.querySelector('.stage canvas');
            const box = document.querySelector('.box[data-kind=reference] .line');
            const scale = Number(box.getAttribute('width')) / 40;
            const left = Number(box.getAttribute('x')) + (x - 500) * scale;
            const top = Number(box.getAttribute('y')) + (y - 1200) * scale;
            const ratio = canvas.width / canvas.clientWidth;
            return canvas.getContext('2d').getImageData(left * ratio, top * ratio, 1, 1).data[0];
        }""",
        [x, y],
    )


def test_every_code_comes_out_as_it_went_in(browser):
    random = np.random.default_rng(2)
    smooth = np.cumsum(np.cumsum(random.integers(0, 5, (61, 83)), axis=0), axis=1)
    pictures = {
        "8 bits": random.integers(0, 256, (40, 33), dtype=np.uint8),
        "16 bits": random.integers(0, 65536, (37, 50), dtype=np.uint16),
        "smooth": (smooth % 65536).astype(np.uint16),
        "one row": np.array([[0, 65535, 0, 65535]], dtype=np.uint16),
        "colour": random.integers(0, 256, (30, 21, 3), dtype=np.uint8),
    }
    unpack = build_script("export/html/assets/unpack.js")
    context = browser.new_context()
    page = context.new_page()
    for name, pixels in pictures.items():
        radiograph = Radiograph(pixels, "raster", 16 if pixels.dtype == np.uint16 else 8)
        (one,) = pack_films([film_from_radiograph(radiograph)], 10**6)
        _, codes = encode_radiograph(radiograph)
        data = base64.b64encode(one.data).decode()
        found = page.evaluate(_UNPACK, [unpack, json.dumps(one.header), data])
        assert found["factor"] == 1, name
        assert found["codes"] == codes.ravel().tolist(), name
    context.close()


def test_a_film_that_is_too_large_keeps_its_depth_and_its_boxes_their_places(opened, deep_set):
    page = opened(deep_set)
    painted(page)
    assert (deep_set.parent / "page-0.html").stat().st_size < 1_900_000  # script and head besides
    page.get_by_text("pixels in this file, at full depth").wait_for()
    page.keyboard.press("r")
    page.locator(".box[data-kind=reference]").wait_for()
    page.get_by_text("2000 × 2400 · 16 bit").wait_for()
    inside = [(505, 1205), (535, 1205), (505, 1235), (535, 1235)]
    outside = [(490, 1220), (550, 1220), (520, 1190), (520, 1250)]
    assert min(grey_at(page, *place) for place in inside) == 255
    assert max(grey_at(page, *place) for place in outside) < 220
    square = page.locator(".box[data-kind=reference] .line").bounding_box()
    page.mouse.move(square["x"] + square["width"] / 2, square["y"] + square["height"] / 2)
    column, row, value = re.findall(r"\d+", page.locator(".probe").inner_text())
    assert (abs(int(column) - 520) < 5, abs(int(row) - 1220) < 5) == (True, True)
    assert int(value) == 65535


def test_brightness_changes_with_the_very_next_frame(opened, deep_set):
    page = opened(deep_set)
    painted(page)
    stage = page.locator(".stage").bounding_box()
    x, y = stage["x"] + stage["width"] / 2, stage["y"] + stage["height"] / 2
    page.evaluate("""() => {
        const canvas = document.querySelector('.stage canvas');
        const sum = () => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
            .data.reduce((total, value) => total + value, 0);
        window.sums = [];
        document.querySelector('.stage').addEventListener('pointermove', () => {
            const before = sum();
            requestAnimationFrame(() => requestAnimationFrame(() => window.sums.push(
                [before, sum()])));
        }, true);
    }""")
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(1, 6):
        page.mouse.move(x, y + 20 * step)
        page.wait_for_function("(count) => window.sums.length >= count", arg=step)
    page.mouse.up()
    changed = page.evaluate("window.sums.filter(([before, after]) => before !== after).length")
    assert changed >= 5
    readout = page.locator(".readout").inner_text()
    page.keyboard.press("i")
    page.wait_for_function(
        "() => document.querySelector('.readout').innerText.includes('inverted')"
    )
    page.keyboard.press("w")
    page.wait_for_function(
        "(before) => document.querySelector('.readout').innerText !== before", arg=readout
    )


def test_a_meeting_begins_with_its_minutes_and_turns_through_its_cases(opened, tmp_path):
    folder = write_exported_set(tmp_path / "set")
    page = opened(folder, ExportRequest(meeting="m1"))
    minutes = page.locator("#minutes")
    for words in ("Retrain", "Laterality error", "harm 3", "1:01", "not discussed"):
        assert words in minutes.inner_text(), words
    assert "My secret note" not in page.content()
    page.keyboard.press("j")
    page.locator('article[data-case="c2"]:not([hidden])').wait_for()
    page.get_by_role("button", name="Minutes").click()
    minutes.get_by_text("c1", exact=True).click()
    painted(page)
    shown = page.locator("article:not([hidden])")
    for words in ("Question 1", "Retrain", "Radiologist’s report", "12 ribs", "Readers’ scores"):
        assert words in shown.inner_text(), words
    box = page.locator('.box[data-group="m"]')
    assert box.is_visible()
    page.keyboard.press("1")
    box.wait_for(state="hidden")
    page.keyboard.press("x")
    nav = page.locator("nav")
    nav.wait_for(state="hidden")
    assert shown.locator(".question").is_visible()
    assert shown.locator(".answer").first.is_hidden()
    page.keyboard.press("Escape")
    nav.wait_for()
    page.keyboard.press("k")
    page.locator('article[data-case="c2"]:not([hidden])').wait_for()
    page.get_by_text("This image cannot be shown").wait_for()
    page.locator("#search").fill("ribs")
    assert page.locator("#cases li:visible").count() == 1
    assert page.locator("#found").inner_text() == "1 of 2"
    page.keyboard.press("Enter")
    page.locator('article[data-case="c1"]:not([hidden])').wait_for()
    page.emulate_media(media="print")
    assert page.locator("nav").is_hidden()
    assert shown.is_visible()


def test_every_text_stays_text(opened, tmp_path):
    page = opened(write_hostile_set(tmp_path / "hostile"))
    for number in (1, 2, 3):
        page.locator(f'nav [data-open="{number}"]').click()
        article = page.locator(f"#case-{number}:not([hidden])")
        article.wait_for()
        assert HOST in article.inner_text()
        assert article.locator("a, img, script, style, svg, iframe").count() == 0
    painted(page)
    assert page.evaluate("window.hacked") is None
    assert page.locator("body > script").count() == 1


def test_direction_of_writing_stays_in_its_text(opened, tmp_path):
    turned = "\u202eevas\u202c </script><!-- \u2066\u2028 done"
    case = {
        "id": "c",
        "question": turned,
        "images": [{"id": "i", "path": "one.png", "view": "PA"}],
    }
    folder = write_review_set(
        tmp_path / "turned",
        info={"name": turned, "models": named(m=turned)},
        cases=[case],
        answers=[
            {"case": "c", "model": "m", "text": turned, "boxes": [
                {"image": "i", "label": turned, "box": [5, 60, 30, 30]}]}
        ],
        pictures={"one.png": RAMP},
    )  # fmt: skip
    page = opened(folder)
    painted(page)
    assert page.locator("article .question").inner_text().startswith("\u202eevas")
    isolated = page.evaluate(
        """() => [...document.querySelectorAll('article [dir=auto], bdi')]
            .map((one) => getComputedStyle(one).unicodeBidi)"""
    )
    assert isolated
    assert set(isolated) <= {"isolate", "plaintext"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_follow_the_system_and_the_button(opened, tmp_path, scheme):
    page = opened(write_exported_set(tmp_path / "set"), color_scheme=scheme)
    painted(page)
    theme = "document.documentElement.dataset.theme"
    assert page.evaluate(theme) == scheme
    axe = Axe(())
    assert not axe.findings(page)
    page.locator("#theme").click()
    assert page.evaluate(theme) != scheme
    assert not axe.findings(page, "color-contrast")


def test_on_a_phone_everything_fits_its_width(opened, tmp_path):
    page = opened(write_exported_set(tmp_path / "set"), width=390)
    painted(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("article:not([hidden]) .question").is_visible()


def test_json_in_the_page_ends_no_element():
    assert html_safe_json({"a": "</script><!--&\u2028"}) == (
        '{"a":"\\u003c/script\\u003e\\u003c!--\\u0026\\u2028"}'
    )
