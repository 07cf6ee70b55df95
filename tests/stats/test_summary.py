"""Summaries against tables worked by hand."""

from __future__ import annotations

import math

import pytest
from support.final_scores import made_finals, pictures

from rexview.stats import count_missing_answers, summarise_gaps, summarise_scores
from rexview.stats.bootstrap import ALL_EQUAL_REASON, NO_VALUES_REASON
from rexview.stats.score_summaries import NO_VALUE, ONE_VALUE, tally_scores


def one(rows, dimension, model):
    (found,) = [row for row in rows if (row.dimension, row.model) == (dimension, model)]
    return found


def test_mean_spread_and_shares():
    # 5, 5, 4.5, 2, 1: sum 17.5, mean 3.5; deviations 1.5 1.5 1 -1.5 -2.5, squares 14, / 4 = 3.5
    row = one(
        summarise_scores(tally_scores(made_finals(g={"language": [5, 5, 4.5, 2, 1]})), ["g"]),
        "language",
        "g",
    )
    assert (row.n, row.mean) == (5, 3.5)
    assert row.sd == pytest.approx(math.sqrt(3.5), rel=1e-12)
    assert (row.share_5, row.share_below_3) == (0.4, 0.4)
    assert row.counts == {1.0: 1, 2.0: 1, 4.5: 1, 5.0: 2}
    assert row.interval.low < 3.5 < row.interval.high
    assert row.why is None


def test_three_is_not_below_three_and_a_third_short_of_five_is_not_five():
    values = [3, (3 + 3 + 3) / 3, (5 + 5 + 4) / 3, 8 / 3]
    row = one(
        summarise_scores(tally_scores(made_finals(g={"process": values})), ["g"]), "process", "g"
    )
    assert (row.share_5, row.share_below_3) == (0.0, 0.25)


def test_equal_means_count_as_one_value_however_they_were_added_up():
    values = [0.1 + 0.2 + 4.0, 4.3, 4.3]
    row = one(
        summarise_scores(tally_scores(made_finals(g={"process": values})), ["g"]), "process", "g"
    )
    assert list(row.counts.values()) == [3]
    assert row.interval.why == ALL_EQUAL_REASON == row.why


def test_nothing_one_and_all_equal_are_explained():
    finals = made_finals(g={"process": [4], "language": [4, 4, 4]})
    rows = summarise_scores(tally_scores(finals), ["g", "absent"])
    nothing = one(rows, "process", "absent")
    assert (nothing.n, nothing.mean, nothing.sd, nothing.share_5) == (0, None, None, None)
    assert nothing.why == NO_VALUE == NO_VALUES_REASON
    single = one(rows, "process", "g")
    assert (single.n, single.mean, single.sd, single.why) == (1, 4.0, None, ONE_VALUE)
    equal = one(rows, "language", "g")
    assert (equal.mean, equal.sd, equal.interval.low, equal.why) == (
        4.0,
        0.0,
        None,
        ALL_EQUAL_REASON,
    )


def test_rows_come_by_dimension_and_model_and_pictures_only_where_there_are_any():
    finals = made_finals(a={"process": [1, 2]}, b={"process": [3]})
    rows = summarise_scores(tally_scores(finals), ["b", "a"], resamples=0)
    text = ["content", "language", "process", "execution", "synthesis"]
    order = [(dimension, model) for dimension in text for model in ("b", "a")]
    assert [(row.dimension, row.model) for row in rows] == order
    assert all(row.interval.low is None for row in rows)

    shown = made_finals(pictures(("c1", "a", 0, 5.0, None), ("c1", "a", 1, 2.0, None)), a={}, b={})
    rows = summarise_scores(tally_scores(shown), ["a", "b"], resamples=0)
    assert one(rows, "image_content", "a").n == 2  # pictures, not answers
    assert one(rows, "image_content", "b").n == 0
    assert not [row for row in rows if row.dimension == "image_style"]
    none = summarise_scores(tally_scores(shown), ["b"], resamples=0)
    assert not [row for row in none if row.dimension == "image_content"]


def test_gaps_are_flagged_from_the_threshold_on():
    # 3, 2, 2, 0, -1, -1: mean 5/6, three of six at 2 or more
    finals = made_finals(g={"gap": [3, 2, 2, 0, -1, -1]})
    (row,) = summarise_gaps(tally_scores(finals), ["g"], threshold=2)
    assert row.mean == pytest.approx(5 / 6, rel=1e-12)
    assert (row.n, row.flagged, row.share_flagged) == (6, 3, 0.5)
    assert list(row.counts) == [-1.0, 0.0, 2.0, 3.0]
    (strict,) = summarise_gaps(tally_scores(finals), ["g"], threshold=2.5)
    assert strict.flagged == 1
    (none,) = summarise_gaps(tally_scores(finals), ["other"], threshold=2)
    assert (none.n, none.mean, none.share_flagged, none.flagged) == (0, None, None, 0)
    assert none.why == NO_VALUE


def test_answers_that_never_came_are_counted_by_reason(make_set):
    review_set = make_set(
        answers=[
            {"case": "c1", "model": "g"},
            {"case": "c2", "model": "g", "finish_reason": "length"},
            {"case": "c3", "model": "g", "finish_reason": "length"},
            {"case": "c4", "model": "g", "error": "timeout", "text": None},
            {"case": "c5", "model": "g", "finish_reason": "content_filter"},
            {"case": "c6", "model": "g", "text": " "},
            {"case": "c6", "model": "m", "finish_reason": "length", "_newest": False},
            {"case": "c6", "model": "m"},
        ]
    )
    g, m, absent = count_missing_answers(review_set.answers, ["g", "m", "absent"])
    assert (g.n, g.answers) == (5, 6)
    assert g.by_reason == {"token_limit": 2, "error": 1, "refused": 1, "empty": 1}
    assert (m.n, m.answers, set(m.by_reason.values())) == (0, 1, {0})
    assert (absent.n, absent.answers) == (0, 0)
