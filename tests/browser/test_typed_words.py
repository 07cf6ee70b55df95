"""Words that somebody types and has not left outlive the tab, and the page says that they wait.

Each field is typed into in a real browser without being left; then the tab crashes.
"""

import re
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
WORDS = "Ask the vendor about the left side"
CASE = "c01"
MEETINGS = ("m1", "m2", "m3")


@pytest.fixture(scope="module")
def address(start_app, tmp_path_factory):
    """An app on a copy of the demo with meetings."""
    home = tmp_path_factory.mktemp("typed")
    folder = shutil.copytree(ROOT / "assets" / "demo", home / "set")
    entries = []
    for meeting in MEETINGS:
        entries.append(Entry("meeting", subject=meeting, value={"name": f"Chest {meeting}"}))
        for place, case in enumerate((CASE, "c19", "r01")):
            value = {"place": place, "section": f"Part {place}"}
            entries.append(Entry("agenda", case, subject=meeting, value=value))
    open_reviews(load_review_set(folder), Settings()).record(entries, ANN)
    close_databases()
    return start_app(folder, data=known_reader(home / "data", "Ann"))


def decision(page):
    form = page.locator(".rx-d-case .rx-d")
    form.scroll_into_view_if_needed()
    return form


def presented(page):
    page.wait_for_selector(f'.rx-present[data-case="{CASE}"]')
    page.keyboard.press("Shift+S")
    page.wait_for_selector('.rx-present[data-step="flags"]')
    page.locator(".next").click()
    return page.locator(".decision .rx-d")


def line(page):
    page.locator(".rx-task .question p").first.wait_for()
    page.wait_for_selector("[data-painted-case]")
    field = page.get_by_label("The line as it should be")
    if not field.is_visible():
        page.keyboard.press("ArrowDown")
        page.keyboard.press("s")
    return field


def comparison(page):
    page.locator(".rx-task .question p").first.wait_for()
    page.wait_for_selector("[data-painted-case]")
    return page.get_by_label("Comment on the comparison")


def skipped(page):
    page.locator(".rx-pad .row.current").wait_for()
    page.keyboard.press("s")
    return page.get_by_label("Another reason")


def question(page):
    page.locator(".rx-desk .candidate").first.wait_for()
    field = page.locator(".rx-desk form.typed textarea").first
    if not field.is_visible():
        page.keyboard.press("e")
    return field


def comment(page):
    page.wait_for_selector("[data-painted-case]")
    field = page.get_by_label("Comment", exact=True)
    if not field.is_visible():
        page.locator(".rx-c-tab").click()
    return field


def verdict(page):
    yes = page.locator('[data-rx-verdict="confirmed"]:visible').first
    yes.wait_for()
    if yes.get_attribute("aria-pressed") == "true":
        page.locator("[data-rx-why]:visible").first.click()
    else:
        yes.click()
    return page.get_by_label("Why (optional)")


def consensus(page):
    field = page.locator(".rx-consensus textarea").first
    field.wait_for()
    return field


FOR_MORE = {"comment on a comparison", "reason for skipping", "comment"}
"""What belongs to something that is still to be chosen, and waits for it."""
SAYS_NO_MORE = {"reason of a verdict"}
"""What says nothing once it is saved."""
FIELDS = {
    "notes of a decision": ("case?case=c01", lambda page: decision(page).get_by_label("Notes")),
    "owner of a decision": ("case?case=c01", lambda page: decision(page).get_by_label("Owner")),
    "another decision": (
        "case?case=c01",
        lambda page: decision(page).get_by_label("Another decision"),
    ),
    "notes while presenting": (
        "meeting?as=present&meeting=m1",
        lambda page: presented(page).get_by_label("Notes"),
    ),
    "another decision while presenting": (
        "meeting?as=present&meeting=m2",
        lambda page: presented(page).get_by_label("Another decision"),
    ),
    "section of an agenda": (
        "meeting?as=agenda&meeting=m3",
        lambda page: page.locator(".rx-agenda").get_by_label("Section", exact=True).first,
    ),
    "notes on an agenda": (
        "meeting?as=agenda&meeting=m3",
        lambda page: page.get_by_label(f"Your notes on {CASE}"),
    ),
    "corrected line": ("score?task=correct", line),
    "comment on a comparison": ("score?task=compare", comparison),
    "reason for skipping": ("score?case=c02", skipped),
    "edited question": ("curate?case=c01", question),
    "comment": ("case?case=c03", comment),
    "reason of a verdict": ("case?case=c03", verdict),
    "reason of a consensus": ("adjudicate", consensus),
}


def note(page):
    return page.get_by_text(WAITS).first


@pytest.mark.parametrize("name", FIELDS)
def test_typed_words_are_there_again_after_the_tab_has_crashed(address, visitor, name):
    path, find = FIELDS[name]
    context = visitor()
    type_and_crash(context, f"{address}{path}", find, WORDS, note)
    again = context.new_page()
    again.goto(f"{address}{path}")
    field = find(again)
    expect(field).to_have_value(re.compile(WORDS), timeout=60_000)
    if name != "corrected line":  # to find it again the line was left, so that it is saved
        expect(note(again)).to_be_visible()
    field.focus()
    field.blur()
    if name not in FOR_MORE:
        expect(again.get_by_text(WAITS)).to_have_count(0)
        if name not in SAYS_NO_MORE:
            expect(again.get_by_text(re.compile("^Saved")).first).to_be_visible()
