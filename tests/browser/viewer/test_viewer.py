"""The viewer on a real page, driven as a reader would: mouse, keys, fingers."""

from __future__ import annotations

import re
import time
from itertools import count, product
from pathlib import Path

import cv2
import numpy as np
import pytest
from playwright.sync_api import expect
from support.browser.waiting import becomes, calm, pass_time, until
from support.browser.walk import follow

from rexview.ui.web.components import module_address

pytestmark = pytest.mark.browser
APP = Path(__file__).parent / "apps" / "viewer_app.py"
OPENINGS = count(1)
STATE = f"./{module_address('viewer/assets/view_state.js')}"
_KEEP_HABITS = """async (address) => {
  const { ViewState } = await import(new URL(address, document.baseURI));
  window.firstHabits = structuredClone(new ViewState().habits);
}"""
_FIRST_HABITS = """async (address) => {
  const { ViewState } = await import(new URL(address, document.baseURI));
  Object.assign(new ViewState().habits, structuredClone(window.firstHabits));
}"""


@pytest.fixture(scope="module")
def app(start_app):
    return start_app(script=APP)


class OnPage:
    """The viewer of one page."""

    def __init__(self, page, app):
        self.page = page
        self.app = app
        self.pixels_asked = []
        page.on("request", self._note)

    def _note(self, request):
        if "/rexview/pixels/" in request.url:
            self.pixels_asked.append(request.url.rsplit("/", 1)[1])

    def open(self, case="one", *, narrow=False):
        """Open a case with a viewer of its own and the habits of a page that was just loaded.

        The app stays where it stands in the page.
        """
        if not self.page.url.startswith(self.app):
            return self.load(case, "&narrow" if narrow else "")
        self.page.evaluate(_FIRST_HABITS, STATE)
        follow(self.page, "?left")  # else the old viewer could still write the address
        self.has(0, ".rx")
        opening = next(OPENINGS)
        follow(self.page, f"?case={case}{'&narrow' if narrow else ''}&opening={opening}")
        self.page.wait_for_selector(f"#runs[data-opening='{opening}']")
        return self.settled(case)

    def load(self, case="one", address=""):
        """Load the app at a case."""
        self.page.goto("about:blank")  # else an address that differs in its last part is only noted
        self.page.goto(f"{self.app}?case={case}{address}")
        self.settled(case)
        self.page.evaluate(_KEEP_HABITS, STATE)
        return self

    def settled(self, case):
        if case != "none":
            self.page.wait_for_selector(f".rx[data-painted-case='{case}']")
        self.page.wait_for_selector("#report", state="attached")  # the last of the page
        calm(self.page)
        return self

    def frame(self):
        """Let two frames pass, so that what was asked for is drawn."""
        self.page.evaluate(
            """new Promise((done) => {
              requestAnimationFrame(() => requestAnimationFrame(done));
              setTimeout(done, 5000); // a browser may stop drawing a page
            })"""
        )
        return self

    def key(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
        return self.frame()

    def press(self, selector, **options):
        self.page.click(selector, **options)
        return self.frame()

    def text(self, selector):
        return self.page.text_content(selector)

    def becomes(self, read, wanted):
        return becomes(self.page, read, wanted)

    def until(self, read, holds):
        return until(self.page, read, holds)

    def says(self, selector, words):
        expect(self.page.locator(selector)).to_contain_text(words)

    def reads(self, words, pane=0):
        """Wait until the words stand in the readout."""
        return self.until(lambda: self.readout(pane), lambda text: words in text)

    def reads_no(self, words, pane=0):
        return self.until(lambda: self.readout(pane), lambda text: words not in text)

    def has(self, count, selector):
        expect(self.page.locator(selector)).to_have_count(count)

    def hides(self, selector):
        expect(self.page.locator(selector)).to_be_hidden()

    def shown_boxes(self):
        script = """(all) => all.filter((one) => one.style.display !== 'none')
            .map((one) => one.dataset.box)"""
        return self.page.eval_on_selector_all(".box", script)

    def grey(self, x=0.5, y=0.5, pane=0):
        """Return red, green, blue of the canvas at a share of its width and height."""
        script = """(all, [x, y, pane]) => {
            const canvas = all[pane];
            const at = [x * canvas.width, y * canvas.height].map(Math.floor);
            return [...canvas.getContext('2d').getImageData(...at, 1, 1).data].slice(0, 3);
        }"""
        return self.page.eval_on_selector_all(".stage canvas", script, [x, y, pane])

    def stage(self, pane=0):
        return self.page.locator(".stage").nth(pane).bounding_box()

    def at(self, x, y, pane=0):
        """Return page coordinates of a share of a pane's stage."""
        box = self.stage(pane)
        return box["x"] + x * box["width"], box["y"] + y * box["height"]

    def drag(self, start, end, pane=0, button="left"):
        mouse = self.page.mouse
        mouse.move(*self.at(*start, pane))
        mouse.down(button=button)
        mouse.move(*self.at(*end, pane), steps=4)
        mouse.up(button=button)
        return self.frame()

    def double_click(self, x, y):
        """Click twice, 100 ms apart by the events' own time, however long they take to arrive."""
        devtools = self.page.context.new_cdp_session(self.page)
        across, down = self.at(x, y)
        event = {"x": across, "y": down, "button": "left", "buttons": 1}
        began = time.time()
        for step, (clicks, kind) in enumerate(product((1, 2), ("mousePressed", "mouseReleased"))):
            when = {"clickCount": clicks, "timestamp": began + 0.05 * step}
            devtools.send("Input.dispatchMouseEvent", {**event, "type": kind, **when})
        return self.frame()

    def rect(self, box):
        script = """(one) => ['x', 'y', 'width', 'height'].map((name) => +one.getAttribute(name))"""
        return self.page.eval_on_selector(f"[data-box='{box}'] .line", script)

    def runs(self):
        return int(self.text("#runs"))

    def readout(self, pane=0):
        return self.page.locator(".readout").nth(pane).inner_text()

    def edges(self):
        script = (
            "(all) => Object.fromEntries(all.map((one) => [one.classList[1], one.textContent]))"
        )
        return self.page.eval_on_selector_all(".edge", script)


@pytest.fixture
def viewer(standing_page, app):
    return OnPage(standing_page(), app)


class TestRoom:
    """The film takes what the window leaves, and the reader can divide that."""

    def test_film_ends_with_the_window_and_no_words_lie_on_it(self, viewer):
        viewer.open()
        viewer.press(".chip[data-view='prior']", modifiers=["Shift"])
        ends = "(one) => Math.round(innerHeight - one.getBoundingClientRect().bottom)"
        for height in (900, 720):
            viewer.page.set_viewport_size({"width": 1280, "height": height})
            viewer.becomes(lambda: viewer.page.eval_on_selector(".rx", ends), 10)
        script = """(root) => {
            const rects = (selector) => [...root.querySelectorAll(selector)]
                .map((one) => one.getBoundingClientRect());
            const films = rects('.stage');
            const words = rects('.edge, .title, .details, .readout, .probe, .remarks');
            const on = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom
                && b.top < a.bottom && a.width > 0;
            return [films.length, words.length,
                words.filter((one) => films.some((film) => on(one, film))).length];
        }"""
        films, words, covering = viewer.page.eval_on_selector(".rx", script)
        assert films == 2
        assert words > 8
        assert covering == 0

    def test_the_column_of_the_film_is_made_wider_and_stays_so(self, viewer):
        viewer.open(narrow=True)
        divider = viewer.page.get_by_role("separator", name="Width of the picture")
        width = lambda: viewer.page.locator(".rx").bounding_box()["width"]  # noqa: E731
        usual = width()
        place = divider.bounding_box()
        x, y = place["x"] + place["width"] / 2, place["y"] + 300
        viewer.page.mouse.move(x, y)
        viewer.page.mouse.down()
        viewer.page.mouse.move(x + 120, y, steps=4)
        viewer.page.mouse.up()
        viewer.becomes(width, pytest.approx(usual + 120, abs=3))
        viewer.page.reload()
        viewer.settled("one")
        viewer.becomes(width, pytest.approx(usual + 120, abs=3))
        divider.focus()
        viewer.key("ArrowLeft", "ArrowLeft")
        viewer.until(width, lambda now: now < usual + 90)
        viewer.key("Home")  # as narrow as it gets
        viewer.becomes(width, pytest.approx(320, abs=2))
        expect(divider).to_have_attribute("aria-orientation", "vertical")
        divider.dblclick()
        viewer.becomes(width, pytest.approx(usual, abs=1))


class TestPicture:
    def test_every_code_becomes_its_grey_at_actual_size(self, viewer):
        viewer.open("ramp").key("o")
        script = """(canvas) => {
            const left = Math.round(canvas.width / 2 - 128);
            const row = canvas.getContext('2d').getImageData(left, canvas.height / 2, 256, 1);
            return [...row.data].filter((_, place) => place % 4 === 0);
        }"""
        greys = lambda: viewer.page.eval_on_selector(".stage canvas", script)  # noqa: E731
        viewer.becomes(greys, list(range(256)))

    def test_pixels_that_are_not_square_keep_their_shape(self, viewer):
        viewer.open("flat")  # 256 x 128 pixels, twice as high as wide: a square
        box = viewer.stage()
        side = min(box["width"], box["height"])
        inside = (side / 2 - 6) / box["width"]
        assert viewer.grey(0.5 - inside, 0.5) != viewer.grey(0.5 + inside, 0.5)
        assert viewer.grey(0.5 + (side / 2 + 6) / box["width"], 0.5) == [0, 0, 0]
        assert viewer.grey(0.5 - inside / 2, 0.02) == viewer.grey(0.5 - inside / 2, 0.98)

    def test_sharp_on_a_fine_screen(self, new_page, app):
        viewer = OnPage(new_page(device_scale_factor=2), app).open("ramp")
        box = viewer.stage()
        size = viewer.page.eval_on_selector(".stage canvas", "(one) => [one.width, one.height]")
        assert size == pytest.approx([2 * box["width"], 2 * box["height"]], abs=2)

    def test_broken_view_says_why_and_the_others_work(self, viewer):
        viewer.open()
        viewer.press(".chip[data-view='gone']")
        viewer.says(".notice", "The image file does not exist.")
        viewer.press(".chip[data-view='pa']")
        viewer.until(viewer.grey, lambda grey: grey != [0, 0, 0])

    def test_refused_image_says_why_in_its_place(self, viewer):
        viewer.open("refused")
        viewer.says(".notice", "The file ends too early.")
        with viewer.page.expect_response("**/rexview/pixels/refused"):
            viewer.press("text=Try again")
        viewer.says(".notice", "The file ends too early.")

    def test_case_without_images_says_so(self, viewer):
        viewer.open("none")
        viewer.page.wait_for_selector("text=This case has no image.")

    def test_link_that_has_ended_is_renewed(self, viewer):
        viewer.load("stale")
        viewer.page.wait_for_selector(".pane[data-state='ready']")
        viewer.becomes(lambda: viewer.pixels_asked, ["ended", "ramp"])


class TestWindow:
    def test_drag_changes_the_picture_and_never_the_server(self, viewer):
        viewer.open()
        before, runs, asked = viewer.grey(0.5, 0.3), viewer.runs(), len(viewer.pixels_asked)
        viewer.drag((0.5, 0.5), (0.5, 0.2))
        viewer.until(lambda: viewer.grey(0.5, 0.3), lambda brighter: brighter[0] > before[0])
        viewer.drag((0.3, 0.5), (0.7, 0.5))
        viewer.reads_no("W 3000")
        viewer.key("w")
        viewer.becomes(lambda: viewer.grey(0.5, 0.3), before)
        viewer.reads("W 3000  L 1900")
        pass_time(viewer.page, 600)
        calm(viewer.page)
        assert viewer.runs() == runs
        assert len(viewer.pixels_asked) >= asked  # looking ahead may still be going on

    def test_presets_numbers_and_invert(self, viewer):
        viewer.open()
        viewer.page.select_option(".presets", label="Narrow")
        viewer.reads("W 1200  L 1400")
        viewer.page.fill("input[aria-label='Window width']", "800")
        viewer.key("Enter")
        viewer.reads("W 800  L 1400")
        expect(viewer.page.locator(".presets")).to_have_value("-1")
        plain = viewer.grey(0.45, 0.4)
        viewer.press("button[aria-label='Invert']")
        viewer.reads("inverted")
        turned = [255 - level for level in plain]  # smoothed by the browser before or after
        viewer.becomes(lambda: viewer.grey(0.45, 0.4), pytest.approx(turned, abs=1))

    def test_colour_has_no_window(self, viewer):
        viewer.open()
        viewer.press(".chip[data-view='returned']")
        viewer.page.wait_for_selector(".pane[data-view='returned'][data-state='ready']")
        viewer.until(viewer.readout, lambda text: "%" in text and "W" not in text)
        button = viewer.page.locator("button[aria-label='Brightness and contrast']")
        expect(button).to_be_disabled()


class TestZoom:
    def test_wheel_zooms_at_the_pointer(self, viewer):
        viewer.open()
        x, y, width, height = viewer.rect("g1")
        stage = viewer.stage()
        viewer.page.mouse.move(stage["x"] + x, stage["y"] + y)  # the corner of the box stays there
        for _ in range(3):
            viewer.page.mouse.wheel(0, -200)
        after = viewer.until(lambda: viewer.frame().rect("g1"), lambda rect: rect[2] > 2 * width)
        calm(viewer.page)
        after = viewer.rect("g1")
        assert after[:2] == pytest.approx([x, y], abs=1)
        assert after[2] / width == pytest.approx(after[3] / height)
        assert after[2] > 2 * width

    @pytest.mark.parametrize("button", ["right", "middle"])
    def test_other_buttons_move_the_picture(self, viewer, button):
        viewer.open()
        x, y, *_ = viewer.rect("g1")
        window = viewer.readout()
        viewer.drag((0.5, 0.5), (0.6, 0.4), button=button)
        stage = viewer.stage()
        moved = [x + 0.1 * stage["width"], y - 0.1 * stage["height"]]
        viewer.becomes(lambda: viewer.rect("g1")[:2], pytest.approx(moved, abs=1))
        assert viewer.readout() == window
        viewer.key("f")
        viewer.becomes(lambda: viewer.rect("g1")[:2], pytest.approx([x, y], abs=0.01))

    def test_actual_size_and_double_click(self, viewer):
        viewer.open().key("o")
        viewer.reads("100 %")
        viewer.double_click(0.5, 0.5)
        viewer.reads_no("100 %")

    def test_arrows_move_and_shift_arrows_window(self, viewer):
        viewer.open().press(".pane")
        viewer.key("+", "+")
        calm(viewer.page)
        before, readout = viewer.rect("g1"), viewer.readout()
        viewer.key("ArrowRight")
        viewer.until(lambda: viewer.rect("g1")[0], lambda x: x < before[0])
        assert viewer.readout() == readout
        viewer.key("Shift+ArrowRight")
        viewer.until(viewer.readout, lambda now: now != readout)


class TestBoxes:
    def test_keys_and_chips_show_and_hide(self, viewer):
        viewer.open()
        viewer.becomes(viewer.shown_boxes, ["g1", "g2", "m1"])
        viewer.becomes(viewer.key("1").shown_boxes, ["m1"])
        viewer.becomes(viewer.key("r").shown_boxes, ["m1", "r1"])
        viewer.becomes(viewer.press(".chip[data-group='med']").shown_boxes, ["r1"])
        for group, pressed in zip(("gen", "med", "reference"), "001", strict=True):
            chip = viewer.page.locator(f".chip.group[data-group='{group}']")
            expect(chip).to_have_attribute("aria-pressed", "true" if pressed == "1" else "false")
        viewer.has(3, ".chip.group")
        viewer.becomes(viewer.key("0").shown_boxes, [])
        viewer.becomes(viewer.key("0").shown_boxes, ["g1", "g2", "m1", "r1"])
        calm(viewer.page)
        assert viewer.runs() == 1

    def test_keys_of_streamlit_do_not_fire(self, viewer):
        viewer.open()
        viewer.key("r", "c")
        viewer.says(".hint", "heart")  # both keys have arrived
        viewer.becomes(viewer.shown_boxes, ["g1", "g2", "m1", "r1"])
        pass_time(viewer.page, 800)
        calm(viewer.page)
        assert viewer.runs() == 1
        viewer.has(0, "[role='dialog']:visible")

    def test_typing_is_left_alone(self, viewer):
        viewer.open()
        viewer.page.click("textarea, input[aria-label='Notes']")
        viewer.page.keyboard.type("1rib")
        expect(viewer.page.locator("input[aria-label='Notes']")).to_have_value("1rib")
        assert viewer.frame().shown_boxes() == ["g1", "g2", "m1"]

    def test_smallest_box_under_the_pointer_is_told(self, viewer):
        viewer.open()
        stage = viewer.stage()
        x, y, width, height = viewer.rect("g2")
        viewer.page.mouse.move(stage["x"] + x + width / 2, stage["y"] + y + height / 2)
        for words in ("consolidation", "Generalist", "The label says left."):
            viewer.says(".tip", words)
        x, y, *_ = viewer.rect("g1")
        viewer.page.mouse.move(stage["x"] + x + 10, stage["y"] + y + 10)
        for words in ("right pleural effusion", "on the patient's right, lower third", "0.83"):
            viewer.says(".tip", words)
        viewer.page.mouse.move(stage["x"] + 5, stage["y"] + 100)
        viewer.hides(".tip")

    def test_reached_by_tab_and_named_for_a_screen_reader(self, viewer):
        viewer.open()
        viewer.page.focus(".pane")
        viewer.key("Tab")
        expect(viewer.page.locator(".tip")).to_be_visible()
        viewer.says(".tip", "right pleural effusion")
        names = viewer.page.get_by_role("img", name="Generalist: right pleural effusion")
        expect(names).to_have_attribute(
            "aria-label",
            "Generalist: right pleural effusion, on the patient's right, lower third, score 0.83",
        )

    def test_focus_brings_a_box_into_the_pane(self, viewer):
        viewer.open().key("o", "+", "+", "+", "+")
        viewer.page.focus("[data-box='g1']")
        stage = viewer.stage()

        def inside(rect):
            x, y, width, height = rect
            across, down = x + width / 2, y + height / 2
            return 0 < across < stage["width"] and 0 < down < stage["height"]

        viewer.until(lambda: viewer.rect("g1"), inside)

    def test_what_cannot_be_drawn_is_counted_with_the_reason(self, viewer):
        viewer.open()
        chip = viewer.page.locator(".chip[data-group='gen']")
        expect(chip).to_have_accessible_name("Generalist: 2 boxes · 1 cannot be drawn, key 1")
        expect(chip).to_have_attribute("title", re.compile("the box has no area"))

    def test_reference_from_the_start_if_wished_and_never_blinded(self, viewer):
        viewer.open()
        wish = viewer.page.get_by_role("button", name="Reference boxes from the start")
        expect(wish).to_have_attribute("aria-pressed", "false")
        wish.click()
        viewer.becomes(viewer.shown_boxes, ["g1", "g2", "m1", "r1"])
        viewer.open("blinded")
        viewer.has(0, "button:visible[aria-label^='Reference boxes from']")
        viewer.becomes(viewer.shown_boxes, ["g1", "g2", "m1"])
        viewer.load()
        viewer.becomes(viewer.shown_boxes, ["g1", "g2", "m1", "r1"])
        wish.click()
        viewer.open()
        viewer.becomes(viewer.shown_boxes, ["g1", "g2", "m1"])

    def test_labels_on_demand(self, viewer):
        viewer.open()
        label = viewer.page.locator("[data-box='m1'] text")
        expect(label).to_have_text("2")
        viewer.key("l")
        expect(label).to_have_text("2 cardiomegaly")

    def test_words_on_the_page_and_boxes_light_each_other(self, viewer):
        viewer.open()
        viewer.page.hover("#word")
        names = "(all) => all.map((b) => b.dataset.box)"
        viewer.becomes(lambda: viewer.page.eval_on_selector_all(".box.lit", names), ["g1", "r1"])
        viewer.page.hover("#report")
        viewer.has(0, ".box.lit, .box.dim")
        viewer.page.focus("[data-box='g1']")
        viewer.has(1, "#word[data-rx-lit='']")
        viewer.page.focus("[data-box='m1']")
        viewer.has(1, "#word:not([data-rx-lit])")


class TestOrientation:
    def test_letters_of_a_standard_view(self, viewer):
        viewer.open()
        viewer.becomes(viewer.edges, {"left": "R", "right": "L", "top": "H", "bottom": "F"})
        viewer.hides(".band")

    def test_mirrored_image_warns_and_is_put_right_on_demand(self, viewer):
        viewer.open("mirrored")
        viewer.becomes(lambda: viewer.edges()["left"], "L")
        viewer.says(".band.warn", "mirrored")
        heart = viewer.grey(0.46, 0.6), viewer.grey(0.54, 0.6)
        viewer.press("text=Show standard")
        viewer.becomes(lambda: viewer.edges()["left"], "R")
        viewer.has(0, ".band.warn")
        viewer.becomes(lambda: (viewer.grey(0.54, 0.6), viewer.grey(0.46, 0.6)), heart)
        viewer.press("text=As stored")
        viewer.becomes(lambda: viewer.edges()["left"], "L")

    def test_turned_image(self, viewer):
        viewer.open("turned")
        viewer.becomes(viewer.edges, {"left": "H", "right": "F", "top": "L", "bottom": "R"})
        viewer.key("n")
        viewer.becomes(viewer.edges, {"left": "R", "right": "L", "top": "H", "bottom": "F"})

    def test_letters_follow_what_the_reader_does(self, viewer):
        viewer.open().key("h")
        viewer.becomes(lambda: viewer.edges()["left"], "L")
        viewer.says(".band.warn", "mirrored")
        viewer.key("h", "t")
        viewer.becomes(viewer.edges, {"left": "F", "right": "H", "top": "R", "bottom": "L"})

    def test_boxes_follow_a_mirrored_picture(self, viewer):
        viewer.open()
        x, y, width, height = viewer.rect("g1")
        viewer.key("h")
        stage = viewer.stage()
        expected = [stage["width"] - x - width, y, width, height]
        viewer.becomes(lambda: viewer.rect("g1")[0], pytest.approx(expected[0], rel=0.05))
        assert viewer.rect("g1")[2:] != [0, 0]

    def test_unknown_orientation_is_said_and_nothing_marked(self, viewer):
        viewer.open("unknown")
        viewer.says(".band.warn", "Orientation unknown")
        viewer.becomes(lambda: set(viewer.edges().values()), {""})


class TestMeasuring:
    def test_ruler_in_millimetres(self, viewer):
        viewer.open().key("m")
        viewer.drag((0.5, 0.2), (0.5, 0.6))
        pixels = 0.4 * viewer.stage()["height"] / (viewer.rect("m1")[3] / 320)
        length = float(re.match(r"([\d.]+) mm", viewer.text(".measure .length")).group(1))
        assert length == pytest.approx(0.3 * pixels, rel=0.02)
        viewer.says(".measuring .note", "at the detector")
        viewer.reads("W 3000")  # the drag measured, it did not window
        viewer.key("z")
        viewer.says(".measuring", "Calibrate by hand instead?")  # the file says its own
        viewer.press("text=Keep the file’s")
        viewer.has(0, "form:visible")
        assert viewer.text(".measure .length").endswith("mm")

    def test_a_ruler_is_placed_by_a_press_at_each_end(self, viewer):
        viewer.open().key("m")
        mouse, length = viewer.page.mouse, viewer.page.locator(".measure .length")
        mouse.click(*viewer.at(0.5, 0.2))
        viewer.says(".hint", "Now press where it ends")
        expect(length).to_be_hidden()
        viewer.key("Escape")  # a line of one end is none
        viewer.has(0, ".measure")
        viewer.key("m")
        mouse.click(*viewer.at(0.5, 0.2))
        mouse.click(*viewer.at(0.5, 0.6))
        expect(length).to_be_visible()
        pixels = 0.4 * viewer.stage()["height"] / (viewer.rect("m1")[3] / 320)
        said = float(re.match(r"([\d.]+) mm", viewer.text(".measure .length")).group(1))
        assert said == pytest.approx(0.3 * pixels, rel=0.02)
        viewer.says(".hint", "press its ends")  # another one may follow
        viewer.has(1, ".measure")

    def test_ruler_without_spacing_says_pixels(self, viewer):
        viewer.open("ramp").key("m")
        viewer.drag((0.4, 0.5), (0.6, 0.5))
        expect(viewer.page.locator(".measure .length")).to_have_text(re.compile("px$"))
        viewer.says(".measuring .note", "no pixel spacing")

    def test_a_known_length_calibrates_an_image_until_removed(self, viewer):
        viewer.open("ramp").key("z")
        viewer.says(".hint", "Draw a line along a known length")
        viewer.drag((0.4, 0.5), (0.6, 0.5))
        for wrong, told in (("a", "Give the length in mm"), ("0", "more than 0 mm")):
            viewer.page.fill("[aria-label='Length of the line in mm']", wrong)
            viewer.key("Enter")
            viewer.says(".measuring .problem", told)
        viewer.page.fill("[aria-label='Length of the line in mm']", "25,4")
        viewer.key("Enter")
        length = viewer.page.locator(".measure .length")
        expect(length).to_have_text("25.4 mm")
        viewer.says(".measuring .note", "calibrated by hand: a line of")
        viewer.says(".measuring .note", "Kept in this browser, for this image.")
        viewer.page.reload()
        viewer.settled("ramp").key("m")
        viewer.drag((0.4, 0.5), (0.5, 0.5))
        expect(length).to_have_text(re.compile(r"^12\.[67] mm$"))
        viewer.press("text=Remove calibration")
        expect(length).to_have_text(re.compile("px$"))
        viewer.says(".measuring .note", "no pixel spacing")

    def test_a_line_stands_out_on_white(self, viewer):
        viewer.open("ramp").key("m")
        box = viewer.stage()
        side = min(box["width"], 2 * box["height"])  # of the film, twice as wide as high
        across = 0.5 + (side / 2 - 12) / box["width"]  # on its white end
        viewer.drag((across, 0.4), (across, 0.6))
        x, y = viewer.at(across, 0.45)
        clip = {"x": round(x) - 10, "y": round(y), "width": 20, "height": 1}
        row = cv2.imdecode(
            np.frombuffer(viewer.page.screenshot(clip=clip), np.uint8), cv2.IMREAD_GRAYSCALE
        )[0]
        light = np.flatnonzero(row[5:15] > 190) + 5
        dark = np.flatnonzero(row < 60)
        assert row[0] > 230  # the film is white here
        assert (dark < light.max()).sum() >= 2
        assert (dark > light.min()).sum() >= 2

    def test_end_moved_by_keys_and_removed(self, viewer):
        viewer.open().key("m")
        viewer.drag((0.45, 0.5), (0.55, 0.5))
        before = viewer.text(".measure .length")
        viewer.page.focus(".measure .handle >> nth=1")
        viewer.key("Shift+ArrowRight", "Shift+ArrowRight")
        longer = pytest.approx(float(before.split()[0]) + 6, abs=0.2)
        viewer.becomes(lambda: float(viewer.text(".measure .length").split()[0]), longer)
        after = viewer.text(".measure .length")
        expect(viewer.page.locator(".handle").nth(1)).to_have_attribute("aria-valuetext", after)
        viewer.key("Delete")
        viewer.has(0, ".measure")

    def test_cardiothoracic_ratio(self, viewer):
        viewer.open().key("c")
        viewer.drag((0.45, 0.6), (0.55, 0.62))
        viewer.says(".hint", "thorax")
        viewer.drag((0.4, 0.7), (0.6, 0.71))
        viewer.says(".hint", "CTR 0.50")
        handle = viewer.page.locator(".heart .handle").nth(1).bounding_box()
        middle = [handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2]
        viewer.page.mouse.move(*middle)
        viewer.page.mouse.down()
        viewer.page.mouse.move(middle[0] + 0.02 * viewer.stage()["width"], middle[1] + 5, steps=3)
        viewer.page.mouse.up()
        viewer.says(".hint", "CTR 0.60")

    def test_ratio_by_keyboard_alone(self, viewer):
        viewer.open()
        viewer.page.focus(".pane")
        viewer.key("c", "Enter", "Enter")
        viewer.says(".hint", "CTR 0.34")  # 24 of 70 hundredths of the width
        viewer.page.focus(".heart .handle >> nth=1")
        for _ in range(11):
            viewer.key("Shift+ArrowRight")
        viewer.says(".hint", "CTR 0.50")

    def test_measurements_stay_with_their_image(self, viewer):
        viewer.open().key("m")
        viewer.drag((0.4, 0.5), (0.6, 0.5))
        viewer.key("v")
        viewer.has(0, ".measure")
        viewer.press(".chip[data-view='pa']")
        viewer.has(1, ".measure")
        viewer.press("button[aria-label='Remove all measurements']")
        viewer.has(0, ".measure")


class TestViews:
    def test_side_by_side_move_and_window_together(self, viewer):
        viewer.open()
        viewer.press(".chip[data-view='prior']", modifiers=["Shift"])
        viewer.has(2, ".pane")
        viewer.page.wait_for_selector(".pane[data-view='prior'][data-state='ready']")
        viewer.page.mouse.move(*viewer.at(0.5, 0.5))
        viewer.page.mouse.wheel(0, -200)
        viewer.drag((0.5, 0.5), (0.7, 0.4))
        viewer.reads_no("W 3000")
        viewer.until(lambda: [viewer.readout(0), viewer.readout(1)], lambda two: two[0] == two[1])
        viewer.key("y")
        viewer.drag((0.5, 0.5), (0.6, 0.5))
        viewer.until(lambda: [viewer.readout(0), viewer.readout(1)], lambda two: two[0] != two[1])
        divider = viewer.page.get_by_role("separator", name="Size of the views")
        half = viewer.stage(0)["width"]
        divider.focus()
        viewer.key("Shift+ArrowRight")
        tenth = 0.1 * viewer.page.locator(".panes").bounding_box()["width"]
        viewer.becomes(lambda: viewer.stage(0)["width"], pytest.approx(half + tenth, abs=2))
        viewer.key("Enter")
        viewer.becomes(lambda: viewer.stage(0)["width"], pytest.approx(half, abs=1))

    def test_picture_of_the_model_beside_the_original(self, viewer):
        viewer.open()
        viewer.press(".chip[data-view='returned']", modifiers=["Shift"])
        viewer.page.wait_for_selector(".pane[data-view='returned'][data-state='ready']")
        viewer.until(lambda: viewer.grey(0.36, 0.75, 1), lambda rgb: rgb[0] > rgb[1] == rgb[2])

    def test_blink_by_hand_shows_the_prior_in_the_same_place(self, new_page, app):
        viewer = OnPage(new_page(reduced_motion="reduce"), app).open()
        fitted = viewer.readout()
        viewer.page.mouse.move(*viewer.at(0.5, 0.5))
        viewer.page.mouse.wheel(0, -200)
        viewer.reads_no(fitted)
        calm(viewer.page)
        zoomed = viewer.readout()
        viewer.key("b")
        name = viewer.page.locator(".blink strong")
        expect(name).to_have_text("Current")
        now = viewer.grey(0.3, 0.8)
        viewer.key(" ")
        viewer.page.wait_for_selector(".pane[data-view='prior'][data-state='ready']")
        expect(name).to_have_text("Prior")
        viewer.becomes(viewer.readout, zoomed)
        viewer.becomes(viewer.shown_boxes, [])
        pass_time(viewer.page, 1500)
        expect(name).to_have_text("Prior")  # nothing moves by itself
        viewer.key(" ")
        viewer.becomes(lambda: viewer.grey(0.3, 0.8), now)
        viewer.key("Escape")
        viewer.hides(".blink")

    def test_blink_runs_by_itself(self, viewer):
        viewer.open().key("b")
        viewer.page.wait_for_selector(".blink strong.prior")
        viewer.page.wait_for_selector(".blink strong:not(.prior)")
        viewer.press(".blink >> text=Hold")
        expect(viewer.page.locator(".blink >> text=Hold")).to_have_count(0)
        held = viewer.text(".blink strong")
        pass_time(viewer.page, 1200)
        expect(viewer.page.locator(".blink strong")).to_have_text(held)

    def test_key_list(self, viewer):
        viewer.open().key("?")
        viewer.says(".help", "cardiothoracic ratio")
        viewer.key("Escape")
        viewer.hides(".help")

    def test_full_screen_keeps_the_page_and_hides_its_texts_on_demand(self, viewer):
        viewer.open(narrow=True).key("x")
        viewer.page.wait_for_function("() => document.fullscreenElement !== null")
        width = lambda: viewer.page.locator(".rx").bounding_box()["width"]  # noqa: E731
        beside = viewer.until(width, lambda now: now > 700)
        viewer.key("q")
        viewer.until(width, lambda now: now > beside + 300)
        viewer.key("j")
        viewer.settled("mirrored")
        assert viewer.page.evaluate("document.fullscreenElement !== null")
        viewer.key("q")
        viewer.becomes(width, pytest.approx(beside, abs=2))
        viewer.key("x")
        viewer.page.wait_for_function("() => document.fullscreenElement === null")
        viewer.until(width, lambda now: now < beside)
        viewer.has(0, "html[data-rx-full]")
        viewer.open("blinded", narrow=True).key("x")
        viewer.has(1, "html[data-rx-full]")
        viewer.key("q")  # the score pad would go on taking keys: it stays
        viewer.has(0, "html[data-rx-texts]")
        viewer.has(0, "button:visible[aria-label^='Question and answers']")
        viewer.key("x")
        viewer.has(0, "html[data-rx-full]")


class TestCases:
    def test_next_case_is_there_already(self, viewer):
        viewer.load()
        viewer.page.wait_for_function(
            "() => performance.getEntriesByType('resource')"
            ".some((one) => one.name.endsWith('/mirrored'))"
        )
        asked = viewer.pixels_asked.count("mirrored")
        viewer.key("j")
        viewer.settled("mirrored")
        assert viewer.pixels_asked.count("mirrored") == asked == 1
        expect(viewer.page).to_have_url(re.compile("case=mirrored"))
        viewer.key("k")
        viewer.settled("one")
        assert viewer.pixels_asked.count("pa") == 1

    def test_no_case_before_the_first(self, viewer):
        viewer.open().key("k")
        expect(viewer.page.locator(".spoken[aria-live]")).to_have_text("This is the first case")
        pass_time(viewer.page, 400)
        calm(viewer.page)
        assert "case=one" in viewer.page.url

    def test_hidden_boxes_stay_hidden_on_the_next_case_and_back(self, viewer):
        viewer.open().key("1", "j")
        viewer.settled("mirrored")
        viewer.key("k")
        viewer.settled("one")
        viewer.becomes(viewer.shown_boxes, ["m1"])

    def test_zoom_and_window_do_not_leak_into_the_next_case(self, viewer):
        viewer.open()
        usual = viewer.readout()
        viewer.key("+", "i", "h")
        viewer.page.wait_for_function("() => location.hash !== ''")
        viewer.key("j")
        viewer.settled("mirrored")
        viewer.key("k")
        viewer.settled("one")
        viewer.becomes(viewer.readout, usual)
        viewer.becomes(lambda: viewer.edges()["left"], "R")

    def test_report_key_brings_up_the_report(self, viewer):
        viewer.page.set_viewport_size({"width": 1000, "height": 500})
        viewer.open()
        seen = "(one) => one.getBoundingClientRect().top < innerHeight"
        viewer.key("g")
        viewer.page.wait_for_function(f"() => ({seen})(document.getElementById('report'))")


class TestAddress:
    def test_link_shows_a_colleague_the_same(self, viewer, new_page):
        viewer.open()
        viewer.press(".chip[data-view='prior']", modifiers=["Shift"])
        viewer.page.wait_for_selector(".pane[data-view='prior'][data-state='ready']")
        viewer.press(".pane[data-view='pa']", position={"x": 30, "y": 120})
        viewer.page.mouse.wheel(0, -150)
        viewer.drag((0.5, 0.5), (0.6, 0.55))
        viewer.key("i", "r", "1")
        viewer.page.wait_for_function("() => location.hash.includes('b=med,reference')")
        pass_time(viewer.page, 400)
        calm(viewer.page)
        other = OnPage(new_page(), viewer.app)
        other.page.goto(viewer.page.url)
        other.settled("one")
        other.becomes(other.shown_boxes, viewer.shown_boxes())
        for pane in (0, 1):
            other.becomes(lambda pane=pane: other.readout(pane), viewer.readout(pane))
        other.becomes(lambda: other.rect("m1"), pytest.approx(viewer.rect("m1"), abs=0.5))
        other.becomes(lambda: other.grey(0.3, 0.3), viewer.grey(0.3, 0.3))

    def test_survives_a_rerun_and_a_reload(self, viewer):
        viewer.open().key("i")
        viewer.page.wait_for_function("() => location.hash.includes('~i')")
        viewer.page.fill("input[aria-label='Notes']", "seen")
        viewer.page.keyboard.press("Enter")
        viewer.page.wait_for_function("() => document.querySelector('#runs').textContent === '2'")
        viewer.reads("inverted")
        expect(viewer.page).to_have_url(re.compile("~i"))
        viewer.page.reload()
        viewer.settled("one")
        viewer.reads("inverted")

    def test_untouched_viewer_leaves_the_address_alone(self, viewer):
        viewer.load(address="#report")
        pass_time(viewer.page, 500)
        assert viewer.page.url.endswith("?case=one#report")
        viewer.key("i")
        viewer.page.wait_for_function("() => location.hash.includes('~i')")
        viewer.key("i")
        viewer.page.wait_for_function("() => location.hash === ''")


class TestTouch:
    @pytest.fixture
    def phone(self, standing_page, app):
        page = standing_page(390, 844, has_touch=True, is_mobile=True, device_scale_factor=2)
        return OnPage(page, app).open()

    def fingers(self, viewer, *steps):
        """Move fingers: each step is a list of shares of the stage, an empty one lifts them."""
        devtools = viewer.page.context.new_cdp_session(viewer.page)
        kind = "touchStart"
        for step in steps:
            points = [dict(zip("xy", viewer.at(*point), strict=True)) for point in step]
            name = kind if step else "touchEnd"
            devtools.send("Input.dispatchTouchEvent", {"type": name, "touchPoints": points})
            kind = "touchMove"
        viewer.frame()

    def test_pinch_zooms_and_then_one_finger_moves(self, phone):
        before = phone.rect("g1")
        self.fingers(phone, [(0.4, 0.5), (0.6, 0.5)], [(0.3, 0.5), (0.7, 0.5)], [])
        twice = pytest.approx(2 * before[2], rel=0.05)
        phone.becomes(lambda: phone.rect("g1")[2], twice)
        calm(phone.page)
        after = phone.rect("g1")
        self.fingers(phone, [(0.5, 0.5)], [(0.55, 0.52)], [(0.6, 0.55)], [])
        moved = pytest.approx(after[0] + 0.1 * phone.stage()["width"], abs=2)
        phone.becomes(lambda: phone.rect("g1")[0], moved)

    def test_window_tool_for_a_finger(self, phone):
        before = phone.readout()
        phone.press("button[aria-label='Brightness and contrast']")
        self.fingers(phone, [(0.5, 0.5)], [(0.6, 0.5)], [(0.7, 0.5)], [])
        phone.until(phone.readout, lambda now: now != before)

    def test_a_finger_on_the_fitted_picture_scrolls_the_page(self, phone):
        stage = phone.page.locator(".stage")
        expect(stage).to_have_css("touch-action", "pan-y")
        phone.press("button[aria-label='Ruler']")
        expect(stage).to_have_css("touch-action", "none")

    def test_targets_are_large_enough_and_nothing_runs_over(self, phone):
        phone.press("button[aria-label='More tools']")
        calm(phone.page)
        sizes = phone.page.eval_on_selector_all(
            ".rx button, .rx select",
            """(all) => all.filter((one) => one.checkVisibility()).map((one) => {
                 const { width, height, right } = one.getBoundingClientRect();
                 return [Math.min(width, height), right, one.ariaLabel ?? one.textContent];
               })""",
        )
        assert len(sizes) > 15
        assert [name for size, _, name in sizes if size < 40] == []
        assert [name for _, right, name in sizes if right > 390] == []
        overflow = "document.documentElement.scrollWidth <= innerWidth"
        assert phone.page.evaluate(overflow)

    def test_tap_tells_a_box(self, phone):
        x, y, width, height = phone.rect("g2")
        stage = phone.stage()
        phone.page.touchscreen.tap(stage["x"] + x + width / 2, stage["y"] + y + height / 2)
        phone.says(".tip", "consolidation")
