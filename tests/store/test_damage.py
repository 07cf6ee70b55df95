"""Damage is noticed and told: changed rows, broken pages, a lost -wal, a folder that went away."""

import shutil
import sqlite3

import pytest
from support.entries.stored import ANN, BOB, comment, score, verdict

from bench.reliability.damage import flip_bytes
from rexview.errors import StoreUnreachable
from rexview.settings import Settings
from rexview.store import (
    find_notices,
    merge_databases,
    merge_reviews,
    open_reviews,
    restore_backup,
    write_backup,
)
from rexview.store.database.connection import ReviewsDatabase, close_databases
from rexview.store.database.tables import HISTORY, check_sqlite_file


@pytest.fixture
def reviews(review_set):
    return open_reviews(review_set, Settings())


def change(reviews, statement):
    """Change rows as nobody may, past the triggers."""
    close_databases()
    with sqlite3.connect(reviews.database.file) as connection:
        connection.execute("DROP TRIGGER history_no_update")
        connection.execute(statement)
    connection.close()


CHANGES = [
    """value = '{"score": 2, "comment": null}'""",
    "value = NULL",
    "value = '{\"score\": 4'",
    "value = CAST(value AS BLOB)",
    "value = CAST(x'7BFF22' AS TEXT)",
    "person = 'eve'",
    "person = x'00FF'",
    "kind = 'verdict'",
    "kind = 'none'",
    "case_id = 'c2'",
    "review_set = 'other'",
    "at = 'no time'",
    "at = '2025-01-01 00:00:00.000000'",
    "person_role = 'king'",
    "picture = 'x'",
    "subject = 'language'",
    "previous = '{}'",
    "checksum = 'x'",
    "checksum = NULL",
]


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_row_is_noticed_and_counts_nowhere(reviews, review_set, what):
    reviews.record([score(1)], BOB)
    reviews.record([score(3)], ANN)
    (row,) = reviews.record([score(4)], ANN)
    change(reviews, f"UPDATE history SET {what} WHERE id = {row.id}")
    fresh = open_reviews(review_set, Settings())
    (told,) = find_notices(fresh)
    assert told.kind == "changed"
    assert told.text.startswith("1 entry of the reviews database was damaged after it was saved")
    assert told.details[0].startswith(f"Entry {row.id}: ")
    assert fresh.scores(reader="bob")["score"].to_list() == [1], "the rest goes on"
    merge_reviews(review_set, fresh)
    fresh.comments(), fresh.people(), fresh.assignments(), fresh.skips("ann")
    moved = any(
        name in what for name in ("case_id", "person =", "kind", "review_set", "subject", "picture")
    )
    if "checksum = NULL" not in what and not moved:
        assert fresh.scores(reader="ann").is_empty(), "nor does what stood before"
    (again,) = fresh.record([score(5)], ANN)
    assert fresh.scores(reader="ann")["score"].to_list()[-1:] == [5]
    assert again.intact


def test_a_row_changed_while_the_app_runs_is_noticed_when_it_is_read(reviews):
    reviews.record([score(4)], ANN)
    with sqlite3.connect(reviews.database.file) as connection:
        connection.execute("DROP TRIGGER history_no_update")
        connection.execute("UPDATE history SET value = replace(value, '4', '1')")
    connection.close()
    assert reviews.scores().is_empty()
    assert [one.kind for one in find_notices(reviews)] == ["changed"]


def test_a_changed_row_on_a_server_is_noticed_when_it_is_read(review_set, new_address):
    reviews = open_reviews(review_set, Settings(database_url=new_address()))
    reviews.record([score(4, comment="ä 🩻"), comment("k", "ö", on={"what": "case"})], ANN)
    assert all(row.intact for row in reviews.history())
    with reviews.database._engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE history DISABLE TRIGGER history_no_change")
        connection.exec_driver_sql("UPDATE history SET person = 'eve' WHERE kind = 'score'")
    assert [row.intact for row in reviews.history()] == [True, False]
    assert [one.kind for one in find_notices(reviews)] == ["changed"]


def test_old_rows_without_a_checksum_are_taken_as_they_are(reviews, review_set):
    reviews.record([score(1)], ANN)
    change(reviews, "UPDATE history SET checksum = NULL")
    fresh = open_reviews(review_set, Settings())
    fresh.record([score(2)], BOB)
    close_databases()
    fresh = open_reviews(review_set, Settings())
    assert sorted(fresh.scores()["score"]) == [1, 2]
    assert find_notices(fresh) == ()


