"""Following in real browsers: nothing unrevealed gets there, and a restart ends no meeting."""

import re

import pytest
from playwright.sync_api import expect
from support.browser.names import name_browsers
from support.browser.traffic import assert_hidden, record
from support.browser.waiting import becomes

from bench.meeting import MEETING, MeetingServer

pytestmark = pytest.mark.browser
_SHORTEST = 25


@pytest.fixture(params=[False])
def server(request, tmp_path):
    server = MeetingServer(tmp_path, 3, own_secret=request.param)
    name_browsers(server.url, "Presenter")
    with server:
        yield server


def sentences(*texts):
    parts = (part.strip(" -*#") for text in texts for part in re.split(r"[.;:\n|]+", text or ""))
    return [part for part in parts if len(part) >= _SHORTEST and part.isascii()]


def open_at(page, server, view):
    page.goto(f"{server.url}/meeting?meeting={MEETING}&as={view}")
    page.locator(".rx-present").wait_for()


def wait_for_step(page, case, step):
    page.locator(f'.rx-present[data-case="{case}"][data-step="{step}"]').wait_for()


def test_a_followers_browser_gets_nothing_before_it_is_revealed(server, visitor):
    review_set = server.review_set
    first, second, third = server.cases
    models = [one for model in review_set.models for one in (model.name, f'"{model.id}"')]
    readers = list(review_set.reader_names.values())
    report = review_set.case(first).report
    later = [answer.text for case in (second, third) for answer in review_set.answers_of(case)]
    lead = visitor().new_page()
    open_at(lead, server, "present")
    context = visitor()
    with record(context) as traffic:
        follower = context.new_page()
        open_at(follower, server, "follow")
        answers = sentences(*(one.text for one in review_set.answers_of(first)))
        wait_for_step(follower, first, "question")
        for step in ("answers", "boxes"):
            lead.keyboard.press("PageDown")
            wait_for_step(follower, first, step)
        traffic.look(follower)
    hidden = [
        *models,
        *readers,
        *sentences(report.findings, report.impression, *later),
        review_set.case(second).question,
        f'"{second}"',
        str(server.review_set.folder),
    ]
    assert_hidden(traffic, hidden)
    assert traffic.find(answers), "what was revealed is found by the same search"


@pytest.mark.parametrize("server", [True], indirect=True, ids=["new secret"])
def test_a_meeting_goes_on_where_it_was_when_a_server_without_a_secret_starts_anew(server, visitor):
    first = server.cases[0]
    lead, follower = visitor().new_page(), visitor().new_page()
    open_at(lead, server, "present")
    open_at(follower, server, "follow")
    wait_for_step(follower, first, "question")
    lead.keyboard.press("PageDown")
    wait_for_step(follower, first, "answers")
    server.restart()
    lead.keyboard.press("PageDown")  # whether its page has been loaded anew by then or not
    wait_for_step(follower, first, "boxes")
    wait_for_step(lead, first, "boxes")


def test_who_follows_is_back_after_a_lost_request_and_takes_over_with_the_agenda(server, visitor):
    first, second, _ = server.cases
    lead, follower = visitor().new_page(), visitor().new_page()
    open_at(lead, server, "present")
    open_at(follower, server, "follow")
    wait_for_step(follower, first, "question")
    follower.route("**/rexview/meeting/*/case?case=*", lambda one: one.abort(), times=1)
    lead.keyboard.press("PageDown")
    wait_for_step(follower, first, "answers")
    follower.get_by_role("button", name="Ask to present").click()
    lead.get_by_role("button", name="Hand over").click()
    expect(follower.get_by_role("button", name="Next case")).to_be_visible()

    def listed():
        follower.keyboard.press("g")
        found = follower.get_by_role("dialog", name="Cases").get_by_text(second).count()
        follower.keyboard.press("g")
        return found

    becomes(follower, listed, 1)
    follower.keyboard.press("j")
    wait_for_step(lead, second, "question")
