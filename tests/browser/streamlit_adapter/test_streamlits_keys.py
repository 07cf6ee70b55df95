"""Streamlit's own keys do nothing on our pages: R ran the script again, C cleared its cache."""

import pytest
from playwright.sync_api import expect
from support.browser.waiting import calm, pass_time

pytestmark = pytest.mark.browser
RUNS = """() => {
  window.scriptRuns = 0;
  const app = document.querySelector('[data-testid="stApp"]');
  new MutationObserver(() => {
    if (app.dataset.testScriptState === "running") window.scriptRuns += 1;
  }).observe(app, { attributes: true, attributeFilter: ["data-test-script-state"] });
}"""


@pytest.fixture(scope="module")
def developer(start_app):
    """An app whose server is started with Streamlit's menu for developers, which has most keys."""
    return start_app(STREAMLIT_CLIENT_TOOLBAR_MODE="developer")


@pytest.mark.parametrize("address", ["", "case?case=c01", "meeting"])
def test_neither_runs_the_script_nor_asks_to_clear_a_cache(developer, new_page, address):
    page = new_page()
    page.goto(f"{developer}{address}")
    page.wait_for_selector("[data-testid=stMain] p")
    if address.startswith("case"):
        page.wait_for_selector('[data-painted-case="c01"]')
    calm(page)
    page.evaluate(RUNS)
    for key in ("r", "c", "Shift+R", "Shift+C"):
        page.keyboard.press(key)
    pass_time(page, 300)
    expect(page.get_by_role("dialog")).to_have_count(0)
    if not address.startswith("case"):  # there R shows the reference, which the address notes
        assert page.evaluate("window.scriptRuns") == 0


def test_the_viewer_takes_r_for_the_reference_as_before(developer, new_page):
    page = new_page()
    page.goto(f"{developer}case?case=c01")
    page.wait_for_selector('[data-painted-case="c01"]')
    calm(page)
    chip = page.locator('.chip[data-group="reference"]')
    expect(chip).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("r")
    expect(chip).to_have_attribute("aria-pressed", "true")


def test_a_letter_is_typed_where_words_are_typed(developer, new_page):
    page = new_page()
    page.goto(f"{developer}browse")
    field = page.get_by_role("textbox", name="Search")
    field.click()
    page.keyboard.type("rc")
    expect(field).to_have_value("rc")
