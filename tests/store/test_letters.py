"""The secret behind the letters: one for a set, in backups, and in nothing else."""

import json
import sqlite3
from threading import Barrier, Thread

import pytest
from support.entries.stored import ANN, EVE, score, verdict
from support.small_set import write_set

from rexview.errors import StoreRefused
from rexview.reviewset import load_review_set, write_csv
from rexview.settings import Settings
from rexview.store import Entry, Reviews, merge_reviews, open_reviews, restore_backup, write_backup
from rexview.store.database.connection import ReviewsDatabase, close_databases

OTHER_TEXT = "There is no effusion at all."


def other_set(folder, **changes):
    """The same set with another text of model m's answer to c1."""
    file = folder / "answers.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    rows[0] |= changes or {"text": OTHER_TEXT}
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return load_review_set(folder)


def test_servers_that_ask_at_once_get_one_secret(review_set, settings, tmp_path):
    address = settings.database_url or f"sqlite:///{tmp_path}/reviews.sqlite"
    databases = [ReviewsDatabase(address) for _ in range(6)]
    barrier, found = Barrier(6), []

    def ask(database):
        barrier.wait()
        found.append(Reviews(database, review_set, "set", dedicated=False).letter_key())

    threads = [Thread(target=ask, args=(database,)) for database in databases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(found), len(set(found)), len(found[0])) == (6, 1, 32)
    assert Reviews(databases[0], review_set, "another", dedicated=False).letter_key() != found[0]
    for database in databases:
        database.close()


def test_before_anything_was_written_it_is_made_and_stays(reviews, review_set, settings):
    key = reviews.letter_key()
    assert reviews.history() == ()
    assert merge_reviews(review_set, reviews) is review_set
    reviews.record([score(4)], ANN)
    close_databases()
    assert open_reviews(review_set, settings).letter_key() == key


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_backup_brings_it_back(reviews, tmp_path, kind, request):
    key = reviews.letter_key()
    reviews.record([score(4)], ANN)
    write_backup(reviews, tmp_path / "backup")
    address = request.getfixturevalue("new_address")() if kind == "postgresql" else None
    target = open_reviews(
        load_review_set(write_set(tmp_path / "other")), Settings(database_url=address)
    )
    assert target.letter_key() != key
    restore_backup(tmp_path / "backup", target)
    assert target.letter_key() == key
    (row,) = target.history()
    assert row.answer_digest == reviews.history()[0].answer_digest is not None


def test_a_backup_brings_it_back_though_its_first_row_is_damaged(reviews, tmp_path):
    if not reviews.database.is_sqlite:
        pytest.skip("the file is changed")
    key = reviews.letter_key()
    reviews.record([score(4), score(5, case="c2")], ANN)
    write_backup(reviews, tmp_path / "backup")
    with sqlite3.connect(tmp_path / "backup") as file:
        file.execute("DROP TRIGGER history_no_update")
        file.execute("UPDATE history SET review_set = 'another' WHERE id = 1")
    file.close()
    target = open_reviews(load_review_set(write_set(tmp_path / "other")), Settings())
    restore_backup(tmp_path / "backup", target)
    assert target.letter_key() == key


def test_a_backup_from_before_there_was_one_leaves_the_secret(reviews, tmp_path):
    if reviews.database.is_sqlite:
        pytest.skip("lines of JSON are written of a server")
    reviews.record([score(4)], ANN)
    write_backup(reviews, tmp_path / "backup")
    import hashlib

    heading, row, _ = map(json.loads, (tmp_path / "backup").read_text().splitlines())
    del row["answer_digest"]
    line = json.dumps(row)
    ending = {"entries": 1, "sha256": hashlib.sha256(line.encode()).hexdigest()}
    old = [json.dumps({**heading, "version": "0002"}), line, json.dumps(ending)]
    (tmp_path / "old").write_text("\n".join(old) + "\n", encoding="ascii")
    key = reviews.letter_key()
    restore_backup(tmp_path / "old", reviews, replace=True)
    assert reviews.letter_key() == key
    (row,) = reviews.history()
    assert row.answer_digest is None


def test_an_entry_is_of_the_answer_that_was_read(reviews, review_set, settings):
    reviews.record([score(4), verdict()], ANN)
    consensus = Entry("adjudicate", "c1", "m", "process", value={"score": 3})
    reviews.record([consensus], EVE)
    digests = {row.answer_digest for row in reviews.history()}
    assert len(digests) == 1
    now = other_set(review_set.folder)
    again = open_reviews(now, settings)
    for frame in (again.scores(), again.flags(), again.adjudications()):
        assert frame.is_empty()
    both = merge_reviews(now, again)
    assert (both.scores.filter(reader="ann").height, both.flags.height) == (0, 0)
    assert (both.stale_scores["reader"].to_list(), both.stale_flags.height) == (["ann"], 1)
    (late,) = again.record([score(2, answer_digest=digests.pop())], ANN)
    assert late.answer_digest not in (None, again.record([score(5)], ANN)[0].answer_digest)
    assert merge_reviews(now, again).scores.filter(reader="ann")["score"].to_list() == [5]
    back = other_set(review_set.folder, text="**Left** effusion <script>alert(1)</script>")
    assert open_reviews(back, settings).flags()["verdict"].to_list() == ["confirmed"]


@pytest.mark.parametrize("digest", ["", "x" * 64, "a" * 63, 5])
def test_a_digest_that_is_none_is_refused(reviews, digest):
    with pytest.raises(StoreRefused, match="digest"):
        reviews.record([score(4, answer_digest=digest)], ANN)
    skip = Entry("skip", "c1", value=None, answer_digest="a" * 64)
    with pytest.raises(StoreRefused, match="one answer"):
        reviews.record([skip], ANN)


def test_what_was_given_to_an_earlier_answer_is_exported_as_that(reviews, review_set, tmp_path):
    reviews.record([score(4), verdict()], ANN)
    both = merge_reviews(
        now := other_set(review_set.folder),
        Reviews(reviews.database, now, reviews.key, dedicated=False),
    )
    write_csv(both, ("scores", "flags"), tmp_path / "tables")
    for name in ("scores", "flags"):
        file = tmp_path / "tables" / f"{name}.csv"
        text = file.read_text(encoding="utf-8")
        assert reviews.letter_key().hex() not in text
        (review_set.folder / f"{name}.csv").write_text(text, encoding="utf-8")
    given = load_review_set(review_set.folder)
    assert given.stale_scores["score"].to_list() == [4]
    assert given.stale_flags.height == 1
    assert given.scores.height == 4
