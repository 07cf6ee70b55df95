"""axe-core finds nothing that hinders people on any page, dark and light, wide and on a phone."""

import re
import shutil
import time

import pytest
from support import ROOT
from support.browser.axe import Allowed, Axe
from support.browser.score_pad import known_reader
from support.browser.waiting import calm, pass_time
from support.browser.walk import follow

from rexview.analysis.written_failures import WRITTEN_FAILURE_KIND
from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import Entry, open_reviews
from rexview.store.database.connection import close_databases
from rexview.ui.web.link.pages import ADDRESSES

pytestmark = pytest.mark.browser
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
LOOKS = ("Dark", "Light")
MENU = "Streamlit's menu of pages on a phone: headings of groups lie among its list's items"
ALLOWED = (
    Allowed("list", "stSidebarNavItems", MENU),
    Allowed("listitem", "e1o1t1hb", MENU),
)
"""What lies in Streamlit's own elements and cannot be mended from outside."""
ALL_RULES: tuple[str, ...] = ()
COLOURS = ("color-contrast", "link-in-text-block")
WIDE_RULES = {"Dark": ALL_RULES, "Light": COLOURS}
PHONE_RULES = {"Dark": COLOURS, "Light": ALL_RULES}
"""Names and roles are the same in both themes: asked once at each width, as axe takes its time."""


def opens(kind, name):
    return lambda page: page.locator(kind, has_text=name).locator("visible=true").first.click()


def presses(key, leaving=None):
    """Press a key; a click into ``leaving`` takes the focus out of a field before."""

    def press(page):
        if leaving:
            page.locator(leaving).locator("visible=true").first.click()
        page.keyboard.press(key)

    return press


MORE = (
    "case?case=c16",  # a wrong side, beside the film
    "case?case=c19",  # a multiple choice question
    "case?case=r01",  # a report
    "score?task=questions",
    "score?task=corrections",
    "score?task=comparisons",
    "meeting?meeting=m1",
    "meeting?as=decisions&meeting=m1",
    "meeting?as=present&meeting=m1",
    "meeting?as=follow&meeting=m1",
)
OF_EVERY_DAY = ("", "browse", "case?case=c16", "failures", "score")
PAGES = {
    "every day": OF_EVERY_DAY,
    "others": [one for one in (*ADDRESSES.values(), *MORE) if one not in OF_EVERY_DAY],
}
RUN = "run?run_model=gpt-5-mini&run_at=server&run_url=http://localhost:9/v1"
"""A model is asked: nothing is there, and nothing is sent before somebody presses Start."""
OPENED = (
    ("browse?failure=no_choice&model=generalist", [opens("summary", "Category")], "text=Broad"),
    ("scores", [opens("summary", "Table and download")], ".rx-behind"),
    ("", [opens("button", "Export")], "text=Make the file"),
    (
        "case?case=c16",
        [opens("button", "Comments"), opens("button", "Add a failure"), presses("?", "h3")],
        "text=cardiothoracic ratio",
    ),
    ("score", [presses("?")], ".rx-pad [role=dialog], .rx-pad dialog"),
    ("failures?as=own-words&failure_in_words=%2B", [], "text=What does not count"),
    ("meeting?meeting=m1", [opens("button", "Change")], "text=Close the meeting"),
    ("meeting?as=present&meeting=m1", [presses("u"), presses("Shift+D")], ".rx-d"),
    ("curate", [presses("e")], ".rx-desk .typed textarea"),
    ("data", [opens("[role=tab]", "Import")], "text=Format"),
    ("curate?as=choice", [], ".rx-desk, [data-testid=stMain] p"),
    ("curate?as=set", [], "text=--boxes"),
    ("curate?as=ask", [], "[data-testid=stMain] input"),
    (RUN, [opens("summary", "The exact request"), opens("summary", "Saved filters")], ".rx-sent"),
    ("failures?as=own-words", [opens("button", "Remove")], "text=Remove it"),
    ("account", [opens("button", "Change the name")], "text=Your earlier entries"),
)
"""What opens over a page or in it: where, how, and what is seen then."""


