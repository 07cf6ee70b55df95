"""The Score page in a real browser: nothing that a reader gave is lost, nothing hidden is told."""

import json
import re
import socket
import sqlite3
import time
from contextlib import closing, contextmanager

import pytest
from support import ROOT
from support.browser.held_messages import HeldMessages
from support.browser.names import name_browsers_of
from support.browser.score_pad import cut_off, known_reader
from support.browser.traffic import assert_hidden, record
from support.browser.waiting import pass_time, until
from support.browser.walk import load_or_follow
from support.small_set import write_set

from bench.serving import serve

pytestmark = pytest.mark.browser
READER = "Dr. Score"
SAVED = ".saved[data-state=saved]"


class Server:
    """An app whose database can be read; with ``port`` it can be stopped and started again."""

    def __init__(self, address, folder):
        self.address, self.folder = address, folder

    def database(self):
        (file,) = [*self.folder.rglob("*.sqlite")]
        return file

    def history(self, **where):
        """Rows that were written here, newest first, as dicts: the demo comes with examples."""
        if not [*self.folder.rglob("*.sqlite")]:
            return []  # nobody has written anything
        with closing(sqlite3.connect(self.database())) as connection:
            connection.row_factory = sqlite3.Row
            found = connection.execute(
                "SELECT * FROM history WHERE via <> 'example' ORDER BY id DESC"
            )
            rows = [dict(row) for row in found]
        for row in rows:
            row["value"] = json.loads(row["value"]) if row["value"] else None
        return [row for row in rows if all(row[name] == value for name, value in where.items())]


@pytest.fixture(scope="module")
def demo(start_app, tmp_path_factory):
    folder = known_reader(tmp_path_factory.mktemp("demo"), READER)
    return Server(start_app(data=folder), folder)


def wait_for_case(page, case):
    page.wait_for_selector(f'[data-painted-case="{case}"]', timeout=60_000)
    page.wait_for_selector(f'.rx-pad .place[title="{case}"]')


def open_case(page, server, case):
    """Go to a case in the app that stands in the page; load it where that shows it already."""
    if page.locator(f'.rx-pad .place[title="{case}"]').count():
        load_case(page, server, case)
        return
    load_or_follow(page, server.address, f"score?case={case}")
    wait_for_case(page, case)
    at_rest(page)


def load_case(page, server, case):
    page.goto(f"{server.address}score?case={case}")
    wait_for_case(page, case)
    at_rest(page)


def at_rest(page):
    """Wait until the script of the page has run."""
    page.wait_for_selector(
        "html:not([data-rx-turning]) [data-testid=stApp][data-test-script-state=notRunning]"
    )


def saved(page):
    page.wait_for_selector(SAVED)


def level(page, key, value):
    return page.locator(f'.row[data-key="{key}"] .level[data-level="{value}"]')


def checked(page, key):
    """The score that a row shows, None without one."""
    on = page.locator(f'.row[data-key="{key}"] .level[aria-checked="true"]')
    return int(on.inner_text()) if on.count() else None


def current(page):
    return page.locator(".row.current").get_attribute("data-key")


def wait_checked(page, key, value):
    page.wait_for_selector(
        f'.row[data-key="{key}"] .level[data-level="{value}"][aria-checked="true"]',
        state="attached",
    )


@pytest.fixture
def page(standing_page):
    return standing_page()


def test_scores_by_keys_and_clicks(demo, page):
    open_case(page, demo, "c01")
    assert current(page) == "A/process/"
    for key in "43":
        page.keyboard.press(key)
    wait_checked(page, "A/process/", 4)
    wait_checked(page, "A/execution/", 3)
    assert current(page) == "A/synthesis/"
    level(page, "A/synthesis/", 2).click()
    assert current(page) == "A/synthesis/"  # a click stays where it is
    page.keyboard.press("ArrowDown")
    page.keyboard.press("5")
    saved(page)
    rows = demo.history(case_id="c01", kind="score")
    assert [row["value"]["score"] for row in rows] == [5, 2, 3, 4]
    assert {row["person"] for row in rows} == {"dr.-score"}
    assert len({row["model_id"] for row in rows}) == 1
    page.reload()
    wait_for_case(page, "c01")
    shown = [
        checked(page, f"A/{name}/") for name in ("process", "execution", "synthesis", "language")
    ]
    assert shown == [4, 3, 2, 5]


