"""Where readers differ, worst first, and the consensus beside their scores."""

from datetime import UTC, datetime

import polars as pl
import pytest

from rexview.analysis.adjudication import (
    find_differing_cases,
    find_next_without_consensus,
    label_readers,
    list_consensus_scores,
)
from rexview.analysis.query.memory.study_engine import without_unfinished_scores
from rexview.store.current_state import ADJUDICATIONS
from rexview.vocab import TEXT_DIMENSIONS

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def score(case, model, reader, value, dimension="process", image=None, comment=None):
    return {
        "case": case,
        "model": model,
        "reader": reader,
        "dimension": dimension,
        "image": image,
        "score": value,
        "comment": comment,
    }


@pytest.fixture
def review_set(make_set):
    return make_set(
        cases=[{"id": f"c{number}"} for number in range(1, 6)],
        answers=[
            {"case": f"c{number}", "model": model} for number in range(1, 6) for model in ("g", "m")
        ],
        scores=[
            *(score("c1", "g", reader, value) for reader, value in (("a", 5), ("b", 3))),
            score("c1", "m", "a", 1),
            score("c1", "m", "b", 2),
            score("c2", "g", "a", 5, comment="Good."),
            score("c2", "g", "b", 1, comment="<b>Bad.</b>"),
            score("c2", "g", "c", 4),
            score("c3", "m", "a", 2, "image_content", 0),
            score("c3", "m", "b", 5, "image_content", 1),
            score("c3", "g", "a", 1, "language"),
            score("c3", "g", "b", None, "language"),
            score("c4", "g", "a", 2),
            score("c4", "g", "b", 4),
            score("c4", "m", "a", 4, "language"),
            score("c4", "m", "b", 2, "language"),
            score("c9", "g", "a", 1),
            score("c9", "g", "b", 5),
        ],
    )


def agreed(*rows):
    names = ("case", "model", "dimension", "image", "score", "comment")
    full = [
        {**dict(zip(names, row, strict=True)), "adjudicator": "eve", "created": NOW} for row in rows
    ]
    return pl.DataFrame(full, schema=ADJUDICATIONS)


def test_the_worst_come_first(review_set):
    found = find_differing_cases(review_set, agreed(), 2)
    assert [(one.case, one.apart, len(one.differences)) for one in found] == [
        ("c2", 4, 1),
        ("c4", 2, 2),
        ("c1", 2, 1),
    ], "different pictures are no difference, nor are scores that were not given"
    (worst,) = found[0].differences
    assert [(mark.reader, mark.score, mark.comment) for mark in worst.scores] == [
        ("a", 5, "Good."),
        ("b", 1, "<b>Bad.</b>"),
        ("c", 4, ""),
    ]


@pytest.mark.parametrize(
    ("threshold", "cases"), [(1, ["c2", "c1", "c4"]), (3, ["c2"]), (4, ["c2"]), (4.5, [])]
)
def test_from_how_many_points_on_can_be_chosen(review_set, threshold, cases):
    found = find_differing_cases(review_set, agreed(), threshold)
    assert sorted(one.case for one in found) == sorted(cases)


def test_scores_of_a_case_that_is_not_finished_are_left_out(make_set):
    def written(reader, *dimensions, value=5):
        return [{**score("c1", "g", reader, value, name), "_origin": "app"} for name in dimensions]

    def found(*scores):
        answers = [{"case": "c1", "model": "g"}]
        of_file = [one for one in scores if one.get("_origin") != "app"]
        given, made = (
            make_set(cases=[{"id": "c1"}], answers=answers, scores=rows)
            for rows in (of_file, scores)
        )
        return [
            one.case
            for one in find_differing_cases(without_unfinished_scores(given, made), agreed(), 2)
        ]

    of_the_file = score("c1", "g", "b", 1)
    assert found(of_the_file, *written("a", "process")) == []
    assert found(of_the_file, *written("a", *TEXT_DIMENSIONS)) == ["c1"]
    begun_elsewhere = {**score("c1", "g", "a", 3, "language"), "_origin": "file"}
    rest = ("process", "execution", "synthesis")
    assert found(of_the_file, begun_elsewhere, *written("a", *rest)) == ["c1"]
    assert found(*written("a", *TEXT_DIMENSIONS), *written("c", *rest, value=1)) == []


def test_a_consensus_settles_and_changes_no_score(review_set):
    given = agreed(
        ("c2", "g", "process", None, 3, "Agreed."),
        ("c4", "g", "process", None, None, "Not yet."),
        ("c4", "m", "language", None, 3, None),
    )
    before = review_set.scores.clone()
    worst, second, last = find_differing_cases(review_set, given, 2)
    assert worst.has_consensus
    assert worst.differences[0].consensus.score == 3
    assert not second.has_consensus, "words without a score settle nothing"
    assert second.n_agreed == 1
    assert last.differences[0].consensus is None
    assert review_set.scores.equals(before)
    (score,) = list_consensus_scores(given, "c2")
    assert (score.score, score.reader, score.comment) == (3, "eve", "Agreed.")


def test_what_comes_next_is_not_settled(review_set):
    cases = find_differing_cases(review_set, agreed(("c2", "g", "process", None, 3, None)), 2)
    assert [one.case for one in cases] == ["c2", "c4", "c1"]
    assert find_next_without_consensus(cases, None) == "c4"
    assert find_next_without_consensus(cases, "c4") == "c1"
    assert find_next_without_consensus(cases, "c1") == "c4", "from the beginning again"
    assert find_next_without_consensus(cases[:1], "c2") is None
    assert find_next_without_consensus(cases[1:2], "c4") is None


def test_readers_are_numbered_for_each_case_anew():
    labels = [label_readers(["a", "b"], f"c{number}", key=b"k") for number in range(20)]
    assert all(sorted(one.values()) == ["Reader 1", "Reader 2"] for one in labels)
    assert {one["a"] for one in labels} == {"Reader 1", "Reader 2"}
    assert labels[3] == label_readers(["b", "a"], "c3", key=b"k")
