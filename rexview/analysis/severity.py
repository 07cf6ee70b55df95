"""How severe the failure of an answer is: a number to sort by, never shown as a score.

The severity of an answer is the sum of

- how far Content lies below 5 (0 to 4; an answer that never came counts as 4, one that was not
  scored adds nothing), and
- the weight of each of its failures (:data:`WEIGHTS`), in full when a reader marked it, by
  :data:`UNCONFIRMED` when only a detector found it: a detector's flag is something to review. A
  hint counts :data:`HINTED`: it puts cases in order that are otherwise alike.

The severity of a case is that of its worst answer among those the filter is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl

from rexview.stats import NO_ANSWER

WEIGHTS: Final[dict[str, float]] = {
    "laterality_error": 3.0,
    "hallucination": 3.0,
    "omission": 3.0,
    "wrong_type": 2.0,
    "execution_gap": 2.0,
    "token_limit": 2.0,
    "box_misplaced": 2.0,
    "overconfident": 2.0,
    "failed_extraction": 2.0,
    "boxes_missing": 1.0,
    "box_unrelated": 1.0,
    "disagreement": 0.5,
    "verbose": 0.5,
    "terse": 0.5,
}
"""Weight of each failure: the harm it could do to a patient comes first, form last."""
UNCONFIRMED: Final = 0.5
HINTED: Final = 0.05
_BEST: Final = 5.0


def severity(rows: pl.DataFrame, bits: Mapping[str, int]) -> pl.DataFrame:
    """Add the column ``severity`` (Float64, 0 or more) to the rows of an answer table.

    Parameters
    ----------
    rows : polars.DataFrame
        With ``status``, ``content``, ``detected``, ``marked``, ``hinted``.
    bits : mapping of str to int
        Bit of each failure in the last three.
    """
    never_came = pl.col("status").is_in(list(NO_ANSWER))
    lost = pl.when(never_came).then(_BEST - 1).otherwise(_BEST - pl.col("content")).fill_null(0.0)
    flags = [
        pl.when(pl.col("marked") & bit != 0)
        .then(WEIGHTS[failure])
        .when(pl.col("detected") & bit != 0)
        .then(WEIGHTS[failure] * UNCONFIRMED)
        .when(pl.col("hinted") & bit != 0)
        .then(WEIGHTS[failure] * HINTED)
        .otherwise(0.0)
        for failure, bit in bits.items()
    ]
    return rows.with_columns(pl.sum_horizontal(lost, *flags).alias("severity"))
