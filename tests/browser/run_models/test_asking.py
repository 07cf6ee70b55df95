"""Second opinions and questions, begun on their pages: real processes, a scripted server."""

import json
import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect
from support import model_server
from support.browser.waiting import calm
from support.judge.set_to_judge import opinion, write_judged

from rexview.reviewset import load_review_set
from rexview.vocab import CRITERIA, QUESTION_TAGS

pytestmark = pytest.mark.browser
KEY = "sk-secret-of-the-tests-0004"
MODEL = "gpt-5-mini"
PROPOSED = {
    "questions": [{"question": "Where does fluid <b>lie</b>?", "category": "broad_abnormality"}]
}
RATED = {
    **{name: {"score": 4, "reason": "Fine."} for name in CRITERIA},
    "risk": {"flag": False, "reason": "None."},
    "total": 16,
}
RULES = [
    {"match": "Score the question", "turns": [{"json": RATED}]},
    {"match": "Tag it on eight", "turns": [{"json": {name: [] for name in QUESTION_TAGS}}]},
    {"match": "spread over these", "turns": [{"json": PROPOSED}]},
    {"match": "a LEFT", "turns": [{"text": "I <b>cannot</b> say."}, {"json": opinion(scores=2)}]},
    {"turns": [{"json": opinion(scores=4)}]},
]


@pytest.fixture
def server():
    with model_server.started(RULES) as running:
        yield running


@pytest.fixture
def folder(tmp_path):
    return write_judged(tmp_path / "set")


@pytest.fixture
def open_page(start_app, new_page, folder, tmp_path, server):
    """Return a function that opens a page of an app, with what is asked in its link."""
    address = start_app(folder, data=tmp_path / "home", OPENAI_API_KEY=KEY)

    def open_at(path, **query):
        asked = {"run_model": MODEL, "run_at": "server", "run_url": server.base_url, **query}
        page = new_page()
        page.goto(f"{address}{path}?{urlencode(asked)}")
        page.get_by_role("heading", name="Runs").wait_for()
        calm(page)
        return page

    return open_at


def press(page, name):
    words = {"Start": "Allow sending these", "Resume": "Allow sending to"}.get(name, name)
    leave = page.get_by_test_id("stCheckbox").filter(has_text=words)
    if leave.count():  # once for each address: then it is confirmed
        leave.first.click()
        calm(page)
    page.get_by_role("button", name=re.compile(f"(^| ){name}$")).click()


def test_a_second_opinion_is_begun_and_what_cannot_be_read_is_asked_again(
    open_page, server, folder
):
    page = open_page("run", run_about="answers")
    expect(page.get_by_text("pages show it only on request")).to_be_visible()
    press(page, "Estimate")
    page.get_by_text("The first request").click()
    expect(page.get_by_test_id("stCode")).to_contain_text("second opinion on another reader")
    assert server.requests() == []
    press(page, "Start")
    run = page.locator('[class*="st-key-rx_run_"]').first
    expect(run).to_contain_text("Second opinion")
    expect(run.locator(".rx-run")).to_contain_text("4 of 4 answers")
    expect(run.locator(".rx-run-counts")).to_contain_text("3 Answered")
    expect(page.get_by_text("1 answer cannot be read")).to_be_visible()
    run.get_by_text("Answers, errors and log").click()
    unread = run.locator(".rx-run-errors")
    expect(unread).to_contain_text("case-1 (zebu-7b)")
    unread.get_by_text("Raw reply").click()
    expect(unread.locator("pre")).to_have_text("I <b>cannot</b> say.")
    assert "zebu-7b" not in set(load_review_set(folder).opinions.filter(case="case-1")["model"])
    calm(page)
    press(page, "Ask the unreadable ones again")
    expect(page.locator(".rx-run").first).to_contain_text("1 of 1 answer")
    expect(page.get_by_text("cannot be read")).to_have_count(0)
    link = page.locator(".rx-run-cases a", has_text="Failures").first
    assert f"judge={MODEL}" in link.get_attribute("href")
    assert set(load_review_set(folder).opinions["model"]) == {"zebu-7b", "okapi"}
    assert len(server.requests()) == 5


def test_questions_are_asked_for_on_the_page_that_shows_them(open_page, server, folder):
    page = open_page("curate", **{"as": "ask"}, questions_each="1")
    expect(page.get_by_text("Reports or indications of the set's studies go to")).to_be_visible()
    press(page, "Start")
    runs = page.locator('[class*="st-key-rx_run_"]')
    expect(runs).to_have_count(3)
    # not by their order: steps that begin in the same second have none
    for words, of in (
        ("Questions tagged", "questions?"),
        ("Questions scored", "questions?"),
        ("Questions proposed", "stud(y|ies)"),
    ):
        run = runs.filter(has_text=words)
        expect(run.locator(".rx-run")).to_contain_text(re.compile(rf"(\d) of \1 {of}"))
    [job] = folder.glob("curating/*/job.json")
    assert json.loads(job.read_text())["arguments"][:2] == [
        "--step=propose,rate,tag",
        "--candidates=1",
    ]
    assert KEY not in job.read_text()
    assert (
        load_review_set(folder).candidate_ratings.height
        == load_review_set(folder).candidates.height
        > 0
    )
