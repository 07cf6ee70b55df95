"""A server with its set on ClickHouse: what people write, and what it says while that is away."""

from __future__ import annotations

import io
import time
from contextlib import ExitStack

import pytest
from openpyxl import load_workbook
from playwright.sync_api import expect
from support.browser.score_pad import known_reader
from support.browser.waiting import calm
from support.review_folder import RAMP, named, write_review_set
from support.small_set import CASES
from support.websocket_session import Hand

from rexview.detect import create_detectors
from rexview.detect.scan.scan import scan
from rexview.reviewset import load_review_set
from rexview.store.database_location import set_key
from rexview.ui.web.app.shell import _IN_MEMORY_ONLY as IN_MEMORY_ONLY
from rexview.ui.web.link.pages import ADDRESSES, PAGE_CASE, PAGE_SCORE
from rexview.ui.web.server.clickhouse_sets import _LOOKS_EVERY_S

pytest.importorskip("chdb", reason="chDB is not installed")
pytest.importorskip("clickhouse_connect", reason="clickhouse-connect is not installed")
pytestmark = pytest.mark.browser
TIMED_OUT = "Code: 159. DB::Exception: Timeout exceeded. (TIMEOUT_EXCEEDED)"
AWAY = "took longer than"
BOX = {"image": "i", "label": "left effusion", "box": [5, 60, 30, 30]}


@pytest.fixture(scope="module")
def tables():
    from support.clickhouse.server import ClickHouseServer

    from rexview.analysis.query.clickhouse.database import ChdbDatabase

    session = ChdbDatabase(None, "browser").session
    with ClickHouseServer(session=session, database="browser") as running:
        yield running


@pytest.fixture(scope="module")
def app(start_app, tables, tmp_path_factory):
    """The app on a set that nobody has written anything about."""
    from rexview.analysis.query.clickhouse.database import database_at
    from rexview.analysis.query.clickhouse.loading import load_set

    cases = [{**case, "images": [{**case["images"][0], "path": "one.png"}]} for case in CASES]
    texts = {"quokka": "Left pleural effusion.", "zephyr": "No effusion at all."}
    folder = write_review_set(
        tmp_path_factory.mktemp("on-tables") / "set",
        info={"name": "On tables", "models": named(quokka="Quokka", zephyr="Zephyr")},
        cases=cases,
        answers=[
            {"case": case["id"], "model": model, "text": text, "boxes": [BOX]}
            for case in cases
            for model, text in texts.items()
        ],
        pictures={"one.png": RAMP},
    )
    review_set = load_review_set(folder)
    found = scan(review_set, create_detectors(models=review_set.models))
    load_set(database_at(tables.address), set_key(review_set), review_set, found)
    data = known_reader(tmp_path_factory.mktemp("data"), "Dr. Lead")
    return start_app(folder, data=data, REXVIEW_ENGINE=tables.address)


@pytest.fixture(autouse=True)
def answering(tables):
    yield
    tables.fails = ""


def opened(page, app, case):
    page.goto(f"{app}case?sort=order&case={case}")
    page.wait_for_selector(f'[data-painted-case="{case}"]')
    calm(page)


def test_a_verdict_and_a_comment_on_a_case_that_nobody_had_touched(app, new_page):
    page = new_page(accept_downloads=True)
    opened(page, app, "c2")
    button = page.locator(
        '[data-rx-verdict="confirmed"][data-rx-failure="laterality_error"][data-rx-model="quokka"]'
    )
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Shift+N")
    comments = page.get_by_role("region", name="Comments")
    comments.get_by_role("textbox", name="Comment").fill("Look at the left side.")
    comments.get_by_role("button", name="Comment", exact=True).click()
    expect(comments.get_by_text("Look at the left side.")).to_be_visible()
    page.reload()
    page.wait_for_selector('[data-painted-case="c2"]')
    expect(button).to_have_attribute("aria-pressed", "true")

    page.goto(f"{app}browse?failure=laterality_error")
    page.get_by_role("button", name="Export", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("3 cases", exact=True)).to_be_visible()
    dialog.get_by_role("combobox").click()
    page.get_by_role("option", name="Excel", exact=True).click()
    calm(page)
    expect(dialog.get_by_role("checkbox", name="Pseudonyms")).to_be_disabled()
    dialog.get_by_role("button", name="Make the file").click()
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Download", exact=True).click()
    book = load_workbook(io.BytesIO(download.value.path().read_bytes()))
    words = str([list(sheet.iter_rows(values_only=True)) for sheet in book])
    assert "Look at the left side." in words
    assert "confirmed" in words


def test_a_case_is_scored(app, new_page):
    page = new_page()
    page.goto(f"{app}score?case=c3")
    page.locator(".rx-pad .place").wait_for()
    page.locator("[data-painted-case]").wait_for()
    case = "c3"
    expect(page.locator(".rx-pad .place")).to_have_attribute("title", case)
    calm(page)
    page.keyboard.press("4")
    page.wait_for_selector(".rx-pad .saved[data-state=saved]")
    page.keyboard.press("n")
    expect(page.locator(".rx-pad .place")).not_to_have_attribute("title", case)
    page.goto(f"{app}score?case={case}")
    page.wait_for_selector(f'.rx-pad .place[title="{case}"]')
    expect(page.locator(".rx-pad [aria-checked=true]").first).to_be_visible()


def said(hand):
    """Return what the last run said in sentences; none of it is an error of the code."""
    assert hand.elements("exception") == []
    return "\n".join(one.body for one in hand.elements("alert"))


def test_what_runs_by_itself_on_a_page_says_that_the_tables_do_not_answer(app, tables):
    with ExitStack() as opened_pages:
        parts = []
        for page in ADDRESSES.values():
            hand = opened_pages.enter_context(Hand(app.rstrip("/")))
            told = said(hand.rerun(page))
            assert AWAY not in told
            assert ("needs the whole review set in memory" in told) == (page in IN_MEMORY_ONLY)
            parts += [(hand, page, part) for part in sorted(hand.fragments())]
        tables.fails = TIMED_OUT
        time.sleep(_LOOKS_EVERY_S)  # until then a server takes the version for that which is shown
        spoke = [
            page
            for hand, page, part in parts
            if AWAY in said(hand.rerun(page, fragment=part, patience_s=10))
        ]
        assert {ADDRESSES[PAGE_CASE], ADDRESSES[PAGE_SCORE]} <= set(spoke)
        for page in ("", "case", "data"):
            assert AWAY in said(hand.rerun(page))
        tables.fails = ""
        assert AWAY not in said(hand.rerun("case"))
