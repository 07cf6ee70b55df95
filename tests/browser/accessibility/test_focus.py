"""The focus stays where it was when the page runs anew, and comes back from what was open."""

import re

import pytest
from playwright.sync_api import expect
from support.browser.waiting import calm

pytestmark = pytest.mark.browser
OUTLINE = """(node) => {
  const { outlineStyle, outlineWidth } = getComputedStyle(node);
  return outlineStyle === "none" ? 0 : parseFloat(outlineWidth);
}"""


def opened(page, address, ready):
    page.goto(address)
    page.wait_for_selector(ready)
    calm(page)
    return page


def press(page, found, key="Enter"):
    """Press a key on an element, whose focus can be seen, and wait until the page has run."""
    found.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(found).to_be_focused()
    assert found.evaluate(OUTLINE) >= 2
    before = page.url
    page.keyboard.press(key)
    page.wait_for_function("(before) => location.href !== before", arg=before)
    calm(page)


def test_a_value_of_the_filter_keeps_the_focus_when_its_count_changes(demo, new_page):
    page = opened(new_page(), f"{demo}browse", ".rx-card")
    sidebar = page.locator("[data-testid=stSidebar]")
    value = sidebar.get_by_role("button", name=re.compile("^Laterality error")).first
    for key in ("Enter", " "):
        press(page, value, key)
        expect(value).to_be_focused()
    headline = page.locator(".rx-head").first
    press(page, headline)
    expect(headline).to_be_focused()


def test_after_the_last_chip_is_gone_the_focus_is_on_the_page(demo, new_page):
    page = opened(new_page(), f"{demo}browse?failure=laterality_error", ".rx-card")
    press(page, page.locator("a.rx-chip, .rx-chip a").first)
    expect(page.locator("[data-testid=stMain] :focus")).to_have_count(1)


def test_the_list_of_keys_gives_the_focus_back(demo, new_page):
    page = opened(new_page(), f"{demo}case?case=c01", '[data-painted-case="c01"]')
    share = page.get_by_role("button", name="Copy link")
    share.focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys").get_by_label("Close")).to_be_focused()
    page.keyboard.press("Escape")
    expect(share).to_be_focused()
    following = page.locator(".st-key-case_next button")
    press(page, following)
    expect(following).to_be_focused()
