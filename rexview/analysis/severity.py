"""How severe the failure of an answer is: clinical harm first. A number to sort by, never shown.

The harm of a failure, 0 to 4, stands in a table (:mod:`rexview.harm`): that of the finding which
the failure is about where a detector found one, else that of the failure as such. The **harm of an
answer is that of its worst failure**: the largest, not the sum, so that five faults of style never
stand above one pneumothorax on the wrong side. Failures that a reader confirmed and flags of
detectors that stand count alike; hints do not count, since nobody said that there is a failure.

Answers with the same harm stand in this order:

1. those whose worst failure a reader confirmed, before those where only a detector says so;
2. the lower Content first (an answer that never came counts as 1, an unscored one as 5);
3. those with a hint, the more harm it would do the earlier;
4. the order of the file.

A case stands by its worst answer among those the filter is about.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from rexview.detect import Survey
from rexview.harm import NO_ANSWER_CAME, HarmTable
from rexview.stats import NO_ANSWER
from rexview.vocab import FAILURES

HARM_COLUMNS: Final = pl.Schema(
    {
        "harm": pl.UInt8(),  # of the worst failure, 0 to 4; 0 without any
        "harm_failure": pl.String(),  # that failure, or no_answer; null without any
        "harm_finding": pl.String(),  # the finding that it is about, null when not known
        "harm_confirmed": pl.Boolean(),  # a reader says so
        "harm_hinted": pl.UInt8(),  # of the worst hint, at least 1 where there is one
    }
)
_KEY: Final = ("case", "model", "failure")
_ANSWER: Final = ("case", "model")
_BEST: Final = 5.0
_BY_HARM, _BY_READER, _BY_HINT = 100.0, 10.0, 0.001
"""Far enough apart that no number of a later step outweighs one of an earlier."""


def flagged_findings(survey: Survey) -> pl.DataFrame:
    """Return what stands of each failure of each answer: who says so, and about which finding.

    Returns
    -------
    polars.DataFrame
        ``case``, ``model``, ``failure``, ``finding`` (null when not known), ``detected``,
        ``marked`` (Boolean: a detector's flag, a reader), ``hint`` (neither). One row for each
        finding of a failure; those that only a hint names are left out where a flag names others.
    """
    stands = survey.flags.filter("stands")
    by_detector = (pl.col("source") == "detector") & ~pl.col("hint")
    said = stands.group_by(_KEY, maintain_order=True).agg(
        by_detector.any().alias("detected"), (pl.col("source") == "reader").any().alias("marked")
    )
    hinted = survey.findings.with_columns(firm=(~pl.col("hint")).any().over(_KEY))
    firm = hinted.filter(~pl.col("hint") | ~pl.col("firm")).select(*_KEY, "finding")
    return said.join(firm.unique(), on=_KEY, how="left", maintain_order="left").with_columns(
        hint=~(pl.col("detected") | pl.col("marked"))
    )


def harm_of_answers(survey: Survey, table: HarmTable) -> pl.DataFrame:
    """Work out the worst failure of each answer that has any, from the failures that stand.

    Returns
    -------
    polars.DataFrame
        ``case``, ``model`` and the columns :data:`HARM_COLUMNS`.
    """
    found = flagged_findings(survey)
    kinds = found.select("failure", "finding").unique()
    levels = [table.of(failure, finding) for failure, finding in kinds.iter_rows()]
    kinds = kinds.with_columns(pl.Series("harm", levels, dtype=pl.UInt8))
    order = {failure: place for place, failure in enumerate(FAILURES)}
    rated = (
        found.join(kinds, on=["failure", "finding"], how="left", nulls_equal=True)
        .with_columns(_place=pl.col("failure").replace_strict(order, return_dtype=pl.Int64))
        .sort("harm", "marked", "_place", "finding", descending=[True, True, False, False])
    )
    worst = (
        rated.filter(~pl.col("hint"))
        .unique(_ANSWER, keep="first", maintain_order=True)
        .select(
            *_ANSWER,
            "harm",
            harm_failure="failure",
            harm_finding="finding",
            harm_confirmed="marked",
        )
    )
    hinted = (
        rated.filter("hint")
        .group_by(_ANSWER)
        .agg(pl.col("harm").max().clip(lower_bound=1).alias("harm_hinted"))
    )
    joined = worst.join(hinted, on=_ANSWER, how="full", coalesce=True)
    return joined.select(
        *_ANSWER, *(pl.col(name).cast(kind) for name, kind in HARM_COLUMNS.items())
    )


def with_harm(rows: pl.DataFrame, harm: pl.DataFrame, table: HarmTable) -> pl.DataFrame:
    """Add the columns :data:`HARM_COLUMNS` to rows with ``case``, ``model`` (Enum), ``status``.

    An answer that never came does at least the harm that the table says for that.
    """
    key = ["case", "_model"]
    joined = rows.with_columns(_model=pl.col("model").cast(pl.String)).join(
        harm.rename({"model": "_model"}), on=key, how="left", maintain_order="left"
    )
    lost = table.failures[NO_ANSWER_CAME].harm
    only_lost = pl.col("status").is_in(list(NO_ANSWER)) & (pl.col("harm").fill_null(0) < lost)
    return joined.drop("_model").with_columns(
        harm=pl.when(only_lost).then(lost).otherwise(pl.col("harm").fill_null(0)).cast(pl.UInt8),
        harm_failure=pl.when(only_lost).then(pl.lit(NO_ANSWER_CAME)).otherwise("harm_failure"),
        harm_finding=pl.when(~only_lost).then("harm_finding"),
        harm_confirmed=~only_lost & pl.col("harm_confirmed").fill_null(False),
        harm_hinted=pl.col("harm_hinted").fill_null(0),
    )


def severity(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the column ``severity`` (Float64, 0 or more) to the rows of an answer table.

    Parameters
    ----------
    rows : polars.DataFrame
        With ``status``, ``content`` and the columns of :func:`with_harm`.
    """
    never_came = pl.col("status").is_in(list(NO_ANSWER))
    lost = pl.when(never_came).then(_BEST - 1).otherwise(_BEST - pl.col("content")).fill_null(0.0)
    return rows.with_columns(
        severity=_BY_HARM * pl.col("harm").cast(pl.Float64)
        + _BY_READER * pl.col("harm_confirmed").cast(pl.Float64)
        + lost
        + _BY_HINT * pl.col("harm_hinted").cast(pl.Float64)
    )
