"""Agreement of readers: tables worked by hand, and the libraries' own numbers on random ones."""

from __future__ import annotations

import math
from typing import Any

import krippendorff
import numpy as np
import polars as pl
import pytest
from scipy.stats import bootstrap
from support import textbook

from rexview.stats.reader_agreement import (
    Alpha,
    PairAgreement,
    count_pair_tables,
    count_score_patterns,
    measure_alphas,
    measure_pair_agreements,
    measure_table_agreement,
    ordinal_alpha,
    quadratic_kappa,
)
from rexview.stats.score_finals import SINGLE_SCORE_COLUMNS


def marks_of(*rows: tuple[Any, ...], dimension: str = "process") -> pl.DataFrame:
    """Marks from (case, reader, score) or (case, image, reader, score)."""
    given = []
    for row in rows:
        case, *image, reader, score = row
        place = image[0] if image else None
        given.append((case, "m", place, dimension, reader, score, None, None))
    return pl.DataFrame(given, schema=SINGLE_SCORE_COLUMNS, orient="row")


def both(*pairs: tuple[int, int], dimension: str = "process") -> pl.DataFrame:
    rows = [
        (f"c{place}", reader, score)
        for place, pair in enumerate(pairs)
        for reader, score in zip("ab", pair, strict=True)
    ]
    return marks_of(*rows, dimension=dimension)


def agreements(marks: pl.DataFrame, readers: list[str], **more: Any) -> tuple[PairAgreement, ...]:
    return measure_pair_agreements(count_pair_tables(marks, readers), readers, **more)


def alphas_of(marks: pl.DataFrame, **more: Any) -> tuple[Alpha, ...]:
    return measure_alphas(count_score_patterns(marks, **more))


def only(found: tuple[PairAgreement, ...], dimension: str = "process") -> PairAgreement:
    (one,) = [row for row in found if row.dimension == dimension]
    return one


class TestByHand:
    """Four answers scored (1,1), (2,3), (3,3), (5,4) by a and b."""

    found = only(agreements(both((1, 1), (2, 3), (3, 3), (5, 4)), ["a", "b"]))

    def test_kappa(self) -> None:
        # Squares of the differences: 0 + 1 + 0 + 1 = 2 over 4 answers: 1/2 observed.
        # By chance every score of a (1, 2, 3, 5) meets every score of b (1, 3, 3, 4):
        # 1: 0+4+4+9 = 17; 2: 1+1+1+4 = 7; 3: 4+0+0+1 = 5; 5: 16+4+4+1 = 25: 54 over 16.
        # kappa = 1 - (1/2) / (54/16) = 1 - 8/54.
        assert self.found.qwk == pytest.approx(1 - 8 / 54)

    def test_differences(self) -> None:
        assert self.found.n == 4
        assert self.found.mad == 0.5
        assert self.found.exact == 0.5
        assert self.found.within_one == 1.0
        assert self.found.difference == 0.0  # 11 points each

    def test_means_and_sample_deviations(self) -> None:
        # a: 11/4 = 2.75; squares 1.75² + 0.75² + 0.25² + 2.25² = 8.75, over n - 1 = 3.
        # b: 11/4 = 2.75; squares 1.75² + 0.25² + 0.25² + 1.25² = 4.75, over 3.
        assert (self.found.mean_a, self.found.mean_b) == (2.75, 2.75)
        assert self.found.sd_a == pytest.approx(math.sqrt(8.75 / 3))
        assert self.found.sd_b == pytest.approx(math.sqrt(4.75 / 3))

    def test_table_has_a_in_rows(self) -> None:
        cells = {(1, 1): 1, (2, 3): 1, (3, 3): 1, (5, 4): 1}
        expected = [[cells.get((row, column), 0) for column in range(1, 6)] for row in range(1, 6)]
        assert self.found.table.tolist() == expected

    def test_who_is_stricter_follows_the_order_of_the_readers(self) -> None:
        marks = both((1, 2), (2, 4), (3, 3))
        assert only(agreements(marks, ["a", "b"])).difference == -1.0
        turned = only(agreements(marks, ["b", "a"]))
        assert turned.difference == 1.0
        assert (turned.reader_a, turned.mean_a) == ("b", 3.0)

    def test_sixteen_of_twenty_alike(self) -> None:
        # 8 answers (5,5), 8 (4,4), 4 (5,4): observed 4/20 = 0.2.
        # a gave 5 in 12 and 4 in 8; b gave 5 in 8 and 4 in 12: by chance they differ by one in
        # (12*12 + 8*8) / 400 = 0.52. kappa = 1 - 0.2 / 0.52.
        table = np.zeros((5, 5), dtype=np.int64)
        table[4, 4], table[3, 3], table[4, 3] = 8, 8, 4
        found = measure_table_agreement("process", "a", "b", table)
        assert found.qwk == pytest.approx(1 - 0.2 / 0.52)
        assert (found.exact, found.within_one, found.mad) == (0.8, 1.0, 0.2)


