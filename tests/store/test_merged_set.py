"""Given and written rows together: the newest of the same reader about the same thing stands."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from sqlalchemy import func, select
from support.entries.stored import ANN, BOB, comment, score, verdict

from rexview import frames
from rexview.people import Person
from rexview.settings import Settings
from rexview.store import (
    ENTRY_KINDS,
    merge_reviews,
    new_token,
    open_reviews,
    restore_backup,
    write_backup,
)
from rexview.store.database.connection import close_databases
from rexview.store.database.tables import HISTORY, stored_entry, subject_columns

RA = Person("ra", "Reader A", "lead")
"""The reader of the given scores: process 5, execution 2, synthesis 3, language 4, undated."""


@pytest.fixture
def reviews(review_set):
    return open_reviews(review_set, Settings())


def scores_of(review_set, reader):
    rows = review_set.scores.filter(reader=reader)
    return dict(rows.select("dimension", "score").rows())


def dated(review_set, created):
    return replace(
        review_set,
        scores=review_set.scores.with_columns(
            pl.lit(created, pl.Datetime("us", "UTC")).alias("created")
        ),
    )


def test_without_any_entry_it_is_the_set_itself(review_set, reviews):
    assert merge_reviews(review_set, reviews) is review_set


def test_both_are_there_and_say_where_they_come_from(review_set, reviews):
    reviews.record([score(1), verdict("rejected")], ANN)
    both = merge_reviews(review_set, reviews)
    assert both.scores.schema == frames.SCORES
    assert both.flags.schema == frames.FLAGS
    assert scores_of(both, "ra") == scores_of(review_set, "ra")
    assert scores_of(both, "ann") == {"process": 1}
    assert both.scores["_origin"].to_list() == ["file"] * 4 + ["app"]
    assert both.scores["_row"].to_list() == [1, 2, 3, 4, 5]
    assert [one.origin for one in both.scores_of("c1")] == ["file"] * 4 + ["app"]
    assert [(one.verdict, one.origin) for one in both.flags_of("c1")] == [("rejected", "app")]


def test_everybody_who_wrote_is_a_reader_with_a_name(review_set, reviews):
    reviews.record([score(1)], ANN)
    reviews.record([score(1)], replace(RA, name="Somebody else"))
    both = merge_reviews(review_set, reviews)
    assert both.reader_names == {"ra": "Reader A", "ann": "Ann A."}, "declared names stand"


def test_the_fingerprint_changes_with_every_entry(review_set, reviews):
    prints = {review_set.fingerprint}
    for value in (1, 2, 2):
        reviews.record([score(value)], ANN)
        prints.add(merge_reviews(review_set, reviews).fingerprint)
    assert len(prints) == 4
    assert len({one.partition("-")[0] for one in prints}) == 1


def test_a_written_score_stands_before_an_undated_given_one(review_set, reviews):
    reviews.record([score(1, dimension="execution")], RA)
    both = merge_reviews(review_set, reviews)
    assert scores_of(both, "ra") == {"process": 5, "execution": 1, "synthesis": 3, "language": 4}
    assert both.scores.height == 4


@pytest.mark.parametrize(("days", "stands"), [(-1, 1), (1, 2)])
def test_the_newer_of_both_stands(review_set, reviews, days, stands):
    given = dated(review_set, datetime.now(UTC) + timedelta(days=days))
    reviews.record([score(1, dimension="execution")], RA)
    both = merge_reviews(given, reviews)
    assert scores_of(both, "ra")["execution"] == stands
    assert both.scores.height == 4


def test_a_given_score_can_be_taken_back(review_set, reviews):
    reviews.record([score(None, dimension="execution")], RA)
    both = merge_reviews(review_set, reviews)
    assert set(scores_of(both, "ra")) == {"process", "synthesis", "language"}


def test_a_verdict_can_be_taken_back(review_set, reviews):
    row = {
        **dict.fromkeys(frames.FLAGS),
        "case": "c1",
        "model": "m",
        "reader": "ra",
        "failure": "laterality_error",
        "verdict": "confirmed",
        "_row": 1,
        "_origin": "file",
    }
    given = replace(review_set, flags=pl.DataFrame([row], schema=frames.FLAGS))
    reviews.record([verdict(None)], BOB)
    assert merge_reviews(given, reviews).flags["reader"].to_list() == ["ra"]
    reviews.record([verdict("rejected")], RA)
    assert merge_reviews(given, reviews).flags["verdict"].to_list() == ["rejected"]
    reviews.record([verdict(None)], RA)
    assert merge_reviews(given, reviews).flags.is_empty()


def test_a_score_of_the_boxes_is_another_than_of_a_picture(review_set, reviews):
    answers = review_set.answers.with_columns(
        pl.when(pl.col("model") == "m")
        .then(pl.lit(["a.png", "b.png"]))
        .otherwise("images")
        .alias("images")
    )
    pictured = replace(review_set, answers=answers)
    with_pictures = open_reviews(pictured, Settings())
    with_pictures.record(
        [
            score(value, dimension="image_style", picture=picture)
            for picture, value in ((None, 1), (0, 2), (1, 3))
        ],
        ANN,
    )
    with_pictures.record([score(5, dimension="image_style", picture=0)], ANN)
    both = merge_reviews(pictured, with_pictures)
    kept = both.scores.filter(reader="ann").select("image", "score").rows()
    assert sorted(kept, key=str) == [(0, 5), (1, 3), (None, 1)]


def test_what_is_about_a_case_that_went_is_left_out(review_set, reviews):
    reviews.record([score(3), score(2, case="c2")], ANN)
    fewer = replace(review_set, cases=review_set.cases.filter(pl.col("id") != "c2"))
    assert merge_reviews(fewer, reviews).scores.filter(reader="ann")["case"].to_list() == ["c1"]


def test_nothing_else_changes(review_set, reviews):
    reviews.record([score(3)], ANN)
    both = merge_reviews(review_set, reviews)
    for name in ("cases", "answers", "metrics", "edits", "folder", "warnings"):
        assert getattr(both, name) is getattr(review_set, name)
    assert review_set.scores.height == 4, "what was given is never changed"


def newest(reviews, *columns, **wanted):
    """Ask the database itself for the newest row of each thing."""
    named = [HISTORY.c[name] == value for name, value in wanted.items()]
    ids = select(func.max(HISTORY.c.id)).where(HISTORY.c.review_set == reviews.key, *named)
    ids = ids.group_by(*(HISTORY.c[name] for name in columns))
    rows = select(HISTORY).where(HISTORY.c.id.in_(ids)).order_by(HISTORY.c.id)
    return tuple(map(stored_entry, reviews.database.rows(rows)))


def test_what_is_held_in_memory_is_what_the_query_gives(review_set, reviews, tmp_path):
    """Also after a backup was restored, and when the file was put in place of another."""
    chance = random.Random(5)
    other = open_reviews(review_set, Settings())

    def same():
        state = reviews.current_state()
        for kind in ENTRY_KINDS:
            queried = newest(reviews, *subject_columns(kind), kind=kind)
            assert tuple(state.rows(kind)) == reviews.current(kind) == queried
        names = {
            row.person: (row.person_name, row.person_role) for row in newest(reviews, "person")
        }
        people = reviews.people()
        assert names == {one.id: (one.name, one.role) for one in people.values()}
        assert state.revision == reviews.revision()

    def write(count):
        for _ in range(count):
            entry = chance.choice(
                [
                    score(chance.choice([1, 5, None]), case=chance.choice(["c1", "c2"])),
                    verdict(chance.choice(["confirmed", "rejected", None])),
                    comment(new_token()),
                ]
            )
            other.record([entry], chance.choice([ANN, BOB]))

    same()
    for number in range(6):
        write(5)
        same()
        if number == 2:
            write_backup(reviews, tmp_path / "backup")
    restore_backup(tmp_path / "backup", other, replace=True)
    same()
    write(3)
    same()
    close_databases()
    for file in review_set.folder.glob("reviews.sqlite*"):
        file.unlink()
    assert reviews.current_state().revision == 0
    assert merge_reviews(review_set, reviews) is review_set
    write(2)
    same()
