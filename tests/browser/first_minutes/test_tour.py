"""The tour of the demonstration, for whoever opens it for the first time."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect
from support.browser.axe import Axe
from support.browser.waiting import calm, watch

pytestmark = pytest.mark.browser
RULES = ("color-contrast", "link-name", "button-name", "aria-allowed-attr", "aria-roles")
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def newcomer(browser):
    """Return a function that opens a browser that was never here."""
    contexts = []

    def come(**options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        watch(page)
        return page

    yield come
    for context in contexts:
        context.close()


@pytest.mark.parametrize(
    "size", [{"viewport": {"width": 1440, "height": 900}}, {"viewport": PHONE, "has_touch": True}]
)
def test_the_tour_leads_from_a_number_to_a_case(demo, newcomer, size):
    page = newcomer(**size)
    page.goto(demo)
    axe = Axe(())
    tour = page.locator(".rx-tour")
    expect(tour).to_contain_text("1 of 3")
    assert axe.findings(page, *RULES) == []
    tour.get_by_role("link", name="Show laterality errors").click()
    expect(tour).to_contain_text("2 of 3")
    expect(page).to_have_url(re.compile(r"/browse\?failure=laterality_error$"))
    assert axe.findings(page, *RULES) == []
    tour.get_by_role("link", name="Open the first case").click()
    expect(tour).to_contain_text("3 of 3")
    expect(page).to_have_url(re.compile(r"/case\?failure=laterality_error"))
    page.wait_for_selector("[data-painted-case]")
    assert axe.findings(page, *RULES) == []
    if size["viewport"] is PHONE:  # the card speaks of the film, and lies above it
        card, film = tour.bounding_box(), page.locator(".stage").first.bounding_box()
        assert card["y"] + card["height"] <= film["y"]
    page.go_back()
    expect(tour).to_contain_text("2 of 3")
    page.go_forward()
    tour.get_by_role("button", name="Done").click()
    expect(tour).to_have_count(0)
    page.goto(demo)
    calm(page)
    expect(tour).to_have_count(0)


def test_who_ends_the_tour_is_not_asked_again_but_may_ask(demo, newcomer):
    page = newcomer()
    page.goto(demo)
    tour = page.locator(".rx-tour")
    tour.get_by_role("button", name="End tour").click()
    expect(tour).to_have_count(0)
    page.goto(demo + "browse")
    calm(page)
    expect(tour).to_have_count(0)
    page.goto(demo + "guide")
    page.get_by_role("link", name="Take the three-step tour").click()
    expect(tour).to_contain_text("1 of 3")


def test_who_begins_elsewhere_is_not_on_the_tour(demo, newcomer):
    page = newcomer()
    page.goto(demo + "case?case=c02")
    calm(page)
    expect(page.locator(".rx-tour")).to_have_count(0)
