"""Agreement of a model's scores of candidate questions with people's, by criterion.

A pair is one question that both scored. Kappa is Cohen's with quadratic weights over 1 to 5, as
between readers (:mod:`.reader_agreement`). Scores that a person gave while seeing a model's
scores are left out. The questions of one study are similar, so studies are resampled for intervals
(:mod:`rexview.stats.bootstrap`), each with all its pairs. With several people, the table of all
together has the pairs of each, so that a question that two people scored counts twice there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from rexview.schema import ReviewSet
from rexview.stats.bootstrap import (
    RESAMPLES,
    Counts,
    Floats,
    Interval,
    Statistic,
    bootstrap_interval,
)
from rexview.stats.reader_agreement import SCORE_LEVELS, measure_table_agreement, quadratic_kappa
from rexview.vocab import CRITERIA, SCORE_MIN

_K: Final = len(SCORE_LEVELS)
_APART: Final = np.abs(np.subtract.outer(SCORE_LEVELS, SCORE_LEVELS)).ravel()
_QUESTION: Final = ("case", "candidate")


@dataclass(frozen=True, eq=False)
class CriterionAgreement:
    """The agreement of a model and a person, or all people (None), on one criterion.

    There are ``n`` pairs from ``studies`` studies. ``qwk`` and ``mad`` (mean absolute difference,
    points) have intervals by study; ``difference`` is the model's mean minus people's. ``table``
    has shape (5, 5): pairs by the model's score (rows, 1 to 5) and the person's (columns). ``why``
    is the reason for missing numbers.
    """

    criterion: str
    model: str
    person: str | None
    n: int
    studies: int
    qwk: float | None
    qwk_interval: Interval
    mad: float | None
    mad_interval: Interval
    exact: float | None
    within_one: float | None
    difference: float | None
    table: Counts
    why: str | None


def compare_set_criteria(
    review_set: ReviewSet, *, resamples: int = RESAMPLES
) -> tuple[CriterionAgreement, ...]:
    """Compare all models and people of a set: see :func:`compare_criteria`."""
    ratings = review_set.candidate_ratings
    of_patient = pl.concat_str("patient_id", "study_id", separator="\n", ignore_nulls=True)
    is_named = pl.col("study_id").is_not_null()
    study = pl.when(is_named).then(of_patient).otherwise("id")  # study ids repeat across patients
    cases = review_set.cases.select(case="id", study=study)
    studies = cases.join(ratings.select("case").unique(), on="case", how="semi")
    return compare_criteria(ratings, studies, resamples=resamples)


def compare_criteria(
    ratings: pl.DataFrame, studies: pl.DataFrame, *, resamples: int = RESAMPLES
) -> tuple[CriterionAgreement, ...]:
    """Compare every model with every person who scored any of the same questions.

    Parameters
    ----------
    ratings : polars.DataFrame
        Columns :data:`rexview.frames.CANDIDATE_RATINGS`.
    studies : polars.DataFrame
        ``case`` and ``study``, the unit of resampling. Missing cases are units of their own.

    Returns
    -------
    tuple of CriterionAgreement
        By model, then by person in order of appearance; with several people, all together come
        last. Each has all criteria.
    """
    known = ratings.filter(~pl.col("after_model").fill_null(False))
    known = known.select(*_QUESTION, "source", "by", *CRITERIA).join(
        studies.unique("case"), on="case", how="left", maintain_order="left"
    )
    known = known.with_columns(pl.coalesce("study", "case").alias("study"))
    found: list[CriterionAgreement] = []
    given_by = known.filter(pl.col("source") == "reader")
    for model, of_model in _parts(known.filter(pl.col("source") == "model")):
        pairs = of_model.join(given_by, on=_QUESTION, suffix="_person", maintain_order="left_right")
        people: list[tuple[str | None, pl.DataFrame]] = [*_parts(pairs, "by_person")]
        if len(people) > 1:
            people.append((None, pairs))
        found += [
            _agreement(criterion, model, person, part, resamples)
            for person, part in people
            for criterion in CRITERIA
        ]
    return tuple(found)


def _parts(rows: pl.DataFrame, name: str = "by") -> Iterator[tuple[str, pl.DataFrame]]:
    for (by,), part in rows.partition_by(name, as_dict=True, maintain_order=True).items():
        yield str(by), part


def _agreement(
    criterion: str, model: str, person: str | None, pairs: pl.DataFrame, resamples: int
) -> CriterionAgreement:
    both = pairs.select("study", a=criterion, b=f"{criterion}_person").drop_nulls()
    cells = (both["a"].cast(pl.Int64) - SCORE_MIN) * _K + (both["b"].cast(pl.Int64) - SCORE_MIN)
    study = both["study"].rank("dense").cast(pl.Int64).to_numpy() - 1
    tables = np.zeros((int(study.max(initial=-1)) + 1, _K * _K), dtype=np.int64)
    np.add.at(tables, (study, cells.to_numpy()), 1)
    kinds, counts = np.unique(tables, axis=0, return_counts=True)
    whole = tables.sum(axis=0).reshape(_K, _K)
    plain = measure_table_agreement(criterion, model, person or "", whole, resamples=0)

    def by_study(number: float | None, statistic: Statistic) -> Interval:
        if number is None:
            return Interval(None, None, plain.why)
        return bootstrap_interval(
            counts, lambda drawn: statistic(drawn @ kinds), resamples=resamples
        )

    return CriterionAgreement(
        criterion=criterion,
        model=model,
        person=person,
        n=plain.n,
        studies=len(tables),
        qwk=plain.qwk,
        qwk_interval=by_study(plain.qwk, quadratic_kappa),
        mad=plain.mad,
        mad_interval=by_study(plain.mad, _mads),
        exact=plain.exact,
        within_one=plain.within_one,
        difference=plain.difference,
        table=plain.table,
        why=plain.why,
    )


def _mads(tables: Counts) -> Floats:
    """Return the mean absolute difference of many tables, shape (m, 25)."""
    means: Floats = tables @ _APART / tables.sum(axis=1)
    return means
