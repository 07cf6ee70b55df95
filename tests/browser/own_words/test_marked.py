"""A clinician writes a failure, marks an answer with it, finds it again and takes it back."""

import json
import re
import sqlite3
from contextlib import closing
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect
from support.browser.axe import Axe
from support.browser.score_pad import known_reader
from support.browser.waiting import calm, until
from support.judge.set_to_judge import write_judged

pytestmark = pytest.mark.browser
HOSTILE = '<img src=x onerror="window.hacked=1"> {{7*7}} **bold** $x$'
TITLE = f"Left {HOSTILE}"
ITEM = '[data-rx-item="zebu-7b/written:left-img-src-x-onerror-window-hacked-1-7-7-bold-x"]'
RULES = ("color-contrast", "button-name", "list", "listitem", "aria-allowed-attr")


@pytest.fixture
def opened(start_app, new_page, tmp_path):
    """Return a function that opens a page of the app, and the set's folder."""
    folder = write_judged(tmp_path / "set")
    address = start_app(folder, data=known_reader(tmp_path / "data", "Ann"))

    def open_page(name, **query):
        page = new_page()
        page.goto(f"{address}{name}?{urlencode(query)}")
        return page

    return open_page, folder


def marks(folder):
    """What was written of marks, oldest first: subject and value."""
    with closing(sqlite3.connect(folder / "reviews.sqlite")) as database:
        rows = database.execute(
            "SELECT subject, value FROM history WHERE kind = 'written_mark' ORDER BY id"
        ).fetchall()
    return [(subject, json.loads(value) if value else None) for subject, value in rows]


def ruled_on(page):
    """The verdicts that stand on what rules found."""
    given = '[data-rx-verdict="confirmed"][aria-pressed="true"]'
    return page.locator(f'{given}:not([data-rx-failure^="written"])')


def write(page):
    page.get_by_label("Name", exact=True).fill(TITLE)
    page.get_by_label("What counts").fill(f"It sees one on the left. {HOSTILE}")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.", exact=True)).to_be_visible()
    calm(page)


def add(page, reason):
    page.keyboard.press("Shift+A")
    menu = page.get_by_label("Failure", exact=True)
    expect(menu.locator("optgroup")).to_have_attribute("label", "In your own words")
    expect(menu.locator("optgroup option")).to_have_text([TITLE])
    menu.select_option(label=TITLE)
    expect(page.locator(".rx-v-card")).to_contain_text("It sees one on the left. <img src=x")
    page.get_by_role("textbox", name="Why (optional)").fill(reason)
    page.keyboard.press("Enter")


def test_marked_on_a_case_counted_found_and_taken_back(opened):
    open_page, folder = opened
    page = open_page("failures", **{"as": "own-words"})
    write(page)
    expect(page.get_by_text("No answer is marked with these words yet")).to_be_visible()
    page.close()

    page = open_page("case", case="case-1")
    expect(page.locator(".rx-answer").first).to_be_visible()
    calm(page)
    page.keyboard.press("e")
    page.keyboard.press("a")  # on what a rule found: the next keys are about what is added
    page.keyboard.press("Escape")
    expect(ruled_on(page)).to_have_count(1)
    add(page, f"As {HOSTILE}")
    item = page.locator(ITEM)
    expect(item).to_have_attribute("data-rx-current", "")
    expect(item.locator(".rx-badge")).to_have_text(TITLE)
    expect(item).to_contain_text("you marked")
    expect(item).to_contain_text(f"As {HOSTILE}")
    expect(item.locator("img, b b, code")).to_have_count(0)
    assert Axe(()).findings(page, *RULES) == []
    until(page, lambda: marks(folder), lambda found: len(found) == 1)
    page.keyboard.press("Shift+W")
    page.get_by_role("textbox", name="Why (optional)").fill("Seen on the film.")
    page.keyboard.press("Enter")
    expect(item).to_contain_text("Seen on the film.")
    until(page, lambda: marks(folder), lambda found: len(found) == 2)
    (subject, value), (_, newer) = marks(folder)
    assert subject == ITEM.rpartition("written:")[2].removesuffix('"]')
    assert value["comment"] == f"As {HOSTILE}"
    assert newer == {"version": value["version"], "comment": "Seen on the film."}
    page.close()

    page = open_page("failures", **{"as": "own-words"})
    table = page.locator("table", has_text="Marked by people")
    expect(table.locator("tbody tr")).to_have_count(1)
    expect(table).to_contain_text("Zebu 7B")
    table.get_by_role("link", name="1", exact=True).click()
    expect(page.locator("p.rx-count")).to_have_text("1 case")
    expect(page.locator("body")).to_contain_text(f"Marked by people: {TITLE} (one version")
    page.close()

    page = open_page("failures")
    page.get_by_text("Failures in your own words", exact=True).click()
    found = page.locator("table", has_text="Failures in your own words by model")
    expect(found).to_contain_text("not searched for")
    note = page.locator(".st-key-failures_in_words_table .rx-note")
    expect(note).to_contain_text("Marked by people: answers marked with it")
    expect(note).not_to_contain_text(re.compile("Precision|Wilson|language model"))
    expect(found.locator("img, b b, code")).to_have_count(0)
    expect(found.get_by_role("link", name="1", exact=True)).to_have_count(1)
    page.close()

    page = open_page("browse")
    page.get_by_text("In your own words").click()
    page.locator(".st-key-rx_panel").get_by_text(f"Marked by people: {TITLE}").click()
    expect(page.locator("p.rx-count")).to_have_text("1 case")
    badge = page.locator(".rx-card .rx-badge", has_text="people")
    expect(badge).to_have_text(f"{TITLE} · people")
    expect(page.locator(".rx-card-answer img")).to_have_count(0)
    assert page.evaluate("window.hacked") is None
    page.close()

    page = open_page("failures", **{"as": "own-words"})
    page.get_by_text("Edit the words", exact=True).click()
    page.get_by_label("What counts").fill("It sees one on the left, or on both sides.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.", exact=True)).to_be_visible()
    page.close()

    page = open_page("case", case="case-1")
    item = page.locator(ITEM)
    expect(item).to_contain_text("you marked · about earlier words")
    expect(item).to_contain_text("or on both sides")
    calm(page)
    item.get_by_role("button", name="Confirm").click()  # says it of the words as they are now
    until(page, lambda: marks(folder), lambda found: len(found) == 3)
    (_, older), (_, again) = marks(folder)[1:]
    assert again["comment"] == older["comment"]
    assert again["version"] != older["version"]
    page.keyboard.press("Escape")
    expect(item).not_to_contain_text("earlier words")
    calm(page)
    page.keyboard.press("d")
    expect(item).to_have_count(0)
    until(page, lambda: marks(folder), lambda found: len(found) == 4)
    assert marks(folder)[-1][1] is None
    expect(ruled_on(page)).to_have_count(1)
    page.keyboard.press("Shift+A")
    expect(page.get_by_label("Failure", exact=True).locator("optgroup option")).to_have_text(
        [TITLE]
    )
    page.close()

    page = open_page("failures", **{"as": "own-words"})
    expect(page.get_by_text("No answer is marked with these words yet")).to_be_visible()
    assert page.evaluate("window.hacked") is None
