"""Failure rates: against the textbook, against hand-worked tables, and what cannot be said."""

import numpy as np
import polars as pl
import pytest
from support.textbook import benjamini_hochberg, exact_mcnemar, wilson

from rexview.frames import CASES
from rexview.stats.failure_rates import (
    CLUSTERS,
    JUDGED_COLUMNS,
    NO_DISCORDANCE,
    NO_PAIRS,
    NOTHING_JUDGED,
    WILSON,
    WILSON_CLUSTERS,
    compare_failures,
    find_clusters,
    group_judged,
    measure_failure_rates,
    measure_rate,
    tally_model_pairs,
    tally_patients,
)


def cases(*rows):
    return pl.DataFrame([{"id": name, **about} for name, about in rows], schema=CASES)


def alone(n):
    return find_clusters(cases(*((f"c{number}", {}) for number in range(n))))


def judged(failure, model, flags):
    """One row for each flag that is not None, case by case."""
    rows = [(f"c{n}", model, failure, flag) for n, flag in enumerate(flags) if flag is not None]
    return pl.DataFrame(rows, schema=JUDGED_COLUMNS, orient="row")


def rate_of(flags, patients):
    given = tally_patients(np.array([*flags], dtype=np.bool_), np.array([*patients], dtype=int))
    return measure_rate(given)


def compared(table, clusters, models, failures):
    return compare_failures(tally_model_pairs(group_judged(table, clusters), models, failures))


@pytest.mark.parametrize(("k", "n"), [(0, 5), (3, 38), (5, 26), (26, 26), (1, 1)])
def test_wilson_is_that_of_the_textbook(k, n):
    found = rate_of([place < k for place in range(n)], range(n))
    low, high = wilson(k, n)
    assert found.method == WILSON
    assert (found.flagged, found.n, found.share) == (k, n, k / n)
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high))


def test_cases_of_one_patient_widen_the_interval():
    flags = [True] * 10 + [False] * 30
    one_each = rate_of(flags, range(40))
    shared = rate_of(flags, [place // 5 for place in range(40)])  # patients fail as a whole
    assert (one_each.method, shared.method) == (WILSON, CLUSTERS)
    assert shared.clusters == 8
    assert shared.share == one_each.share == 0.25
    wide, narrow = shared.interval, one_each.interval
    assert wide.high - wide.low > 1.3 * (narrow.high - narrow.low)


def test_the_cluster_bootstrap_is_that_of_single_patients_drawn_one_by_one():
    random = np.random.default_rng(3)
    clusters = np.repeat(np.arange(30), random.integers(1, 5, 30))
    flags = random.random(len(clusters)) < np.repeat(random.random(30), np.bincount(clusters))
    found = rate_of(flags, clusters)
    tops, bottoms = np.bincount(clusters, flags), np.bincount(clusters)
    drawn = random.integers(0, 30, (20_000, 30))
    shares = tops[drawn].sum(axis=1) / bottoms[drawn].sum(axis=1)
    low, high = np.quantile(shares, (0.025, 0.975))
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=0.03)


def test_no_failure_at_all_has_an_interval_by_patient():
    found = rate_of([False] * 20, [place // 2 for place in range(20)])
    low, high = wilson(0, 10)
    assert found.method == WILSON_CLUSTERS
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=1e-12)


def test_what_nothing_can_be_judged_by_has_no_rate():
    found = rate_of([], [])
    assert (found.share, found.interval.why) == (None, NOTHING_JUDGED)


def test_patients_come_before_studies_and_studies_before_cases():
    found = find_clusters(
        cases(
            ("a", {"patient_id": "p", "study_id": "s1"}),
            ("b", {"patient_id": "p", "study_id": "s2"}),
            ("c", {"study_id": "s1"}),
            ("d", {"study_id": "s1"}),
            ("p", {}),
        )
    )["cluster"].to_list()
    assert found[0] == found[1]
    assert found[2] == found[3]
    assert len(set(found)) == 3


def test_mcnemar_is_that_of_the_textbook_and_adjusted_over_all():
    random = np.random.default_rng(11)
    parts, raw = [], []
    for failure, share in (("laterality_error", 0.5), ("omission", 0.2), ("verbose", 0.35)):
        a, b = random.random(40) < share, random.random(40) < 0.2
        parts += [judged(failure, "a", a.tolist()), judged(failure, "b", b.tolist())]
        raw.append(exact_mcnemar(int((a & ~b).sum()), int((~a & b).sum())))
    failures = ["laterality_error", "omission", "verbose"]
    tests = compared(pl.concat(parts), alone(40), ["a", "b"], failures)
    assert [test.p for test in tests] == pytest.approx(raw)
    assert [test.p_adj for test in tests] == pytest.approx(benjamini_hochberg(raw))


def test_pairs_are_the_cases_in_which_both_can_be_judged():
    both = pl.concat(
        [
            judged("omission", "a", [True, True, False, True, None, True]),
            judged("omission", "b", [False, False, False, None, True, True]),
        ]
    )
    (test,) = compared(both, alone(6), ["a", "b"], ["omission"])
    assert (test.n_pairs, test.only_a, test.only_b, test.both, test.left_out) == (4, 2, 0, 1, 2)
    assert test.difference == 0.5
    assert test.p == 0.5  # two of two: 2 * 0.5 ** 2
    assert test.interval.low < 0.5 < test.interval.high


def test_what_cannot_be_tested_says_why():
    same = pl.concat([judged("omission", name, [True, False]) for name in "ab"])
    (test,) = compared(same, alone(2), ["a", "b"], ["omission"])
    assert (test.p, test.why, test.difference) == (None, NO_DISCORDANCE, 0.0)
    (apart,) = compared(same.filter(model="a"), alone(2), ["a", "b"], ["omission"])
    assert (apart.p, apart.why, apart.difference) == (None, NO_PAIRS, None)


def test_rates_stand_in_the_order_asked_for_also_the_empty_ones():
    parts = group_judged(judged("verbose", "a", [True, False]), alone(2))
    tallies = {about: tally_patients(part.flagged, part.patients) for about, part in parts.items()}
    rows = measure_failure_rates(tallies, ["b", "a"], ["omission", "verbose"])
    assert [(row.failure, row.model, row.rate.flagged, row.rate.n) for row in rows] == [
        ("omission", "b", 0, 0),
        ("omission", "a", 0, 0),
        ("verbose", "b", 0, 0),
        ("verbose", "a", 1, 2),
    ]