def test_the_rubric_of_the_marked_row_is_on_screen_and_can_be_clicked(demo, page):
    open_case(page, demo, "c03")
    slot = current(page)[0]  # of the two answers the one that needs scores
    anchors = page.locator(".rx-pad .anchors")
    assert anchors.locator("li").count() == 5
    rows = page.locator(".answer[data-active] .scoring").bounding_box()
    card = anchors.bounding_box()
    assert card["y"] == rows["y"], "beside the rows"
    last, foot = anchors.locator("li").last, page.locator(".rx-pad footer")
    end = last.bounding_box()["y"] + last.bounding_box()["height"]
    assert end <= card["y"] + card["height"] <= foot.bounding_box()["y"], "to its end"
    assert "overlooked" in anchors.inner_text()
    page.keyboard.press("ArrowDown")
    assert "Execution" in anchors.locator("h4").inner_text()
    anchors.locator('li[data-level="2"]').click()
    wait_checked(page, f"{slot}/execution/", 2)
    assert current(page) == f"{slot}/execution/"
    page.wait_for_selector('.anchors li.chosen[data-level="2"]')


def test_image_dimensions_only_where_there_are_boxes(demo, page):
    open_case(page, demo, "c01")
    rows = page.locator(".rx-pad .row").evaluate_all("all => all.map((one) => one.dataset.key)")
    with_images = {key[0] for key in rows if "/image_" in key}
    assert len(with_images) == 1
    assert {key[0] for key in rows} == {"A", "B"}
    (slot,) = with_images
    assert [key for key in rows if key[0] == slot][4:] == [
        f"{slot}/image_content/",
        f"{slot}/image_style/",
    ]


def test_undo_takes_back_what_was_done_last(demo, page):
    open_case(page, demo, "c04")
    page.keyboard.press("4")
    page.keyboard.press("2")
    page.keyboard.press("u")
    page.wait_for_function(
        "() => document.querySelector('.rx-pad .message').textContent === 'Undone'"
    )
    assert checked(page, "A/execution/") is None
    assert current(page) == "A/execution/"
    page.keyboard.press("u")
    page.keyboard.press("u")
    assert "Nothing to undo" in page.locator(".message").inner_text()
    saved(page)
    values = [row["value"]["score"] for row in demo.history(case_id="c04", kind="score")]
    assert values == [None, None, 2, 4]


def test_skip_with_a_reason_and_take_it_back(demo, page):
    open_case(page, demo, "c05")
    after = page.evaluate("document.querySelector('.rx-pad .next').disabled") is False
    page.keyboard.press("s")
    page.get_by_label("Question is unclear").check()
    page.get_by_role("button", name="Skip this case").click()
    assert after
    page.wait_for_function("() => !location.search.includes('case=c05')")
    saved(page)
    assert demo.history(case_id="c05", kind="skip")[0]["value"] == {"reason": "Question is unclear"}
    page.wait_for_function(
        "() => document.querySelector('.tally').textContent.includes('1 skipped')"
    )
    load_case(page, demo, "c05")
    assert "Skipped: Question is unclear" in page.locator(".finish").inner_text()
    page.get_by_role("button", name="Take back").click()
    page.wait_for_selector(".finish", state="hidden")
    saved(page)
    assert demo.history(case_id="c05", kind="skip")[0]["value"] is None


