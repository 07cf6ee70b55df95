"""Cases are pinned and put in order in a real browser: seen at once, kept, undone, theirs only."""

import pytest
from playwright.sync_api import expect
from support.browser.score_pad import known_reader
from support.browser.waiting import becomes, calm, until
from support.small_set import write_set

from rexview.analysis.meetings import list_meetings, read_presenter_notes
from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import Entry, open_reviews
from rexview.store.database.connection import close_databases
from rexview.ui.web.components import module_address

pytestmark = pytest.mark.browser
ANN = Person("ann", "Ann", "lead")
BOB = Person("bob", "Bob", "lead")
HOSTILE = '<img src=x onerror="window.hacked=1"> "Chest" & {{7*7}}'


class Server:
    """An app on a set of its own with a meeting of Ann's, whose database can be read."""

    def __init__(self, address, folder):
        self.address, self.folder = address, folder

    def read(self, question):
        try:
            return question(open_reviews(load_review_set(self.folder), Settings()))
        finally:
            close_databases()

    def plan(self, *cases):
        entries = [Entry("meeting", subject="m1", value={"name": HOSTILE, "minutes": 10})]
        for place, case in enumerate(cases):
            entries.append(Entry("agenda", case, subject="m1", value={"place": place}))
        self.read(lambda reviews: reviews.record(entries, ANN))

    def agenda(self):
        return self.read(lambda reviews: list_meetings(reviews)[0].agenda)

    def has(self, page, *cases):
        """Wait until these cases, in this order, are on the agenda in the database."""
        becomes(page, lambda: [one.case for one in self.agenda()], [*cases])


@pytest.fixture
def server(start_app, tmp_path):
    folder = write_set(tmp_path / "set")
    return Server(start_app(folder, data=known_reader(tmp_path / "data", "Ann")), folder)


def pin(page, case):
    return page.locator(f'.rx-card-place [data-rx-pin="{case}"]')


def test_a_case_is_pinned_on_its_card_and_by_key_and_taken_off_again(server, new_page):
    server.plan("c3")
    page = new_page()
    page.goto(f"{server.address}browse")
    expect(pin(page, "c3")).to_have_attribute("aria-pressed", "true")
    expect(pin(page, "c1")).to_have_attribute("aria-label", f"Pin for “{HOSTILE}”: c1")
    pin(page, "c1").click()
    expect(pin(page, "c1")).to_have_attribute("aria-pressed", "true")
    assert page.url.endswith("/browse"), "the card below is no link here"
    server.has(page, "c3", "c1")
    pin(page, "c3").click()
    server.has(page, "c1")
    page.goto(f"{server.address}case?case=c1")
    page.wait_for_selector('[data-painted-case="c1"]')
    calm(page)
    own = page.locator(".rx-pin-case")
    expect(own).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("j")
    expect(own).to_have_attribute("data-rx-pin", "c2")
    expect(own).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("Shift+M")
    expect(own).to_have_attribute("aria-pressed", "true")
    server.has(page, "c1", "c2")
    page.keyboard.press("Shift+M")
    expect(page.locator(".rx-pins")).to_contain_text("Removed from")
    server.has(page, "c1")
    assert page.evaluate("window.hacked") is None


def test_what_a_removed_meeting_did_not_take_can_be_put_away(server, new_page):
    server.plan("c3")
    page = new_page()
    page.goto(f"{server.address}browse")
    expect(pin(page, "c3")).to_have_attribute("aria-pressed", "true")
    gone = Entry("meeting", subject="m1", value=None)
    server.read(lambda reviews: reviews.record([gone], ANN))
    pin(page, "c1").click()
    lower_edge = page.locator(".rx-waiting")
    expect(lower_edge).to_contain_text("1 entry on c1 not accepted: Meeting")
    expect(lower_edge).to_contain_text("This meeting no longer exists.")
    lower_edge.get_by_role("button", name="Dismiss").click()
    expect(lower_edge).to_be_empty()


