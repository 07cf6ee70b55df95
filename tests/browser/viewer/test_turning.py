"""Turning to other cases faster than the page can follow: what is shown is of one case, always.

Which case that is, whatever keys, route and page do, is tested in
``tests/javascript/turning.test.js``.
"""

import json
import re

import pytest
from playwright.sync_api import expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from support import ROOT
from support.browser.held_messages import HeldMessages
from support.browser.score_pad import wait_for_case, wait_saved
from support.browser.sets_of_tests import SetsOfTests
from support.browser.waiting import becomes, until
from support.small_set import write_set

from rexview.people import Person
from rexview.store import Entry
from rexview.ui.case.case_page import PARTS
from rexview.ui.web.components import module_address

pytestmark = pytest.mark.browser
CASES = "**/rexview/cases/**"
TEN_A_SECOND_MS = 100
SOON_MS = 20_000
"""Sooner than a page that does not follow is given up."""
_WATCH = """() => {
  window.mixed = [];
  window.seen = new Set();
  const place = () => {
    const [root] = [...document.querySelectorAll('*')].map((one) => one.shadowRoot)
      .filter((one) => one?.querySelector('.rx'));
    const viewer = root?.querySelector('.rx');
    const ready = viewer?.querySelector('.pane')?.dataset.state === 'ready';
    const texts = [...document.querySelectorAll('.rx-part')]
      .filter((one) => one.checkVisibility({ visibilityProperty: true }))
      .map((one) => one.dataset.case);
    const pad = document.querySelector('.rx-pad:not(.turning) .place')?.title;
    if (pad) texts.push(pad);
    return [ready ? viewer.dataset.paintedCase : null, [...new Set(texts)].join()];
  };
  let before = '';
  const look = () => {
    const [picture, texts] = place();
    const now = picture && texts && picture !== texts ? `${picture} beside ${texts}` : '';
    if (now && now === before) window.mixed.push(now); // longer than the frame in which both change
    before = now;
    if (picture && picture === texts) window.seen.add(picture);
    requestAnimationFrame(() => setTimeout(look));
  };
  look();
}"""
MODULE = f"/{module_address('turning/assets/turning.js')}"
PIXELS = f"/{module_address('viewer/assets/image/pixels.js')}"
_IS_FETCHED = """async ([turningAt, pixelsAt, caseId]) => {
  const { turning } = await import(turningAt); // the page's own
  const { pixelStore } = await import(pixelsAt);
  const record = turning.store.get(caseId);
  if (!record?.viewer) return false;
  if (![...turning.listeners].every(({ has }) => has?.(record) ?? true)) return false;
  const { views, active } = record.viewer;
  const view = views.find(({ id }) => id === active) ?? views[0];
  return !view?.url || pixelStore.rasters.has(view.key) || pixelStore.failed.has(view.key);
}"""
_BACK_AND_SAID_BEFORE = """async ([module, before]) => {
  const { turning } = await import(module); // the page's own
  window.painted.length = 0;
  turning.step(-1);
  if (!turning.isBehind(before)) turning.came(before); // as the viewer does
}"""
_CALM = "() => !('rxTurning' in document.documentElement.dataset)"


def watched(page):
    """Look at every frame whether picture and texts are of one case."""
    page.evaluate(_WATCH)
    return page


def assert_never_mixed(page):
    assert page.evaluate("window.mixed") == []


def fetched(page, *cases):
    """Wait until cases can be shown at once: a reader looks at one while the next are fetched."""
    for case in cases:
        until(page, lambda: page.evaluate(_IS_FETCHED, [MODULE, PIXELS, case]), bool)  # noqa: B023


def press(page, keys):
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(TEN_A_SECOND_MS)


def ends_at(page, case):
    """Wait until picture, texts, page and address are of a case."""

    def place():
        return [
            page.locator("[data-painted-case]").get_attribute("data-painted-case"),
            page.locator(".rx-place b").nth(1).inner_text(),
            in_address(page),
            page.evaluate(_CALM),
        ]

    becomes(page, place, [case, case, case, True])


def ends_run(message):
    """Whether a message says that the page's script has run."""
    return ForwardMsg.FromString(message).WhichOneof("type") == "script_finished"


def in_address(page):
    return page.evaluate("new URLSearchParams(location.search).get('case')")


def opened(page, address, first, query="sort=order"):
    return shown(page, f"{address}case?case={first}&{query}", first)


def opened_of(page, server, first):
    return shown(page, server.link("case", case=first, sort="order"), first)


def shown(page, address, first):
    page.goto(address)
    page.wait_for_selector(f'[data-painted-case="{first}"]')
    page.locator(".rx-answers").wait_for()
    return watched(page)