def test_a_comment_is_kept_with_every_letter(demo, page):
    open_case(page, demo, "c06")
    page.keyboard.press("3")
    page.keyboard.press("e")
    page.keyboard.type("12345 unp gs?")  # all of them keys of the pad
    page.reload()
    wait_for_case(page, "c06")
    saved(page)
    assert current(page) == "A/execution/"
    (row, *_) = demo.history(case_id="c06", kind="score", subject="execution")
    assert row["value"] == {"score": None, "comment": "12345 unp gs?"}
    assert checked(page, "A/process/") == 3
    page.locator('.row[data-key="A/execution/"] .say').click()
    field = page.locator('.row[data-key="A/execution/"] textarea')
    assert field.input_value() == "12345 unp gs?"
    field.press("Escape")
    page.keyboard.press("5")
    wait_checked(page, "A/execution/", 5)
    saved(page)
    (row, *_) = demo.history(case_id="c06", kind="score", subject="execution")
    assert row["value"] == {"score": 5, "comment": "12345 unp gs?"}


def test_failures_are_confirmed_and_taken_back(demo, page):
    open_case(page, demo, "c07")
    answer = page.locator('.answer[data-slot="A"]')
    answer.locator("summary").click()
    chip = answer.locator('[data-failure="hallucination"]')
    chip.click()
    page.wait_for_selector('.answer[data-slot="A"] [data-failure=hallucination][aria-pressed=true]')
    saved(page)
    assert demo.history(case_id="c07", kind="verdict")[0]["value"]["verdict"] == "confirmed"
    page.keyboard.press("a")
    sheet = page.locator(".rx-pad .sheet")
    letter = sheet.locator('[data-failure="hallucination"] kbd').inner_text()
    assert chip.locator("kbd").inner_text() == f"a {letter}"
    page.keyboard.press(letter)
    page.keyboard.press("Escape")
    sheet.wait_for(state="hidden")
    page.wait_for_function(
        "() => document.querySelector('[data-failure=hallucination]').ariaPressed === 'false'"
    )
    pass_time(page, 300)
    saved(page)
    assert demo.history(case_id="c07", kind="verdict")[0]["value"]["verdict"] is None


def test_nothing_is_lost_when_cases_are_turned_fast(demo, page):
    open_case(page, demo, "c08")
    page.get_by_role("button", name="Cases").click()
    first = page.locator(".sheet .case").first.get_attribute("data-case")
    load_case(page, demo, first)
    order = []
    given = 0
    for _ in range(6):
        page.wait_for_function("() => document.querySelector('.rx-pad .row.current')")
        order.append(page.locator(".rx-pad .place").get_attribute("title"))
        for key in "4321":
            page.keyboard.press(key)
            given += 1
        page.keyboard.press("n")
        before = order[-1]
        page.wait_for_function(
            "(last) => document.querySelector('.place').title !== last", arg=before
        )
    saved(page)
    assert len(set(order)) == 6
    for case in order:
        rows = demo.history(case_id=case, kind="score")
        assert [row["value"]["score"] for row in rows][:4] == [1, 2, 3, 4], case
    page.wait_for_function("() => location.search.includes('case=')")


def test_two_windows_of_one_reader_do_not_fight(demo, page, new_page):
    other = new_page()
    open_case(page, demo, "c20")
    open_case(other, demo, "c20")
    page.keyboard.press("2")
    saved(page)
    other.evaluate("window.dispatchEvent(new Event('focus'))")
    wait_checked(other, "A/process/", 2)
    other.keyboard.press("ArrowUp")
    level(other, "A/process/", 5).click()
    saved(other)
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    wait_checked(page, "A/process/", 5)


def boxes_on_screen(page):
    """The answers whose boxes are on the film."""
    return page.locator("g.box").evaluate_all(
        "all => all.filter((one) => one.getClientRects().length > 0)"
        ".map((one) => one.dataset.group)"
    )


