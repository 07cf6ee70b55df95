"""Thirty models: every page stays short, and all models are one press or a search away."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from support.browser.waiting import calm

from bench.made_set import MadeSet, make_set
from bench.made_set.writing import make_reports

pytestmark = pytest.mark.browser
MODELS, MOST_PIXELS = 30, 6_000
PAGES = {
    "": ".rx-failures",
    "failures": ".st-key-failures_rates .rx-table",
    "scores": ".st-key-scores_lost .rx-table",
    "case": ".rx-answers",
    "browse": ".rx-cards",
    "choices": ".st-key-choices_accuracy .rx-table",
    "readers": ".rx-disputes",
}
"""What each page has when it is there."""


@pytest.fixture(scope="module")
def address(start_app, tmp_path_factory):
    """Serve a made set of thirty models."""
    folder = tmp_path_factory.mktemp("many") / "set"
    make_set(MadeSet(200, MODELS, pictures=4), folder)
    return start_app(folder)


@pytest.fixture(scope="module")
def of_reports(start_app, tmp_path_factory):
    """Serve a made set of generated reports of thirty models, with their metrics."""
    folder = tmp_path_factory.mktemp("many_reports") / "set"
    make_reports(folder, 60, MODELS)
    return start_app(folder)


@pytest.mark.parametrize("name", PAGES)
def test_no_page_is_longer_than_can_be_scrolled_through(same_page, address, name):
    assert _height(same_page, f"{address}{name}", PAGES[name]) <= MOST_PIXELS


@pytest.mark.parametrize(("name", "has"), [("reports", ".rx-board"), ("case", ".rx-answers")])
def test_no_page_of_generated_reports_is_longer(same_page, of_reports, name, has):
    assert _height(same_page, f"{of_reports}{name}", has) <= MOST_PIXELS


def _height(page, address, has):
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(address)
    page.locator(has).first.wait_for()
    calm(page)
    return page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")


def test_all_models_are_a_press_or_a_search_away(same_page, address):
    page = same_page
    page.goto(f"{address}scores")
    table = page.locator(".st-key-scores_table_1 table")
    rows = table.locator("tbody tr:visible")
    expect(rows).to_have_count(6)
    expect(table).to_contain_text("First 3 and last 3 of 30 models, ranked by Content.")
    calm(page)
    table.get_by_role("button", name="Show all 30").click()
    expect(rows).to_have_count(MODELS)
    table.get_by_role("button", name="Show fewer").click()
    expect(rows).to_have_count(6)
    search = table.get_by_role("searchbox", name="Search 30 models")
    search.fill("model 17")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("Made model 17")
    search.fill("nobody")
    expect(rows).to_have_count(0)
    expect(table.get_by_role("status")).to_have_text("No name matches.")
    search.fill("")
    expect(rows).to_have_count(6)


def test_columns_are_ranked_likewise(same_page, address):
    page = same_page
    page.goto(address)
    table = page.locator(".st-key-overview_others table")
    heads = table.locator("thead th:visible")
    expect(heads).to_have_count(6)
    calm(page)
    table.get_by_role("button", name="Show all 30").click()
    expect(heads).to_have_count(MODELS)