def test_every_kind_of_entry_keeps_its_checksum(reviews):
    box = {"what": "box", "image": "i", "box": [0.1, 5, 3e-7, 1e8], "label": "ä", "index": 0}
    reviews.record([score(4, comment='"\n\\ü\x01🩻'), verdict()], ANN)
    reviews.record([comment("k", "x", model="m", on=box)], ANN)
    assert all(row.intact for row in reviews.history())
    assert check_sqlite_file(reviews.database.file) == ()


def test_a_backup_of_changed_rows_says_so_and_they_stay_known(reviews, review_set, tmp_path):
    reviews.record([score(4, comment="left"), score(2, case="c2")], ANN)
    change(reviews, "UPDATE history SET value = replace(value, 'left', char(0)) WHERE id = 1")
    fresh = open_reviews(review_set, Settings())
    report = write_backup(fresh, tmp_path / "backup")
    assert (report.entries, report.changed) == (2, 1)
    report = restore_backup(tmp_path / "backup", fresh, replace=True)
    assert (report.entries, report.changed) == (2, 1)
    assert [row.intact for row in fresh.history()] == [True, False]


def test_a_changed_row_goes_to_a_server_and_stays_known(reviews, review_set, tmp_path, new_address):
    reviews.record([score(4, comment="left"), score(2, case="c2")], ANN)
    change(reviews, "UPDATE history SET value = x'00FF', picture = 'x' WHERE id = 1")
    write_backup(open_reviews(review_set, Settings()), tmp_path / "backup")
    server = open_reviews(review_set, Settings(database_url=new_address()))
    restore_backup(tmp_path / "backup", server)
    assert [row.intact for row in server.history()] == [True, False]
    write_backup(server, tmp_path / "again")
    assert b"\\u0000" not in (tmp_path / "again").read_bytes()


def test_flipped_bytes_never_end_in_a_traceback_or_a_wrong_score(review_set, tmp_path):
    """Short; the long run is part of ``bench reliability``."""
    found = flip_bytes(tmp_path / "run", 60, seed=3)
    assert found["files"] == 60
    assert found["tracebacks"] == 0, found
    assert found["unnoticed"] == 0, found
    assert found["refused"] + found["told"] > 20, found


def test_a_damaged_file_is_not_checked_again_on_each_run(reviews, review_set, monkeypatch):
    for number in range(30):
        reviews.record([score(number % 5 + 1, comment="x" * 3000)], ANN)
    close_databases()
    content = bytearray(reviews.database.file.read_bytes())
    content[4096 * 6 : 4096 * 6 + 200] = b"\xff" * 200
    reviews.database.file.write_bytes(content)
    from rexview.store.database import connection as database_connection

    runs = []
    monkeypatch.setattr(
        database_connection,
        "check_sqlite_file",
        lambda file: runs.append(file) or check_sqlite_file(file),
    )
    fresh = open_reviews(review_set, Settings())
    for _ in range(3):
        with pytest.raises(StoreUnreachable, match=r"reviews\.sqlite is damaged"):
            fresh.revision()
    assert len(runs) == 1


