"""How severe the failure of an answer is: clinical harm first. A number to sort by, never shown.

The harm of a failure, 0 to 4, stands in a table (:mod:`rexview.harm`): that of the finding which
the failure is about where a detector found one, else that of the failure as such. The **harm of an
answer is that of its worst failure**: the largest, not the sum, so that five faults of style never
stand above one pneumothorax on the wrong side. Failures that a reader confirmed and flags of
detectors that stand count alike. Hints come below them: answers with no failure that harms stand in
the order of the harm that is only suggested.

Answers with the same harm stand in this order:

1. where no failure harms: the more harm a hint suggests the earlier;
2. those whose worst failure a reader confirmed, before those where only a detector says so;
3. the lower Content first (an answer that did not come in full counts as 1, an unscored one as 5);
4. those with a hint, the more harm it would do the earlier;
5. the order of the file.

A case stands by its worst answer among those the filter is about.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.analysis.memory.coded_column import Codes, Mask
from rexview.analysis.memory.score_index import ScoreIndex
from rexview.detect import Survey
from rexview.harm import NO_ANSWER_CAME, HarmTable, severity_of
from rexview.vocab import FAILURES

HARM_COLUMNS: Final = pl.Schema(
    {
        "harm": pl.UInt8(),  # of the worst failure, 0 to 4; 0 without any
        "harm_failure": pl.Enum([*FAILURES, NO_ANSWER_CAME]),  # that failure; null without any
        "harm_finding": pl.Categorical(),  # the finding that it is about, null when not known
        "harm_confirmed": pl.Boolean(),  # a reader says so
        "harm_hinted": pl.UInt8(),  # of the worst hint, at least 1 where there is one
        "hinted_failure": pl.Enum(list(FAILURES)),  # that hint's; null without any
        "hinted_finding": pl.Categorical(),
    }
)
_BEST: Final = 5.0
_FAILURE: Final = pl.Enum(list(FAILURES))


def flagged_findings(survey: Survey) -> pl.DataFrame:
    """Return what stands of each failure of each answer: who says so, and about which finding.

    Returns
    -------
    polars.DataFrame
        ``row`` (the answer's number), ``failure`` (Enum), ``finding`` (null when not known),
        ``detected`` (Boolean: by a detector), ``reader_flagged`` (Boolean: by a reader), ``hint``
        (neither). One row for each finding of a failure; those that only a hint names are left out
        where a flag names others.
    """
    flags = _keyed(survey.flags.filter("stands"))
    by_detector = (pl.col("source") == "detector") & ~pl.col("hint")
    flagged = flags.group_by("_key", maintain_order=True).agg(
        by_detector.any().alias("detected"),
        (pl.col("source") == "reader").any().alias("reader_flagged"),
    )
    findings = _keyed(survey.findings).select("_key", "finding", "hint")
    firm = findings.filter(~pl.col("hint"))
    hinted = findings.filter("hint").join(firm, on="_key", how="anti")
    about = pl.concat([firm, hinted]).select("_key", "finding").unique()
    about = about.sort("_key", pl.col("finding").cast(pl.String))
    return flagged.join(about, on="_key", how="left", maintain_order="left").select(
        (pl.col("_key") // len(FAILURES)).cast(pl.UInt32).alias("row"),
        (pl.col("_key") % len(FAILURES))
        .replace_strict(dict(enumerate(FAILURES)), return_dtype=_FAILURE)
        .alias("failure"),
        "finding",
        "detected",
        "reader_flagged",
        (~(pl.col("detected") | pl.col("reader_flagged"))).alias("hint"),
    )


def _keyed(named: pl.DataFrame) -> pl.DataFrame:
    """Add one number for answer and failure."""
    failure = pl.col("failure").to_physical().cast(pl.Int64)
    return named.with_columns(_key=pl.col("answer").cast(pl.Int64) * len(FAILURES) + failure)


def harm_of_answers(found: pl.DataFrame, table: HarmTable, lost: Codes) -> pl.DataFrame:
    """Work out the worst failure of each answer that has any: ``row``, :data:`HARM_COLUMNS`.

    ``found`` is as :func:`flagged_findings` gives it. ``lost`` are the rows of answers that never
    came: each does at least the harm that the table says for that. By ``row``, ascending.
    """
    kinds = found.select("failure", "finding").unique()
    levels = [table.of(failure, finding) for failure, finding in kinds.iter_rows()]
    kinds = kinds.with_columns(pl.Series("harm", levels, dtype=pl.UInt8))
    rated = found.join(
        kinds, on=["failure", "finding"], how="left", nulls_equal=True, maintain_order="left"
    )
    place = pl.col("failure").to_physical().cast(pl.Int64)
    # the most harm first, then what a reader confirmed, then the order of failures
    rank = (2 * pl.col("harm").cast(pl.Int64) + pl.col("reader_flagged")) * len(FAILURES) - place
    worst = (
        rated.filter(~pl.col("hint"))
        .sort(rank, descending=True, maintain_order=True)
        .unique("row", keep="first", maintain_order=True)
        .select(
            "row",
            "harm",
            harm_failure=pl.col("failure").cast(HARM_COLUMNS["harm_failure"]),
            harm_finding="finding",
            harm_confirmed="reader_flagged",
        )
    )
    hinted = (
        rated.filter("hint")
        .sort(rank, descending=True, maintain_order=True)
        .unique("row", keep="first", maintain_order=True)
        .select(
            "row",
            harm_hinted=pl.col("harm").clip(lower_bound=1),
            hinted_failure="failure",
            hinted_finding="finding",
        )
    )
    never_came = pl.DataFrame({"row": lost.astype(np.uint32), "lost": np.ones(len(lost), np.bool_)})
    joined = worst.join(hinted, on="row", how="full", coalesce=True)
    joined = joined.join(never_came, on="row", how="full", coalesce=True)
    least = table.failures[NO_ANSWER_CAME].harm
    only_lost = pl.col("lost").fill_null(False) & (pl.col("harm").fill_null(0) < least)
    return joined.sort("row").select(
        "row",
        harm=pl.when(only_lost).then(least).otherwise(pl.col("harm").fill_null(0)).cast(pl.UInt8),
        harm_failure=pl.when(only_lost)
        .then(pl.lit(NO_ANSWER_CAME, dtype=HARM_COLUMNS["harm_failure"]))
        .otherwise("harm_failure"),
        harm_finding=pl.when(~only_lost).then("harm_finding"),
        harm_confirmed=~only_lost & pl.col("harm_confirmed").fill_null(False),
        harm_hinted=pl.col("harm_hinted").fill_null(0).cast(pl.UInt8),
        hinted_failure="hinted_failure",
        hinted_finding="hinted_finding",
    )


@dataclass(frozen=True, eq=False)
class Severity:
    """How severe the failure of each row is: ``ranks`` are places in ``values``, which ascend."""

    ranks: Codes
    values: npt.NDArray[np.float64]


def severity(harm: pl.DataFrame, lost: Mask, scores: ScoreIndex) -> Severity:
    """Put the rows of an answer table in order.

    ``harm`` is as :func:`harm_of_answers` gives it, ``lost`` says which are no full answer.
    """
    severe = np.zeros(len(lost), dtype=np.float32)
    by_harm, by_reader, by_hint = (
        harm[name].cast(pl.Float32).to_numpy() for name in ("harm", "harm_confirmed", "harm_hinted")
    )
    severe[harm["row"].to_numpy()] = severity_of(by_harm, by_reader, by_hint)
    severe[lost] += _BEST - 1
    content, came = scores.number("content"), ~lost[scores.scored]
    severe[scores.scored[came]] += np.nan_to_num(_BEST - content[came])
    some = np.flatnonzero(severe)
    values, places = np.unique(severe[some], return_inverse=True)
    ranks = np.zeros(len(severe), dtype=np.min_scalar_type(len(values)))
    ranks[some] = places + 1
    return Severity(ranks, np.concatenate([[0.0], values]))
