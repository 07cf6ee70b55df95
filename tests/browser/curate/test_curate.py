"""A radiologist curates in a real browser: by key, kept whatever happens, nothing told early."""

import json
import sqlite3
from contextlib import closing

import pytest
from playwright.sync_api import expect
from support.browser.held_messages import lose_first
from support.browser.score_pad import trouble, wait_saved
from support.browser.sets_of_tests import SetsOfTests
from support.browser.traffic import assert_hidden, record
from support.browser.waiting import until
from support.curation.candidate_set import CANDIDATES, RATINGS, candidate, write_candidate_set

pytestmark = pytest.mark.browser
HOSTILE = '<img src=x onerror="window.hacked=1"> "quoted" {{7*7}} **bold**?'
REASON = "Reasonword of the model."
RATED = [
    {**one, "stated_total": 13 if one["candidate"] == "q-low" else None, "comment": REASON}
    for one in RATINGS
    if one["source"] == "model"
]


class Server:
    """An app on a set of its own, whose database can be read."""

    def __init__(self, address, folder, set_id):
        self.address, self.folder, self.set_id = address, folder, set_id

    def rows(self, kind):
        """The values of the entries of a kind with what they are about, oldest first."""
        files = [*self.folder.rglob("*.sqlite")]
        query = "SELECT case_id, subject, value FROM history WHERE kind = ? ORDER BY id"
        with closing(sqlite3.connect(files[0])) as connection:
            found = connection.execute(query, (kind,)).fetchall()
        return [(*about, json.loads(value) if value else None) for *about, value in found]


@pytest.fixture(scope="module")
def sets(start_app, tmp_path_factory):
    return SetsOfTests(start_app, tmp_path_factory.mktemp("curate"), "Ann")


@pytest.fixture
def server(sets):
    given = [*CANDIDATES, candidate("c3", "q-hostile", HOSTILE)]
    tables = {"candidates": given, "candidate_ratings": RATED, "selections": []}
    return Server(*sets.next(lambda folder: write_candidate_set(folder, **tables)))


def open_curate(page, server, case="c1", **query):
    more = "".join(f"&{name}={value}" for name, value in query.items())
    page.goto(f"{server.address}curate?set={server.set_id}&case={case}{more}")
    page.wait_for_selector(".rx-desk .candidate", timeout=60_000)
    page.wait_for_selector(f'[data-painted-case="{case}"]', timeout=60_000)


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def current(page):
    return page.locator(".rx-desk .candidate[data-current]")


def test_a_models_scores_are_nowhere_before_the_own_ones(server, visitor):
    context = visitor()
    with record(context) as traffic:
        page = context.new_page()
        open_curate(page, server)
        expect(current(page)).to_contain_text("hidden until you have scored")
        press(page, "n")
        page.wait_for_selector('[data-painted-case="c2"]')
        page.locator('[data-candidate="q-same"] .asked').click()
        press(page, "4")
        wait_saved(page)
        traffic.look(page)
    assert_hidden(traffic, [REASON, "Reasonword"])
    press(page, "s")  # scores were begun
    expect(page.locator(".rx-desk .message")).to_contain_text("Score all four")
    press(page, *"434")
    expect(current(page)).to_contain_text(REASON)


def test_five_keys_score_and_choose_and_the_counts_follow_at_once(server, new_page):
    page = new_page()
    open_curate(page, server)
    assert page.locator(".rx-desk .candidate").count() == 4
    expect(current(page)).to_have_attribute("data-candidate", "q-low")
    counted = page.evaluate(
        """() => {
            const key = { key: "y", bubbles: true, composed: true };
            document.body.dispatchEvent(new KeyboardEvent("keydown", key));
            return document.querySelector(".coverage b").textContent;
        }"""
    )
    assert counted == "1 chosen"  # in the same moment, before any server was asked
    press(page, *"4435")
    wait_saved(page)
    expect(current(page)).to_contain_text(REASON)
    expect(current(page)).to_contain_text("you 16 · model 11 · the model stated 13 of 20")
    expect(current(page)).to_contain_text("Risk (model)")
    assert server.rows("select")[-1][2]["decision"] == "chosen"
    assert [value["clarity"] for *_, value in server.rows("rate")][-1] == 5
    expect(page.locator('.coverage [data-category="broad_abnormality"] b')).to_have_text("1")


