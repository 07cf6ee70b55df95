"""One entry changed in the database: every command that reads it tells, and ends with 1."""

import shutil
import sqlite3

import pytest
from support.entries.stored import ANN, BOB, score
from support.small_set import write_set

from rexview.cli import main
from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import open_reviews
from rexview.store.database.connection import close_databases


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A set with three scores, the second of which was changed in the file."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = write_set(tmp_path / "set")
    reviews = open_reviews(load_review_set(folder), Settings())
    for value, person in ((1, BOB), (3, ANN), (2, BOB)):
        reviews.record([score(value)], person)
    close_databases()
    shutil.copytree(folder, tmp_path / "sound")
    with sqlite3.connect(folder / "reviews.sqlite") as connection:
        connection.execute("DROP TRIGGER history_no_update")
        connection.execute("UPDATE history SET value = '{\"score\": 2}' WHERE id = 2")
    connection.close()
    return folder


COMMANDS = {
    "check": ["check", "{set}"],
    "stats": ["stats", "{set}"],
    "export-reviews": ["export-reviews", "{set}", "--out", "{out}"],
    "export": ["export", "{set}", "--format", "csv", "--out", "{out}"],
    "export a review set": ["export", "{set}", "--format", "reviewset", "--out", "{out}"],
    "curated": ["curated", "{set}", "--out", "{out}"],
    "backup": ["backup", "{set}", "--out", "{out}"],
    "merge-reviews": ["merge-reviews", "{set}"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_damaged_entry_is_told_and_ends_with_1(folder, tmp_path, capsys, command):
    def run(name):
        places = {"set": tmp_path / name, "out": tmp_path / f"{name}-out"}
        status = main([word.format(**places) for word in COMMANDS[command]])
        return status, capsys.readouterr().err

    sound, words = run("sound")
    assert "damaged after" not in words
    status, words = run("set")
    assert status == 1
    if command == "curated" and sound == 1:
        return  # it has nothing to write here, and says so before
    assert sound == 0
    assert "1 entry of the reviews database was damaged after it was saved" in words
    assert "Entry 2: score by ann" in words
    assert "rexview restore" in words


def test_a_newest_entry_that_is_gone_is_told(folder, tmp_path, capsys):
    with sqlite3.connect(folder / "reviews.sqlite") as connection:
        connection.execute("DROP TRIGGER history_no_delete")
        connection.execute("DELETE FROM history WHERE id = 3")
    connection.close()
    assert main(["stats", str(folder)]) == 1
    assert "newest entries are missing" in capsys.readouterr().err
