"""SQLite files: where they lie, several processes, locks, full disks, damage."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import replace
from threading import Event, Thread

import pytest
from sqlalchemy import event
from support import ROOT
from support.entries.stored import ANN, BOB, score
from support.small_disk import mounted
from support.small_set import write_set

from rexview.errors import StoreBusy, StoreFull, StoreUnreachable
from rexview.reviewset import load_review_set
from rexview.settings import DEMO_FOLDER, Settings
from rexview.store import Reviews, database_location, merge_reviews, open_reviews
from rexview.store.database.connection import ReviewsDatabase, close_databases

WRITER = """
import json, sys
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/tests"]
from pathlib import Path
from support.entries.stored import score
from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import open_reviews

reviews = open_reviews(load_review_set(Path(sys.argv[2])), Settings())
person = Person(sys.argv[3], sys.argv[3], "reader")
rows = []
for number in range(int(sys.argv[4])):
    (row,) = reviews.record([score(number % 5 + 1)], person)
    rows.append([row.id, row.token, row.previous and row.previous["score"]])
print(json.dumps(rows))
"""


@pytest.fixture
def reviews(review_set):
    return open_reviews(review_set, Settings())


def patient(reviews, wait_s):
    """The same reviews through connections that wait less long."""
    address = reviews.database.url.render_as_string(hide_password=False)
    return Reviews(
        ReviewsDatabase(address, wait_s=wait_s), reviews.review_set, reviews.key, dedicated=True
    )


def writers(folder, names, count, **options):
    command = [sys.executable, "-c", WRITER, str(ROOT), str(folder)]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    return [
        subprocess.Popen(
            [*command, name, str(count)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environ,
            **options,
        )
        for name in names
    ]


def test_several_processes_write_one_file(review_set):
    names, count = ("ann", "bob", "eve"), 40
    running = writers(review_set.folder, names, count)
    rows = {}
    for name, process in zip(names, running, strict=True):
        out, problems = process.communicate(timeout=120)
        assert process.returncode == 0, problems
        rows[name] = json.loads(out)
    reviews = open_reviews(review_set, Settings())
    history = reviews.history()
    assert len(history) == len(names) * count
    assert {row.token for row in history} == {row[1] for own in rows.values() for row in own}
    for own in rows.values():
        values = [number % 5 + 1 for number in range(count)]
        assert [row[2] for row in own] == [None, *values[:-1]], "each saw its own value before"
        assert [row[0] for row in own] == sorted(row[0] for row in own)


def test_many_threads_write_one_file(reviews):
    problems = []

    def write(person):
        try:
            for value in (1, 2, 3, 4, 5) * 4:
                reviews.record([score(value)], person)
        except Exception as error:
            problems.append(error)

    people = [replace(ANN, id=f"p{number}") for number in range(8)]
    threads = [Thread(target=write, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert len(reviews.history()) == 160
    assert reviews.scores()["score"].to_list() == [5] * 8


class Lock:
    """Another process's lock on a file: a connection that is writing."""

    def __init__(self, file):
        self.connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        self.connection.execute("BEGIN IMMEDIATE")

    def end(self):
        self.connection.execute("ROLLBACK")
        self.connection.close()


def test_a_locked_file_is_waited_for(reviews):
    reviews.record([score(1)], ANN)
    lock = Lock(reviews.database.file)
    recorded = Event()
    recording = Thread(target=lambda: (reviews.record([score(2)], ANN), recorded.set()))
    recording.start()
    assert not recorded.wait(1), "the file is locked"
    lock.end()
    recording.join()
    assert recorded.is_set()
    assert reviews.scores()["score"].to_list() == [2]


def busy_timeout_ms(connection):
    driver = connection.connection.driver_connection
    return driver.execute("PRAGMA busy_timeout").fetchone()[0]


def test_a_file_that_stays_locked_is_told_and_can_be_read(reviews):
    reviews.record([score(1)], ANN)
    hurried = patient(reviews, 0.4)
    lock = Lock(reviews.database.file)
    entry = score(2)
    patience = []
    event.listen(
        hurried.database._engine,
        "handle_error",
        lambda failed: patience.append(busy_timeout_ms(failed.connection)),
    )
    with pytest.raises(StoreBusy, match="Try again") as caught:
        hurried.record([entry], ANN)
    assert patience == [400], "so many milliseconds it waits, and once"
    assert caught.value.again
    assert hurried.scores()["score"].to_list() == [1], "reading goes on"
    lock.end()
    hurried.record([entry], ANN)
    assert reviews.scores()["score"].to_list() == [2]
    hurried.database.close()


