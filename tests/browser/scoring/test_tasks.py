"""Readers answer, compare and correct in a real browser: kept, timed, and nothing hidden is told.

The set has a word of its own for everything that is hidden.
"""

import json
import sqlite3
from contextlib import closing

import pytest
from playwright.sync_api import expect
from support.browser.score_pad import trouble, wait_saved
from support.browser.sets_of_tests import SetsOfTests
from support.browser.traffic import assert_hidden, record
from support.review_folder import RAMP, named, write_review_set

pytestmark = pytest.mark.browser
MODELS = {"zephyr-7b": "Zephyrion Large", "quokka": "Quokkanet", "dodo": "Dodonet"}
OF_MODELS = [*MODELS, *MODELS.values()]
OF_QUESTIONS = ["Explanationword", "tagword-marmalade", "Answerword", "Reportword"]
TASKS = {"answer": "answer questions", "compare": "compare reports", "correct": "correct reports"}


def write_tasks(folder):
    """Two questions and two reports, each by three models."""
    picture = {"id": "i", "path": "one.png", "view": "PA", "width": 100, "height": 120}
    common = {
        "images": [picture],
        "tags": {"kind": ["tagword-marmalade"]},
        "report": {"findings": "Reportword."},
    }
    options = ["A. Left", "B. Right", "C. Both"]
    cases = [
        {
            "id": f"q{number}",
            "question": f"Question {number}: on which side?",
            "question_type": "choice",
            "options": options,
            "correct": 1,
            "explanation": "Explanationword.",
            **common,
        }
        for number in (1, 2)
    ]
    cases += [
        {"id": case, "question": "Report this study.", "question_type": "report", **common}
        for case in ("r1", "r2")
    ]
    answers = [
        {"case": case, "model": model, "text": f"Answerword {place}: B", "choice": place}
        for case in ("q1", "q2")
        for place, model in enumerate(MODELS)
    ]
    answers += [
        {
            "case": case,
            "model": model,
            "text": f"FINDINGS: Clear lungs. Seen by {name} ({model}). IMPRESSION: Text {place}.",
            "finish_reason": "stop",
        }
        for case in ("r1", "r2")
        for place, (model, name) in enumerate(MODELS.items())
    ]
    info = {"name": "Tasks", "notice": "Invented.", "models": named(**MODELS)}
    pictures = {"one.png": RAMP}
    return write_review_set(folder, info=info, cases=cases, answers=answers, pictures=pictures)


class Server:
    """An app on a set of its own, whose database can be read."""

    def __init__(self, address, folder, set_id):
        self.address, self.folder, self.set_id = address, folder, set_id

    def rows(self, kind):
        """The entries of a kind, oldest first: what each is about, and its value."""
        files = [*self.folder.rglob("*.sqlite")]
        if not files:
            return []
        query = "SELECT case_id, model_id, subject, value FROM history WHERE kind = ? ORDER BY id"
        with closing(sqlite3.connect(files[0])) as connection:
            found = connection.execute(query, (kind,)).fetchall()
        return [(*about, json.loads(value) if value else None) for *about, value in found]


@pytest.fixture(scope="module")
def sets(start_app, tmp_path_factory):
    return SetsOfTests(start_app, tmp_path_factory.mktemp("tasks"), "Ann")


@pytest.fixture
def server(sets):
    return Server(*sets.next(write_tasks))


def open_task(page, server, task):
    page.goto(f"{server.address}score?set={server.set_id}&task={task}")
    page.wait_for_selector(".rx-task .question p", timeout=60_000)
    page.wait_for_selector("[data-painted-case]", timeout=60_000)


