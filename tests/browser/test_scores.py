"""The Scores page in a real browser: what is clicked opens as many answers as it counts."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect
from support.browser.waiting import calm
from support.review_folder import named, score_rows, write_review_set

pytestmark = pytest.mark.browser
SCORES = {  # case: process, execution, synthesis, language of model g; m is one lower throughout
    "c1": (5, 2, 4, 5),
    "c2": (5, 4, 5, 4),
    "c3": (4, 4, 4, 5),
    "c4": (3, 2, 2, 5),
    "c5": (5, 5, 5, 5),
}
DIMENSIONS = ("process", "execution", "synthesis", "language")


@pytest.fixture(scope="module")
def address(start_app, tmp_path_factory):
    """Serve the real app on six cases and two models; nobody scored the sixth."""
    folder = tmp_path_factory.mktemp("scores")
    cases = [
        {"id": f"c{n}", "question": f"Question {n}?", "question_type": "open", "images": [],
         "site": "North" if n < 4 else "South"}
        for n in range(1, 7)
    ]  # fmt: skip
    answers = [
        {"case": f"c{n}", "model": model, "text": "An effusion.", "finish_reason": "stop"}
        for n in range(1, 7)
        for model in "gm"
    ]
    answers[-1]["finish_reason"] = "length"
    scores = [
        (case, model, "r", dimension, score - lower)
        for case, given in SCORES.items()
        for model, lower in (("g", 0), ("m", 1))
        for dimension, score in zip(DIMENSIONS, given, strict=True)
    ]
    info = {"name": "Scored set", "models": named(g="Generalist", m="Medical")}
    write_review_set(folder, info=info, cases=cases, answers=answers, scores=score_rows(*scores))
    return start_app(folder)


def opened(page, address, query=""):
    page.goto(f"{address}scores{query}")
    page.locator(".rx-table", has_text="Table 2").wait_for()
    calm(page)
    return page


def browse_shows(page, title, count):
    """Wait until Browse shows that filter, as many cards, and says so."""
    page.wait_for_function(
        """([title, count]) =>
          document.querySelector('.st-key-rx_title h1')?.innerText === title &&
          document.querySelectorAll('.rx-card').length === count""",
        arg=[title, count],
    )
    noun = "case" if count == 1 else "cases"
    expect(page.locator(".rx-count").first).to_have_text(f"{count} {noun}")


def row(page, table, name):
    """Return a row of a table: the first model's row of a dimension, or a row by its name."""
    return page.locator(".rx-table", has_text=table).locator("tr", has_text=name).first


@pytest.mark.parametrize(
    ("column", "number", "title"),
    [
        (4, 5, "Generalist, Execution scored"),
        (5, 1, "Generalist, Execution 5"),
        (6, 2, "Generalist, Execution under 3"),
    ],
    ids=["n", "perfect", "low"],
)
def test_a_cell_opens_as_many_cases_as_it_counts(address, same_page, column, number, title):
    page = opened(same_page, address)
    cells = row(page, "Table 2", "Execution").locator("th, td")
    link = cells.nth(column).get_by_role("link")
    assert re.search(rf"\b{number}\b", link.inner_text())
    link.click()
    browse_shows(page, title, number)
    page.go_back()
    page.locator(".rx-table", has_text="Table 2").wait_for()


def test_a_segment_of_the_bars_opens_its_answers(address, new_page):
    page = opened(new_page(height=2400), address)
    chart = page.locator(".st-key-rx_chart_scores_spread")
    bars = chart.locator("[aria-roledescription=bar]")
    bars.first.wait_for()
    found = bars.evaluate_all("all => all.map(one => one.ariaLabel)")
    place = next(
        number
        for number, text in enumerate(found)
        if "Generalist" in text and "Process" in text and "Score: 5" in text
    )
    bars.nth(place).click()
    browse_shows(page, "Generalist, Process 5", 3)


def test_a_bin_of_the_gaps_opens_its_answers(address, new_page):
    page = opened(new_page(height=1800), address)
    chart = page.locator(".st-key-rx_chart_scores_chart_1")
    bars = chart.locator("[aria-roledescription=bar]")
    bars.first.wait_for()
    texts = bars.evaluate_all("all => all.map(one => one.ariaLabel)")
    wanted = [
        number
        for number, text in enumerate(texts)
        if "Gap: 3" in text and "Generalist" in text and "of" in text
    ]
    bars.nth(wanted[-1]).click()
    browse_shows(page, "Generalist, Gap 3", 1)


def test_an_answer_that_never_came_opens(address, same_page):
    page = opened(same_page, address)
    row(page, "No full answer", "Medical").get_by_role("link").last.click()
    browse_shows(page, "Token limit reached, Medical", 1)


def test_a_split_is_chosen_kept_in_the_link_and_opens_its_cells(address, new_page):
    page = opened(new_page(height=1400), address)
    box = page.locator(".st-key-scores_split")
    box.scroll_into_view_if_needed()
    box.locator("input, [role=combobox]").first.click()
    page.get_by_role("option", name="Site").click()
    page.wait_for_url(re.compile(r"split=site"))
    table = page.locator(".rx-table", has_text="Means by Site")
    table.wait_for()
    south = table.locator("tr", has_text="South").first
    assert "3 cases" in south.inner_text()  # one of them without a score
    south.locator("td").first.get_by_role("link").click()
    browse_shows(page, "Generalist, Site South, Content scored", 2)
    page.go_back()
    table.wait_for()
    page.wait_for_url(re.compile("split=site"))


def test_published_figures_on_demand(address, new_page):
    page = opened(new_page(height=1400), address)
    assert page.locator(".rx-published").count() == 0
    toggle = page.locator(".st-key-scores_published")
    toggle.scroll_into_view_if_needed()
    toggle.locator("label").first.click()
    page.locator(".rx-published").wait_for()
    page.wait_for_url(re.compile("published=1"))
    shown = page.locator(".rx-published").inner_text()
    assert "not computed here" in shown
    other = opened(new_page(), address, "?published=1")
    other.locator(".rx-published").wait_for()


def test_on_a_phone_nothing_sticks_out(address, new_page):
    page = opened(new_page(width=390, height=844), address, "?split=site&published=1")
    page.locator(".rx-published").wait_for()
    calm(page)
    wide = page.evaluate(
        "() => document.querySelector('[data-testid=stMain]').scrollWidth - innerWidth"
    )
    assert wide <= 0