def test_kappa_of_random_tables_is_that_of_two_libraries() -> None:
    from sklearn.metrics import cohen_kappa_score

    random = np.random.default_rng(3)
    rows, columns = np.repeat(range(1, 6), 5), np.tile(range(1, 6), 5)
    compared = 0
    for n in (2, 3, 5, 20, 400):
        for _ in range(25):
            counts = random.multinomial(n, random.dirichlet(np.full(25, 0.3)))
            ours = float(quadratic_kappa(counts)[0])
            a, b = np.repeat(rows, counts), np.repeat(columns, counts)
            if len(set(a) | set(b)) == 1:
                assert math.isnan(ours)
                continue
            theirs = cohen_kappa_score(a, b, labels=range(1, 6), weights="quadratic")
            others = textbook.quadratic_kappa(counts.reshape(5, 5))
            assert ours == pytest.approx(theirs, abs=1e-12)
            assert ours == pytest.approx(others, abs=1e-12)
            point = measure_table_agreement("process", "a", "b", counts.reshape(5, 5), resamples=0)
            if len(set(a)) == 1 or len(set(b)) == 1:  # the libraries say 0, whatever the other does
                assert (point.qwk, theirs) == (None, pytest.approx(0, abs=1e-12))
                continue
            assert point.qwk == pytest.approx(theirs, abs=1e-12)
            compared += 1
    assert compared > 80


def test_unused_levels_do_not_change_the_weights() -> None:
    # Only 1 and 5 are used, 8 times alike and 2 times apart: weights 0 and 16 cancel out, so this
    # is the unweighted kappa of a 2 by 2 table: observed 0.2 apart, by chance 0.5.
    from sklearn.metrics import cohen_kappa_score

    found = only(agreements(both(*[(1, 1)] * 4, *[(5, 5)] * 4, (1, 5), (5, 1)), ["a", "b"]))
    assert found.qwk == pytest.approx(1 - 0.2 / 0.5)
    # 1 and 2 against 1 and 5: the scale is not squeezed together to three neighbours.
    wide = measure_table_agreement(
        "process", "a", "b", np.diag([1, 1, 0, 0, 1]) + np.eye(5, k=3, dtype=int)
    )
    squeezed = cohen_kappa_score([1, 2, 5, 1, 2], [1, 2, 5, 4, 5], weights="quadratic")
    fixed = cohen_kappa_score(
        [1, 2, 5, 1, 2], [1, 2, 5, 4, 5], labels=range(1, 6), weights="quadratic"
    )
    assert wide.qwk == pytest.approx(fixed)
    assert fixed != pytest.approx(squeezed)


