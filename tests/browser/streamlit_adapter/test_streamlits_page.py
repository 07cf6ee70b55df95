"""Streamlit's page has every id and class that our styles and scripts reach for."""

import re
from pathlib import Path

import pytest
from support.browser.waiting import until

from rexview.ui.web.streamlit_adapter.page_markup import CLASSES, TEST_IDS

pytestmark = pytest.mark.browser
APP = Path(__file__).parent / "apps" / "every_widget.py"


def test_every_id_meets_an_element(new_page, start_app):
    page = new_page()
    page.goto(start_app(script=APP))
    page.get_by_text("Keyed").wait_for()
    page.locator(".stToast").wait_for()
    page.locator(".stVegaLiteChart canvas, .stVegaLiteChart svg").first.wait_for()
    page.locator(".stVegaLiteChart").hover()
    selectors = [f".{name}" for name in sorted(CLASSES)]
    selectors += [f'[data-testid="{name}"]' for name in sorted(TEST_IDS)]
    selectors.append(".st-key-rx_keyed")
    missing = set(selectors)

    def unseen():  # some parts come late, and a toast is gone by then
        missing.difference_update(one for one in list(missing) if page.locator(one).count())
        return sorted(missing)

    until(page, unseen, lambda left: not left)  # else see ui/web/streamlit_adapter/page_markup.py


def test_the_address_leads_to_a_page_as_the_back_button_does(new_page, start_app):
    page = new_page()
    page.goto(start_app(script=APP))
    page.get_by_text("Keyed").wait_for()
    page.evaluate("""() => {
      history.pushState({}, "", "?changed=1");
      window.dispatchEvent(new PopStateEvent("popstate", { state: {} }));
    }""")
    page.wait_for_selector("[data-test-script-state=notRunning]")
    assert re.search(r"\?changed=1$", page.url)
