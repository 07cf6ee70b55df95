"""A reader in a real browser while servers, connections, disks and databases fail."""

import json
from random import Random

import pytest
from support.browser.names import name_browsers_of
from support.browser.score_pad import (
    Watch,
    known_reader,
    open_case,
    trouble,
    wait_for_case,
    wait_saved,
)
from support.browser.waiting import PATIENCE_MS, pass_time
from support.postgres import running
from support.small_disk import mounted
from support.small_set import write_set

from bench.reliability.audit import audit
from bench.reliability.server import ScoreServer
from rexview.analysis.query.study_tasks import assign_slots
from rexview.reviewset import load_review_set
from rexview.store import open_reviews
from rexview.store.database.connection import close_databases

pytestmark = pytest.mark.browser
ANNA = "anna"


@pytest.fixture
def context(browser):
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    yield context
    context.close()


@pytest.fixture
def watch(context):
    return Watch(context)


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Return a function that runs a server for Anna, who works alone."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "own"))

    def make(**options):
        known_reader(tmp_path / "data", "Anna")
        server = ScoreServer(tmp_path, own_secret=True, **options)
        name_browsers_of(server.url, tmp_path / "data")
        return server

    yield make
    close_databases()


@pytest.fixture
def small(start, tmp_path):
    with start(review_set=write_set(tmp_path / "set")) as server:
        yield server


def values(server):
    """What stands in the database, oldest first."""
    return [row.value["score"] for row in server.scores()]


def assert_all_there(server, watch, given):
    """Everything that the page kept is confirmed and in the database, once, as it was given."""
    key = open_reviews(server.review_set, server.settings).letter_key()
    scores = watch.given(server.review_set, ANNA, key)
    assert len(scores) == given
    assert sorted(watch.confirmed) == sorted(entry["token"] for entry in watch.entries)
    tokens = {one.token for one in scores}
    rows = [row for row in server.scores() if row.token in tokens]
    assert len(rows) == given
    assert not audit(scores, tokens, rows)


def score_somewhere(page, random):
    """Score a row anew; return how many scores the page shows as given by that, 0 or 1."""
    page.keyboard.press(random.choice(("ArrowDown", "ArrowUp")))
    row = page.locator(".rx-pad .row.current")
    key, before = row.get_attribute("data-key"), checked(row)
    digit = random.choice([one for one in "12345" if one != before])
    page.keyboard.press(digit)
    return checked(page.locator(f'.rx-pad .row[data-key="{key}"]')) == digit


def checked(row):
    on = row.locator('.level[aria-checked="true"]')
    return on.inner_text() if on.count() else None


def test_a_server_that_is_killed_while_somebody_scores(start, context, watch):
    """Killed twice, in the middle of it; each new server has another secret."""
    random = Random(11)
    given = 0
    with start() as server:
        page = context.new_page()
        open_case(page, server.url, "c01")
        for _ in range(2):
            given += sum(score_somewhere(page, random) for _ in range(random.randrange(6, 12)))
            server.kill()
            page.wait_for_timeout(100)
            assert set(watch.confirmed) <= {row.token for row in server.scores()}
            given += sum(score_somewhere(page, random) for _ in range(3))
            assert "cannot be reached" in trouble(page)
            server.start()
            wait_saved(page)
            pass_time(page, 6000)  # within which the page renews itself
            wait_for_case(page, "c01")
            assert len(watch.confirmed) == len(watch.entries)
        given += sum(score_somewhere(page, random) for _ in range(5))
        wait_saved(page)
        pass_time(page, 300)
        assert server.starts == 3
        assert given >= 20
        assert_all_there(server, watch, given)


def test_a_connection_that_drops(small, context, watch):
    page = context.new_page()
    open_case(page, small.url, "c1")
    page.keyboard.press("5")
    wait_saved(page)
    page.evaluate("window.same = true")
    context.set_offline(True)
    page.keyboard.press("4")
    assert "The server cannot be reached" in trouble(page)
    page.keyboard.press("e")
    page.keyboard.type("In a tunnel")
    page.keyboard.press("Escape")
    assert values(small) == [5]
    context.set_offline(False)
    wait_saved(page)
    assert page.evaluate("window.same"), "the page was not loaded anew"
    rows = small.scores()
    assert [row.value for row in rows] == [
        {"score": 5, "comment": None},
        {"score": 4, "comment": None},
        {"score": None, "comment": "In a tunnel"},
    ]
    assert_all_there(small, watch, 2)


def test_a_server_that_hangs_while_the_page_is_closed(small, context, watch):
    """What was sent and not answered is sent again by the next page, and counts once."""
    page = context.new_page()
    open_case(page, small.url, "c1")
    page.keyboard.press("5")
    wait_saved(page)
    small.hold()
    page.keyboard.press("2")
    page.wait_for_selector(".rx-pad .saved[data-state=saving]")
    pass_time(page, 500)
    page.close()
    small.let_go()
    page = context.new_page()
    open_case(page, small.url, "c1")
    page.keyboard.press("j")
    page.keyboard.press("3")
    wait_saved(page)
    assert sorted(values(small)) == [2, 3, 5]
    assert_all_there(small, watch, 3)