def test_interval_of_kappa_is_that_of_a_plain_bootstrap() -> None:
    random = np.random.default_rng(7)
    a = random.integers(1, 6, 60)
    b = np.clip(a + random.integers(-1, 2, 60), 1, 5)
    table = np.bincount((a - 1) * 5 + b - 1, minlength=25).reshape(5, 5)
    found = measure_table_agreement("process", "a", "b", table)

    def kappa(first: Any, second: Any, axis: int = -1) -> Any:
        cells = (first - 1) * 5 + second - 1
        flat = np.atleast_2d(np.moveaxis(cells, axis, -1))
        counts = np.stack([np.bincount(row, minlength=25) for row in flat])
        return quadratic_kappa(counts).reshape(np.moveaxis(cells, axis, -1).shape[:-1])

    plain = bootstrap(
        (a, b), kappa, paired=True, vectorized=True, n_resamples=9999, rng=np.random.default_rng(1)
    ).confidence_interval
    assert found.qwk_interval.low == pytest.approx(plain.low, abs=0.012)
    assert found.qwk_interval.high == pytest.approx(plain.high, abs=0.012)
    assert found.mad_interval.low < found.mad < found.mad_interval.high
    assert found.difference_interval.low < found.difference < found.difference_interval.high


class TestUndefined:
    def test_all_scores_alike(self) -> None:
        found = only(agreements(both((4, 4), (4, 4), (4, 4)), ["a", "b"]))
        assert found.qwk is None
        assert found.why == "Both readers gave all 3 answers the score 4: kappa is undefined."
        assert found.qwk_interval.why == found.why
        assert (found.mad, found.exact, found.sd_a, found.sd_b) == (0.0, 1.0, 0.0, 0.0)
        assert found.mad_interval.low is None
        assert found.mad_interval.why

    def test_one_answer(self) -> None:
        found = only(agreements(both((3, 3)), ["a", "b"]))
        assert found.qwk is None
        assert found.sd_a is None
        assert found.why == (
            "Both readers gave the one answer the score 3: kappa is undefined. "
            "One answer: there is no standard deviation."
        )

    def test_each_reader_keeps_to_a_score_of_their_own(self) -> None:
        # Chance differs as much as the readers do: 1 - 1/1 = 0, however close they are.
        found = only(agreements(both((4, 5), (4, 5), (4, 5)), ["a", "b"]))
        assert found.qwk is None
        assert found.qwk_interval.low is None
        assert found.why == (
            "Each reader gave all 3 answers one score: without variance kappa is undefined."
        )

    def test_one_reader_never_varies(self) -> None:
        found = only(agreements(both((4, 5), (4, 4), (4, 3)), ["a", "b"]))
        assert found.qwk is None
        assert found.why == (
            "A reader gave all 3 answers the score 4: without variance kappa is undefined."
        )
        assert found.mad == pytest.approx(2 / 3)

    def test_no_shared_answer_on_a_dimension(self) -> None:
        found = agreements(both((4, 5)), ["a", "b"])
        language = only(found, "language")
        assert language.n == 0
        assert language.why == "No answer was scored by both readers."
        assert {language.qwk, language.mad, language.mean_a, language.sd_a} == {None}
        assert [row.dimension for row in found] == [
            "process",
            "execution",
            "synthesis",
            "language",
        ]

    def test_readers_who_share_nothing_are_no_pair(self) -> None:
        assert agreements(marks_of(("c1", "a", 3), ("c2", "b", 3)), ["a", "b"]) == ()
        assert agreements(marks_of(), ["a", "b"]) == ()
        assert agreements(marks_of(("c1", "a", 3)), ["a"]) == ()


def test_an_answer_with_three_readers_counts_in_three_pairs() -> None:
    marks = marks_of(("c1", "a", 3), ("c1", "b", 4), ("c1", "z", 5), ("c2", "a", 1), ("c2", "b", 1))
    found = agreements(marks, ["z", "a", "b"], dimensions=["process"])
    assert [(row.reader_a, row.reader_b, row.n) for row in found] == [
        ("z", "a", 1),
        ("z", "b", 1),
        ("a", "b", 2),
    ]


