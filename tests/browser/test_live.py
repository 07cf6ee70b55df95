"""Two people on one review set, each with a browser and a server of their own.

They see each other's comments and progress within seconds, and nobody loses what they type.
"""

import json
import re
import sqlite3
from contextlib import closing
from uuid import uuid4

import pytest
from support.browser.score_pad import known_reader
from support.browser.waiting import PATIENCE_MS, calm, pass_time
from support.small_set import write_set

pytestmark = pytest.mark.browser
SOON = PATIENCE_MS
HOSTILE = '<img src=x onerror="document.title=1"> <script>document.title=1</script> **bold**'
MORE_SCORES = "".join(
    f"c1,m,rb,{dimension},{score}\nc2,m,ra,{dimension},{4}\nc2,m,rb,{dimension},{2}\n"
    for dimension, score in (("process", 1), ("execution", 2))
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = write_set(tmp_path_factory.mktemp("live") / "set")
    with (folder / "scores.csv").open("a", encoding="utf-8") as file:
        file.write(MORE_SCORES)
    return folder


@pytest.fixture(scope="module")
def start(start_app, folder, tmp_path_factory):
    """Return the address of a server for somebody; all of them work on the same folder."""
    known = {}

    def address(name):
        if name not in known:
            data = tmp_path_factory.mktemp("data")
            known_reader(data, name)
            known[name] = start_app(folder, data=data)
        return known[name]

    return address


def history(folder, kind):
    with closing(sqlite3.connect(folder / "reviews.sqlite")) as connection:
        rows = connection.execute("SELECT person, value FROM history WHERE kind = ?", (kind,))
        return [(person, json.loads(value) if value else None) for person, value in rows]


WITHOUT_TLS = "Object.defineProperty(Crypto.prototype, 'randomUUID', { value: undefined })"
"""A page that is served without TLS under another name than localhost has no such function."""


def open_comments(page, address, case="c1"):
    page.add_init_script(WITHOUT_TLS)
    page.goto(f"{address}case?case={case}")
    page.wait_for_selector("[data-rx-answer] .rx-text", timeout=60_000)
    page.locator(".rx-c-tab").click()
    return page


def write(page, text):
    page.locator(".rx-c-form textarea").fill(text)
    page.locator(".rx-c-strong").click()


def one(page, text):
    return page.locator(".rx-c-one[data-comment] p", has_text=text)


def choose_words(page, words):
    """Select words of the first answer, as with the mouse."""
    page.evaluate(
        """(words) => {
          const body = document.querySelector('[data-rx-answer] .rx-text');
          const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const at = walker.currentNode.data.indexOf(words);
            if (at < 0) continue;
            const range = document.createRange();
            range.setStart(walker.currentNode, at);
            range.setEnd(walker.currentNode, at + words.length);
            getSelection().removeAllRanges();
            getSelection().addRange(range);
            return;
          }
        }""",
        words,
    )


def test_comments_of_others_come_while_one_types(start, folder, new_page):
    ann = open_comments(new_page(), start("Ann"))
    bob = open_comments(new_page(), start("Bob"))
    field = bob.locator(".rx-c-form textarea")
    field.click()
    bob.keyboard.type("I was just about to ")
    write(ann, HOSTILE)
    one(bob, "**bold**").wait_for(timeout=SOON)
    assert one(bob, "**bold**").inner_text() == HOSTILE, "text is text"
    assert bob.locator(".rx-c img, .rx-c script").count() == 0
    assert "Ann" in bob.locator(".rx-c-one header").first.inner_text()
    bob.keyboard.type("say so.")
    assert field.input_value() == "I was just about to say so."
    assert field.evaluate("field => field === document.activeElement")
    bob.keyboard.press("Control+Enter")
    one(ann, "say so.").wait_for(timeout=SOON)
    ann.locator(".rx-c-thread", has_text="say so.").get_by_role("button", name="Reply").click()
    write(ann, "An answer")
    bob.locator(".rx-c-thread", has_text="say so.").locator("p", has_text="An answer").wait_for(
        timeout=SOON
    )
    ann.locator(".rx-c-thread", has_text="**bold**").get_by_role("button", name="Resolve").click()
    bob.locator(".rx-c-list summary", has_text="1 resolved").wait_for(timeout=SOON)
    assert bob.get_by_role("button", name="Edit").count() == 1, "only one's own can be changed"


def test_words_are_marked_for_the_other_and_the_picture_stays(start, new_page):
    ann, bob = (open_comments(new_page(), start(name)) for name in ("Ann", "Bob"))
    before = ann.locator(".rx").first.bounding_box()
    choose_words(ann, "ffusio")
    ann.locator(".rx-c-offer").click()
    assert "“effusion" in ann.locator(".rx-c-context").inner_text(), "whole words"
    write(ann, "On these words")
    one(bob, "On these words").wait_for(timeout=SOON)
    marked = "() => [...(CSS.highlights.get('rx-commented') ?? [])].map(range => range.toString())"
    bob.wait_for_function(f"() => ({marked})().includes('effusion')", timeout=SOON)
    assert ann.locator(".rx").first.bounding_box() == before
    ann.locator(".rx-c-form select").select_option(index=2)
    write(ann, "On this box")
    where = bob.locator(".rx-c-thread", has_text="On this box").locator(".rx-c-where")
    where.wait_for(timeout=SOON)
    assert "left effusion" in where.inner_text()


def test_what_is_typed_outlives_reload_and_another_case(start, new_page):
    ann = open_comments(new_page(), start("Ann"))
    ann.locator(".rx-c-form textarea").fill("Half a thought")
    ann.reload()
    ann.wait_for_selector(".rx-c-tab", timeout=60_000)
    ann.locator(".rx-c-tab").click()
    ann.wait_for_function(
        "() => document.querySelector('.rx-c-form textarea').value === 'Half a thought'"
    )
    ann.locator(".rx-c-form textarea").fill("")


def test_a_walk_through_adjudication(start, folder, new_page):
    page = new_page()
    page.goto(f"{start('Ann')}adjudicate")
    page.get_by_text("1 of 2", exact=False).first.wait_for(timeout=60_000)
    page.evaluate("""() => {
      window.untrue = [];
      new MutationObserver(() => {
        for (const { textContent } of document.querySelectorAll(".rx-consensus-notice p"))
          if (textContent.startsWith("Consensus not saved")) window.untrue.push(textContent);
      }).observe(document.body, { childList: true, subtree: true, characterData: true });
    }""")
    calm(page)  # the page comes part by part
    text = page.locator("[data-testid=stMain]").inner_text()
    for hidden in ("Model M", "Reader A", "rb"):
        assert hidden not in text
    assert "Reader 1" in text
    for number in (1, 2):
        page.get_by_text(f"{number} of 2", exact=False).first.wait_for()
        page.get_by_text(f"Question {number}").first.wait_for()
        calm(page)  # nothing of the case before is left
        # c1 is 4 apart on process only; c2 is 2 apart on process and execution
        for place in range(page.get_by_role("textbox", name="Why").count()):
            form = page.locator(".rx-consensus:has(textarea)").nth(place)
            form.get_by_role("radio", name="3").click()
            form.locator("p", has_text=re.compile("^Saved")).wait_for(timeout=SOON)
        why = page.locator("textarea[aria-label=Why]").first
        why.fill(f"Agreed {number}")
        why.blur()
        if number == 1:
            page.get_by_role("button", name="Next open").click()
    page.get_by_text("Every case is settled.").first.wait_for(timeout=SOON)
    assert page.evaluate("() => window.untrue") == []
    given = history(folder, "adjudicate")
    assert {person for person, _ in given} == {"ann"}
    assert all(value["score"] == 3 for _, value in given)
    pass_time(page, 1500)
    comments = {value["comment"] for _, value in history(folder, "adjudicate")}
    assert {"Agreed 1", "Agreed 2"} <= comments
    page.goto(f"{start('Ann')}case?case=c1")
    page.locator(".rx-agreed").wait_for(timeout=60_000)


def test_progress_of_others_shows_by_itself(start, folder, new_page):
    lead, reader = new_page(), new_page()
    lead.goto(f"{start('Ann')}study")
    lead.get_by_text("Assign cases").first.wait_for(timeout=60_000)
    reader.goto(f"{start('Bob')}score?case=c1")
    reader.wait_for_selector(".rx-pad .row:visible", timeout=60_000)  # of any answer
    seen = reader.get_by_role("button", name="Score it all the same")
    if seen.count():  # Bob has been on the Case page before
        seen.click()
    reader.keyboard.press("3")
    reader.wait_for_selector(".saved[data-state=saved]")
    row = lead.locator(".rx-study:not(.rx-exposures) tr", has_text="Bob")
    row.wait_for(timeout=SOON)
    assert row.locator("td").nth(3).inner_text() == "1", "one case is begun"


def test_a_comment_that_waits_in_the_browser_is_sent_from_any_case(start, folder, new_page):
    """As after a server that went away: the session knows nothing of what was sent."""
    address = start("Ann")
    page = open_comments(new_page(), address, "c2")
    page.locator(".rx-c-form textarea").fill("draft")  # tells under which name entries lie
    owner = page.evaluate(
        """() => Object.keys(localStorage).find((key) => key.startsWith("rexview:draft:"))
          .split(":")[2]"""
    )
    page.locator(".rx-c-form textarea").fill("")
    page.evaluate(
        """([owner, token, comment]) => {
          const entry = { token, page: "case page", kind: "comment", case: "c1", order: "1",
            subject: comment, value: { text: "From before" } };
          localStorage.setItem(`rexview:unsent:${owner}:1-${token}`, JSON.stringify(entry));
        }""",
        [owner, str(uuid4()), str(uuid4())],
    )
    open_comments(page, address, "c2")
    stored = "Object.keys(localStorage).filter((key) => key.startsWith('rexview:unsent:')).length"
    page.wait_for_function(f"() => {stored} === 0", timeout=SOON)
    open_comments(page, address, "c1")
    one(page, "From before").wait_for(timeout=SOON)
    pass_time(page, 5000)
    texts = [value["text"] for _, value in history(folder, "comment") if value]
    assert texts.count("From before") == 1
    assert page.evaluate(stored) == 0
