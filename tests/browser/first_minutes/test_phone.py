"""The app on a phone: the pages at its foot, and tables that are read without turning it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from support.browser.covered import words_under
from support.browser.waiting import calm
from support.browser.walk import walk_to

from rexview.ui.web.link.pages import PAGES

pytestmark = pytest.mark.browser
PHONE = {"width": 390, "height": 844}


def test_a_phone_has_the_pages_at_its_foot(demo, new_page):
    page = new_page(**PHONE, has_touch=True)
    page.goto(demo)
    foot = page.get_by_role("navigation", name="Pages", exact=True)
    expect(foot.get_by_role("link", name="Overview")).to_have_attribute("aria-current", "page")
    foot.get_by_text("More").tap()
    more = foot.locator("details")
    expect(more).to_have_attribute("open", "")
    page.keyboard.press("Escape")
    expect(more).not_to_have_attribute("open", "")
    foot.get_by_text("More").tap()
    page.locator("h1").tap()
    expect(more).not_to_have_attribute("open", "")
    foot.get_by_text("More").tap()
    foot.get_by_role("link", name="Failures").tap()
    expect(page.locator("h1")).to_have_text("Failures")
    expect(more).not_to_have_attribute("open", "")
    calm(page)  # the new page draws the list again
    edge = page.locator(".rx-phone-pages").bounding_box()
    assert round(edge["y"] + edge["height"]) == PHONE["height"]
    assert round(edge["width"]) == PHONE["width"]


def test_on_a_phone_comments_open_from_the_header_and_cover_nothing(demo, new_page):
    page = new_page(**PHONE, has_touch=True)
    page.goto(demo + "case?case=r10")  # with much below film and texts
    tab = page.get_by_role("button", name="Comments")
    expect(tab).to_be_visible()
    header = page.get_by_test_id("stHeader").bounding_box()
    box = tab.bounding_box()
    assert header["y"] <= box["y"] < box["y"] + box["height"] <= header["y"] + header["height"]
    page.wait_for_selector("[data-painted-case=r10]")
    page.evaluate("document.documentElement.requestFullscreen = undefined")  # as on phones
    page.keyboard.press("x")  # full screen: it stands at the foot
    page.wait_for_selector("html[data-rx-full]", state="attached")
    for width, height in ((390, 844), (1280, 720)):
        page.set_viewport_size({"width": width, "height": height})
        calm(page)
        assert words_under(page, ".rx-c-tab") == []
    tab.click()
    expect(page.locator(".rx-c-panel")).to_be_visible()


def test_a_desk_has_the_pages_at_its_top_only(demo, new_page):
    page = new_page()
    page.goto(demo)
    expect(page.get_by_role("link", name="Browse").first).to_be_visible()
    expect(page.locator(".rx-phone-pages")).to_be_hidden()


def test_on_a_phone_answers_stand_below_one_another_and_say_how_many(demo, new_page):
    page = new_page(**PHONE, has_touch=True)
    page.goto(demo + "case?case=c02")
    calm(page)
    answers = page.locator(".rx-answer")
    expect(answers).to_have_count(2)
    first, second = (answers.nth(place).bounding_box() for place in (0, 1))
    assert first["x"] == second["x"]
    assert first["y"] + first["height"] <= second["y"]
    assert first["width"] == second["width"] > 0.9 * PHONE["width"]
    expect(page.locator(".rx-nth")).to_have_text(["1 of 2", "2 of 2"])
    expect(page.locator(".rx-nth").first).to_be_visible()
    inside = page.locator(".rx-body").evaluate_all(
        "all => all.filter((one) => one.scrollHeight > one.clientHeight + 1).length"
    )
    assert inside == 0  # the page scrolls, not a box in it
    page.set_viewport_size({"width": 1280, "height": 720})
    first, second = (answers.nth(place).bounding_box() for place in (0, 1))
    assert first["x"] + first["width"] < second["x"]
    expect(page.locator(".rx-nth").first).to_be_hidden()


BY_THEMSELVES = ("stDataFrameGlideDataEditor",)
"""Streamlit's own tables scroll."""


CUT = """() => [...document.querySelectorAll('svg.marks')].flatMap((drawn) => {
  const room = drawn.getBoundingClientRect();
  return [...drawn.querySelectorAll('text')]
    .filter((text) => text.getBoundingClientRect().width > 0)
    .filter((text) => text.textContent.endsWith('…')
      || text.getBoundingClientRect().right > room.right + 3
      || text.getBoundingClientRect().left < room.left - 3)
    .map((text) => text.textContent);
})"""
"""Words of charts that are cut, by dots or by the edge."""


def test_nothing_on_a_phone_is_read_sideways_cut_or_missing(demo, new_page):
    page, missing = new_page(**PHONE, has_touch=True), []
    page.on("response", lambda one: missing.append(one.url) if one.status >= 400 else None)
    script = """known => [...document.querySelectorAll('[data-testid=stMain]'),
          ...document.querySelectorAll('[data-testid=stMain] *')]
        .filter(e => e.scrollWidth > e.clientWidth + 3 && e.clientWidth > 0)
        .filter(e => e.matches('[data-testid=stMain]') || (e.querySelector('table') &&
            /auto|scroll/.test(getComputedStyle(e).overflowX)))
        .filter(e => !known.some(name => e.closest(`.${name}`)))
        .map(e => `${e.className} ${e.scrollWidth} of ${e.clientWidth}`)"""
    found = {}
    for one in PAGES:
        walk_to(page, demo, one.address)
        calm(page)
        sideways, cut = page.evaluate(script, list(BY_THEMSELVES)), page.evaluate(CUT)
        if sideways or cut or missing:
            found[one.address] = (sideways, cut, missing.copy())
            missing.clear()
    assert found == {}
