"""Verdicts, comments and consensus are kept in the browser until they are in the database.

What the outbox does by itself is tested in ``tests/javascript/outbox.test.js``.
"""

import re

import pytest
from support.browser.held_messages import HeldMessages
from support.browser.names import name_browsers_of
from support.browser.score_pad import cut_off, known_reader
from support.browser.sets_of_tests import SetOfTest, SetsOfTests
from support.browser.waiting import PATIENCE_MS, pass_time, until
from support.small_set import write_set

from bench.reliability.server import ScoreServer
from rexview.people import Person
from rexview.store import Entry

pytestmark = pytest.mark.browser
ROUTE = "**/rexview/reviews"
SECOND_READER = "c1,m,rb,process,1\nc2,m,ra,process,4\nc2,m,rb,process,2\n"
KINDS = ("verdict", "comment", "adjudicate")


@pytest.fixture(scope="module")
def sets(start_app, tmp_path_factory):
    return SetsOfTests(start_app, tmp_path_factory.mktemp("saving"), "Anna")


@pytest.fixture
def server(sets):
    """A set on a server for Anna, who works alone, with two cases to adjudicate."""
    return sets.for_test(write_readers)


def write_readers(folder):
    write_set(folder)
    with (folder / "scores.csv").open("a", encoding="utf-8") as file:
        file.write(SECOND_READER)
    return folder


@pytest.fixture
def process(tmp_path):
    """A server of the test's own, for the same; it makes a new secret at each start."""
    known_reader(tmp_path / "data", "Anna")
    folder = write_readers(tmp_path / "set")
    with ScoreServer(tmp_path, review_set=folder, own_secret=True) as process:
        yield process


@pytest.fixture
def unnamed_server(process):
    return SetOfTest(f"{process.url}/", process.folder / "set")


@pytest.fixture
def own_server(process, unnamed_server):
    name_browsers_of(process.url, process.folder / "data")
    return unnamed_server


def rows(server, kind):
    """What stands in the history, oldest first: who, and what."""
    return [(row.person, row.value) for row in server.history(kind)]


def saved(page, server, kind, count):
    """Wait until so many are in the database, and are there for good."""
    until(page, lambda: len(rows(server, kind)), lambda found: found >= count)
    pass_time(page, 1500)
    found = rows(server, kind)
    assert len(found) == count, found
    assert page.evaluate(UNSENT) == 0
    return found


UNSENT = "Object.keys(localStorage).filter((key) => key.startsWith('rexview:unsent:')).length"


def open_page(page, server, kind):
    where = ("adjudicate", "c2") if kind == "adjudicate" else ("case", "c1")
    page.goto(server.link(where[0], case=where[1]))
    ready(page, kind)
    return page


def ready(page, kind):
    page.locator("[data-rx-answer] .rx-text, .rx-consensus textarea").first.wait_for(timeout=60_000)
    if kind == "comment":
        page.locator(".rx-c-tab").click()
        page.locator(".rx-c-form textarea").wait_for()
    if kind == "verdict":
        page.locator("[data-rx-verdict]").first.wait_for(state="attached")
        page.locator(".rx-v-card").wait_for(state="attached")


def give(page, kind, number):
    """Give the first or the second of a kind."""
    if kind == "verdict":
        verdict = ("rejected", "confirmed")[number - 1]
        button = f'[data-rx-failure="laterality_error"][data-rx-verdict="{verdict}"]'
        page.evaluate("(one) => document.querySelector(one).click()", button)
    elif kind == "comment":
        page.locator(".rx-c-form textarea").fill(f"Comment {number}")
        page.locator(".rx-c-strong").click()
    else:
        page.get_by_role("radio", name=str(number)).first.click()


def value_of(kind, value):
    name = {"verdict": "verdict", "comment": "text", "adjudicate": "score"}[kind]
    return value[name]


GIVEN = {
    "verdict": ["rejected", "confirmed"],
    "comment": ["Comment 1", "Comment 2"],
    "adjudicate": [1, 2],
}


def assert_given(found, kind, count):
    assert {person for person, _ in found} == {"anna"}
    assert [value_of(kind, value) for _, value in found] == GIVEN[kind][:count]