def fill_up(reviews):
    """Write until the file may not grow; return how many were taken before."""
    engine = reviews.database._engine

    @event.listens_for(engine, "connect")
    def limit(connection, _):
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")

    reviews.database.close()
    return write_until_full(reviews, BOB)


def write_until_full(reviews, person):
    """Write until there is no room; return how many entries were taken."""
    for taken in range(1000):
        try:
            reviews.record([score(2, comment="x" * 9000)], person)
        except StoreFull:
            return taken
    return pytest.fail("it never was full")


def test_a_full_disk_is_told_and_the_database_stays_whole(reviews, review_set):
    reviews.record([score(4)], ANN)
    taken = fill_up(reviews)
    with pytest.raises(StoreFull, match="Make room") as caught:
        reviews.record([score(2, comment="x" * 9000)], BOB)
    assert caught.value.again
    assert len(reviews.history()) == 1 + taken, "all or nothing"
    with sqlite3.connect(reviews.database.file) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    close_databases()
    later = open_reviews(review_set, Settings())
    later.record([score(5)], ANN)
    assert later.scores(reader="ann")["score"].to_list() == [5]


@pytest.fixture
def small_disk(tmp_path):
    """A real file system of 600 kB."""
    with mounted(tmp_path / "disk", "600k") as folder:
        yield folder


def test_a_disk_that_is_really_full(small_disk, review_set):
    reviews = open_reviews(review_set, Settings(database_url=f"sqlite:///{small_disk}/r.sqlite"))
    taken = write_until_full(reviews, ANN)
    assert taken > 5
    assert len(reviews.history()) == taken
    close_databases()
    assert len(reviews.history()) == taken
    with sqlite3.connect(small_disk / "r.sqlite") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_a_file_is_kept_beside_the_set(reviews, review_set):
    reviews.record([score(4)], ANN)
    assert (review_set.folder / "reviews.sqlite").is_file()
    assert load_review_set(review_set.folder).fingerprint == review_set.fingerprint
    assert load_review_set(review_set.folder).warnings == review_set.warnings


def test_the_file_is_safe_from_power_cuts(reviews):
    reviews.record([score(4)], ANN)
    with reviews.database._engine.connect() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert pragmas == {
        "journal_mode": "wal",
        "synchronous": 2,  # FULL
        "foreign_keys": 1,
        "busy_timeout": 10_000,
    }


def test_the_reviews_move_with_their_folder(reviews, review_set, tmp_path):
    reviews.record([score(4)], ANN)
    close_databases()
    review_set.folder.rename(tmp_path / "elsewhere")
    text = (tmp_path / "elsewhere" / "reviewset.yaml").read_text()
    (tmp_path / "elsewhere" / "reviewset.yaml").write_text(f"{text}id: night-shift\n")
    moved = open_reviews(load_review_set(tmp_path / "elsewhere"), Settings())
    assert moved.scores()["score"].to_list() == [4]
    moved.record([score(5)], ANN)
    assert moved.scores()["score"].to_list() == [5]


def test_the_demo_is_never_written_to(own_data_folder):
    demo = load_review_set(DEMO_FOLDER)
    before = sorted(DEMO_FOLDER.iterdir())
    case, model = demo.answers.select("case", "model").row(0)
    open_reviews(demo, Settings()).record([score(4, case=case, model=model)], ANN)
    assert sorted(DEMO_FOLDER.iterdir()) == before
    assert len(list((own_data_folder / "rexview" / "reviews").glob("*.sqlite"))) == 1


def test_a_folder_that_cannot_be_written_to_has_its_reviews_with_the_user(
    review_set, own_data_folder, monkeypatch
):
    monkeypatch.setattr(database_location, "is_writable", lambda folder: False)
    reviews = open_reviews(review_set, Settings())
    reviews.record([score(4)], ANN)
    assert not (review_set.folder / "reviews.sqlite").exists()
    (file,) = (own_data_folder / "rexview" / "reviews").glob("set-*.sqlite")
    assert reviews.database.file == file
    again = open_reviews(load_review_set(review_set.folder), Settings())
    assert again.scores()["score"].to_list() == [4]