def place(page):
    return page.locator(".rx-task .place").inner_text()


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def test_questions_are_answered_by_keys_and_settled_by_the_next(server, visitor):
    context = visitor()
    with record(context) as traffic:
        page = context.new_page()
        open_task(page, server, "answer")
        assert page.get_by_role("radio", name="Answer questions").is_checked()
        page.wait_for_timeout(1200)
        press(page, "b", "3")
        wait_saved(page)
        first = page.locator(".rx-task .option[aria-checked=true]")
        assert first.inner_text().split() == ["C", "Both"]
        press(page, "n")
        expect(page.locator(".rx-task .place")).to_have_text("Question 2 of 2")
        press(page, "s")
        wait_saved(page)
        traffic.look(page)
        press(page, "p")
        expect(page.locator(".rx-task .place")).to_have_text("Question 1 of 2")
        press(page, "a")
        assert "this is final" in page.locator(".rx-task .message").inner_text()
    assert_hidden(traffic, [*OF_MODELS, *OF_QUESTIONS])
    values = [value for *_, value in server.rows("choose")]
    assert [value["choice"] for value in values] == [1, 2, None]
    age = page.evaluate("performance.now()") / 1000
    assert 1 <= values[0]["seconds"] <= values[1]["seconds"] < age
    page.get_by_role("button", name="Show the right answers").click()
    page.get_by_text("Your answers and the models'").wait_for()
    assert page.locator(".rx-task .option.right").inner_text().split() == ["B", "Right"]
    assert "Explanationword" in page.locator(".rx-task").inner_text()
    press(page, "b")
    assert "was shown" in page.locator(".rx-task .message").inner_text()
    assert len(server.rows("choose")) == 3
    assert {case for case, *_ in server.rows("reveal")} == {"q1", "q2"}