@pytest.mark.parametrize("kind", KINDS)
def test_a_reload(server, new_page, kind):
    page = open_page(new_page(), server, kind)
    page.route(ROUTE, lambda route: route.abort())
    give(page, kind, 1)
    until(page, lambda: page.evaluate(UNSENT), lambda count: count == 1)
    page.reload()
    ready(page, kind)
    unsaved = {
        "verdict": page.get_by_text("you rejected"),
        "comment": page.locator(".rx-c-one", has_text="not saved yet"),
        "adjudicate": page.get_by_role("radio", name="1", checked=True),
    }[kind]
    unsaved.first.wait_for(state="attached")
    assert rows(server, kind) == []
    page.unroute(ROUTE)
    assert_given(saved(page, server, kind, 1), kind, 1)


def test_a_tab_that_is_closed_while_the_server_hangs(process, own_server, new_page):
    kind = "comment"  # outbox.test.js has all of them
    page = open_page(new_page(), own_server, kind)
    give(page, kind, 1)
    saved(page, own_server, kind, 1)
    process.hold()
    give(page, kind, 2)
    pass_time(page, 800)
    page.close()
    process.let_go()
    page = open_page(new_page(), own_server, kind)
    assert_given(saved(page, own_server, kind, 2), kind, 2)


def test_a_server_that_is_killed(process, own_server, new_page):
    kind = "verdict"  # outbox.test.js has all of them
    page = open_page(new_page(), own_server, kind)
    give(page, kind, 1)
    process.kill()
    page.wait_for_timeout(100)
    give(page, kind, 2)
    until(page, lambda: page.evaluate(UNSENT), lambda count: count >= 1)
    process.start()
    assert_given(saved(page, own_server, kind, 2), kind, 2)


def test_what_was_entered_before_a_name_was_given_is_saved_under_it(
    process, unnamed_server, new_page
):
    (process.folder / "data" / "rexview" / "person.json").unlink()
    process.kill()
    process.start()
    page = open_page(new_page(), unnamed_server, "verdict")
    give(page, "verdict", 1)
    page.get_by_text("you rejected").first.wait_for(state="attached")
    page.reload()
    ready(page, "verdict")
    page.get_by_text("1 verdict not saved yet: enter your name").click()
    page.locator(".rx-v-card").get_by_label("Your name").fill("Anna")
    page.keyboard.press("Enter")
    assert_given(saved(page, unnamed_server, "verdict", 1), "verdict", 1)


def agree(server, score, comment=None, name="Bob B."):
    value = {"score": score, "comment": comment}
    entry = Entry("adjudicate", "c2", "m", "process", value=value)
    person = Person(name.split()[0].lower(), name, "lead")
    server.record([entry], person)


def test_who_comes_second_with_a_consensus_decides(server, new_page):
    """Their own is kept, also over another case; theirs, the other's and theirs again stand."""
    page = open_page(new_page(), server, "adjudicate")
    agree(server, 5, "Fine.")
    page.get_by_role("radio", name="2").click()
    notice = page.locator(".rx-consensus-notice:visible")
    notice.get_by_text("Bob B. recorded").wait_for()
    assert "5, “Fine.” on" in notice.inner_text()
    assert "after this page was shown. Your consensus is not saved" in notice.inner_text()
    why = page.get_by_role("textbox", name="Why")
    why.fill("But the side is wrong.")
    why.blur()
    pass_time(page, 1000)
    assert [who for who, _ in rows(server, "adjudicate")] == ["bob"]

    page.get_by_role("button", name="Previous").click()
    page.get_by_text("Your consensus on c2 is not saved").wait_for()
    page.reload()
    page.get_by_role("button", name="Go to c2").click()
    notice.get_by_role("button", name="Take theirs").wait_for()
    notice.get_by_role("button", name="Take theirs").click()
    page.get_by_role("radio", name="5", checked=True).wait_for()
    assert why.input_value() == "Fine."
    page.get_by_text("Your entry, not saved: 2").wait_for()
    page.get_by_role("button", name="Use mine").click()
    found = saved(page, server, "adjudicate", 2)
    assert found[-1][0] == "anna"
    assert found[-1][1]["score"] == 2
    page.get_by_text("Saved").first.wait_for()

    agree(server, 4, name="Cleo C.")
    page.get_by_role("radio", name="1").click()
    page.get_by_role("button", name="Keep mine").click()
    assert saved(page, server, "adjudicate", 4)[-1][1]["score"] == 1