class TestNewest:
    """The -wal, and what is noted beside it."""

    def test_each_entry_is_in_the_file_itself(self, reviews, review_set):
        for number in range(5):
            reviews.record([score(number + 1)], ANN)
            content = shutil.copyfile(reviews.database.file, review_set.folder / "copy.sqlite")
            with sqlite3.connect(content) as connection:
                found = connection.execute("SELECT count(*) FROM history").fetchone()
            connection.close()
            assert found == (number + 1,)

    def test_a_wal_removed_while_the_app_runs_loses_nothing(self, reviews, review_set):
        reviews.record([score(1)], ANN)
        for name in ("reviews.sqlite-wal", "reviews.sqlite-shm"):
            (review_set.folder / name).unlink()
        reviews.record([score(2)], ANN)
        other = ReviewsDatabase(f"sqlite:///{reviews.database.file}")
        assert len(other.rows(HISTORY.select())) == 2
        other.close()
        assert [row.value["score"] for row in reviews.history()] == [2, 1]
        assert find_notices(reviews) == ()

    def test_entries_that_went_with_a_wal_are_missed(self, reviews, review_set):
        reviews.record([score(1)], ANN)
        close_databases()
        older = reviews.database.file.read_bytes()
        (last,) = reviews.record([score(2)], ANN)
        close_databases()
        reviews.database.file.write_bytes(older)
        fresh = open_reviews(review_set, Settings())
        (told,) = find_notices(fresh)
        assert told.kind == "lost"
        assert f"{last.at:%Y-%m-%d %H:%M} UTC" in told.text
        fresh.record([score(3)], BOB)
        close_databases()
        assert [one.kind for one in find_notices(open_reviews(review_set, Settings()))] == ["lost"]
        fresh.database.accept_loss()
        assert find_notices(fresh) == ()
        close_databases()
        assert find_notices(open_reviews(review_set, Settings())) == ()

    def test_an_older_copy_put_in_place_while_the_app_runs_is_missed(self, reviews, review_set):
        reviews.record([score(1)], ANN)
        write_backup(reviews, review_set.folder / "older")
        reviews.record([score(2)], ANN)
        (review_set.folder / "older").replace(reviews.database.file)
        assert [row.value["score"] for row in reviews.history()] == [1]
        assert [one.kind for one in find_notices(reviews)] == ["lost"]

    def test_a_removed_file_is_missed(self, reviews, review_set):
        reviews.record([score(1)], ANN)
        close_databases()
        for file in review_set.folder.glob("reviews.sqlite*"):
            file.unlink()
        assert [one.kind for one in find_notices(open_reviews(review_set, Settings()))] == ["lost"]

    def test_what_comes_back_is_no_longer_missed(self, reviews, review_set, tmp_path):
        reviews.record([score(1)], ANN)
        write_backup(reviews, tmp_path / "backup")
        close_databases()
        reviews.database.file.unlink()
        restore_backup(tmp_path / "backup", reviews)
        assert find_notices(open_reviews(review_set, Settings())) == ()

    def test_a_newer_copy_that_is_joined_ends_the_loss(self, reviews, review_set, tmp_path):
        reviews.record([score(1)], ANN)
        write_backup(reviews, tmp_path / "older")
        reviews.record([score(2)], ANN)
        write_backup(reviews, tmp_path / "newer")
        close_databases()
        shutil.copy(tmp_path / "older", reviews.database.file)
        fresh = open_reviews(review_set, Settings())
        fresh.record([score(3)], BOB)
        assert [one.kind for one in find_notices(fresh)] == ["lost"]
        merge_databases(fresh, [tmp_path / "newer"])
        assert find_notices(fresh) == ()
        assert [row.value["score"] for row in fresh.history()] == [3, 2, 1]

    def test_a_restore_to_less_is_not_a_loss(self, reviews, tmp_path):
        reviews.record([score(1)], ANN)
        write_backup(reviews, tmp_path / "backup")
        reviews.record([score(2)], ANN)
        restore_backup(tmp_path / "backup", reviews, replace=True)
        assert find_notices(reviews) == ()

    def test_a_note_that_cannot_be_read_alarms_nobody(self, reviews, review_set):
        reviews.record([score(1)], ANN)
        (review_set.folder / "reviews.newest").write_text("?")
        close_databases()
        fresh = open_reviews(review_set, Settings())
        assert find_notices(fresh) == ()
        fresh.record([score(2)], ANN)
        assert "token" in (review_set.folder / "reviews.newest").read_text()


class TestFolder:
    """The folder of a set is never made."""

    def test_a_renamed_folder_leaves_no_ghost(self, reviews, review_set):
        reviews.record([score(1)], ANN)
        moved = review_set.folder.rename(review_set.folder.with_name("moved"))
        entry = score(2)
        for _ in range(2):
            with pytest.raises(StoreUnreachable, match="folder of the reviews database"):
                reviews.record([entry], ANN)
        assert not review_set.folder.exists()
        moved.rename(review_set.folder)
        reviews.record([entry], ANN)
        assert [row.value["score"] for row in reviews.history()] == [2, 1]

    def test_a_folder_renamed_within_a_write_leaves_no_ghost(self, reviews, review_set):
        """Between the look at the folder and the writing, and before the first entry."""
        moved = review_set.folder.with_name("moved")
        prepare = reviews.database._make_ready

        def prepared():
            prepare()
            if review_set.folder.exists():
                review_set.folder.rename(moved)

        reviews.database._make_ready = prepared
        with pytest.raises(StoreUnreachable):
            reviews.record([score(1)], ANN)
        assert not review_set.folder.exists()
        moved.rename(review_set.folder)
        reviews.database._make_ready = prepare
        reviews.record([score(1)], ANN)
        assert len(reviews.history()) == 1

    def test_the_folder_of_a_given_address_is_not_made(self, review_set, tmp_path):
        settings = Settings(database_url=f"sqlite:///{tmp_path}/none/r.sqlite")
        with pytest.raises(StoreUnreachable, match="folder"):
            open_reviews(review_set, settings).record([score(1)], ANN)
        assert not (tmp_path / "none").exists()