def test_what_is_given_survives_a_reload_and_is_undone_by_key(server, new_page):
    page = new_page()
    open_curate(page, server)
    press(page, "x", "ArrowDown", "e")
    page.keyboard.type(" Say how sure you are.")
    press(page, "Escape")
    wait_saved(page)
    press(page, "t")
    page.locator(".tag-form input").first.fill("Pleura; Lung base")
    press(page, "Enter", "w")
    page.keyboard.type("Is it a skin fold?")
    press(page, "Control+Enter", "y")
    wait_saved(page)
    page.reload()
    page.wait_for_selector(".rx-desk .candidate", timeout=60_000)
    cards = page.locator(".rx-desk .candidate")
    expect(cards).to_have_count(5)
    expect(cards.nth(0)).to_have_attribute("data-decision", "rejected")
    expect(cards.nth(1)).to_contain_text("Say how sure you are.")
    expect(cards.nth(1)).to_contain_text("As proposed:")
    cards.nth(1).click()
    expect(current(page)).to_contain_text("Pleura · Lung base")
    press(page, "h")
    expect(current(page).locator(".history")).to_contain_text("Ann")
    expect(current(page).locator(".history")).to_contain_text("“Pleura, Lung base”")
    expect(cards.nth(4)).to_contain_text("Is it a skin fold?")
    expect(cards.nth(4)).to_have_attribute("data-decision", "chosen")
    press(page, "y")
    expect(current(page)).to_have_attribute("data-decision", "chosen")
    press(page, "u")
    expect(page.locator('.rx-desk .candidate[data-decision="chosen"]')).to_have_count(1)
    wait_saved(page)
    assert server.rows("select")[-1][2]["decision"] is None


def test_what_is_typed_is_there_in_a_tab_opened_after_a_crash(server, visitor):
    context = visitor()
    page = context.new_page()
    open_curate(page, server)
    press(page, "e")
    page.keyboard.type(" And the heart?")
    page = context.new_page()  # as after a crash: the first one is not told
    open_curate(page, server)
    field = page.locator(".rx-desk .typed textarea").first
    expect(field).to_have_value("What is in the left apex? And the heart?")
    field.focus()
    press(page, "Escape")
    wait_saved(page)
    assert server.rows("select")[-1][2]["question"] == "What is in the left apex? And the heart?"


def test_a_comparison_is_not_chosen_where_nothing_can_be_compared(server, new_page):
    page = new_page()
    open_curate(page, server)
    page.locator('[data-candidate="q-compare"] .asked').click()
    expect(current(page)).to_contain_text("Cannot be chosen")
    press(page, "y")
    expect(page.locator(".rx-desk .message")).to_contain_text("Cannot be chosen")
    expect(current(page)).not_to_have_attribute("data-decision", "chosen")
    open_curate(page, server, "c2")
    page.locator('[data-candidate="q-compare"] .asked').click()
    press(page, "y")
    expect(current(page)).to_have_attribute("data-decision", "chosen")


def test_two_windows_learn_of_each_other_and_nothing_is_undone_unseen(server, visitor):
    first, second = visitor().new_page(), visitor().new_page()
    for page in (first, second):
        open_curate(page, server)
    press(first, "y")
    wait_saved(first)
    press(second, "x")
    expect(second.locator(".rx-desk .returned")).to_contain_text("Another window had saved")
    expect(current(second)).to_have_attribute("data-decision", "chosen")
    second.get_by_role("button", name="Save mine").click()
    expect(current(second)).to_have_attribute("data-decision", "rejected")
    wait_saved(second)
    expect(current(first)).to_have_attribute("data-decision", "rejected", timeout=30_000)


