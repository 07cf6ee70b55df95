"""A download that is clicked while its page runs is had: of what the page showed then."""

from pathlib import Path

import pytest
from support.browser.waiting import calm

pytestmark = pytest.mark.browser
APP = Path(__file__).parent / "apps" / "slow_run.py"


def test_a_click_while_the_page_runs_and_others_have_run_gives_the_file(
    new_page, start_app, tmp_path
):
    busy = tmp_path / "busy"
    address = start_app(script=APP, REXVIEW_TEST_BUSY=str(busy))
    page, others = new_page(accept_downloads=True), new_page()
    page.goto(address)
    page.get_by_text("Run 1", exact=True).wait_for()
    calm(page)
    busy.touch()
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector("[data-test-script-state=running]")
    others.goto(address)  # the end of its run takes away what no page names
    others.get_by_text("Run 1", exact=True).wait_for()
    calm(others)
    with page.expect_download() as download:
        page.get_by_role("button", name="File").click()
    assert download.value.path().read_text() == "of run 1"
    busy.unlink()
    page.get_by_text("Run 2", exact=True).wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="File").click()
    assert download.value.path().read_text() == "of run 2"