def test_two_read_only_sets_have_a_database_each(tmp_path, review_set, monkeypatch):
    monkeypatch.setattr(database_location, "is_writable", lambda folder: False)
    other = load_review_set(write_set(tmp_path / "other" / "set"))
    open_reviews(review_set, Settings()).record([score(4)], ANN)
    assert open_reviews(other, Settings()).scores().is_empty()


def test_a_really_read_only_folder(small_disk, own_data_folder):
    review_set = load_review_set(write_set(small_disk / "set"))
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    reviews = open_reviews(review_set, Settings())
    reviews.record([score(4)], ANN)
    assert not (review_set.folder / "reviews.sqlite").exists()
    (file,) = (own_data_folder / "rexview" / "reviews").glob("set-*.sqlite")
    assert reviews.database.file == file


def test_a_database_that_may_not_be_written_is_not_left_aside(reviews, review_set, monkeypatch):
    reviews.record([score(4)], ANN)
    monkeypatch.setattr(database_location, "is_writable", lambda folder: False)
    with pytest.raises(StoreUnreachable, match="may not be written"):
        open_reviews(review_set, Settings())


def test_a_file_that_is_no_database_is_told_and_left_as_it_is(review_set):
    file = review_set.folder / "reviews.sqlite"
    content = b"my notes\n" * 1000
    file.write_bytes(content)
    reviews = open_reviews(review_set, Settings())
    for work in (reviews.revision, lambda: reviews.record([score(4)], ANN)):
        with pytest.raises(StoreUnreachable, match=r"reviews\.sqlite is damaged") as caught:
            work()
        assert str(review_set.folder) not in str(caught.value)
    assert file.read_bytes() == content


def test_a_file_that_was_removed_is_made_anew(reviews):
    reviews.record([score(4)], ANN)
    for file in reviews.database.file.parent.glob("reviews.sqlite*"):
        file.unlink()
    assert reviews.scores().is_empty()
    reviews.record([score(5)], ANN)
    assert reviews.scores()["score"].to_list() == [5]
    close_databases()
    assert reviews.scores()["score"].to_list() == [5], "it is in the new file"


def test_a_folder_that_went_away_is_told(reviews, review_set):
    reviews.record([score(4)], ANN)
    close_databases()
    shutil.rmtree(review_set.folder)
    review_set.folder.write_text("a file now")
    with pytest.raises(StoreUnreachable):
        reviews.record([score(5)], ANN)


def test_an_address_that_cannot_be_understood_tells_no_password(review_set):
    settings = Settings(database_url="postgresql://ann:secret@[::1/reviews")
    with pytest.raises(StoreUnreachable, match="database_url") as caught:
        open_reviews(review_set, settings)
    assert "secret" not in str(caught.value)
    assert "ann:secret" not in repr(settings)


def test_sets_in_one_file_are_kept_apart(tmp_path, review_set):
    settings = Settings(database_url=f"sqlite:///{tmp_path}/shared.sqlite")
    other = load_review_set(write_set(tmp_path / "other"))
    open_reviews(review_set, settings).record([score(4)], ANN)
    second = open_reviews(other, settings)
    assert second.revision() == 0
    assert merge_reviews(other, second) is other
    second.record([score(2)], ANN)
    assert second.scores()["score"].to_list() == [2]
    assert open_reviews(review_set, settings).scores()["score"].to_list() == [4]


def test_a_set_with_an_id_is_the_same_wherever_it_lies(tmp_path):
    settings = Settings(database_url=f"sqlite:///{tmp_path}/shared.sqlite")
    sets = []
    for name in ("here", "there"):
        folder = write_set(tmp_path / name)
        (folder / "reviewset.yaml").write_text(
            (folder / "reviewset.yaml").read_text() + "id: night-shift\n"
        )
        sets.append(load_review_set(folder))
    open_reviews(sets[0], settings).record([score(4)], ANN)
    assert open_reviews(sets[1], settings).scores()["score"].to_list() == [4]


@pytest.mark.parametrize("name", ["a?b=c#d", "100%41 sure", "日本 ü", "a:b@c", "x;y&z+w"])
def test_a_folder_may_have_any_name(tmp_path, name):
    reviews = open_reviews(load_review_set(write_set(tmp_path / name)), Settings())
    reviews.record([score(4)], ANN)
    assert (tmp_path / name / "reviews.sqlite").is_file()
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert reviews.scores()["score"].to_list() == [4]