@pytest.fixture(scope="module")
def axe():
    return Axe(ALLOWED)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of the demo."""
    return shutil.copytree(ROOT / "assets" / "demo", tmp_path_factory.mktemp("axe") / "set")


@pytest.fixture(scope="module")
def server(start_app, folder):
    """The address of an app on a copy of the demo, where Ann has planned a meeting."""
    entries = [Entry("meeting", subject="m1", value={"name": "Chest", "minutes": 20})]
    said = {"name": "Left", "counts": "It sees one on the left."}
    entries.append(Entry(WRITTEN_FAILURE_KIND, subject="left", value=said))
    for place, case in enumerate(("c01", "c19", "r01")):
        value = {"place": place, "section": "First", "minutes": 3}
        entries.append(Entry("agenda", case, subject="m1", value=value))
    record(folder, *entries, who="Ann")
    return start_app(folder, data=known_reader(folder.parent / "data", "Ann"))


def ready(page, address):
    page.wait_for_function(
        "() => document.querySelector('[data-testid=stMain]')?.innerText.trim().length"
    )
    settle(page, address)


def settle(page, address):
    """Wait until the page is calm; one that follows a meeting listens on, and never is."""
    if "as=" in address:
        page.wait_for_selector(".rx-present .film, .rx-d-list, [data-testid=stMain] p")
        pass_time(page, 1000)
    else:
        calm(page)


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("pages", PAGES.values(), ids=PAGES)
def test_no_page_has_what_hinders_people(server, new_page, axe, pages, look):
    page = new_page(**WIDE)
    page.add_init_script(f"localStorage.setItem('rexview-theme', '\"{look}\"')")
    page.goto(server)
    sizes = [("wide", WIDE, WIDE_RULES[look]), ("phone", PHONE, PHONE_RULES[look])]
    found = []
    for address in pages:
        follow(page, address)
        ready(page, address)
        # of what is no page of its own each theme is asked once: the tests have to end
        for name, size, rules in [one for one in sizes if address not in MORE or not one[2]]:
            if page.viewport_size != size:
                page.set_viewport_size(size)
                settle(page, address)
            found += [f"/{address} {name} {one}" for one in axe.findings(page, *rules)]
        sizes.reverse()
    assert not found, "\n".join(found)


@pytest.mark.parametrize("look", LOOKS)
def test_nothing_that_opens_has_what_hinders_people(server, new_page, axe, look):
    page = new_page(**WIDE)
    page.add_init_script(f"localStorage.setItem('rexview-theme', '\"{look}\"')")
    found = []
    page.goto(server)
    for address, acts, seen in OPENED:
        follow(page, address)
        ready(page, address)
        for act in acts:
            act(page)
        page.locator(seen).locator("visible=true").first.wait_for()
        settle(page, address)
        found += [f"/{address} {seen} {one}" for one in axe.findings(page, *WIDE_RULES[look])]
    assert not found, "\n".join(found)


def record(folder, *entries, who):
    try:
        open_reviews(load_review_set(folder), Settings()).record(
            entries, Person(who.lower(), who, "lead")
        )
    finally:
        close_databases()


def consensus_that_somebody_else_has_recorded(page, folder):
    page.get_by_role("radio", name="3").click()
    page.locator(".rx-consensus [role=status]", has_text="Saved").wait_for()
    try:
        history = open_reviews(load_review_set(folder), Settings()).history(kind="adjudicate")
    finally:
        close_databases()
    mine = next(row for row in history if row.person == "ann")
    value = {"score": 5, "comment": "Fine."}
    record(folder, Entry("adjudicate", mine.case, mine.model, mine.subject, value=value), who="Ben")
    page.get_by_role("radio", name="1").click()
    page.locator(".rx-consensus-notice", has_text="Ben recorded").wait_for()
    page.get_by_role("button", name="Take theirs").wait_for()


def words_that_somebody_else_has_changed(page, folder):
    page.get_by_text("Edit the words").click()
    page.get_by_label("What counts").fill("It sees one there.")
    value = {"name": "Left", "counts": f"Changed meanwhile, {time.time()}."}
    record(folder, Entry(WRITTEN_FAILURE_KIND, subject="left", value=value), who="Ben")
    page.get_by_role("button", name=re.compile("(^| )Save$")).click()
    page.get_by_text("This failure was changed meanwhile").wait_for()


def a_meeting_that_ends(page, _folder):
    opens("button", "Change")(page)
    page.get_by_role("button", name="Close the meeting").click()
    page.get_by_text("This meeting is closed").wait_for()


def a_meeting_that_goes_on(page, _folder):
    opens("button", "Change")(page)
    page.get_by_role("button", name="Open again").click()
    page.get_by_text("This meeting is closed").wait_for(state="detached")


WRITTEN = (
    ("adjudicate", consensus_that_somebody_else_has_recorded),
    ("failures?as=own-words&failure_in_words=left", words_that_somebody_else_has_changed),
    ("meeting?meeting=m1", a_meeting_that_ends),
    ("meeting?meeting=m1", a_meeting_that_goes_on),
)
"""What is seen once something was written: where, and how it comes to be."""


@pytest.mark.parametrize("look", LOOKS)
def test_no_conflict_and_no_end_has_what_hinders_people(server, folder, new_page, axe, look):
    page = new_page(**WIDE)
    page.add_init_script(f"localStorage.setItem('rexview-theme', '\"{look}\"')")
    found = []
    for address, come_to_be in WRITTEN:
        page.goto(f"{server}{address}")
        ready(page, address)
        come_to_be(page, folder)
        settle(page, address)
        found += [
            f"/{address} {come_to_be.__name__} {one}"
            for one in axe.findings(page, *WIDE_RULES[look])
        ]
    assert not found, "\n".join(found)


def test_what_is_allowed_still_occurs(axe):
    assert not axe.stale, "no longer there (or the tests above did not run): take it off the list"