def test_only_boxes_of_the_answer_in_hand_and_on_request(demo, page):
    open_case(page, demo, "c01")
    rows = page.locator(".row").evaluate_all("all => all.map((one) => one.dataset.key)")
    (drawn,) = {key[0] for key in rows if "/image_content/" in key}
    (other,) = {key[0] for key in rows} - {drawn}
    painted = page.locator("[data-painted-case]")
    page.locator(f'.tab[data-slot="{drawn}"]').click()
    chip = page.locator(".chip.group")
    chip.wait_for()
    assert chip.get_attribute("data-group") == drawn
    page.locator(".pane").first.click()  # the focus is in the picture
    before = len(demo.history(case_id="c01"))
    for key in ("Shift+Digit1", "Shift+Digit2", "Shift+Digit9"):
        page.keyboard.press(key)
    assert boxes_on_screen(page) == []
    page.keyboard.press("0")
    page.wait_for_selector('.chip.group[aria-pressed="true"]')
    assert set(boxes_on_screen(page)) == {drawn}
    assert f"b={drawn}" not in page.url
    page.locator(f'.tab[data-slot="{other}"]').click()
    page.get_by_text("No boxes", exact=True).wait_for()
    page.keyboard.press("0")
    assert boxes_on_screen(page) == []
    page.locator(f'.tab[data-slot="{drawn}"]').click()
    chip.wait_for()
    assert set(boxes_on_screen(page)) == {drawn}, "what was asked for stays with its answer"
    assert len(demo.history(case_id="c01")) == before
    key = current(page)
    page.keyboard.press("5")
    wait_checked(page, key, 5)
    page.keyboard.press("i")
    page.wait_for_url(re.compile("~i"))
    assert painted.count() == 1
    page.reload()
    wait_for_case(page, "c01")
    page.locator(f'.tab[data-slot="{drawn}"]').click()
    chip.wait_for()
    assert boxes_on_screen(page) == [], "each time they are asked for anew"


def test_the_report_comes_on_request_only(demo, page):
    open_case(page, demo, "c09")
    report, sheet = page.locator(".rx-pad .report"), page.locator(".rx-pad .sheet")
    assert report.inner_text() == ""
    page.keyboard.press("g")
    sheet.get_by_text("Show the report?").wait_for()
    page.keyboard.press("Escape")
    sheet.wait_for(state="hidden")
    assert demo.history(case_id="c09", kind="reveal") == []
    page.keyboard.press("3")
    page.locator(".unfinished", has_text="not counted yet").wait_for()
    assert "Execution" in page.locator(".unfinished").inner_text()
    page.keyboard.press("g")
    sheet.get_by_role("button", name="Show the report").click()
    page.wait_for_selector(".rx-pad .report:not([hidden])")
    assert "Impression" in report.inner_text()
    page.set_viewport_size({"width": 1280, "height": 720})
    foot = page.locator(".rx-pad footer").bounding_box()
    assert foot["y"] + foot["height"] <= 720, "in sight, though the pad is higher than the window"
    assert demo.history(case_id="c09", kind="reveal")[0]["value"] == {"what": "report"}
    told = page.locator(".rx-pad .seen").inner_text()
    assert re.fullmatch(r"You saw the report at \d\d:\d\d, while scoring\.", told), told
    page.keyboard.press("g")
    report.wait_for(state="hidden")


def test_a_case_seen_with_the_models_named_is_said_before_it_is_scored(demo, page):
    load_or_follow(page, demo.address, "case?case=c21")
    page.wait_for_selector('[data-painted-case="c21"]')
    page.wait_for_function("() => document.body.innerText.includes('Generalist')")
    open_case(page, demo, "c21")
    page.locator(".seen .ask", has_text="with the models named").wait_for()
    key = current(page)
    page.keyboard.press("4")
    assert level(page, key, 4).is_disabled()
    assert checked(page, key) is None
    page.get_by_role("button", name="Score it all the same").click()
    page.keyboard.press("4")
    wait_checked(page, key, 4)
    saved(page)
    rows = demo.history(case_id="c21")
    assert [row["kind"] for row in rows] == ["score", "reveal", "reveal"]
    assert [row["value"] for row in rows[1:]] == [
        {"what": "unblinded", "accepted": True},
        {"what": "unblinded"},
    ]
    page.reload()
    wait_for_case(page, "c21")
    assert page.locator(".seen .ask").count() == 0
    assert "You have seen this case with the models named" in page.locator(".seen").inner_text()