def test_an_agenda_is_put_in_order_and_what_was_typed_is_there_again(server, new_page):
    server.plan("c1", "c2", "c3")
    page = new_page()
    page.goto(f"{server.address}meeting")
    row = {case: page.locator(f'.rx-agenda [data-case="{case}"]') for case in ("c1", "c2", "c3")}
    row["c3"].locator(".handle").focus()
    page.keyboard.press("ArrowUp")
    server.has(page, "c1", "c3", "c2")
    expect(row["c3"].locator(".handle")).to_be_focused()
    order = page.locator(".rx-agenda .case")
    stood = order.evaluate_all("all => all.map((one) => one.dataset.case)")
    for way, back in (("up", "down"), ("down", "up")):
        moved = stood[1]
        row[moved].get_by_role("button", name=f"Move {moved} {way}").click()
        assert order.evaluate_all("all => all.map((one) => one.dataset.case)") != stood
        button = row[moved].get_by_role("button", name=f"Move {moved} {back}")
        button.click()
        expect(button).to_be_focused()
        assert order.evaluate_all("all => all.map((one) => one.dataset.case)") == stood
    row["c2"].locator("textarea").fill("Ask Bob.")
    row["c2"].locator("input").fill("12")
    row["c3"].get_by_role("button", name="Section").click()
    page.keyboard.type("Sides")
    page.keyboard.press("Enter")
    expect(page.locator(".rx-agenda .total")).to_have_text(
        "3 cases · 12 min expected, 2 without time · 10 min planned"
    )
    handle, above = row["c2"].locator(".handle").bounding_box(), row["c1"].bounding_box()
    page.mouse.move(handle["x"] + 5, handle["y"] + 5)
    page.mouse.down()
    page.mouse.move(above["x"] + 20, above["y"] + 5, steps=5)
    page.mouse.up()
    server.has(page, "c2", "c1", "c3")
    row["c1"].get_by_role("button", name="Remove c1 from the agenda").click()
    server.has(page, "c2", "c3")
    page.get_by_role("button", name="Undo").click()
    server.has(page, "c2", "c1", "c3")
    known = until(
        page,
        lambda: [(one.case, one.section, one.minutes) for one in server.agenda()],
        lambda found: found[2][1] == "Sides",
    )
    assert known == [("c2", "", 12), ("c1", "", None), ("c3", "Sides", None)]
    page.reload()
    expect(row["c2"].locator("textarea")).to_have_value("Ask Bob.")
    expect(page.locator(".rx-agenda .section input")).to_have_value("Sides")
    assert server.read(lambda reviews: read_presenter_notes(reviews, "m1", "bob")) == {}
    check_that_what_bob_changed_stands(server, page, row["c2"])
    check_places(server, page)


def check_that_what_bob_changed_stands(server, page, row):
    """Ann's change waits; Bob's comes before it, and she has not seen it."""
    page.route("**/rexview/reviews", lambda route: route.abort())
    row.locator("input").fill("3")
    page.keyboard.press("Tab")
    expect(page.locator(".rx-agenda .saved")).to_contain_text("Not saved yet")
    value = {"place": -1, "minutes": 20}
    entry = Entry("agenda", "c2", subject="m1", value=value)
    server.read(lambda reviews: reviews.record([entry], BOB))
    page.unroute("**/rexview/reviews")
    notice = page.locator(".rx-agenda .notice")
    expect(notice).to_contain_text("c2: not saved. Bob changed it meanwhile.")
    expect(row.locator("input")).to_have_value("20")
    assert server.agenda()[0].minutes == 20
    notice.get_by_role("button", name="Enter it again").click()
    expect(row.locator("input")).to_have_value("3")
    becomes(page, lambda: server.agenda()[0].minutes, 3)


PLACES = """async ([module, ...given]) => {
  const { placesFor, inOrder } = await import(new URL(module, document.baseURI));
  return given.map(([order, moved, places]) => {
    const known = new Map(Object.entries(places));
    const put = placesFor(order, moved, (name) => known.get(name));
    const now = [...new Map([...known, ...put])].map(([name, place]) => [name, { place }]);
    return [inOrder(now).map(([name]) => name), put.size];
  });
}"""


def check_places(server, page):
    """A case comes to stand where it was put, also where no number lies between two others."""
    tight = {"a": 1, "b": 1 + 2**-52, "c": 5}
    given = [
        ("bac", "a", {"a": 1, "b": 2, "c": 3}, 1),
        ("cab", "c", {"a": 1, "b": 2, "c": 3}, 1),
        ("acb", "c", tight, 2),
        ("bac", "b", {"a": 0, "b": 0, "c": 0}, 1),
        ("adbc", "d", {"a": 0, "b": 0, "c": 0, "d": 0}, 4),
    ]
    asked = [[list(order), moved, places] for order, moved, places, _ in given]
    found = page.evaluate(PLACES, [module_address("meeting/agenda/assets/order.js"), *asked])
    assert found == [[list(order), changed] for order, _, _, changed in given]
