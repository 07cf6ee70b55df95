"""Reviews of one set in several databases: found, told, joined; nothing vanishes."""

import shutil
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest
from support.entries.stored import ANN, BOB, score, verdict
from support.small_set import write_set

from rexview.cli import main
from rexview.errors import BackupError
from rexview.reviewset import load_review_set
from rexview.settings import DEMO_FOLDER, Settings
from rexview.store import (
    database_location,
    find_notices,
    foreign_set_id,
    merge_databases,
    open_best_reviews,
    open_reviews,
    other_databases,
    write_backup,
)
from rexview.store import reviews as reviews_module
from rexview.store.database.connection import ReviewsDatabase, close_databases


@pytest.fixture
def times(monkeypatch):
    """Make entries an hour apart, in the order in which they are written."""

    class Clock(datetime):
        hours = 0

        @classmethod
        def now(cls, tz=None):
            cls.hours += 1
            return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=cls.hours)

    monkeypatch.setattr(reviews_module, "datetime", Clock)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv("REXVIEW_DATABASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    return write_set(tmp_path / "set")


def give_id(folder, name):
    with (folder / "reviewset.yaml").open("a") as file:
        file.write(f"id: {name}\n")


def write_while_not_writable(folder, monkeypatch, entries, person=ANN):
    """Write where the set's folder takes nothing, as a reader would have."""
    with monkeypatch.context() as patch:
        patch.setattr(database_location, "is_writable", lambda folder: False)
        reviews = open_reviews(load_review_set(folder), Settings())
        reviews.record(entries, person)
    close_databases()
    return reviews.database.file


def test_what_was_joined_elsewhere_is_told_no_more(folder, monkeypatch):
    entry = score(4)
    other = write_while_not_writable(folder, monkeypatch, [entry])
    away = other.rename(folder.parent / "away.sqlite")
    open_reviews(load_review_set(folder), Settings()).record([score(2, dimension="language")], BOB)
    close_databases()
    away.rename(other)
    reviews = open_reviews(load_review_set(folder), Settings())
    assert [one.file for one in other_databases(reviews)] == [other]
    reviews.record([entry], ANN)  # as another process does that joins both
    assert other_databases(reviews) == ()


def test_scores_stay_when_the_folder_can_be_written_again(folder, monkeypatch):
    file = write_while_not_writable(folder, monkeypatch, [score(4)])
    reviews = open_reviews(load_review_set(folder), Settings())
    assert reviews.database.file == file
    assert reviews.scores()["score"].to_list() == [4]
    reviews.record([score(5)], ANN)
    assert not (folder / "reviews.sqlite").exists()
    assert [row.value["score"] for row in reviews.history()] == [5, 4]
    assert find_notices(reviews) == ()


@pytest.mark.parametrize("change", ["renamed", "named"])
def test_scores_with_the_user_are_found_after_the_folder_changed(folder, monkeypatch, change):
    if change == "renamed":
        give_id(folder, "night")
    write_while_not_writable(folder, monkeypatch, [score(4)])
    if change == "renamed":
        folder = folder.rename(folder.with_name("other"))
    else:
        give_id(folder, "night")
    reviews = open_reviews(load_review_set(folder), Settings())
    assert reviews.scores()["score"].to_list() == [4]


def test_entries_in_another_database_are_told_and_joined(folder, monkeypatch, times, capsys):
    entry = score(1, case="c2")
    here = open_reviews(load_review_set(folder), Settings())
    here.record([score(1), entry], ANN)
    close_databases()
    (folder / "reviews.sqlite").rename(folder / "away")
    file = write_while_not_writable(folder, monkeypatch, [score(2), entry, verdict()])
    (folder / "away").rename(folder / "reviews.sqlite")
    here.record([score(3)], ANN)
    (told,) = find_notices(here)
    assert told.kind == "elsewhere"
    assert told.text == "2 entries of this review set lie in another database and are not shown."
    assert str(file) in told.details
    close_databases()
    assert main(["merge-reviews", str(folder)]) == 0
    out = capsys.readouterr()
    assert f"2 added, 5 entries now in {folder}/reviews.sqlite" in out.out
    assert [row.value.get("score") for row in here.history(kind="score")[::-1]] == [1, 1, 2, 3]
    process = [row for row in here.history(kind="score")[::-1] if row.case == "c1"]
    assert [row.previous and row.previous["score"] for row in process] == [None, 1, 2]
    assert here.scores().filter(case="c1")["score"].to_list() == [3], "the newest stands"
    assert [row.id for row in here.history()] == sorted(row.id for row in here.history())[::-1]
    assert find_notices(here) == ()
    assert not file.exists()
    kept = list(file.parent.glob("*-merged-*.sqlite"))
    assert len(kept) == 1
    assert sqlite3.connect(kept[0]).execute("SELECT count(*) FROM history").fetchone() == (3,)
    assert len(list(file.parent.glob("before-merge-*.sqlite"))) == 1
    assert all(row.intact for row in here.history())
    again = here.record([score(5)], ANN)
    assert again[0].previous["score"] == 3


def test_later_entries_are_only_added(folder, monkeypatch, times):
    here = open_reviews(load_review_set(folder), Settings())
    first = here.record([score(1)], ANN)
    close_databases()
    (folder / "reviews.sqlite").rename(folder / "away")
    write_while_not_writable(folder, monkeypatch, [score(2)])
    (folder / "away").rename(folder / "reviews.sqlite")
    merge_databases(here, [one.file for one in other_databases(here)])
    assert here.history()[::-1][:1] == first
    assert here.history()[0].previous["score"] == 1


def test_reviews_with_the_user_move_into_the_folder(folder, monkeypatch):
    file = write_while_not_writable(folder, monkeypatch, [score(4)])
    best = open_best_reviews(load_review_set(folder), Settings())
    merge_databases(best, [one.file for one in other_databases(best)])
    assert best.database.file == folder / "reviews.sqlite"
    assert open_reviews(load_review_set(folder), Settings()).scores()["score"].to_list() == [4]
    assert not file.exists()


def test_a_database_in_use_is_joined_and_left_where_it_is(folder, monkeypatch):
    file = write_while_not_writable(folder, monkeypatch, [score(4)])
    server = ReviewsDatabase(f"sqlite:///{file}")
    server.rows(sql_count())
    best = open_best_reviews(load_review_set(folder), Settings())
    merge_databases(best, [file])
    assert file.exists()
    assert other_databases(best) == ()
    server.close()


def sql_count():
    from sqlalchemy import func, select

    from rexview.store.database.tables import HISTORY

    return select(func.count()).select_from(HISTORY)


@pytest.mark.parametrize("asked_first", [True, False])
def test_the_secret_of_the_letters_is_taken_over_where_there_is_none(
    folder, monkeypatch, asked_first
):
    with monkeypatch.context() as patch:
        patch.setattr(database_location, "is_writable", lambda folder: False)
        away = open_reviews(load_review_set(folder), Settings())
        away.record([score(4)], ANN)
        key = away.letter_key()
        close_databases()
    best = open_best_reviews(load_review_set(folder), Settings())
    before = best.letter_key() if asked_first else None
    merge_databases(best, [away.database.file])
    now = open_reviews(load_review_set(folder), Settings())
    assert now.database.file == folder / "reviews.sqlite"
    assert now.letter_key() == (before or key)
    assert before != key


@pytest.mark.parametrize("into", ["folder", "server"])
def test_the_secret_of_the_letters_comes_from_a_folder_that_was_moved(
    folder, monkeypatch, into, request
):
    address = request.getfixturevalue("new_address")() if into == "server" else None
    reviews = open_reviews(load_review_set(folder), Settings())
    reviews.record([score(4)], ANN)
    key = reviews.letter_key()
    write_backup(reviews, folder.parent / "old.backup")
    close_databases()
    (folder / "reviews.sqlite").unlink()
    moved = folder.rename(folder.with_name("moved"))
    give_id(moved, "night")
    here = open_reviews(load_review_set(moved), Settings(database_url=address))
    merge_databases(here, [moved.parent / "old.backup"])
    assert here.letter_key() == key


def test_a_set_without_id_that_moved_is_joined_by_hand(folder, monkeypatch, capsys):
    file = write_while_not_writable(folder, monkeypatch, [score(4)])
    moved = folder.rename(folder.with_name("moved"))
    reviews = open_reviews(load_review_set(moved), Settings())
    assert reviews.scores().is_empty(), "nothing says whose these are"
    assert main(["merge-reviews", str(moved), "--from", str(file)]) == 0
    assert reviews.scores()["score"].to_list() == [4]
    assert file.exists(), "what was named by hand is left as it is"


def test_another_sets_entries_are_never_joined(folder, tmp_path, monkeypatch):
    give_id(folder, "one")
    other = write_set(tmp_path / "second")
    give_id(other, "two")
    reviews = open_reviews(load_review_set(other), Settings())
    reviews.record([score(4)], ANN)
    close_databases()
    here = open_reviews(load_review_set(folder), Settings())
    here.record([score(1)], BOB)
    before = here.history()
    with pytest.raises(BackupError, match="another review set, with the id “two”"):
        merge_databases(here, [other / "reviews.sqlite"])
    assert here.history() == before
    assert foreign_set_id(here) is None
    close_databases()
    shutil.copyfile(other / "reviews.sqlite", folder / "reviews.sqlite")
    assert foreign_set_id(open_reviews(load_review_set(folder), Settings())) == "two"


def test_what_is_damaged_is_told_and_nothing_is_joined(folder, monkeypatch):
    file = write_while_not_writable(folder, monkeypatch, [score(4)])
    here = open_best_reviews(load_review_set(folder), Settings())
    here.record([score(1)], ANN)
    file.write_bytes(b"no database" * 1000)
    (told,) = find_notices(here)
    assert "cannot be read" in told.text
    before = here.history()
    with pytest.raises(BackupError, match="not a whole backup"):
        merge_databases(here, [file])
    assert here.history() == before
    assert file.exists()


def test_a_row_that_is_whole_in_one_database_is_taken_from_there(folder, tmp_path):
    here = open_reviews(load_review_set(folder), Settings())
    here.record([score(4, comment="effusion")], ANN)
    here.record([score(5)], BOB)
    write_backup(here, tmp_path / "backup")
    close_databases()
    change(folder / "reviews.sqlite", b"effusion", b"efFusion")
    assert [row.intact for row in here.history()] == [True, False]
    assert [one.kind for one in find_notices(here)] == ["changed"]
    merge_databases(here, [tmp_path / "backup"])
    assert [row.intact for row in here.history()] == [True, True]
    assert find_notices(open_reviews(load_review_set(folder), Settings())) == ()
    assert (tmp_path / "backup").exists()


def test_a_damaged_row_is_told_once_after_a_join(folder, monkeypatch, times):
    here = open_reviews(load_review_set(folder), Settings())
    here.record([score(1)], ANN)
    close_databases()
    (folder / "reviews.sqlite").rename(folder / "away")
    file = write_while_not_writable(folder, monkeypatch, [score(2, case="c2")])
    (folder / "away").rename(folder / "reviews.sqlite")
    here.record([score(3, comment="effusion")], BOB)
    here.database.close()
    change(folder / "reviews.sqlite", b"effusion", b"efFusion")
    assert [row.intact for row in here.history()] == [False, True]
    merge_databases(here, [file])
    (told,) = find_notices(here)
    assert told.text.startswith("1 entry of the reviews database was damaged")
    assert [row.intact for row in here.history()] == [False, True, True]


def change(file, old, new):
    content = file.read_bytes()
    assert old in content
    file.write_bytes(content.replace(old, new))


def test_the_demo_has_its_own_place(own_data_folder):
    demo = load_review_set(DEMO_FOLDER)
    case, model = demo.answers.select("case", "model").row(0)
    reviews = open_best_reviews(demo, Settings())
    reviews.record([score(4, case=case, model=model)], ANN)
    assert find_notices(reviews) == ()
    assert reviews.database.file.is_relative_to(own_data_folder)


def test_a_file_beside_the_set_is_told_when_a_server_is_used(folder, tmp_path):
    open_reviews(load_review_set(folder), Settings()).record([score(4)], ANN)
    close_databases()
    settings = Settings(database_url=f"sqlite:///{tmp_path}/team.sqlite")
    reviews = open_reviews(load_review_set(folder), settings)
    reviews.record([score(2)], BOB)
    (told,) = find_notices(reviews)
    assert told.text.startswith("1 entry of this review set lies in another database")
    merge_databases(reviews, [one.file for one in other_databases(reviews)])
    assert sorted(reviews.scores()["score"]) == [2, 4]
    assert find_notices(reviews) == ()


def test_joining_into_a_server_keeps_every_row(folder, new_address):
    open_reviews(load_review_set(folder), Settings()).record([score(4)], ANN)
    close_databases()
    reviews = open_reviews(load_review_set(folder), Settings(database_url=new_address()))
    reviews.record([score(5)], ANN)
    merge_databases(reviews, [one.file for one in other_databases(reviews)])
    assert [row.value["score"] for row in reviews.history()] == [5, 4]
    assert reviews.history()[0].previous["score"] == 4
    assert all(row.intact for row in reviews.history())