def test_a_consensus_that_is_being_typed_outlives_a_reload(server, new_page):
    page = open_page(new_page(), server, "adjudicate")
    page.get_by_role("textbox", name="Why").fill("Half a thought")
    page.reload()
    ready(page, "adjudicate")
    until(
        page,
        lambda: page.get_by_role("textbox", name="Why").input_value(),
        lambda text: text == "Half a thought",
    )
    assert rows(server, "adjudicate") == []


def test_a_consensus_that_another_window_kept_out_is_not_called_saved(server, new_page):
    page = open_page(new_page(), server, "adjudicate")
    page.route(ROUTE, lambda route: route.abort())
    page.get_by_role("radio", name="4").click()
    until(page, lambda: page.evaluate(UNSENT), lambda count: count == 1)
    agree(server, 5, name="Anna")
    page.unroute(ROUTE)
    page.get_by_text("You recorded 5 on").wait_for()
    assert page.get_by_text("Somebody else").count() == 0
    assert [value["score"] for _, value in rows(server, "adjudicate")] == [5]
    pass_time(page, 1500)
    assert page.get_by_role("radio", name="4", checked=True).count() == 1
    assert page.get_by_text("Saved 2").count() == 0
    page.get_by_role("button", name="Keep the saved one").click()
    page.get_by_role("radio", name="5", checked=True).wait_for()
    page.get_by_text("Saved 2").wait_for()
    assert [value["score"] for _, value in rows(server, "adjudicate")] == [5]


def test_windows_of_one_person_on_one_consensus(server, browser, new_page):
    """One browser's windows follow each other; on another computer the second one decides."""
    other = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    other.set_default_timeout(PATIENCE_MS)
    first, beside = (open_page(new_page(), server, "adjudicate") for _ in range(2))
    second = open_page(other.new_page(), server, "adjudicate")
    first.get_by_role("radio", name="4").click()
    for page in (first, beside):
        page.get_by_text("Saved 2").wait_for()
        page.get_by_role("radio", name="4", checked=True).wait_for()
    second.get_by_role("radio", name="5").click()
    record = second.get_by_role("button", name="Record the unsaved one")
    record.wait_for()
    assert "not saved: 5" in second.get_by_text("You recorded 4 on").inner_text()
    assert second.get_by_text("Saved 2").count() == 0
    second.get_by_role("radio", name="3").click()
    second.get_by_text("not saved: 3").wait_for()
    pass_time(second, 800)
    assert [value["score"] for _, value in rows(server, "adjudicate")] == [4]
    second.reload()
    ready(second, "adjudicate")
    second.get_by_text("not saved: 3").wait_for()
    record.click()
    assert [one["score"] for _, one in saved(second, server, "adjudicate", 2)] == [4, 3]
    second.get_by_text("Saved 2").wait_for()

    first.get_by_role("radio", name="2").click()  # it still shows the 4
    for page in (first, beside):
        page.get_by_text("You recorded 3 on").wait_for()
    first.get_by_role("button", name="Keep the saved one").click()
    for page in (first, beside):
        page.get_by_text("You recorded 3 on").wait_for(state="hidden")
    first.get_by_role("radio", name="3", checked=True).wait_for()
    first.get_by_role("radio", name="1").click()
    assert saved(first, server, "adjudicate", 3)[-1][1]["score"] == 1

    ask = second.get_by_role("button", name="What is scored")
    words = second.locator(".rx-consensus > p").first
    assert not words.is_visible()
    ask.tap()
    words.wait_for()
    assert words.inner_text().strip()
    ask.press("Enter")
    words.wait_for(state="hidden")
    other.close()


def test_the_card_of_a_refused_verdict_tells_which_is_saved(server, new_page):
    page = open_page(new_page(), server, "verdict")
    page.route(ROUTE, lambda route: route.abort())
    give(page, "verdict", 1)
    until(page, lambda: page.evaluate(UNSENT), lambda count: count == 1)
    value = {"verdict": "confirmed", "comment": None}
    entry = Entry("verdict", "c1", "m", "laterality_error", value=value)
    server.record([entry], Person("anna", "Anna", "lead"))
    page.unroute(ROUTE)
    card = page.locator(".rx-v-card")
    card.get_by_text("saved as confirmed by you").wait_for()
    assert "you rejected it" not in card.inner_text()
    assert not card.get_by_role("textbox").filter(visible=True).count(), (
        "no words on another verdict"
    )
    card.get_by_role("button", name="Dismiss").click()
    card.wait_for(state="hidden")
    give(page, "verdict", 1)
    card.get_by_text("you rejected it").wait_for()
    found = saved(page, server, "verdict", 2)
    assert [one["verdict"] for _, one in found] == ["confirmed", "rejected"]


