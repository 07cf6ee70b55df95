"""A model's scores of questions beside people's: held against scikit-learn's and by hand."""

import numpy as np
import polars as pl
import pytest

from rexview import frames
from rexview.stats.bootstrap import bootstrap_interval
from rexview.stats.criterion_agreement import compare_criteria
from rexview.vocab import CRITERIA


def ratings_of(rows):
    """Rows: case, candidate, source, by, and the four scores."""
    names = ("case", "candidate", "source", "by", *CRITERIA)
    return pl.DataFrame(
        [dict(zip(names, row, strict=True)) for row in rows],
        schema={name: frames.CANDIDATE_RATINGS[name] for name in (*names, "after_model")},
    )


def studies_of(ratings):
    return ratings.select("case", study="case").unique("case")


@pytest.fixture
def drawn():
    """Scores of 120 questions of 30 studies by a model and two people, one of them of half."""
    random = np.random.default_rng(3)
    rows = []
    for n in range(120):
        scores = random.integers(2, 6, size=4)
        rows.append((f"c{n // 4}", f"q{n}", "model", "m", *scores))
        for person, share in (("anna", 1), ("ben", 0.5)):
            if random.random() < share:
                near = np.clip(scores + random.integers(-1, 2, size=4), 1, 5)
                rows.append((f"c{n // 4}", f"q{n}", "reader", person, *near))
    return ratings_of(rows)


def both(ratings, person, criterion):
    model = ratings.filter(source="model").select("candidate", a=criterion)
    given = ratings.filter(by=person).select("candidate", b=criterion)
    return model.join(given, on="candidate")


def test_kappa_and_difference_are_those_of_the_pairs(drawn):
    from sklearn.metrics import cohen_kappa_score

    found = compare_criteria(drawn, studies_of(drawn), resamples=0)
    assert [row.person for row in found] == ["anna"] * 4 + ["ben"] * 4 + [None] * 4
    for row in found[:8]:
        pairs = both(drawn, row.person, row.criterion)
        kappa = cohen_kappa_score(
            pairs["a"], pairs["b"], labels=[1, 2, 3, 4, 5], weights="quadratic"
        )
        assert row.n == pairs.height
        assert row.qwk == pytest.approx(kappa)
        assert row.mad == pytest.approx((pairs["a"] - pairs["b"]).abs().mean())
        assert row.difference == pytest.approx((pairs["a"] - pairs["b"]).mean())
    for alone_a, alone_b, together in zip(found[:4], found[4:8], found[8:], strict=True):
        assert np.array_equal(together.table, alone_a.table + alone_b.table)
        assert together.n == alone_a.n + alone_b.n
        assert together.studies == 30


def test_scores_given_with_the_models_in_view_are_left_out(drawn):
    seen = pl.col("candidate").is_in(["q1", "q2"]) & (pl.col("source") == "reader")
    marked = drawn.with_columns(after_model=seen)
    found = compare_criteria(marked, studies_of(drawn), resamples=0)
    kept = compare_criteria(drawn.filter(~seen), studies_of(drawn), resamples=0)
    assert [(row.n, row.qwk) for row in found] == [(row.n, row.qwk) for row in kept]
    assert found[0].n < compare_criteria(drawn, studies_of(drawn), resamples=0)[0].n


def test_intervals_come_from_drawing_studies(drawn):
    """Questions of a study that are all alike say as much as one: the interval is as wide."""
    once = drawn.filter(pl.col("candidate").str.slice(1).cast(pl.Int64) % 4 == 0)
    copies = pl.concat(once.with_columns(pl.col("candidate") + f"-{copy}") for copy in range(5))
    one = compare_criteria(once, studies_of(once), resamples=999)[0]
    five = compare_criteria(copies, studies_of(copies), resamples=999)[0]
    assert (five.n, five.studies, one.studies) == (5 * one.n, 30, 30)
    assert five.qwk == pytest.approx(one.qwk)
    assert five.mad_interval.low == pytest.approx(one.mad_interval.low)
    assert five.qwk_interval.high == pytest.approx(one.qwk_interval.high)
    alone = copies.select(case="candidate", study="candidate").unique()
    by_itself = compare_criteria(copies.with_columns(case="candidate"), alone, resamples=999)[0]
    assert by_itself.studies == 150
    width = five.mad_interval.high - five.mad_interval.low
    assert by_itself.mad_interval.high - by_itself.mad_interval.low < 0.7 * width


def test_cases_of_a_study_are_drawn_together(drawn):
    two_cases = (
        drawn.select("case")
        .unique()
        .with_columns(study=pl.col("case").str.slice(1).cast(pl.Int64) // 2)
    )
    found = compare_criteria(
        drawn, two_cases.with_columns(pl.col("study").cast(pl.String)), resamples=0
    )
    assert found[0].studies == 15


def test_what_is_undefined_says_why():
    rows = [
        ("c1", f"q{n}", source, by, 4, 3, 3 + n, None)
        for n in range(2)
        for source, by in (("model", "m"), ("reader", "anna"))
    ]
    ratings = ratings_of(rows)
    relevance, answerability, complexity, clarity = compare_criteria(ratings, studies_of(ratings))
    assert relevance.qwk is None
    assert relevance.why == "Both readers gave all 2 questions the score 4: kappa is undefined."
    assert answerability.qwk is None
    assert complexity.qwk == 1.0
    assert complexity.qwk_interval.low is None
    assert complexity.qwk_interval.why
    assert (clarity.n, clarity.why) == (0, "No question was scored by both readers.")
    assert bootstrap_interval(np.array([1]), lambda rows: rows).why == complexity.qwk_interval.why


def test_people_and_questions_of_whom_the_model_said_nothing_make_no_row():
    ratings = ratings_of(
        [("c1", "q1", "reader", "anna", 4, 3, 3, 3), ("c1", "q2", "model", "m", 4, 3, 3, 3)]
    )
    assert compare_criteria(ratings, studies_of(ratings)) == ()
