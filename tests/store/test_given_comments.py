"""Comments of a set's own files stand beside those that are written: answered, settled, changed."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from support.entries.stored import ANN, BOB, comment
from support.small_set import write_set

from rexview.errors import StoreRefused
from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import Entry, merge_reviews, open_reviews
from rexview.ui.comments.case_comments import CommentTargets
from rexview.ui.web.saving.entries import CASE_PAGE, SCORE_PAGE

RA = Person("ra", "Reader A", "reader")
GIVEN = [
    {
        "case": "c1",
        "comment": "first",
        "reader": "ra",
        "text": "Blurred.",
        "created": "2026-01-02T03:04:05Z",
        "resolved": True,
        "resolved_by": "ann",
    },
    {
        "case": "c1",
        "comment": "2",
        "model": "m",
        "reader": "ra",
        "text": "Which side?",
        "on": {"what": "span", "field": "text", "start": 0, "end": 4, "text": "Left"},
    },
]


@pytest.fixture
def reviews(tmp_path):
    folder = write_set(tmp_path / "set")
    lines = "".join(json.dumps(row) + "\n" for row in GIVEN)
    (folder / "comments.jsonl").write_text(lines, "utf-8")
    return open_reviews(load_review_set(folder), Settings())


def stand(reviews):
    return {one.id: (one.text, one.resolved) for one in reviews.comments("c1")}


def test_they_are_there_without_any_entry(reviews):
    undated, dated = reviews.comments("c1")
    assert (dated.at, dated.resolved_by) == (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "ann")
    assert (undated.at, undated.model, undated.on["text"]) == (None, "m", "Left")
    assert reviews.comments("c2") == ()


def test_they_are_answered_and_settled(reviews):
    reviews.record([comment("k", "This one.", model="m", reply_to="2")], ANN)
    reviews.record([Entry("resolve", subject="2", value={"resolved": True})], BOB)
    reviews.record([Entry("resolve", subject="first", value={"resolved": False})], ANN)
    assert stand(reviews) == {
        "2": ("Which side?", True),
        "first": ("Blurred.", False),
        "k": ("This one.", False),
    }
    rows = merge_reviews(reviews.review_set, reviews).comments.sort("comment")
    assert rows["comment"].to_list() == ["2", "first", "k"]
    assert rows["resolved_by"].to_list() == ["bob", None, None]
    assert rows["_origin"].to_list() == ["file", "file", "app"]
    assert rows["reply_to"].to_list() == [None, None, "2"]


def test_only_who_wrote_one_changes_or_removes_it(reviews):
    changed = comment("first", "Not blurred.")
    with pytest.raises(StoreRefused, match="Only whoever wrote"):
        reviews.record([changed], ANN)
    with pytest.raises(StoreRefused, match="stays where it was made"):
        reviews.record([replace(comment("first"), case="c2")], RA)
    reviews.record([changed], RA)
    assert stand(reviews)["first"][0] == "Not blurred."
    reviews.record([Entry("comment", "c1", None, "first")], RA)
    assert set(stand(reviews)) == {"2"}
    assert merge_reviews(reviews.review_set, reviews).comments["comment"].to_list() == ["2"]


def test_a_blinded_reader_sees_none_of_them(reviews):
    """Nobody knows whether they were written with the models named."""

    def seen(page):
        return CommentTargets(page, "c1", {}, {}, {}, {}).visible(reviews, RA)

    assert len(seen(CASE_PAGE)) == 2
    assert seen(SCORE_PAGE) == ()
