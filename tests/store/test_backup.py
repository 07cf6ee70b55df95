"""Backups hold everything, are checked, and go back into either kind of database."""

import json
import shutil
import sqlite3
from threading import Event, Thread

import pytest
from support.entries.stored import ANN, BOB, comment, score, verdict
from support.small_set import write_set

from rexview.cli import main
from rexview.errors import BackupError
from rexview.reviewset import check_review_set, load_review_set
from rexview.settings import Settings
from rexview.store import open_reviews, restore_backup, write_backup
from rexview.store.database.connection import close_databases

HOSTILE = "'; DROP TABLE history; --\r\n\u2028 \x01 🩻 \\ %s"


def fill(reviews):
    reviews.record([score(4, comment=HOSTILE), verdict(), comment("k", HOSTILE)], ANN)
    reviews.record([score(2), score(None, case="c2")], BOB)
    reviews.record([score(5)], ANN)
    return kept(reviews)


def kept(reviews):
    """Everything that has to come back: all but the numbers of the rows."""
    return [{**vars(row), "id": None} for row in reversed(reviews.history())]


@pytest.fixture
def other(request, tmp_path):
    """Make another set, with a database of a kind, that has nothing in it."""

    def make(kind):
        folder = write_set(tmp_path / f"other-{kind}")
        if kind == "sqlite":
            return open_reviews(load_review_set(folder), Settings())
        address = request.getfixturevalue("new_address")()
        return open_reviews(load_review_set(folder), Settings(database_url=address))

    return make


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_everything_comes_back_in_either_kind_of_database(reviews, other, tmp_path, kind):
    before = fill(reviews)
    report = write_backup(reviews, tmp_path / "backup")
    assert report.entries == len(before) == 6
    target = other(kind)
    assert restore_backup(tmp_path / "backup", target).entries == 6
    assert kept(target) == before
    assert target.scores().drop("_row").equals(reviews.scores().drop("_row"))
    (row,) = target.record([score(1)], ANN)
    assert row.previous["score"] == 5, "writing goes on where it was"
    write_backup(target, tmp_path / "again")
    third = other("sqlite" if kind == "postgresql" else "postgresql")
    restore_backup(tmp_path / "again", third)
    assert kept(third)[:-1] == before


def test_an_entry_sent_again_after_a_restore_is_still_one(reviews, other, tmp_path):
    entry = score(4)
    reviews.record([entry], ANN)
    write_backup(reviews, tmp_path / "backup")
    target = other("sqlite")
    restore_backup(tmp_path / "backup", target)
    target.record([entry], ANN)
    assert len(target.history()) == 1


def test_a_backup_while_others_write_is_whole(reviews, other, tmp_path):
    fill(reviews)
    stop, written = Event(), []

    def write():
        while not stop.is_set():
            written.append(reviews.record([score(len(written) % 5 + 1)], BOB)[0].token)

    writing = Thread(target=write)
    writing.start()
    try:
        reports = [write_backup(reviews, tmp_path / f"backup-{number}") for number in range(5)]
    finally:
        stop.set()
        writing.join()
    assert reports[0].entries <= reports[-1].entries
    tokens = [row.token for row in reversed(reviews.history())]
    target = other("sqlite")
    restore_backup(tmp_path / "backup-4", target)
    restored = [row.token for row in reversed(target.history())]
    assert restored == tokens[: reports[-1].entries], "the rows of one moment, none missing"


def test_nothing_is_replaced_unless_asked_for_and_then_kept(reviews, tmp_path, own_data_folder):
    before = fill(reviews)
    write_backup(reviews, tmp_path / "backup")
    reviews.record([score(1)], BOB)
    later = kept(reviews)
    with pytest.raises(BackupError, match="--replace"):
        restore_backup(tmp_path / "backup", reviews)
    assert kept(reviews) == later
    report = restore_backup(tmp_path / "backup", reviews, replace=True)
    assert kept(reviews) == before
    assert report.kept.is_relative_to(own_data_folder)
    restore_backup(report.kept, reviews, replace=True)
    assert kept(reviews) == later
    with pytest.raises(Exception, match="only added to"):
        reviews.database.write(
            lambda connection: connection.exec_driver_sql("DELETE FROM history"), lock="x"
        )


def test_other_sets_in_the_database_stay_as_they_are(tmp_path, settings):
    if settings.database_url is None:
        settings = Settings(database_url=f"sqlite:///{tmp_path}/shared.sqlite")
    first = open_reviews(load_review_set(write_set(tmp_path / "a")), settings)
    second = open_reviews(load_review_set(write_set(tmp_path / "b")), settings)
    before = fill(first)
    second.record([score(3)], ANN)
    write_backup(first, tmp_path / "backup")
    with pytest.raises(BackupError, match="under another review set"):
        restore_backup(tmp_path / "backup", second, replace=True)
    assert second.scores()["score"].to_list() == [3]
    restore_backup(tmp_path / "backup", first, replace=True)
    assert kept(first) == before
    assert second.scores()["score"].to_list() == [3]