def test_time_runs_only_while_the_question_is_to_be_seen(server, new_page):
    page = new_page()
    open_task(page, server, "answer")
    hide = """(hidden) => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    page.evaluate(hide, True)
    before = page.evaluate("performance.now()") / 1000
    page.wait_for_timeout(4000)
    page.evaluate(hide, False)
    press(page, "a")
    wait_saved(page)
    ((*_, value),) = server.rows("choose")
    assert value["seconds"] < before + 3, "as much as the page is old, without the time hidden"


def test_what_is_given_without_the_server_is_sent_later(server, new_page):
    page = new_page()
    open_task(page, server, "answer")
    page.route("**/rexview/reviews", lambda route: route.abort())
    press(page, "b")
    trouble(page)
    page.reload()
    page.wait_for_selector(".rx-task .option[aria-checked=true]", timeout=60_000)
    assert server.rows("choose") == []
    page.unroute("**/rexview/reviews")
    wait_saved(page)
    assert [value["choice"] for *_, value in server.rows("choose")] == [1]


def test_two_reports_are_compared_under_letters(server, visitor):
    context = visitor()
    with record(context) as traffic:
        page = context.new_page()
        open_task(page, server, "compare")
        assert place(page) == "Pair 1 of 6"
        texts = page.locator(".rx-task .pair .text")
        left, right = texts.all_inner_texts()
        assert left != right
        assert "Seen by [model] ([model])." in left
        press(page, "t", "b")
        page.locator(".rx-task textarea").fill("Side is wrong in A")
        press(page, "Escape", "n")
        expect(page.locator(".rx-task .place")).to_have_text("Pair 2 of 6")
        press(page, "s")
        wait_saved(page)
        traffic.look(page)
    assert_hidden(traffic, [*OF_MODELS, "Reportword", "tagword-marmalade"])
    rows = server.rows("prefer")
    assert [value["preferred"] for *_, value in rows] == ["tie", "second", "second", None]
    assert [value["comment"] for *_, value in rows] == [None, None, "Side is wrong in A", None]
    numbers = dict(zip(MODELS, ("Text 0", "Text 1", "Text 2"), strict=True))
    assert numbers[rows[0][3]["first"]] in left
    assert numbers[rows[0][3]["second"]] in right
    assert rows[0][0] != rows[3][0], "the second pair is of another case"


def test_a_comment_typed_before_the_choice_waits_for_it(server, new_page):
    page = new_page()
    open_task(page, server, "compare")
    words = page.locator(".rx-task textarea")
    words.fill("Side is wrong in A")
    page.get_by_role("button", name="Radiologist's report").click()
    page.get_by_role("button", name="Show it").click()
    page.get_by_text("Reportword").wait_for()
    expect(words).to_have_value("Side is wrong in A")
    press(page, "n")
    expect(page.locator(".rx-task .place")).to_have_text("Pair 2 of 6")
    expect(words).to_have_value("")
    press(page, "p")
    expect(words).to_have_value("Side is wrong in A")
    assert server.rows("prefer") == []
    press(page, "b")
    wait_saved(page)
    ((*_, value),) = server.rows("prefer")
    assert value["comment"] == "Side is wrong in A"


def test_a_report_is_corrected_line_by_line(server, visitor):
    context = visitor()
    with record(context) as traffic:
        page = context.new_page()
        open_task(page, server, "correct")
        press(page, "y", "s")
        page.keyboard.type(" Twice.")
        press(page, "Enter", "f")
        assert "severity" in page.locator(".rx-task .message").inner_text()
        press(page, "3", "ArrowDown", "i")
        page.keyboard.type("Right effusion.")
        press(page, "Enter", "4")
        page.get_by_label("Kind of error").select_option("missing_finding")
        press(page, "ArrowUp", "d", "u", "f")
        expect(page.locator(".rx-task .tally")).to_have_text("1 finished")
        wait_saved(page)
        traffic.look(page)
    assert_hidden(traffic, [*OF_MODELS, "Reportword", "tagword-marmalade"])
    newest = {subject: value for _, _, subject, value in server.rows("edit")}
    assert {place: value and value["action"] for place, value in newest.items()} == {
        "1": "keep",
        "2": "substitute",
        "3": None,
        "3+1": "insert",
    }
    assert newest["2"]["edited"].endswith("Twice.")
    assert (newest["2"]["severity"], newest["3+1"]["severity"]) == (3, 4)
    assert newest["3+1"]["kind"] == "missing_finding"
    ((_, model, _, value),) = server.rows("corrected")
    assert value == {"done": True}
    assert MODELS[model] in newest["2"]["original"]
    press(page, "s")
    assert "open it again" in page.locator(".rx-task .message").inner_text()
    page.get_by_role("button", name="Keep as reference").click()
    page.get_by_text("Your corrected report is kept").wait_for()
    ((case, *_, value),) = server.rows("reference")
    assert value["findings"].startswith("Clear lungs.")
    assert value["impression"].endswith("Right effusion.")
    assert case in ("r1", "r2")


def test_the_report_is_shown_when_asked_for_and_that_is_recorded(server, new_page):
    page = new_page()
    open_task(page, server, "correct")
    press(page, "ArrowDown", "g")
    assert server.rows("reveal") == []
    page.get_by_role("button", name="Show it").click()
    page.get_by_text("Reportword").wait_for()
    assert page.locator(".rx-task [data-current]").get_attribute("data-place") == "2"
    ((*_, value),) = server.rows("reveal")
    assert value == {"what": "report"}


def test_tasks_are_changed_above_the_film_and_stand_in_the_link(server, new_page):
    page = new_page()
    open_task(page, server, "compare")
    press(page, "n")
    expect(page.locator(".rx-task .place")).to_have_text("Pair 2 of 6")
    for name, noun in (("Correct reports", "Report"), ("Answer questions", "Question 1")):
        page.get_by_text(name, exact=True).click()  # at once: the page has not followed yet
        expect(page.locator(".rx-task .place").filter(has_text=noun)).to_be_visible()
        expect(page.locator(".rx-pad")).to_have_count(1)  # Streamlit drops the last one later
    page.get_by_text("Score answers", exact=True).click()
    page.wait_for_selector(".rx-pad .row.current")
    assert "task=" not in page.url
