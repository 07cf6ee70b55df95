"""The other answers of a model that was asked again, on the Case page in a real browser."""

import pytest
from playwright.sync_api import expect
from support.browser.waiting import calm
from support.repeated_set import write_repeated

pytestmark = pytest.mark.browser
REPEATS = '[data-rx-answer="m"] .rx-repeats'


@pytest.fixture(scope="module")
def served(start_app, tmp_path_factory):
    return start_app(write_repeated(tmp_path_factory.mktemp("repeated") / "set"))


@pytest.fixture
def page(served, new_page):
    page = new_page()
    page.goto(f"{served}case?sort=order&case=c1")
    page.wait_for_selector('[data-painted-case="c1"]')
    calm(page)
    return page


def test_they_are_folded_away_and_say_what_differs(page):
    summary = page.locator(f"{REPEATS} summary")
    expect(summary).to_contain_text("Asked 3 times opposite sides: pleural effusion")
    other = page.locator(f"{REPEATS} .rx-again").first
    expect(other).not_to_be_visible()
    summary.click()
    expect(other).to_be_visible()
    expect(other).to_have_text("Right pleural effusion <b>!</b>")
    marks = page.locator(f"{REPEATS} mark")
    expect(marks).to_have_text(
        ["left pleural effusion", "right pleural effusion", "left pleural effusion"]
    )
    expect(page.locator('[data-rx-answer="n"] .rx-repeats')).to_have_count(0)


def test_they_turn_with_the_case(page):
    page.keyboard.press("j")
    summary = page.locator(f"{REPEATS} summary")
    expect(summary).to_contain_text("different choices: A and B")
    summary.click()
    expect(page.locator(f"{REPEATS} mark")).to_have_text(["chose A", "chose B", "no usable choice"])
    page.keyboard.press("k")
    expect(summary).to_contain_text("opposite sides")


def test_the_overview_opens_the_cases(served, new_page):
    page = new_page()
    page.goto(served)
    row = page.locator(".rx-contradicting tr", has_text="Model M")
    row.locator("td a").first.click()
    page.wait_for_url("**/browse**again=side**")
    expect(page.locator("h1")).to_contain_text("Contradicts itself: side")
    expect(page.get_by_text("c1", exact=True)).to_be_visible()
    expect(page.get_by_text("c3", exact=True)).to_have_count(0)
