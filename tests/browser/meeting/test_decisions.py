"""What a meeting decides, in a real browser: kept with its history, never written over unseen."""

import json
import sqlite3
from contextlib import closing

import pytest
from playwright.sync_api import expect
from support.browser.score_pad import known_reader
from support.browser.waiting import becomes
from support.small_set import write_set

from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import Entry, open_reviews
from rexview.store.database.connection import close_databases

pytestmark = pytest.mark.browser
LEA = Person("lea", "Lea Lead", "lead")
HOSTILE = '<img src=x onerror="window.hacked=1"> **bold**'


class Server:
    """An app on a set of its own, whose database can be read."""

    def __init__(self, address, folder):
        self.address, self.folder = address, folder

    def decided(self):
        """What was decided, oldest first: case, model, value."""
        query = "SELECT case_id, model_id, value FROM history WHERE kind = 'decide' ORDER BY id"
        with closing(sqlite3.connect(self.folder / "reviews.sqlite")) as connection:
            found = connection.execute(query).fetchall()
        return [(case, model, json.loads(value)) for case, model, value in found]


@pytest.fixture
def server(start_app, tmp_path):
    folder = write_set(tmp_path / "set")
    reviews = open_reviews(load_review_set(folder), Settings())
    reviews.record(
        [
            Entry("meeting", subject="m1", value={"name": f"Chest {HOSTILE}"}),
            Entry("agenda", "c1", subject="m1", value={"place": 1}),
            Entry("agenda", "c2", subject="m1", value={"place": 2}),
            Entry("decide", "c2", subject="m1", value={"decision": "retrain", "owner": HOSTILE}),
        ],
        LEA,
    )
    close_databases()
    return Server(start_app(folder, data=known_reader(tmp_path / "data", "Ann")), folder)


def open_form(page, server, case="c1"):
    page.goto(f"{server.address}case?case={case}")
    form = page.locator(".rx-d-case .rx-d")
    expect(form).to_be_visible(timeout=60_000)
    form.scroll_into_view_if_needed()
    return form


def saved(form):
    expect(form.locator(".rx-d-status")).to_contain_text("Saved")


def test_a_decision_is_kept_with_its_history(server, visitor):
    page = visitor().new_page()
    form = open_form(page, server)
    form.get_by_label("Failure agreed on").select_option(label="No failure")
    form.get_by_role("radio", name="3").click()
    form.get_by_label("Another decision").fill("Ask the vendor")
    form.get_by_label("Owner").fill("Ben")
    form.get_by_label("Due").fill("2026-12-24")
    form.get_by_label("Notes").fill(HOSTILE)
    form.get_by_label("Notes").blur()
    saved(form)
    expect(form.get_by_role("radio", name="Ask the vendor")).to_have_attribute(
        "aria-checked", "true"
    )
    case, model, value = server.decided()[-1]
    assert (case, model) == ("c1", None)
    assert value == {
        "failure": "none",
        "severity": 3,
        "decision": "Ask the vendor",
        "owner": "Ben",
        "due": "2026-12-24",
        "done": None,
        "comment": HOSTILE,
    }
    page.reload()
    form = page.locator(".rx-d-case .rx-d")
    expect(form.get_by_label("Notes")).to_have_value(HOSTILE, timeout=60_000)
    form.locator("summary").click()
    expect(form.locator(".rx-d-history li")).to_have_count(6)
    assert page.evaluate("window.hacked") is None


def test_an_answer_has_a_decision_of_its_own(server, visitor):
    form = open_form(visitor().new_page(), server)
    answer = form.locator(".rx-d-tabs button").nth(1)
    model = answer.get_attribute("data-key")
    answer.click()
    form.get_by_role("radio", name="Exclude").click()
    saved(form)
    form.get_by_role("radio", name="The case").click()
    expect(form.get_by_role("radio", name="Exclude")).to_have_attribute("aria-checked", "false")
    assert server.decided()[-1][1:] == (model, server.decided()[-1][2])
    assert server.decided()[-1][2]["decision"] == "exclude"


def test_what_somebody_else_decided_meanwhile_is_told_and_stays(server, visitor):
    first = open_form(visitor().new_page(), server)
    open_reviews(load_review_set(server.folder), Settings()).record(
        [Entry("decide", "c1", subject="m1", value={"decision": "accept"})], LEA
    )
    close_databases()
    first.get_by_role("radio", name="Retrain").click()
    expect(first.locator(".rx-d-notice")).to_contain_text("Lea Lead decided something else")
    expect(first.locator(".rx-d-notice")).to_contain_text("Now saved: Accept")
    assert server.decided()[-1][2]["decision"] == "accept"
    first.get_by_role("button", name="Save mine").click()
    saved(first)
    expect(first.locator(".rx-d-notice")).to_be_empty()
    assert server.decided()[-1][2]["decision"] == "retrain"


def test_what_is_left_to_do_is_listed_and_marked_as_done(server, visitor):
    page = visitor().new_page()
    page.goto(f"{server.address}meeting?as=decisions")
    row = page.locator(".rx-d-list article")
    expect(row).to_have_count(1, timeout=60_000)
    expect(row).to_contain_text(HOSTILE)
    expect(row.get_by_role("link", name="c2")).to_have_attribute("href", "case?case=c2")
    row.get_by_role("checkbox").click()
    expect(row).to_have_count(0)
    assert server.decided()[-1][2]["done"] is True
    page.get_by_role("radio", name="Done").click()
    expect(row).to_have_count(1)
    row.get_by_role("button", name="Change").click()
    row.get_by_label("Notes").fill("Came back.")
    row.get_by_label("Notes").blur()
    expect(row.locator("p").filter(has_text="Came back.").first).to_be_visible()
    assert server.decided()[-1][2] == server.decided()[-2][2] | {"comment": "Came back."}
    assert page.evaluate("window.hacked") is None


def test_a_tick_that_waits_can_be_taken_back(server, visitor):
    page = visitor().new_page()
    page.goto(f"{server.address}meeting?as=decisions")
    tick = page.locator(".rx-d-list article").get_by_role("checkbox")
    expect(tick).not_to_be_checked(timeout=60_000)
    page.route("**/rexview/reviews", lambda route: route.abort())
    tick.check()
    tick.uncheck()
    page.unroute("**/rexview/reviews")
    becomes(page, lambda: [value["done"] for *_, value in server.decided()], [None, True, None])
    expect(page.locator(".rx-d-notice").first).to_be_empty()
