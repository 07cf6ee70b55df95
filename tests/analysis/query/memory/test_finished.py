"""Scores of a case that its reader has not finished are in no table; given ones always are."""

from dataclasses import replace

import polars as pl
import pytest

from rexview.analysis.adjudication import find_differing_cases
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.analysis.query.memory.study_engine import without_unfinished_scores
from rexview.frames import SCORES
from rexview.stats.report.document import build_statistics_report
from rexview.stats.score_finals import list_unfinished_work
from rexview.vocab import TEXT_DIMENSIONS

ANSWERS = [{"case": case, "model": "g"} for case in ("c1", "c2")]


def mark(case, dimension, score, reader="r", origin="app"):
    return {
        "case": case,
        "model": "g",
        "reader": reader,
        "dimension": dimension,
        "score": score,
        "_origin": origin,
    }


def whole(case, score, **more):
    return [mark(case, name, score, **more) for name in TEXT_DIMENSIONS]


@pytest.fixture
def with_scores(make_set):
    def make(*rows, given=()):
        first = make_set(cases=[{"id": "c1"}, {"id": "c2"}], answers=ANSWERS, scores=list(given))
        both = make_set(cases=[{"id": "c1"}, {"id": "c2"}], answers=ANSWERS, scores=list(rows))
        return without_unfinished_scores(first, replace(first, scores=both.scores))

    return make


def test_a_case_counts_when_its_last_score_is_given(with_scores):
    begun = with_scores(*whole("c1", 4), *whole("c2", 2)[:3])
    assert begun.scores["case"].unique().to_list() == ["c1"]
    assert list_unfinished_work(begun).rows() == [("r", "c2")]
    assert len(begun.unfinished) == 3
    done = with_scores(*whole("c1", 4), *whole("c2", 2))
    assert len(done.scores) == 8
    assert done.unfinished.is_empty()


def test_unfinished_scores_are_in_no_table_and_counted_beside(with_scores):
    review_set = with_scores(*whole("c1", 4), *whole("c2", 1)[:3])
    tables = build_statistics_report(review_set, gap_threshold=2, resamples=0)
    process = next(row for row in tables["scores"] if row["dimension"] == "process")
    assert (process["n"], process["mean"]) == (1, 4.0)
    assert tables["unfinished"] == [{"reader": "r", "cases": 1}]
    rows = build_memory_engine(review_set).table.rows
    assert rows.filter(case="c2")["execution"].to_list() == [None]


def test_unfinished_scores_are_not_adjudicated_and_agree_with_nobody(with_scores):
    both = [*whole("c1", 5, reader="a"), *whole("c1", 1, reader="b")]
    nothing = pl.DataFrame(schema={**SCORES, "adjudicator": pl.String})
    assert len(find_differing_cases(with_scores(*both), nothing, 2)) == 1
    review_set = with_scores(*both[:-1])
    assert find_differing_cases(review_set, nothing, 2) == ()
    assert build_statistics_report(review_set, gap_threshold=2, resamples=0)["readers"] == []


def test_one_reader_unfinished_leaves_the_other(with_scores):
    review_set = with_scores(*whole("c1", 5, reader="a"), *whole("c1", 1, reader="b")[:1])
    assert set(review_set.scores["reader"]) == {"a"}
    assert list_unfinished_work(review_set).rows() == [("b", "c1")]


def test_given_scores_count_whole_or_not(with_scores):
    part = whole("c1", 3, origin="file")[:2]
    assert len(with_scores(*part, given=part).scores) == 2


def test_a_given_score_is_back_while_its_change_is_unfinished(with_scores):
    given = [mark("c1", "process", 3, origin="file")]
    review_set = with_scores(mark("c1", "process", 5), given=given)
    assert review_set.scores.select("score", "_origin").rows() == [(3, "file")]


def test_given_and_written_scores_finish_a_case_together(with_scores):
    given = whole("c1", 3, origin="file")
    changed = [*given[1:], mark("c1", "process", 5)]
    review_set = with_scores(*changed, given=given)
    assert sorted(review_set.scores["score"].to_list()) == [3, 3, 3, 5]


def test_a_comment_without_a_score_stays(with_scores):
    comment = {**mark("c1", "process", None), "comment": "unsure"}
    review_set = with_scores(comment, *whole("c1", 2)[1:])
    assert review_set.scores["comment"].drop_nulls().to_list() == ["unsure"]
    assert review_set.scores["score"].drop_nulls().is_empty()