@pytest.fixture(scope="module")
def order():
    lines = (ROOT / "assets" / "demo" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["id"] for line in lines]


def test_ten_a_second_end_where_the_keys_say(demo, same_page, order):
    keys = "jjjjjjkkkkjjjk"  # turning.test.js has more
    page = opened(same_page, demo, order[2])
    press(page, keys)
    place = 2
    for key in keys:
        place = max(place + (1 if key == "j" else -1), 0)
    ends_at(page, order[place])
    assert_never_mixed(page)


def test_without_the_pages_script_cases_stand_complete(demo, new_page, order):
    """What the page's script sends is held back: pictures, boxes and texts come all the same."""
    page = new_page()
    held = HeldMessages(page)
    opened(page, demo, order[0])
    expect(page.locator("html")).not_to_have_attribute("data-rx-turning", "")
    fetched(page, *order[1:6])
    held.holding = True
    press(page, "jjjjj")
    page.wait_for_selector(f'[data-painted-case="{order[5]}"]')
    expect(page.locator(".rx-place b").nth(1)).to_have_text(order[5])
    parts = page.locator(".rx-part")
    expect(parts).to_have_count(len(PARTS))
    assert {parts.nth(n).get_attribute("data-case") for n in range(len(PARTS))} == {order[5]}
    until(page, lambda: len(held.late), lambda count: count > 0)
    assert page.evaluate(_CALM) is False
    held.release()
    ends_at(page, order[5])
    assert_never_mixed(page)


def test_cases_that_do_not_come_are_said_and_keys_keep_counting(demo, same_page, order):
    page = same_page
    waiting = []
    page.route(CASES, lambda route: waiting.append(route))
    opened(page, demo, order[0])
    press(page, "jjjjjkj")
    page.locator(".notice", has_text="The next case is loading").or_(
        page.locator(f'[data-painted-case="{order[5]}"]')
    ).first.wait_for()
    for route in waiting:
        route.continue_()
    page.unroute(CASES)
    ends_at(page, order[5])
    assert_never_mixed(page)
    expect(page.locator(".notice:visible")).to_have_count(0)


def test_back_leads_to_where_the_page_was_before_the_keys(demo, same_page, order):
    page = opened(same_page, demo, order[0])
    fetched(page, *order[1:4])
    press(page, "jjj")
    ends_at(page, order[3])
    for move, goes in ((page.go_back, -1), (page.go_forward, 1)):
        before = order.index(in_address(page))
        move()
        becomes(page, lambda: in_address(page) != order[before], True)  # noqa: B023
        after = order.index(in_address(page))  # on a slow machine the page has followed in between
        assert (after - before) * goes > 0
        ends_at(page, order[after])
    assert_never_mixed(page)


def test_what_the_page_sent_before_leads_nowhere(demo, new_page, order):
    """It comes while the page is on its way to a case that the reader has left again."""
    page = new_page()
    held = HeldMessages(page)
    opened(page, demo, order[1])
    fetched(page, order[2])
    page.evaluate(
        """() => {
          window.painted = [];
          addEventListener('rexview:painted', ({ detail }) => window.painted.push(detail.case));
        }"""
    )
    held.holding = True
    page.keyboard.press("j")
    page.wait_for_selector(f'[data-painted-case="{order[2]}"]')
    until(page, lambda: any(map(ends_run, held.late)), bool)  # all that the page says of the case
    page.evaluate(_BACK_AND_SAID_BEFORE, [MODULE, order[1]])
    held.release()
    ends_at(page, order[1])
    assert set(page.evaluate("window.painted")) <= {order[1]}
    assert_never_mixed(page)


# --- what is written ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sets(start_app, tmp_path_factory):
    return SetsOfTests(start_app, tmp_path_factory.mktemp("turning"), "Anna")


@pytest.fixture
def server(sets):
    """A small set on a server for Anna, who works alone."""
    return sets.for_test(write_set)


@pytest.fixture
def page(new_page):
    return new_page()