def test_the_list_of_cases_leads_to_them(demo, page):
    open_case(page, demo, "c10")
    page.get_by_role("button", name="Cases").click()
    sheet = page.locator(".rx-pad .sheet")
    assert sheet.locator(".case").count() == int(
        page.locator(".rx-pad .place").inner_text().rpartition(" ")[2]
    )
    assert "null" not in sheet.inner_text()
    sheet.locator('[data-case="c12"]').click()
    wait_for_case(page, "c12")
    page.keyboard.press("?")
    assert "skip the case" in sheet.inner_text()
    page.keyboard.press("3")  # not while the list of keys is open
    page.keyboard.press("Escape")
    sheet.wait_for(state="hidden")
    assert checked(page, "A/process/") is None
    text = page.locator(".answer:visible .text").first
    text.evaluate("(one) => { one.style.maxHeight = one.style.minHeight = '40px'; }")
    page.keyboard.press("PageDown")
    assert text.evaluate("(one) => one.scrollTop") > 0
    page.keyboard.press("PageUp")
    assert text.evaluate("(one) => one.scrollTop") == 0


def test_the_reader_goes_on_where_they_were(demo, page):
    open_case(page, demo, "c11")
    page.keyboard.press("3")
    saved(page)
    page.goto(f"{demo.address}score")
    wait_for_case(page, "c11")


def free_port():
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


@contextmanager
def small_app(folder, port):
    if not (folder / "set").exists():
        known_reader(folder / "data", READER)
        write_set(folder / "set")
    with serve(
        ROOT / "app.py",
        folder / "set",
        port=port,
        options={"server.fileWatcherType": "none"},
        environment={
            "XDG_DATA_HOME": str(folder / "data"),
            "REXVIEW_CACHE": str(folder / "cache"),
            "PYTHONPATH": str(ROOT),
        },
    ) as address:
        name_browsers_of(address, folder / "data")
        yield Server(address + "/", folder)


def test_scores_wait_for_a_server_that_is_gone(new_page, tmp_path):
    port = free_port()
    page = new_page()
    with small_app(tmp_path, port) as server:
        open_case(page, server, "c1")
        page.keyboard.press("5")
        saved(page)
        scored = page.locator(".row.current").get_attribute("data-key")[0]
    page.keyboard.press("4")
    page.wait_for_selector(".saved[data-state=waiting]")
    assert "kept on this computer" in page.locator(".rx-pad .alert").inner_text()
    assert "cannot be reached" in page.locator(".rx-pad .alert").inner_text()
    page.keyboard.press("e")
    page.keyboard.type("Written without a server")
    page.keyboard.press("Escape")
    assert [row["value"]["score"] for row in server.history()] == [5]
    with small_app(tmp_path, port) as server:  # another process, with another secret
        page.wait_for_selector(SAVED, timeout=60_000)
        page.wait_for_selector(".rx-pad .alert", state="hidden")
        values = {row["subject"]: row["value"] for row in reversed(server.history())}
        assert values["process"] == {"score": 5, "comment": None}
        assert values["execution"] == {"score": 4, "comment": None}
        assert values["synthesis"] == {"score": None, "comment": "Written without a server"}
        assert checked(page, f"{scored}/execution/") == 4


def test_scores_of_a_closed_window_are_sent_by_the_next(new_page, tmp_path):
    port = free_port()
    page = new_page()
    with small_app(tmp_path, port) as server:
        open_case(page, server, "c1")
    key = current(page)
    page.keyboard.press("2")
    page.wait_for_selector(".saved[data-state=waiting]")
    page.close()
    assert server.history() == []
    with small_app(tmp_path, port) as server:
        later = new_page()
        open_case(later, server, "c1")
        wait_checked(later, key, 2)
        saved(later)
        assert [row["value"]["score"] for row in server.history()] == [2]


