"""The example entries of the demonstration: as made from the texts, and in keeping with the set."""

import shutil
import sqlite3
from contextlib import closing

import pytest
from support import ROOT

from rexview.analysis.adjudication import find_differing_cases
from rexview.analysis.meetings import filter_open_decisions, list_decisions, list_meetings
from rexview.analysis.query.memory.study_engine import MemoryStudyEngine, without_unfinished_scores
from rexview.analysis.query.study_tasks import count_readers_progress
from rexview.reviewset import load_review_set
from rexview.store import Reviews, merge_reviews
from rexview.store.database.connection import ReviewsDatabase
from tools.demo.reviews import FILE_NAME, KEY, write_reviews

DEMO = ROOT / "assets" / "demo"
GIVEN = ["case", "model", "reader", "dimension", "image", "score", "comment", "created"]


@pytest.fixture(scope="module")
def review_set():
    return load_review_set(DEMO)


@pytest.fixture(scope="module")
def reviews(review_set, tmp_path_factory):
    file = shutil.copy(DEMO / FILE_NAME, tmp_path_factory.mktemp("reviews"))
    database = ReviewsDatabase(f"sqlite:///{file}")
    yield Reviews(database, review_set, KEY, dedicated=True)
    database.close()


@pytest.fixture(scope="module")
def written(review_set, reviews):
    return without_unfinished_scores(review_set, merge_reviews(review_set, reviews))


def rows_of(file):
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute("SELECT * FROM history ORDER BY id").fetchall()


def test_the_file_is_what_the_texts_make(tmp_path):
    folder = tmp_path / "demo"
    shutil.copytree(DEMO, folder, ignore=shutil.ignore_patterns(FILE_NAME))
    write_reviews(folder)
    assert rows_of(folder / FILE_NAME) == rows_of(DEMO / FILE_NAME)


def test_no_secret_is_passed_on():
    with closing(sqlite3.connect(DEMO / FILE_NAME)) as connection:
        assert connection.execute("SELECT count(*) FROM secrets").fetchone() == (0,)


def test_no_score_differs_with_and_without_them(review_set, written):
    given, now = (one.scores.select(GIVEN).sort(GIVEN) for one in (review_set, written))
    assert given.equals(now)


def test_both_readers_have_finished_the_study(review_set, reviews):
    progress = count_readers_progress(
        MemoryStudyEngine(review_set), reviews.assignments(), reviews.scores(), {}
    )
    assert {one.reader: (one.first > 0, one.second > 0) for one in progress} == {
        "reader_a": (True, False),
        "reader_b": (False, True),
    }
    assert [one.progress.remaining for one in progress] == [0, 0]
    assert all(one.progress.done == one.first + one.second for one in progress)


def test_what_readers_differed_on_is_settled(review_set, reviews, written):
    threshold = review_set.info.protocol.disagreement
    cases = find_differing_cases(written, reviews.adjudications(), threshold)
    assert cases
    assert all(one.has_consensus for one in cases)


def test_the_meeting_has_decided_some_of_its_cases(reviews, written):
    (meeting,) = list_meetings(reviews)
    assert len(meeting.cases) == 6
    assert not meeting.closed
    found = list_decisions(written)
    assert [one.case for one in found] == ["c22", "c30"]
    assert [one.replaced for one in found] == [False, False]
    assert [one.case for one in filter_open_decisions(found)] == ["c22"]
    assert set(meeting.seconds) == {"c22", "c30"}


def test_everything_says_that_it_is_an_example(reviews):
    rows = reviews.history()
    assert {row.via for row in rows} == {"example"}
    assert all(row.intact and "(simulated)" in row.person_name for row in rows)
    assert all(one.name.startswith("Example") for one in list_meetings(reviews))