def test_pictures_are_compared_one_by_one() -> None:
    marks = marks_of(
        *(("c1", 0, "a", 5), ("c1", 0, "b", 5), ("c1", 1, "a", 1), ("c1", 1, "b", 3)),
        *(("c1", 2, "a", 2), ("c2", None, "a", 4), ("c2", None, "b", 4)),
        dimension="image_content",
    )
    found = only(agreements(marks, ["a", "b"]), "image_content")
    assert found.n == 3  # both pictures of c1 that b scored, and the unnumbered one of c2
    assert found.mad == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("table", "lowered"),
    [
        ({(5, 5): 30, (5, 4): 8, (4, 5): 8, (4, 4): 2}, True),  # SD 0.4, all within one point
        ({(1, 1): 10, (5, 5): 10, (3, 3): 10}, False),  # kappa 1
        ({(1, 5): 10, (5, 1): 10, (3, 3): 10}, False),  # far apart: kappa is rightly low
        ({(5, 5): 20}, False),  # undefined
    ],
)
def test_low_variance_is_told_where_it_lowers_kappa(
    table: dict[tuple[int, int], int], lowered: bool
) -> None:
    counts = np.zeros((5, 5), dtype=np.int64)
    for (row, column), n in table.items():
        counts[row - 1, column - 1] = n
    found = measure_table_agreement("process", "a", "b", counts, resamples=0)
    assert found.lowered_by_variance is lowered


class TestAlpha:
    # The example of the krippendorff package: four readers, twelve units, ordinal alpha 0.815.
    NONE = None
    DATA = (
        (1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE),
        (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3),
        (NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE),
        (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE),
    )

    def marks(self) -> pl.DataFrame:
        return marks_of(
            *(
                (f"c{unit:02d}", f"r{reader}", score)
                for reader, row in enumerate(self.DATA)
                for unit, score in enumerate(row)
                if score is not None
            )
        )

    def test_the_packages_example(self) -> None:
        (found,) = alphas_of(self.marks(), dimensions=["process"])
        assert found.alpha == pytest.approx(0.815, abs=5e-4)
        assert (found.n_units, found.n_readers) == (11, 4)  # the last unit has one reader
        assert found.interval.low < found.alpha < found.interval.high

    def test_many_at_once_are_those_of_the_package(self) -> None:
        random = np.random.default_rng(5)
        for _ in range(30):
            patterns = random.multinomial(4, random.dirichlet(np.ones(5)), size=12)
            patterns[0] = [0, 1, 0, 2, 0]
            counts = random.integers(1, 5, size=(3, 12))
            ours = ordinal_alpha(counts, patterns)
            theirs = [
                krippendorff.alpha(
                    value_counts=np.repeat(patterns, row, axis=0),
                    value_domain=range(1, 6),
                    level_of_measurement="ordinal",
                )
                for row in counts
            ]
            assert ours == pytest.approx(theirs, abs=1e-12)

    def test_the_order_of_the_scores_changes_no_digit(self) -> None:
        marks = self.marks()
        found = {
            alphas_of(marks.sample(fraction=1, shuffle=True, seed=n))[0].alpha for n in range(9)
        }
        assert len(found) == 1

    def test_two_readers_have_kappa_instead(self) -> None:
        assert alphas_of(both((1, 2), (3, 3))) == ()
        assert alphas_of(marks_of()) == ()

    def test_all_alike_is_undefined(self) -> None:
        marks = marks_of(*((case, reader, 4) for case in "xyz" for reader in "abc"))
        found = {row.dimension: row for row in alphas_of(marks)}
        assert found["process"].alpha is None
        assert found["process"].why == "Every score given is 4: alpha is undefined."
        assert found["language"].why == "No answer was scored by two readers."
        assert "image_style" not in found

    def test_three_readers_of_whom_no_two_share_anything(self) -> None:
        (found,) = alphas_of(
            marks_of(("x", "a", 1), ("y", "b", 2), ("z", "c", 3)), dimensions=["process"]
        )
        assert (found.n_units, found.alpha) == (0, None)
        assert found.why
