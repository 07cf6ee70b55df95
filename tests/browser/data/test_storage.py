"""A set in S3 storage in a browser: opened, looked at, the storage killed and back again."""

import re

import pytest
from playwright.sync_api import expect
from support.browser.waiting import until
from support.small_set import CASES, write_set

from bench.remote import S3_VARIABLES

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(start_app, s3_server):
    folder = s3_server.folder / "shown" / "small set"
    folder.mkdir(parents=True)
    write_set(folder, cases=[*CASES, CASES[0] | {"id": "c4", "images": [IMAGE]}])
    (folder / "images" / "two.png").write_bytes((folder / "images" / "one.png").read_bytes())
    variables = {**S3_VARIABLES, "AWS_ENDPOINT_URL": s3_server.url}
    return start_app(REXVIEW_SET="s3://shown/small set/", **variables)


IMAGE = {"id": "i", "path": "two.png", "view": "PA", "width": 100, "height": 120}


def test_it_is_looked_at_while_its_storage_dies_and_comes_back(new_page, address, s3_server):
    page = new_page()
    page.goto(f"{address}data")
    expect(page.get_by_text("s3://shown/small set/").first).to_be_visible()
    s3_server.stop()
    try:
        page.goto(f"{address}case?case=c4")
        expect(page.get_by_text("Question 1: is there an effusion?").first).to_be_visible()
        expect(page.locator(".notice").first).to_contain_text(
            re.compile("s3://shown (cannot be reached|does not answer)|The connection to")
        )
        assert "test-secret" not in page.content()
    finally:
        s3_server.start()

    def try_again():
        again = page.get_by_role("button", name="Try again")
        if again.is_visible():
            again.click()
        return page.locator(".pane[data-state='ready']").count()

    until(page, try_again, bool)
    page.goto(f"{address}browse")
    expect(page.get_by_text("c4", exact=True).first).to_be_visible()
