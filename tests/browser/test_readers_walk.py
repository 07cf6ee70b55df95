"""The Readers page in a real browser: what is clicked opens as many answers as it counts."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect
from support.browser.waiting import calm
from support.review_folder import named, score_rows, write_review_set

pytestmark = pytest.mark.browser
NAME_B = "Dr. <b>B</b>: x"
PAIRS = {  # execution of readers a and b by case; process is 4 from both
    **{f"c{n}": (2, 4) for n in range(1, 4)},
    **{f"c{n}": (5, 5) for n in range(4, 9)},
    "c9": (1, 5),
}


@pytest.fixture(scope="module")
def address(start_app, tmp_path_factory):
    """Serve the real app on ten cases of one model: nine with two readers, one with none."""
    folder = tmp_path_factory.mktemp("readers")
    cases = [
        {"id": f"c{n}", "question": f"Question {n}?", "question_type": "open", "images": []}
        for n in range(1, 11)
    ]
    answers = [
        {"case": case["id"], "model": "g", "text": "An effusion.", "finish_reason": "stop"}
        for case in cases
    ]
    scores = [
        (case, "g", reader, dimension, score, comment)
        for case, pair in PAIRS.items()
        for reader, score in zip("ab", pair, strict=True)
        for dimension, score, comment in (
            ("execution", score, f"Said by {reader}"),
            ("process", 4, None),
        )
    ]
    write_review_set(
        folder,
        info={
            "name": "Read set",
            "models": named(g="Generalist"),
            "readers": named(a="Dr. A", b=NAME_B),
        },
        cases=cases,
        answers=answers,
        scores=score_rows(*scores),
    )
    return start_app(folder)


def opened(page, address, query=""):
    page.goto(f"{address}readers{query}")
    page.locator(".rx-disputes").wait_for()
    calm(page)
    return page


def browse_shows(page, title, count):
    page.wait_for_function(
        "wanted => document.querySelector('.st-key-rx_title h1')?.innerText === wanted", arg=title
    )
    page.wait_for_function(
        "count => document.querySelectorAll('.rx-card').length === count", arg=count
    )
    calm(page)


def chart(page, title):
    return page.locator("[class*='st-key-rx_chart_']", has_text=title)


def test_a_cell_of_the_map_opens_its_answers_and_back(address, new_page):
    page = opened(new_page(height=1800), address)
    cells = chart(page, "Execution: scores of both readers").locator(
        "[aria-roledescription='rect mark'][aria-label*='Score 1: 2']"
    )
    cells.first.scroll_into_view_if_needed()
    calm(page)
    assert "Answers: 3" in cells.first.get_attribute("aria-label")
    cells.first.click()
    browse_shows(page, f"Dr. A: Execution 2 and {NAME_B}: Execution 4", 3)
    chips = page.locator(".rx-chip").all_inner_texts()
    assert [chip.strip("×") for chip in chips] == [
        "Dr. A: Execution 2",
        f"{NAME_B}: Execution 4",
    ]
    page.locator(".rx-chip", has_text="Dr. A").click()
    browse_shows(page, f"{NAME_B}: Execution 4", 3)
    page.go_back()
    page.go_back()
    page.locator(".rx-disputes").wait_for()


def test_a_bubble_and_a_number_of_the_table_open_their_answers(address, new_page):
    page = opened(new_page(height=1800), address, "?dimension=execution")
    bubble = chart(page, "Execution: one reader against the other").locator(
        "[aria-roledescription='circle'][aria-label*='Score 2: 5'][aria-label*='Answers: 5']"
    )
    bubble.scroll_into_view_if_needed()
    calm(page)
    bubble.click(force=True, position={"x": 6, "y": 20})  # beside the number in it
    browse_shows(page, f"Dr. A: Execution 5 and {NAME_B}: Execution 5", 5)
    page = opened(new_page(), address)
    row = page.locator(".rx-table tr", has_text="Execution").first
    row.get_by_role("link", name="9", exact=True).first.click()
    browse_shows(page, f"Dr. A and {NAME_B}: both scored Execution", 9)
    page.go_back()
    page.locator(".rx-disputes").wait_for()
    row.get_by_role("link", name="56%", exact=True).first.click()  # same score, and within one
    browse_shows(page, f"Dr. A and {NAME_B}: same Execution score", 5)


def test_the_list_opens_the_case_within_it(address, new_page):
    page = opened(new_page(), address)
    items = page.locator(".rx-dispute")
    assert items.count() == 4
    assert re.match(r"c9\s+Generalist\s+4 points apart", items.first.inner_text())
    items.first.locator("summary").click()
    assert "Said by a" in items.first.inner_text()
    items.first.get_by_role("link").click()
    place = page.locator(".rx-place")
    expect(place).to_contain_text("1 of 4")
    expect(page).to_have_url(re.compile("case=c9"))
    expect(page).to_have_url(re.compile("disagreement=2"))


def test_a_lower_threshold_is_kept_in_the_link(address, new_page):
    page = opened(new_page(), address, "?apart=3")
    assert page.locator(".rx-dispute").count() == 1
    page.get_by_role("button", name="Decrement").or_(
        page.locator("[data-testid=stNumberInputStepDown]")
    ).first.click()
    page.wait_for_url(re.compile("apart=2.5"))


def test_on_a_phone_nothing_sticks_out(address, new_page):
    page = opened(new_page(width=390, height=844), address, "?published=1")
    wide = page.evaluate(
        "[...document.querySelectorAll('.rx-linked, .rx-dispute, .rx-scroll, .stVegaLiteChart')]"
        ".filter((part) => part.getBoundingClientRect().right > innerWidth + 1).length"
    )
    assert wide == 0
