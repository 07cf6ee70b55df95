"""The scripts of a page are asked for with its HTML, and its server is found at once."""

import pytest

from rexview.ui.web.components import collect_imports, module_address

pytestmark = pytest.mark.browser
WORKER = {module_address(name) for name in collect_imports("viewer/assets/image/worker.js")}
"""What a worker asks for when the first picture stands: it is for those that come after."""


@pytest.fixture(scope="module", params=["", "base"], ids=["root", "base path"])
def app(request, demo, start_app):
    return start_app(base_path=request.param) if request.param else demo


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("", ".rx-card"),
        ("browse", ".rx-card"),
        ("case", "[data-painted-case]"),
        ("score", ".st-key-rx_waiting_place"),
    ],
    ids=["overview", "browse", "case", "score"],
)
def test_no_script_of_ours_is_asked_for_only_when_a_page_has_run(new_page, app, address, shown):
    page, asked = new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append("connected"))
    page.goto(app + address)
    page.locator(shown).first.wait_for(state="attached")
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
    before, after = asked[: asked.index("connected")], asked[asked.index("connected") :]
    after = [url for url in after if not url.endswith(tuple(WORKER))]
    assert any("/rexview/assets/" in url for url in before)
    assert not [url for url in after if "/rexview/assets/" in url]
    assert [url for url in before if "_stcore/health" in url] == [f"{app}_stcore/health"]
    if shown == "[data-painted-case]":
        assert not [url for url in after if "/static/js/" in url]
