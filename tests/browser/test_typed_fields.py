"""Words in Streamlit's own text fields outlive the tab until the server has taken them.

Each field is typed into in a real browser without being left; then the tab crashes.
"""

import shutil

import pytest
from playwright.sync_api import expect
from support import ROOT
from support.browser.score_pad import known_reader
from support.browser.typed import WAITS, type_and_crash

from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import Entry, open_reviews
from rexview.store.database.connection import close_databases

pytestmark = pytest.mark.browser
ANN = Person("ann", "Ann", "lead")
RUN = "run?run_model=gpt-5-mini&run_at=server&run_url=http://localhost:9/v1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of the demo with a meeting that has no case yet."""
    folder = shutil.copytree(ROOT / "assets" / "demo", tmp_path_factory.mktemp("typed") / "set")
    entries = [Entry("meeting", subject="m1", value={"name": "Chest"})]
    open_reviews(load_review_set(folder), Settings()).record(entries, ANN)
    close_databases()
    return folder


@pytest.fixture(scope="module")
def address(start_app, folder, tmp_path_factory):
    return start_app(folder, data=known_reader(tmp_path_factory.mktemp("data"), "Ann"))


@pytest.fixture(scope="module")
def unnamed(start_app, folder):
    """An app on the same set that does not know its user's name."""
    return start_app(folder)


def button(name):
    return lambda page: page.get_by_role("button", name=name, exact=True).click()


def box(name):
    return lambda page: page.get_by_role("textbox", name=name, exact=True)


def opened(name, label):
    """A field in what a press opens."""

    def find(page):
        place = page.get_by_text(name, exact=True).first
        place.wait_for()
        place.click()
        return box(label)(page)

    return find


def files(page):
    page.get_by_role("tab", name="Import").click()
    return page.get_by_role("textbox", name="Path of the files")


FIELDS = {
    "name of a failure in own words": (
        "failures?as=own-words",
        box("Name"),
        "Comparison that does not exist",
        None,
    ),
    "what counts in own words": (
        "failures?as=own-words",
        box("What counts"),
        "It compares with an earlier study",
        None,
    ),
    "wording": (RUN, opened("Edit a copy", "YAML"), "# of the tests", None),
    "name of a wording": (RUN, opened("Edit a copy", "Name of the copy"), "mine", None),
    "case ids for an agenda": (
        "meeting?as=agenda&meeting=m1",
        opened("Add cases", "Case ids"),
        "c01, c02",
        button("Add"),
    ),
    "name of a meeting": (
        "meeting?as=agenda&meeting=m1",
        opened("Change", "Name"),
        "Chest in May",
        button("Save"),
    ),
    "another name": (
        "account",
        opened("Change the name", "Name"),
        "Ann of the ward",
        button("Change"),
    ),
    "files to import": ("data", files, "/nowhere/at/all.csv", None),
    "folder to check": ("data", box("Folder to check"), "/nowhere/at/all", None),
}


def note(page):
    return page.locator(".rx-typed-note", has_text=WAITS)


@pytest.mark.parametrize("name", FIELDS)
def test_typed_words_are_put_back_until_they_are_saved(address, visitor, name):
    path, find, words, save = FIELDS[name]
    context = visitor()
    type_and_crash(context, f"{address}{path}", find, words, note)
    page = context.new_page()
    page.goto(f"{address}{path}")
    field = find(page)
    expect(field).to_have_value(words, timeout=60_000)
    expect(note(page)).to_be_visible()
    if save is None:
        button("Discard")(page)
        expect(field).not_to_have_value(words)
    else:
        save(page)
    expect(note(page)).to_have_count(0)
    page.reload()
    field = find(page)
    expect(field).to_be_editable(timeout=60_000)
    expect(note(page)).to_have_count(0)


def test_a_failure_that_was_typed_before_a_crash_can_be_saved(address, visitor):
    context = visitor()
    path = "failures?as=own-words"
    type_and_crash(context, f"{address}{path}", box("Name"), "Invented comparison", note)
    page = context.new_page()
    page.goto(f"{address}{path}")
    expect(box("Name")(page)).to_have_value("Invented comparison", timeout=60_000)
    box("What counts")(page).fill("It compares with an earlier study.")
    button("Save")(page)
    expect(page.get_by_text("Saved.", exact=True)).to_be_visible()
    expect(page.locator(".rx-written")).to_contain_text("Invented comparison")
    expect(note(page)).to_have_count(0)
    kept = "() => Object.keys(localStorage).filter(one => one.startsWith('rexview:draft:')).length"
    assert page.evaluate(kept) == 0


def test_the_own_name_is_put_back(unnamed, visitor):
    context = visitor()
    type_and_crash(context, f"{unnamed}account", box("Your name"), "Berta", note)
    page = context.new_page()
    page.goto(f"{unnamed}account")
    expect(box("Your name")(page)).to_have_value("Berta", timeout=60_000)
    button("Continue")(page)
    expect(page.get_by_role("heading", name="Berta")).to_be_visible()
    expect(note(page)).to_have_count(0)


def test_words_for_the_link_are_put_back_and_sent(address, visitor):
    context = visitor()
    path, words = "run?run_at=server", "http://localhost:9/v1"
    type_and_crash(context, f"{address}{path}", box("Address"), words, note)
    page = context.new_page()
    page.goto(f"{address}{path}")
    expect(box("Address")(page)).to_have_value(words, timeout=60_000)
    page.wait_for_url("**run_url=**")
    expect(note(page)).to_have_count(0)


def test_search_words_are_no_draft(address, visitor):
    page = visitor().new_page()
    page.goto(f"{address}browse")
    field = page.get_by_role("textbox", name="Search", exact=True)
    expect(field).to_be_editable(timeout=60_000)
    field.press_sequentially("effusion")
    expect(field).to_have_value("effusion")
    assert page.evaluate("() => Object.keys(localStorage).join()").count("draft") == 0