def test_a_quota_that_is_used_up(small, context, watch):
    page = context.new_page()
    open_case(page, small.url, "c1")
    page.keyboard.press("5")
    wait_saved(page)
    log = small.database.with_name("reviews.sqlite-wal")
    small.limit_files(log.stat().st_size)
    page.keyboard.press("4")
    assert "Make room on it" in trouble(page)
    assert values(small) == [5]
    small.limit_files(None)
    wait_saved(page)
    assert values(small) == [5, 4]
    assert_all_there(small, watch, 2)


@pytest.fixture
def small_disk(tmp_path):
    """A real file system of 2 MB."""
    with mounted(tmp_path / "disk", "2m") as folder:
        yield folder


def fill(folder):
    """Take all that is left of a disk; return the file that holds it."""
    file = folder / "others.bin"
    with file.open("wb", buffering=0) as out:
        for size in (65_536, 4096, 1):
            try:
                while True:
                    out.write(b"x" * size)
            except OSError:
                continue
    return file


def test_a_disk_that_is_full(start, small_disk, tmp_path, context, watch):
    address = f"sqlite:///{small_disk}/reviews.sqlite"
    with start(review_set=write_set(tmp_path / "set"), database_url=address) as server:
        page = context.new_page()
        open_case(page, server.url, "c1")
        page.keyboard.press("5")
        wait_saved(page)
        others = fill(small_disk)
        page.keyboard.press("4")
        assert "The disk with the reviews database is full" in trouble(page)
        page.keyboard.press("3")
        assert values(server) == [5]
        others.unlink()
        wait_saved(page)
        assert values(server) == [5, 4, 3]
        assert_all_there(server, watch, 3)


def test_a_database_server_that_stops_and_starts(start, tmp_path, context, watch):
    with running() as database:
        address = database.new_database("reviews")
        with start(review_set=write_set(tmp_path / "set"), database_url=address) as server:
            page = context.new_page()
            open_case(page, server.url, "c1")
            page.keyboard.press("5")
            wait_saved(page)
            database.stop(crash=True)
            page.keyboard.press("4")
            assert "The database server for reviews cannot be reached" in trouble(page)
            page.reload()  # even now, nothing but words
            page.get_by_text("The database server for reviews cannot be reached").first.wait_for()
            assert "Traceback" not in page.locator("body").inner_text()
            database.start()
            page.reload()
            wait_for_case(page, "c1")
            wait_saved(page)
            page.keyboard.press("3")
            pass_time(page, 500)
            wait_saved(page)
            assert sorted(values(server)) == [3, 4, 5]
            assert_all_there(server, watch, 3)


def test_a_set_that_changes_under_an_open_pad(small, context):
    """Nothing goes to another answer, the reader is told and loses nothing, also by a reload."""
    page = context.new_page()
    open_case(page, small.url, "c1")
    page.keyboard.press("5")
    page.keyboard.press("4")
    wait_saved(page)
    (first, _) = small.scores()
    context.set_offline(True)
    page.keyboard.press("3")
    page.keyboard.press("e")
    page.keyboard.type("On the <b>old</b> text")
    page.keyboard.press("Escape")
    trouble(page)
    file = small.review_set.folder / "answers.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    rows = [{**row, "text": f"Now: {row['text']}"} for row in rows]
    rows += [{**rows[0], "model": name, "text": f"Another, {name}"} for name in "abcd"]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    context.set_offline(False)

    returned = page.locator(".rx-pad .returned section")
    returned.wait_for()
    page.locator(".rx-pad .tab").nth(5).wait_for()  # the answers as they are now
    for _ in range(2):
        words = returned.inner_text()
        assert "were changed after you entered this" in words
        assert ": 3" in words
        assert "comment: On the <b>old</b> text" in words
        page.reload()
        wait_for_case(page, "c1")
        returned.wait_for()
    assert values(small) == [5, 4], "what could not be taken is not in the database"

    answer = page.locator(f'.rx-pad .answer[data-slot="{slot_of(small, "c1", first.model)}"]')
    tab = page.locator(f'.rx-pad .tab[data-slot="{answer.get_attribute("data-slot")}"]')
    tab.click()
    answer.get_by_text("not counted").wait_for()
    assert answer.locator(".level.before").all_inner_texts() == ["5", "4"]
    answer.get_by_role("button", name="Keep for this version").click()
    wait_saved(page)
    again = small.scores()[2:]
    assert [(row.model, row.value["score"]) for row in again] == [
        (first.model, 5),
        (first.model, 4),
    ]
    assert {row.answer_digest for row in again}.isdisjoint({first.answer_digest, None})
    returned.get_by_role("button", name="Dismiss").click()
    returned.wait_for(state="detached")
    page.reload()
    wait_for_case(page, "c1")
    assert returned.count() == 0

    tab.click()
    context.set_offline(True)
    third = answer.locator(".row").nth(2)
    third.locator('[data-level="1"]').click()
    page.evaluate("Date.now = () => 1000")  # the clock is set back
    third.locator('[data-level="2"]').click()
    context.set_offline(False)
    wait_saved(page)
    assert values(small)[4:] == [1, 2]


def slot_of(server, case, model):
    """The letter of a model's answer now."""
    review_set = load_review_set(server.review_set.folder)
    models = [answer.model for answer in review_set.answers_of(case)]
    key = open_reviews(review_set, server.settings).letter_key()
    slots = assign_slots(case, models, reader=ANNA, key=key)
    return next(slot for slot, behind in slots.items() if behind == model)
