"""Tests between models against hand-worked tables and the libraries' own examples."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import wilcoxon
from support.final_scores import made_finals, pictures
from support.growth import growth
from support.textbook import benjamini_hochberg

from rexview.stats import TEXT_SCORES, compare_all_models
from rexview.stats.bootstrap import ALL_EQUAL_REASON
from rexview.stats.paired_tests import (
    ALL_TIED,
    APPROXIMATE_METHOD,
    EXACT_METHOD,
    FEW_CASES,
    FEW_MODELS,
    NO_DIFFERENCE,
    NO_PAIRS,
    ONE_PAIR,
    run_signed_rank_tests,
)


def pair(a, b, dimension="process", **more):
    """Return the one test of that dimension between two models with these scores."""
    tests = compare_all_models(
        made_finals(a={dimension: a}, b={dimension: b}).by_answer, ["a", "b"], **more
    ).tests
    (found,) = [test for test in tests if test.dimension == dimension]
    return found


def differing(differences, **more):
    return pair(differences, [0] * len(differences), **more)


class TestPairs:
    def test_darwin_s_maize_from_the_manual_of_scipy(self):
        test = differing([6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75])
        assert test.statistic == 24.0
        assert test.p == 0.041259765625
        assert test.method == EXACT_METHOD
        # the manual's one-sided statistic is 96: (96 - 24) / (15 * 16 / 2)
        assert test.effect == pytest.approx(0.6, rel=1e-12)
        assert (test.n_pairs, test.n_zero, test.left_out) == (15, 0, 0)
        assert test.mean_difference == pytest.approx(314 / 15, rel=1e-12)

    def test_ties_and_a_zero_by_hand(self):
        # |d| without the zero: 1 1 1 2, ranks 2 2 2 4; up 2 + 2 + 4 = 8, down 2.
        # Of 16 arrangements of signs, 8 or more up: all, or all but one of the three 2s: 4.
        test = differing([1, 1, -1, 2, 0])
        assert (test.n_pairs, test.n_zero, test.statistic) == (5, 1, 2.0)
        assert test.p == 2 * 4 / 16
        assert test.method == EXACT_METHOD
        assert test.effect == pytest.approx((8 - 2) / 10)
        assert test.mean_difference == pytest.approx(0.6)

    def test_many_ties_by_hand(self):
        # 40 up, 20 down, all of one size: every rank is 30.5, so up 1220, down 610, mean 915.
        # Variance 60*61*121/24 - (60**3 - 60)/48 = 18452.5 - 4498.75, as for 60 tosses of a coin:
        # z = (40 - 20) / sqrt(60).
        test = differing([1] * 40 + [-1] * 20)
        assert test.statistic == 610.0
        assert test.p == pytest.approx(2 * NormalDist().cdf(-20 / math.sqrt(60)), rel=1e-9)
        assert test.method == APPROXIMATE_METHOD
        assert test.effect == pytest.approx(1 / 3)

    def test_the_sign_follows_the_order_of_the_models(self):
        up, down = pair([5, 4, 4, 5], [1, 2, 3, 1]), pair([1, 2, 3, 1], [5, 4, 4, 5])
        assert (up.effect, down.effect) == (1.0, -1.0)
        assert up.p == down.p
        assert up.mean_difference == -down.mean_difference > 0
        assert up.interval.low > 0 > down.interval.high

    def test_only_cases_with_both_scores_count(self):
        test = pair([5, None, 3, 2, None], [4, 4, None, 1, None])
        assert (test.n_pairs, test.left_out) == (2, 2)
        assert test.mean_difference == 1.0

    def test_means_of_three_readers_tie(self):
        # 13/3 - 10/3 and 11/3 - 8/3 are both 1, though not to the last digit
        a, b = [13 / 3, 11 / 3, 14 / 3, 2.0], [10 / 3, 8 / 3, 11 / 3, 3.0]
        assert pair(a, b).p == differing([1, 1, 1, -1]).p

    @pytest.mark.parametrize(
        ("a", "b", "why", "p"),
        [
            ([], [], NO_PAIRS, None),
            ([5, None], [None, 4], NO_PAIRS, None),
            ([4, 3, 2], [4, 3, 2], NO_DIFFERENCE, None),
            ([4] * 60, [4] * 60, NO_DIFFERENCE, None),
            ([4], [4], NO_DIFFERENCE, None),
            ([5], [4], ONE_PAIR, 1.0),
            ([5, 4, 3], [4, 3, 2], ALL_EQUAL_REASON, 0.25),
        ],
    )
    def test_what_is_undefined_says_why(self, a, b, why, p):
        test = pair(a, b)
        assert (test.why, test.p, test.p_adj) == (why, p, p)
        assert test.interval.low is None
        assert (test.effect is None) == (test.statistic is None) == (p is None)

    def test_a_dimension_scored_for_one_model_only(self):
        finals = made_finals(a={"process": [1, 2], "language": [5, 5]}, b={"process": [3, 4]})
        tests = {
            test.dimension: test for test in compare_all_models(finals.by_answer, ["a", "b"]).tests
        }
        assert list(tests) == list(TEXT_SCORES)
        assert tests["language"].why == NO_PAIRS
        assert tests["language"].left_out == 2
        assert tests["language"].p_adj is None
        assert tests["process"].p is not None

    def test_one_model_has_nothing_to_be_compared_with(self):
        compared = compare_all_models(made_finals(a={"process": [1, 2, 3]}).by_answer, ["a"])
        assert compared.tests == ()
        assert compared.friedman == ()


class TestScipyDefaults:
    @pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 14, 15, 30, 50, 51, 80])
    def test_every_way_to_p_is_scipy_s_own(self, n):
        random = np.random.default_rng(n)
        drawn = [
            random.integers(-2, 3, n).astype(float),  # ties and zeros
            random.choice([-2.0, -1.0, 1.0, 2.0], n),  # ties
            random.permutation(np.arange(1.0, n + 1)) * random.choice([-1, 1], n),  # neither
            np.append(np.arange(1.0, n), 0.0),  # one zero
        ]
        for differences, found in zip(drawn, run_signed_rank_tests(drawn), strict=True):
            if not differences.any():
                assert found is None
                continue
            reference = wilcoxon(differences)
            assert found.statistic == reference.statistic
            assert found.p == pytest.approx(reference.pvalue, rel=1e-12)

    def test_all_arrangements_of_thirteen_are_exact(self):
        # 13 equal differences, 11 up: two-sided binomial test, 2 * (1 + 13 + 78) / 2**13
        (found,) = run_signed_rank_tests([np.array([1.0] * 11 + [-1.0] * 2)])
        assert found.p == pytest.approx(2 * 92 / 2**13, rel=1e-12)
        assert found.method == EXACT_METHOD

    def test_many_pairs_in_parts_are_the_same(self, monkeypatch):
        random = np.random.default_rng(0)
        drawn = [random.integers(-3, 4, 60).astype(float) for _ in range(9)]
        whole = run_signed_rank_tests(drawn)
        monkeypatch.setattr("rexview.stats.paired_tests._AT_ONCE", 100)
        assert run_signed_rank_tests(drawn) == whole


class TestAdjusted:
    def test_all_pairs_and_text_scores_are_one_family(self):
        random = np.random.default_rng(5)
        models = {
            name: {d: random.integers(1, 6, 30).tolist() for d in TEXT_SCORES} for name in "abc"
        }
        tests = compare_all_models(made_finals(**models).by_answer, list("abc"), resamples=0).tests
        assert len(tests) == 3 * 5
        reference = benjamini_hochberg([test.p for test in tests])
        assert [test.p_adj for test in tests] == pytest.approx(reference, rel=1e-12)

    def test_by_hand_and_tests_without_p_do_not_count(self):
        # language: 5 of 5 up, p = 2/32; process: 3 of 3, p = 2/8; execution: 1 case, p = 1;
        # synthesis equal in all cases and content missing: no p. With m = 3:
        # 2/32 * 3/1 = 0.1875, 0.25 * 3/2 = 0.375, 1 * 3/3 = 1
        finals = made_finals(
            a={
                "language": [1, 2, 3, 4, 5],
                "process": [1, 2, 3],
                "execution": [1],
                "synthesis": [3, 3],
            },
            b={"language": [0] * 5, "process": [0] * 3, "execution": [0], "synthesis": [3, 3]},
        )
        found = {
            test.dimension: test.p_adj
            for test in compare_all_models(finals.by_answer, ["a", "b"]).tests
        }
        assert found == {
            "content": None,
            "language": pytest.approx(0.1875),
            "process": pytest.approx(0.375),
            "execution": 1.0,
            "synthesis": None,
        }

    def test_image_scores_are_a_family_of_their_own_and_pair_by_answer(self):
        shown = pictures(
            *((f"c{case}", "a", picture, score, 3.0) for case, score in ((0, 4.0), (1, 5.0))
              for picture in (0, 1)),
            ("c0", "a", 2, 1.0, 3.0),  # case 0: mean of 4, 4, 1 is 3
            ("c0", "b", 0, 2.0, 1.0),
            ("c1", "b", 0, 3.0, None),
        )  # fmt: skip
        scores = {"process": [1, 2, 3, 4, 5, 1, 2]}
        finals = made_finals(shown, a=scores, b={"process": [0] * 7}, c=scores)
        tests = compare_all_models(finals.by_answer, ["a", "b", "c"]).tests
        content, style = tests[-2:]
        assert [test.dimension for test in tests[-2:]] == ["image_content", "image_style"]
        assert (content.model_a, content.model_b, content.n_pairs) == ("a", "b", 2)
        assert content.mean_difference == pytest.approx((1 + 2) / 2)  # 3 - 2 and 5 - 3
        assert (content.p, style.p) == (0.5, 1.0)
        assert (content.p_adj, style.p_adj) == (1.0, 1.0)  # 0.5 * 2, not 0.5 * (2 + text tests)


class TestFriedman:
    def test_the_example_in_the_manual_of_scipy(self):
        random = np.random.default_rng(seed=18)
        scores = random.random((6, 10))
        models = {f"m{i}": {"language": row.tolist()} for i, row in enumerate(scores)}
        compared = compare_all_models(made_finals(**models).by_answer, list(models), resamples=0)
        (test,) = [test for test in compared.friedman if test.dimension == "language"]
        assert test.statistic == pytest.approx(11.428571428571416, rel=1e-12)
        assert test.p == pytest.approx(0.043514520866727614, rel=1e-12)
        assert (test.n, len(test.models), test.why) == (10, 6, None)

    def friedman(self, **models):
        finals = made_finals(**{name: {"process": of} for name, of in models.items()})
        tests = compare_all_models(finals.by_answer, list(models), resamples=0).friedman
        (found,) = [test for test in tests if test.dimension == "process"]
        return found

    def test_by_hand_over_cases_that_all_have(self):
        # ranks 1 2 3 three times and 2 1 3: sums 5, 7, 12;
        # 12 / (4*3*4) * (25 + 49 + 144) - 3*4*4 = 6.5; with 2 degrees of freedom p = exp(-6.5 / 2)
        test = self.friedman(
            a=[1, 1, 2, 3, 5], b=[2, 3, 3, 2, None], c=[3, 4, 5, 4, 1], absent=[None]
        )
        assert test.statistic == pytest.approx(6.5)
        assert test.p == pytest.approx(math.exp(-3.25))
        assert (test.models, test.n) == (("a", "b", "c"), 4)

    def test_what_is_undefined_says_why(self):
        assert self.friedman(a=[1, 2], b=[2, 1], c=[]).why == FEW_MODELS
        assert self.friedman(a=[1, None], b=[2, 1], c=[3, 1]).why == FEW_CASES
        assert self.friedman(a=[1, None], b=[None, 1], c=[3, 1]).n == 0
        tied = self.friedman(a=[1, 4], b=[1, 4], c=[1, 4])
        assert (tied.why, tied.statistic, tied.p) == (ALL_TIED, None, None)


def test_twenty_models_take_seconds_and_all_have_their_rows():
    random = np.random.default_rng(1)
    names = [f"m{number:02d}" for number in range(20)]
    models = {
        name: {d: (random.integers(2, 11, 40) / 2).tolist() for d in TEXT_SCORES} for name in names
    }
    finals = made_finals(**models)
    compared = {}

    def work(count):
        compared[count] = compare_all_models(finals.by_answer, names[:count])

    assert growth(work, 2, 10, 20) < 10, "four times as many pairs"
    compared = compared[20]
    assert len(compared.tests) == 190 * 5
    assert len(compared.friedman) == 5
    assert all(test.p_adj >= test.p and test.interval.why is None for test in compared.tests)
    assert all(abs(test.effect) <= 1 for test in compared.tests)


def test_the_order_of_models_turns_signs_and_nothing_else():
    random = np.random.default_rng(2)
    models = {name: {"process": random.integers(1, 6, 25).tolist()} for name in "ab"}
    finals = made_finals(**models)
    forth, back = (compare_all_models(finals.by_answer, order).tests[2] for order in ("ab", "ba"))
    assert (forth.p, forth.statistic, forth.n_zero) == (back.p, back.statistic, back.n_zero)
    assert forth.effect == pytest.approx(-back.effect)
    assert forth.mean_difference == pytest.approx(-back.mean_difference)
