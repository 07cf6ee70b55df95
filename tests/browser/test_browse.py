"""Overview and Browse in a real browser: what is clicked is what is shown, and back leads back."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect
from support.browser.waiting import becomes, calm
from support.review_folder import named, score_rows, write_review_set

pytestmark = pytest.mark.browser
EFFUSION = "Is there a pleural effusion, and on which side?"


def case(number, **more):
    image = {"id": "i", "path": f"{number % 3}.png", "view": "PA", "width": 256, "height": 320}
    return {
        "id": f"c{number}",
        "question": EFFUSION,
        "question_type": "open",
        "images": [image],
    } | more


def answer(number, model, side=None, **more):
    boxes = []
    if side:
        boxes = [{"image": "i", "label": f"{side} effusion", "box": [20, 180, 60, 80]}]
    text = f"There is a {side or 'small'} effusion."
    row = {"case": f"c{number}", "model": model, "text": text, "finish_reason": "stop"}
    return row | {"boxes": boxes} | more


@pytest.fixture(scope="module")
def address(start_app, tmp_path_factory):
    """Serve the real app on thirty cases: c1 and c2 with boxes on the wrong side, c3 cut off."""
    folder = tmp_path_factory.mktemp("browse")
    ramp = np.tile(np.linspace(0, 255, 256, dtype=np.uint8), (320, 1))
    pictures = {"0.png": ramp, "1.png": np.roll(ramp, 60, axis=1)}  # 2.png is missing
    cases = [case(number, category="broad_abnormality") for number in range(1, 31)]
    cases[4]["question"] = "Is <b>this</b> a nodule?"
    answers = [answer(1, "g", "left"), answer(2, "g", "left"), answer(2, "m", "right")]
    answers += [answer(3, "m", finish_reason="length")]
    answers += [answer(number, "g") for number in range(4, 31)]
    scores = [
        (f"c{number}", "g", "r", dimension, score)
        for number in (1, 2, 4)
        for dimension, score in (("process", 5), ("execution", 2 + number % 2), ("synthesis", 3))
    ]
    write_review_set(
        folder,
        info={"name": "Browser set", "models": named(g="Generalist", m="Medical 4B")},
        cases=cases,
        answers=answers,
        scores=score_rows(*scores),
        pictures=pictures,
    )
    return start_app(folder)


def wait_for_title(page, title):
    page.wait_for_function(
        "wanted => document.querySelector('.st-key-rx_title h1')?.innerText === wanted", arg=title
    )


def wait_for_cards(page, count):
    page.wait_for_function(
        "count => document.querySelectorAll('.rx-card').length === count", arg=count
    )


def wait_for_pictures(page, count):
    page.wait_for_function(
        """count => {
          const all = [...document.querySelectorAll('.rx-card img')];
          return all.filter((image) => image.complete && image.naturalWidth > 0).length >= count;
        }""",
        arg=count,
    )


def shown(page, title):
    """Wait for the title, which comes first, and then for all that follows it."""
    wait_for_title(page, title)
    calm(page)


def opened(page, address, path, title):
    page.goto(address + path)
    shown(page, title)
    return page


def shown_address(page, end):
    expect(page).to_have_url(re.compile(f"{re.escape(end)}$"))


def test_from_a_number_to_its_cases_to_one_case_and_back(address, same_page):
    page = opened(same_page, address, "", "Browser set")
    card = page.locator(".rx-failure", has_text="Laterality errors")
    card.click(position={"x": 200, "y": 40})  # nowhere in particular: the whole card is a link
    shown(page, "Laterality errors")
    page.go_back()
    shown(page, "Browser set")
    card.locator(".rx-rate a").first.click()  # and the links in it are still their own
    shown(page, "Laterality errors, Generalist")
    wait_for_cards(page, 2)
    page.locator(".rx-chip", has_text="Generalist").click()
    shown(page, "Laterality errors")
    page.locator('.rx-card[href$="case?failure=laterality_error&case=c2"]').click()
    page.wait_for_selector(".rx-place")
    shown_address(page, "/case?failure=laterality_error&case=c2")
    calm(page)
    for title in ("Laterality errors", "Laterality errors, Generalist", "Browser set"):
        page.go_back()
        shown(page, title)
    page.go_forward()
    shown(page, "Laterality errors, Generalist")


def test_cards_show_the_picture_with_boxes_over_it(address, same_page):
    page = opened(same_page, address, "browse?failure=laterality_error", "Laterality errors")
    wait_for_pictures(page, 1)
    calm(page)
    card = page.locator(".rx-card", has_text="c1")
    image, box = (card.locator(name).bounding_box() for name in ("img", "rect"))
    left = (box["x"] - image["x"]) / image["width"]
    top = (box["y"] - image["y"]) / image["height"]
    assert left == pytest.approx(20 / 256, abs=0.02)
    assert top == pytest.approx(180 / 320, abs=0.02)
    assert box["width"] / image["width"] == pytest.approx(60 / 256, abs=0.02)
    missing = page.locator(".rx-card", has_text="c2")
    expect(missing).to_contain_text("The image file does not exist.")
    expect(missing.locator("img")).to_have_count(0)


def test_text_of_a_file_is_text(address, same_page):
    page = opened(same_page, address, "browse?q=nodule", "“nodule”")
    expect(page.locator(".rx-card-question")).to_have_text("Is <b>this</b> a nodule?")


def test_headline_buttons_and_panel_change_the_link(address, same_page):
    page = opened(same_page, address, "browse", "All cases")
    head = page.locator(".rx-head", has_text="Token-limit failures")
    head.click()
    shown(page, "Token-limit failures")
    shown_address(page, "/browse?failure=token_limit")
    expect(head).to_contain_class("rx-on")
    head.click()
    shown(page, "All cases")
    expect(head).not_to_contain_class("rx-on")
    panel = page.locator(".st-key-rx_panel")
    panel.get_by_role("button", name=re.compile("^Laterality error")).click()
    shown(page, "Laterality errors")
    counts = panel.get_by_role("button", name=re.compile("^(Generalist|Medical)"))
    becomes(page, lambda: [text.split("\n")[-1] for text in counts.all_inner_texts()], ["2"])
    page.get_by_placeholder("Search questions").fill("lung nowhere")
    page.keyboard.press("Enter")
    shown(page, "Laterality errors, “lung nowhere”")
    page.get_by_role("button", name="Clear the search").click()
    shown(page, "Laterality errors")


def test_a_link_opens_in_the_same_state(address, new_page):
    first = opened(
        new_page(), address, "browse?failure=laterality_error&sort=order", "Laterality errors"
    )
    first.locator("label, button", has_text="Table").last.click()
    first.wait_for_selector("[data-testid=stDataFrame]")
    expect(first).to_have_url(re.compile("as=table"))
    second = opened(new_page(), address, first.url.removeprefix(address), "Laterality errors")
    second.wait_for_selector("[data-testid=stDataFrame]")


def test_a_row_of_the_table_opens_its_case(address, same_page):
    page = opened(same_page, address, "browse?as=table&failure=token_limit", "Token-limit failures")
    table = page.locator("[data-testid=stDataFrame]")
    expect(table.get_by_role("gridcell", name="c3", include_hidden=True)).to_be_attached()
    calm(page)  # the grid takes clicks once it has been laid out
    place = table.bounding_box()
    page.mouse.click(place["x"] + 30, place["y"] + 55)
    page.wait_for_selector(".rx-place")
    shown_address(page, "/case?failure=token_limit&case=c3")
    calm(page)
    page.go_back()
    page.wait_for_selector("[data-testid=stDataFrame]")
    expect(page).to_have_url(re.compile("as=table"))


def test_a_bar_of_a_chart_opens_its_cases(address, new_page):
    page = opened(new_page(height=1600), address, "", "Browser set")
    bars = (
        page.locator("[data-testid=stVegaLiteChart]").nth(1).locator("[aria-roledescription=bar]")
    )
    bars.first.scroll_into_view_if_needed()
    calm(page)  # a chart takes clicks once it has been drawn
    bars.first.click()
    shown(page, "weakest: Execution, Generalist")
    wait_for_cards(page, 2)
    page.go_back()
    shown(page, "Browser set")


def test_the_next_page_of_cards(address, same_page):
    page = opened(same_page, address, "browse?sort=order", "All cases")
    wait_for_cards(page, 24)
    page.get_by_role("button", name="Next page").click()
    wait_for_cards(page, 6)
    shown_address(page, "/browse?sort=order&page=2")
    page.wait_for_function(
        "() => document.querySelector('.rx-card').getBoundingClientRect().top >= 0"
    )


def test_by_keyboard(address, same_page):
    page = opened(same_page, address, "browse?failure=token_limit", "Token-limit failures")
    card = page.locator(".rx-card")
    card.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".rx-place")
    shown_address(page, "case=c3")


def test_on_a_phone_nothing_sticks_out(address, new_page):
    page = opened(new_page(width=390, height=844), address, "browse", "All cases")
    wait_for_pictures(page, 1)
    calm(page)
    wide = page.evaluate(
        "[...document.querySelectorAll('.rx-linked, .rx-card, .rx-head')]"
        ".filter((part) => part.getBoundingClientRect().right > innerWidth + 1).length"
    )
    assert wide == 0