def test_a_verdict_is_on_the_case_that_was_turned_to(server, page):
    """Given while the page's script has not followed, it is of the case on the screen."""
    held = HeldMessages(page)
    opened_of(page, server, "c2")
    fetched(page, "c1")
    held.holding = True
    page.keyboard.press("k")
    page.wait_for_selector('[data-painted-case="c1"]')
    page.keyboard.press("Shift+N")  # a comment would be of the case before
    expect(page.locator(".rx-c-panel")).to_be_hidden()
    page.evaluate(
        """() => document.querySelector(
          '[data-rx-failure="laterality_error"][data-rx-verdict="rejected"]').click()"""
    )
    (row,) = until(page, lambda: server.history("verdict"), len)
    assert (row.case, row.model, row.subject) == ("c1", "m", "laterality_error")
    held.release()
    ends_at(page, "c1")
    page.locator(".rx-v-card").get_by_role("button", name="Close").click()
    expect(page.locator(".rx-c")).not_to_have_attribute("inert", "")  # the page has followed
    page.keyboard.press("Shift+N")
    expect(page.locator(".rx-c-panel")).to_be_visible()


def test_cases_that_were_only_passed_are_recorded_as_seen(server, page):
    opened_of(page, server, "c1")
    fetched(page, "c2")
    press(page, "jk")
    ends_at(page, "c1")

    def seen():
        return {row.case for row in server.history("reveal")}

    becomes(page, seen, {"c1", "c2"})


def test_scores_are_of_the_case_that_was_turned_to(server, page):
    open_to_score(page, server)
    watched(page)
    fetched(page, "c2")
    (direction,) = [
        key
        for key, name in (("n", "Next"), ("p", "Previous"))
        if page.get_by_role("button", name=f"{name} case" if key == "p" else "Next ›").is_enabled()
    ]
    other = {"n": "p", "p": "n"}[direction]
    for key, score in ((direction, "2"), (other, "4"), (direction, "3"), (other, "5")):
        page.keyboard.press(key)
        page.keyboard.press(score)
    wait_saved(page)
    given = [(row.case, row.value["score"]) for row in server.history("score")]
    assert given == [("c2", 2), ("c1", 4), ("c2", 3), ("c1", 5)]
    until(page, lambda: page.evaluate(_CALM), bool)
    assert re.search("case=c1", page.url)
    assert_never_mixed(page)


@pytest.mark.parametrize("leaves", ["for another page", "the app"])
def test_cases_passed_just_before_the_page_was_left_are_recorded_as_seen(server, page, leaves):
    """Sooner than the page follows the keys: its script never hears of them."""
    opened_of(page, server, "c1")
    fetched(page, "c2")
    if leaves == "the app":
        press(page, "jj")
        page.goto(server.link("score"))  # what was kept in the browser goes with any page
    else:
        page.keyboard.press("j")
        page.wait_for_selector('[data-painted-case="c2"], .pane[data-state=broken]')
        page.get_by_role("link", name="All in this filter").click()

    def seen():
        return {row.case for row in server.history("reveal")}

    becomes(page, seen, {"c1", "c2"})


def assign(server, case, *, active=True):
    lead = Person("lea", "Lea", "lead")
    entry = Entry("assign", case, subject="anna", value={"as": "first", "active": active})
    server.record([entry], lead)


def open_to_score(page, server):
    page.goto(server.link("score", case="c1"))
    wait_for_case(page, "c1")


def on_the_score_page(page):
    """The case of the picture, of the pad and of the address."""
    picture = page.locator("[data-painted-case]").get_attribute("data-painted-case")
    return [picture, page.locator(".rx-pad .place").get_attribute("title"), in_address(page)]


def test_a_case_that_was_dealt_to_another_reader_meanwhile_is_left_soon(server, page):
    """It had been fetched ahead, and is shown; the page then leads to one of theirs."""
    open_to_score(page, server)
    for case in ("c1", "c2"):
        assign(server, case)
    page.goto(server.link("score", case="c1"))
    page.wait_for_selector('.rx-pad .place[title="c1"]')
    fetched(page, "c2")
    forwards = page.get_by_role("button", name="Next ›").is_enabled()
    assign(server, "c2", active=False)
    page.keyboard.press("n" if forwards else "p")
    page.wait_for_selector('.rx-pad .place[title="c2"]')
    becomes(page, lambda: on_the_score_page(page), ["c1"] * 3, patience_ms=SOON_MS)


def test_going_on_counts_while_the_page_is_behind(server, page):
    open_to_score(page, server)
    forwards = page.get_by_role("button", name="Next ›").is_enabled()
    if not forwards:
        page.keyboard.press("p")
        becomes(page, lambda: on_the_score_page(page), ["c2"] * 3)
    first, second = ("c1", "c2") if forwards else ("c2", "c1")
    fetched(page, second)
    page.keyboard.press("n")
    page.wait_for_selector(f'.rx-pad .place[title="{second}"]')
    page.get_by_role("button", name="Cases", exact=True).click()
    page.get_by_role("button", name="Next unscored case").click()
    becomes(page, lambda: on_the_score_page(page), [first] * 3, patience_ms=SOON_MS)
