"""The viewer's modules in a real browser, one by one."""

import pytest
from support.browser.viewer_modules import serve_modules
from support.browser.waiting import PATIENCE_MS


@pytest.fixture(scope="module")
def modules(browser):
    """Return a page that can import the viewer's modules."""
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    serve_modules(page)
    yield page
    context.close()
