"""An expert reads the sample of multiple choice questions in a real browser."""

import json
import sqlite3
from contextlib import closing

import pytest
from playwright.sync_api import expect
from support.browser.score_pad import known_reader, wait_saved
from support.review_folder import RAMP, write_review_set

from rexview.curation.choice.validation import CHECKS

pytestmark = pytest.mark.browser
HOSTILE = '<img src=x onerror="window.hacked=1"> {{7*7}} **bold**?'


def case(number):
    """A study with a picture and a report."""
    return {
        "id": f"c{number}",
        "question": "Report.",
        "study_id": f"s{number}",
        "report": {"findings": f"Finding of study {number}."},
        "images": [{"id": "now", "path": "one.png", "view": "PA"}],
    }


def question(number):
    """A question of one of two studies."""
    return {
        "case": f"c{number % 2 + 1}",
        "candidate": f"m-{number:012x}",
        "question": f"Which finding is present, {HOSTILE}",
        "question_type": "choice",
        "category": "presence_assessment",
        "options": ["Effusion", "Mass", HOSTILE, "Fracture"],
        "correct": 1,
        "explanation": "It is dense.",
        "source": "model",
        "by": "writer",
    }


def checks(number):
    """Rows of all checks: passed, but for one that nobody could tell."""
    about = {"case": f"c{number % 2 + 1}", "candidate": f"m-{number:012x}"}
    told = {**about, "source": "rule", "by": "rules"}
    return [
        {
            **told,
            "check": check,
            "passed": None if check == "invented" else True,
            "comment": HOSTILE,
        }
        for check in CHECKS
    ]


def made(tmp_path, many=30):
    """A set with so many questions of two studies, so that three are sampled."""
    return write_review_set(
        tmp_path / "set",
        pictures={"one.png": RAMP},
        info={"name": "Set"},
        cases=[case(1), case(2)],
        candidates=[question(number) for number in range(many)],
        validations=[row for number in range(many) for row in checks(number)],
    )


@pytest.fixture
def server(start_app, tmp_path):
    folder = made(tmp_path)
    return start_app(folder, data=known_reader(tmp_path / "data", "Ann")), folder


def said(folder):
    """What was written on questions, oldest first: candidate and value."""
    [file] = folder.rglob("*.sqlite")
    query = "SELECT subject, value FROM history WHERE kind = 'validate' ORDER BY id"
    with closing(sqlite3.connect(file)) as connection:
        found = connection.execute(query).fetchall()
    return [(about, json.loads(value) if value else None) for about, value in found]


def test_questions_are_judged_by_key_and_the_shares_follow(server, new_page):
    address, folder = server
    page = new_page()
    page.goto(f"{address}curate?as=choice")
    page.wait_for_selector(".rx-sample .question[data-current]", timeout=60_000)
    first = page.locator(".rx-sample .question[data-current]")
    expect(first).to_contain_text("marked as right")
    expect(first).to_contain_text(HOSTILE)
    expect(first).to_contain_text("22 checks passed, 1 undecided")
    expect(page.locator(".rx-sample .shares")).to_contain_text("Read 0 of 3, drawn from 30")
    name = first.get_attribute("data-candidate")
    page.keyboard.press("1")
    page.keyboard.press("e")
    page.keyboard.type("Both fit.")
    page.keyboard.press("Escape")
    expect(first).to_have_attribute("data-judged", "bad")
    wait_saved(page)
    expect(page.locator(".rx-sample .shares")).to_contain_text("Read 1 of 3")
    row = page.locator(".shares tbody tr", has_text="More than one option is right")
    expect(row).to_contain_text("1 of 1")
    expect(row).to_contain_text("10.8 %")
    assert said(folder)[-1] == (
        name,
        {"passed": False, "defect": "several_valid", "comment": "Both fit."},
    )
    page.reload()
    page.wait_for_selector(".rx-sample .question[data-current]", timeout=60_000)
    there = page.locator(f'.rx-sample [data-candidate="{name}"]')
    if there.count() == 0:
        page.keyboard.press("p")
    expect(there).to_have_attribute("data-judged", "bad")
    expect(there).to_contain_text("Both fit.")
    assert page.evaluate("window.hacked") is None


def test_a_word_is_taken_back_and_undone(server, new_page):
    address, folder = server
    page = new_page()
    page.goto(f"{address}curate?as=choice")
    page.wait_for_selector(".rx-sample .question[data-current]", timeout=60_000)
    name = page.locator(".rx-sample .question[data-current]").get_attribute("data-candidate")
    there = page.locator(f'.rx-sample [data-candidate="{name}"]')
    page.keyboard.press("4")
    expect(there).to_have_attribute("data-judged", "bad")
    page.keyboard.press("4")
    expect(there).not_to_have_attribute("data-judged", "bad")
    page.keyboard.press("u")
    expect(there).to_have_attribute("data-judged", "bad")
    wait_saved(page)
    assert [value and value["defect"] for _, value in said(folder)] == [
        "invented",
        None,
        "invented",
    ]


def test_a_set_without_questions_says_how_they_come(start_app, tmp_path, new_page):
    folder = write_review_set(
        tmp_path / "set", pictures={"one.png": RAMP}, info={"name": "Set"}, cases=[case(1)]
    )
    address = start_app(folder, data=known_reader(tmp_path / "data", "Ann"))
    page = new_page()
    page.goto(f"{address}curate?as=choice")
    expect(page.get_by_text("--choice --model MODEL")).to_be_visible(timeout=60_000)