def test_what_waits_is_sent_from_any_page(server, new_page):
    """A tab that begins on the Overview sends it, and says what waits or was not taken."""

    def given_and_left(kind, number):
        page = open_page(new_page(), server, kind)
        cut_off(page)
        give(page, kind, number)
        until(page, lambda: page.evaluate(UNSENT), lambda count: count == 1)
        page.close()

    given_and_left("adjudicate", 1)
    page = new_page()
    page.route(ROUTE, lambda route: route.abort())
    page.goto(server.link(""))
    notice = page.locator(".rx-waiting")
    notice.get_by_text("1 entry is not saved yet: kept on this computer").wait_for()
    notice.get_by_role("button", name="Save now").click()
    pass_time(page, 300)
    assert rows(server, "adjudicate") == []
    page.unroute(ROUTE)
    assert_given(saved(page, server, "adjudicate", 1), "adjudicate", 1)
    notice.wait_for(state="hidden")
    page.close()

    given_and_left("adjudicate", 2)
    agree(server, 5)
    page = new_page()
    page.goto(server.link("browse"))
    page.locator(".rx-waiting").get_by_text("1 entry on c2 not accepted").wait_for()
    assert [who for who, _ in rows(server, "adjudicate")] == ["anna", "bob"]
    page.locator(".rx-waiting a").click()
    page.get_by_text("Bob B. recorded").wait_for()
    page.locator(".rx-waiting").wait_for(state="hidden")
    page.get_by_role("button", name="Keep mine").click()
    assert saved(page, server, "adjudicate", 3)[-1][1]["score"] == 2


def test_the_next_case_stays_when_the_one_before_is_saved_late(server, new_page):
    """The browser tells that something was saved before it knows the new link."""
    page = new_page()
    held = HeldMessages(page)
    page.goto(server.link("adjudicate", case="c1"))
    ready(page, "adjudicate")
    page.get_by_text("Question 1").wait_for()
    held.holding = True
    page.get_by_role("button", name=re.compile("Next$|Previous$"), disabled=False).click()
    until(page, lambda: len(held.late), lambda count: count > 0)
    pass_time(page, 1500)
    give(page, "adjudicate", 3)
    until(page, lambda: len(rows(server, "adjudicate")), lambda count: count == 1)
    pass_time(page, 1000)
    held.release()
    page.get_by_text("Question 2").wait_for()
    pass_time(page, 2000)
    assert page.get_by_text("Question 2").count() == 1
    assert page.get_by_text("Question 1").count() == 0
    assert "case=c2" in page.url


CHOOSE = """() => {
  for (const text of document.querySelectorAll("[data-rx-answer] .text")) {
    const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const at = walker.currentNode.data.indexOf("ffusio");
      const node = walker.currentNode;
      if (at >= 0) getSelection().setBaseAndExtent(node, at, node, at + 6);
    }
  }
}"""


def test_words_and_boxes_are_commented_on_while_scoring_without_a_connection(server, new_page):
    page = new_page()
    page.goto(server.link("score", case="c1"))
    page.locator(".rx-pad .row.current").wait_for()
    page.locator(".rx-pad .tab", has_text="0/").click()
    page.locator(".rx-c-tab").click()
    field, send = page.locator(".rx-c-form textarea"), page.locator(".rx-c-strong")
    field.wait_for()
    page.context.set_offline(True)
    page.evaluate(CHOOSE)
    page.locator(".rx-c-offer").click()
    assert "“effusion”" in page.locator(".rx-c-context").inner_text(), "whole words"
    field.fill("On words")
    send.click()
    where = page.locator(".rx-c-form select")
    where.select_option(label=where.locator("option", has_text="box 1").inner_text())
    field.fill("On the box of Model M")
    send.click()
    page.locator(".rx-c-one", has_text="not saved yet").nth(1).wait_for()
    page.context.set_offline(False)
    found = [value for _, value in saved(page, server, "comment", 2)]
    assert [one["on"]["what"] for one in found] == ["span", "box"]
    assert found[0]["on"]["text"] == "effusion"
    assert found[1]["text"] == "On the box of Model M"
    page.locator(".rx-c-where", has_text="“effusion”").wait_for()