def damaged(content):
    """The same backup, damaged in ways that happen."""
    yield content[: len(content) // 2]
    yield content[:-1] + b"?"
    yield b""
    yield b"something else\n"
    yield b"\x00" * 5000
    yield content[:3000] + b"\xff" * 3000 + content[6000:]
    yield content.replace(b'"process"', b'"language"', 1)


def test_a_damaged_backup_is_told_and_changes_nothing(reviews, other, tmp_path):
    fill(reviews)
    write_backup(reviews, tmp_path / "backup")
    content = (tmp_path / "backup").read_bytes()
    target = other("sqlite")
    before = fill(target)
    refused = 0
    for number, wrong in enumerate(damaged(content)):
        if wrong == content or (reviews.database.is_sqlite and number in (1, 6)):
            continue  # one changed letter in a page is not seen by SQLite
        file = tmp_path / f"damaged-{number}"
        file.write_bytes(wrong)
        with pytest.raises(BackupError, match="damaged-"):
            restore_backup(file, target, replace=True)
        refused += 1
    assert refused >= 5
    assert kept(target) == before


def test_files_are_never_written_over(reviews, tmp_path):
    fill(reviews)
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(BackupError, match="already"):
        write_backup(reviews, tmp_path / "mine")
    assert (tmp_path / "mine").read_text() == "mine"


def test_what_cannot_be_written_leaves_nothing_behind(reviews, tmp_path):
    fill(reviews)
    (tmp_path / "file").write_text("")
    with pytest.raises(BackupError):
        write_backup(reviews, tmp_path / "file" / "backup")
    with pytest.raises(BackupError, match="cannot be read"):
        restore_backup(tmp_path / "none", reviews)
    assert not list(tmp_path.glob(".*"))


def test_a_newer_backup_is_refused(reviews, other, tmp_path):
    if reviews.database.is_sqlite:
        pytest.skip("test_migrations has it")
    fill(reviews)
    write_backup(reviews, tmp_path / "backup")
    heading, rest = (tmp_path / "backup").read_text().split("\n", 1)
    newer = {**json.loads(heading), "version": "0009"}
    (tmp_path / "newer").write_text(f"{json.dumps(newer)}\n{rest}")
    with pytest.raises(BackupError, match="newer"):
        restore_backup(tmp_path / "newer", other("sqlite"))


class TestCommands:
    """From the command line, on real folders."""

    @pytest.fixture
    def folder(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        monkeypatch.delenv("REXVIEW_DATABASE_URL", raising=False)
        return write_set(tmp_path / "mine")

    def test_backup_and_restore(self, folder, tmp_path, capsys):
        out = tmp_path / "out" / "reviews.backup"
        assert main(["backup", str(folder), "--out", str(out)]) == 1
        assert "Nothing has been written yet" in capsys.readouterr().err
        assert not out.exists()
        before = fill(open_reviews(load_review_set(folder), Settings()))
        assert main(["backup", str(folder), "--out", str(out)]) == 0
        assert "6 entries" in capsys.readouterr().out
        with sqlite3.connect(out) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
        assert main(["restore", str(out), str(folder)]) == 1
        assert "--replace" in capsys.readouterr().err
        assert main(["restore", str(out), str(folder), "--replace"]) == 0
        assert "is kept in" in capsys.readouterr().err
        assert kept(open_reviews(load_review_set(folder), Settings())) == before

    def test_a_lost_folder_comes_back(self, folder, tmp_path):
        before = fill(open_reviews(load_review_set(folder), Settings()))
        out = tmp_path / "backup"
        main(["backup", str(folder), "--out", str(out)])
        close_databases()
        shutil.rmtree(folder)
        write_set(folder)
        assert main(["restore", str(out), str(folder)]) == 0
        assert kept(open_reviews(load_review_set(folder), Settings())) == before

    def test_export_is_a_set_like_any_other(self, folder, tmp_path, capsys):
        reviews = open_reviews(load_review_set(folder), Settings())
        fill(reviews)
        out = tmp_path / "export"
        assert main(["export-reviews", str(folder), "--out", str(out)]) == 0
        assert "6 scores, 1 flag written" in capsys.readouterr().out
        assert main(["export-reviews", str(folder), "--out", str(out)]) == 1
        assert "scores.csv already" in capsys.readouterr().err
        again = write_set(tmp_path / "again")
        for name in ("scores.csv", "flags.csv"):
            shutil.copyfile(out / name, again / name)
        assert not [one for one in check_review_set(again) if one.severity == "error"]
        scores = load_review_set(again).scores
        assert set(scores["_origin"]) == {"file"}
        mine = scores.filter(reader="ann").select("dimension", "score").rows()
        assert mine == [("process", 5)]
        assert scores.filter(reader="ra").height == 4
        assert load_review_set(again).flags["verdict"].to_list() == ["confirmed"]