def test_a_form_left_alone_undoes_nothing_and_what_was_not_taken_is_kept(server, visitor):
    first, second = visitor().new_page(), visitor().new_page()
    for page in (first, second):
        open_curate(page, server)
    press(first, "e")  # and nothing is typed
    press(second, "e")
    second.keyboard.type(" And the heart?")
    press(second, "Escape")
    wait_saved(second)
    asked = first.locator(".rx-desk .candidate[data-current] .asked")
    expect(asked).to_contain_text("And the heart?", timeout=30_000)
    press(first, "Escape", "y")
    wait_saved(first)
    assert server.rows("select")[-1][2]["question"].endswith("And the heart?")
    press(second, "x")
    again = second.get_by_role("button", name="Save mine")
    expect(again).to_be_visible()
    press(second, "n")
    second.wait_for_selector('[data-painted-case="c2"]')
    expect(again).to_have_count(0)  # it is of another study
    press(second, "p")
    again.click()
    given = second.locator('[data-candidate="q-low"]')
    expect(given).to_have_attribute("data-decision", "rejected")
    wait_saved(second)
    assert server.rows("select")[-1][2]["decision"] == "rejected"


def test_counts_are_right_on_going_back_and_seen_scores_stay_seen(server, new_page):
    page = new_page()
    open_curate(page, server)
    press(page, "y", "n")
    page.wait_for_selector('[data-painted-case="c2"]')
    wait_saved(page)
    counted = page.evaluate(
        """() => {
            const key = { key: "p", bubbles: true, composed: true };
            document.body.dispatchEvent(new KeyboardEvent("keydown", key));
            return document.querySelector(".rx-desk .coverage b").textContent;
        }"""
    )
    assert counted == "1 chosen"
    page.locator('[data-candidate="q-low"] .asked').click()
    press(page, *"4444")
    expect(current(page)).to_contain_text(REASON)
    past = current(page).locator(".history li")
    before = past.count()
    press(page, "u", "u")
    wait_saved(page)
    until(page, past.count, lambda count: count > before)  # the page has shown it anew
    expect(current(page)).to_contain_text(REASON)
    press(page, *"1111")
    wait_saved(page)
    assert server.rows("rate")[-1][2]["after_model"] is True


def test_the_models_scores_come_though_a_run_of_the_page_loses_the_wish_for_them(server, new_page):
    page = new_page()
    lost = lose_first(page, lambda message: b"refresh" in message, 2)
    open_curate(page, server)
    press(page, *"4444")
    wait_saved(page)
    until(page, lambda: len(lost), lambda count: count == 2)
    expect(current(page)).to_contain_text(REASON)


def test_without_the_server_it_waits_here_and_is_sent_later(server, visitor):
    context = visitor()
    page = context.new_page()
    open_curate(page, server)
    context.route("**/rexview/reviews", lambda route: route.abort())
    press(page, "y")
    assert "cannot be reached" in trouble(page)
    expect(current(page)).to_have_attribute("data-decision", "chosen")
    context.unroute("**/rexview/reviews")
    wait_saved(page)
    assert server.rows("select")[-1][2]["decision"] == "chosen"


def test_turning_shows_film_and_questions_of_one_study_and_words_are_only_words(server, new_page):
    page = new_page()
    open_curate(page, server)
    press(page, "n", "n")
    page.wait_for_selector('[data-painted-case="c3"]')
    expect(page.locator(".rx-desk .place")).to_have_text("Study 3 of 4")
    expect(page.locator('[data-candidate="q-hostile"] .asked')).to_have_text(HOSTILE)
    assert page.evaluate("window.hacked === undefined")
    page.locator('[data-candidate="q-hostile"] .asked').click()
    press(page, "e")
    page.keyboard.type("<script>window.hacked = 2</script>")
    press(page, "Escape", "h")
    wait_saved(page)
    expect(current(page).locator(".history")).to_contain_text("<script>")
    assert page.evaluate("window.hacked === undefined")


def test_a_study_that_the_page_had_to_be_asked_for_is_not_left_dimmed(server, visitor):
    context = visitor()
    context.route("**/rexview/cases**", lambda route: route.abort())
    page = context.new_page()
    open_curate(page, server)
    press(page, "n")
    expect(page.locator(".rx-desk.turning")).to_have_count(1)
    page.wait_for_selector('[data-painted-case="c2"]')
    expect(page.locator(".rx-desk.turning")).to_have_count(0, timeout=5_000)


def test_on_a_phone_nothing_is_wider_than_the_screen(server, new_page):
    page = new_page(width=390, height=844, has_touch=True)
    open_curate(page, server)
    page.locator(".rx-desk .candidate[data-current]").get_by_role("button", name="Edit").tap()
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
