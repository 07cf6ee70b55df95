"""Under whose name a browser scores, where people do not sign in."""

import json

import pytest
from playwright.sync_api import expect
from support.browser.score_pad import wait_for_case, wait_saved
from support.small_set import write_set

from rexview import reviewset
from rexview.settings import Settings
from rexview.store import open_reviews
from rexview.store.database.connection import close_databases

pytestmark = pytest.mark.browser


@pytest.fixture
def folder(tmp_path):
    return write_set(tmp_path / "set")


@pytest.fixture
def address(start_app, folder, tmp_path):
    """A server on a machine that knows Ann; no browser has a name."""
    address = start_app(folder, data=tmp_path / "data")
    kept = tmp_path / "data" / "rexview"
    kept.mkdir(parents=True, exist_ok=True)
    (kept / "person.json").write_text(json.dumps({"name": "Ann"}), encoding="utf-8")
    return address


def writers(folder, kind):
    review_set = reviewset.load_review_set(folder)
    found = open_reviews(review_set, Settings(review_set=folder)).history(kind=kind)
    close_databases()
    return [row.person for row in found[::-1]]


def scorer(page):
    return page.locator(".rx-scorer:visible")


def test_the_name_of_the_machine_is_proposed_and_one_key_takes_it(address, folder, visitor):
    context = visitor()
    page = context.new_page()
    page.goto(f"{address}score?case=c1")
    field = page.get_by_label("Your name")
    expect(field).to_have_value("Ann")
    expect(page.locator(".rx-pad")).to_have_count(0)
    page.keyboard.press("Enter")
    wait_for_case(page, "c1")
    expect(scorer(page)).to_have_text("Scoring as Ann · change")
    expect(page.get_by_test_id("stTopNav")).to_contain_text("Ann")
    page.keyboard.press("4")
    wait_saved(page)
    again = context.new_page()  # a link opened in another tab
    again.goto(f"{address}score?case=c2")
    wait_for_case(again, "c2")
    expect(scorer(again)).to_have_text("Scoring as Ann · change")
    assert writers(folder, "score") == ["ann"]


def test_each_browser_has_its_own_name_and_names_used_are_offered(address, folder, visitor):
    first, second = visitor().new_page(), visitor().new_page()
    first.goto(f"{address}score?case=c1")
    first.get_by_label("Your name").fill("Bob B.")
    first.get_by_role("button", name="Continue").click()
    wait_for_case(first, "c1")
    first.keyboard.press("4")
    wait_saved(first)
    second.goto(f"{address}score?case=c1")
    expect(second.get_by_label("Your name")).to_have_value("Bob B.")  # given last on this machine
    second.get_by_label("Your name").fill("Cem")
    second.get_by_role("button", name="Continue").click()
    wait_for_case(second, "c1")
    second.keyboard.press("2")
    wait_saved(second)
    expect(scorer(first)).to_have_text("Scoring as Bob B. · change")
    first.keyboard.press("3")
    wait_saved(first)
    assert writers(folder, "score") == ["bob-b.", "cem", "bob-b."]
    third = visitor().new_page()
    third.goto(f"{address}score?case=c1")
    expect(third.get_by_label("Your name")).to_have_value("Cem")
    third.get_by_role("button", name="Bob B.").click()
    wait_for_case(third, "c1")
    expect(scorer(third)).to_have_text("Scoring as Bob B. · change")


def test_the_name_is_changed_from_the_pad(address, folder, visitor):
    context = visitor()
    page = context.new_page()
    page.goto(f"{address}score?case=c1")
    page.get_by_label("Your name").wait_for()
    page.keyboard.press("Enter")
    wait_for_case(page, "c1")
    other = context.new_page()
    other.goto(f"{address}score?case=c1")
    wait_for_case(other, "c1")
    scorer(page).get_by_role("link", name="change").click()
    page.get_by_role("button", name="Change the name").click()
    page.get_by_label("Name", exact=True).fill("Bea")
    page.get_by_role("button", name="Change", exact=True).click()
    expect(page.get_by_role("heading", name="Bea")).to_be_visible()
    page.wait_for_function("() => document.cookie.includes('=Bea')")
    page.goto(f"{address}score?case=c1")
    wait_for_case(page, "c1")
    expect(scorer(page)).to_have_text("Scoring as Bea · change")
    other.keyboard.press("4")  # this tab says Ann, and goes on as Ann
    wait_saved(other)
    expect(scorer(other)).to_have_text("Scoring as Ann · change")
    page.keyboard.press("4")
    wait_saved(page)
    assert writers(folder, "score") == ["ann", "bea"]
    assert "=Bea" in page.evaluate("document.cookie")


def test_a_verdict_is_asked_for_a_name_and_the_end_of_a_reason_takes_none(address, folder, visitor):
    page = visitor().new_page()
    page.goto(f"{address}case?case=c1")
    page.wait_for_selector('[data-painted-case="c1"]')
    page.locator("[data-rx-answer] .rx-text").first.wait_for()
    page.keyboard.press("e")
    page.keyboard.press("d")
    keep = page.locator(".rx-v-card").get_by_role("button", name="Keep as Ann")
    expect(keep).to_be_visible()
    assert writers(folder, "verdict") == []
    why = page.get_by_role("textbox", name="Why (optional)")
    why.fill("Both lungs are read.")
    why.press("Enter")
    expect(keep).to_be_focused()
    assert writers(folder, "verdict") == []
    page.keyboard.press("Enter")
    expect(page.locator(".rx-v-card")).to_be_hidden()
    page.wait_for_function("() => document.cookie.includes('=Ann')")
    expect(page.locator(".rx-v-chip")).to_be_hidden()


def test_enter_on_the_case_page_takes_the_proposed_name(address, visitor):
    page = visitor().new_page()
    page.goto(f"{address}case?case=c1")
    page.wait_for_selector('[data-painted-case="c1"]')
    page.locator("[data-rx-answer] .rx-text").first.wait_for()
    page.keyboard.press("Enter")
    page.keyboard.press("e")
    page.keyboard.press("d")
    expect(page.locator(".rx-v-card")).to_contain_text("Keep as Ann (Enter)")
    assert "=Ann" not in page.evaluate("document.cookie")
    page.keyboard.press("Enter")
    expect(page.locator(".rx-v-card")).to_be_hidden()
    page.wait_for_function("() => document.cookie.includes('=Ann')")


def test_what_a_browser_without_a_name_saw_is_recorded_under_the_name(address, folder, visitor):
    context = visitor()
    page = context.new_page()
    page.goto(f"{address}case?case=c1")
    page.locator("[data-rx-answer] .rx-text").first.wait_for()
    kept = '() => Object.values(localStorage).some((one) => one.includes(\'"kind":"seen"\'))'
    page.wait_for_function(kept)
    page.close()
    page = context.new_page()  # its session knows nothing of the first one
    page.goto(f"{address}score?case=c1")
    page.get_by_label("Your name").wait_for()
    page.keyboard.press("Enter")
    wait_for_case(page, "c1")
    expect(page.locator(".rx-pad .seen")).to_contain_text("seen")
    assert writers(folder, "reveal") == ["ann"]