def test_what_another_part_of_the_page_has_sent_is_on_the_pad(new_page, tmp_path):
    """What waited is sent by the first part of a page that is there, before the pad may be."""
    with small_app(tmp_path, free_port()) as server:
        page = new_page()
        open_case(page, server, "c1")
        cut_off(page)
        key = current(page)
        page.keyboard.press("2")
        page.wait_for_selector(".saved[data-state=waiting]")
        page.close()
        later = new_page()
        held = HeldMessages(later, holding=True, begins=lambda one: b'"worklist"' in one)
        later.goto(f"{server.address}score?case=c1")
        until(later, server.history, lambda rows: len(rows) == 1)
        assert held.late, "the pad was there before"
        pass_time(later, 500)
        held.release()
        wait_for_case(later, "c1")
        wait_checked(later, key, 2)


def test_a_locked_database_is_told_and_outwaited(new_page, tmp_path):
    page = new_page()
    with small_app(tmp_path, free_port()) as server:
        open_case(page, server, "c1")
        page.keyboard.press("1")
        saved(page)
        with closing(sqlite3.connect(server.database(), isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            page.keyboard.press("3")
            page.wait_for_selector(".saved[data-state=saving]")
            page.wait_for_selector(".saved[data-state=waiting]", timeout=40_000)
            assert "kept on this computer" in page.locator(".rx-pad .alert").inner_text()
            other.execute("ROLLBACK")
        page.wait_for_selector(SAVED, timeout=40_000)
        assert [row["value"]["score"] for row in server.history()] == [3, 1]


def test_all_is_scored_and_the_models_are_named(new_page, tmp_path):
    page = new_page()
    with small_app(tmp_path, free_port()) as server:
        open_case(page, server, "c2")
        for key in "4444":
            page.keyboard.press(key)
        page.wait_for_function(
            "() => document.querySelector('.message').textContent.includes('All')"
        )
        open_case(page, server, "c1")
        page.wait_for_selector(".rx-pad .row.current")
        for slot in ("A", "B"):
            page.locator(f'.tab[data-slot="{slot}"]').click()
            count = page.locator(f'.answer[data-slot="{slot}"] .row').count()
            for _ in range(count):
                page.keyboard.press("3")
        page.get_by_text("All 2 cases are scored").first.wait_for()
        saved(page)
        page.get_by_role("button", name="Name the models…").last.click()
        page.locator(".sheet").get_by_role("button", name="Name the models").click()
        page.get_by_text("The models and your scores").first.wait_for()
        page.wait_for_selector(".rx-pad .level:disabled", state="attached")
        assert "Model M" in page.locator(".rx-pad").inner_text()
        assert {row["case_id"] for row in server.history(kind="reveal")} == {"c1", "c2"}


def test_a_blinded_reader_gets_nothing_that_is_hidden(browser, tmp_path, start_app):
    """The whole traffic of scoring on the demo: no model, nobody else's score, no report."""
    lines = (ROOT / "assets/demo/cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    shown = ("c01", "c02", "c14")
    reports = [case["report"]["findings"][:60] for case in cases if case["id"] in shown]
    server = Server(start_app(data=known_reader(tmp_path / "data", READER)), tmp_path)
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    try:
        with record(context) as traffic:
            page = context.new_page()
            for case in shown:
                open_case(page, server, case)
                for key in "32":
                    page.keyboard.press(key)
                saved(page)
                page.keyboard.press("n")
                page.wait_for_function(
                    "(last) => document.querySelector('.place').title !== last", arg=case
                )
                page.get_by_role("button", name="Cases").click()
                page.keyboard.press("Escape")
                pass_time(page, 500)
                traffic.look(page)
    finally:
        context.close()
    time.sleep(0.1)
    hidden = ["Generalist", "Medical 4B", "medical-4b", "medical_4b", "reader_a", "reader_b"]
    hidden += ["Reader A", "Reader B", ".dcm", "returned/", "effusion-right", *reports]
    assert_hidden(traffic, hidden)
