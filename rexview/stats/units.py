"""What readers are compared over: answers, and pictures for the image dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from rexview.vocab import CRITERIA, IMAGE_DIMENSIONS, SCORE_MAX, SCORE_MIN
from rexview.words import countable, noun

LEVELS: Final = tuple(range(SCORE_MIN, SCORE_MAX + 1))
"""The scale of every score."""
_ANSWER: Final = ("case", "model")


def unit_word(dimension: str) -> str:
    """Return the English noun, to be counted, of what is scored on a dimension.

    Answers, or pictures; of a criterion of candidate questions it is these.
    """
    if dimension in CRITERIA:
        return countable("question")
    return countable("picture") if dimension in IMAGE_DIMENSIONS else countable("answer")


def unit_name(dimension: str, n: int = 2) -> str:
    """Return what is counted on a dimension, in the form that goes with a number."""
    return noun(n, unit_word(dimension))


def units_of(scores: pl.DataFrame, dimension: str) -> pl.DataFrame:
    """Return the scores of one dimension with the place of their unit.

    Parameters
    ----------
    scores : polars.DataFrame
        As :func:`rexview.stats.values.single_scores` gives them.
    dimension : str

    Returns
    -------
    polars.DataFrame
        The scores with a score of this dimension and ``unit`` (Int64): the same number for the
        same answer (the same picture of it, for the image dimensions). One row a unit and reader.
    """
    known = scores.filter(pl.col("dimension") == dimension, pl.col("score").is_not_null())
    case, model = (
        pl.col(name).cast(pl.Categorical()).to_physical().cast(pl.Int64) for name in _ANSWER
    )
    picture = pl.col("image").fill_null(-1) + 1
    unit = case * (model.max() + 1) + model
    if dimension in IMAGE_DIMENSIONS:
        unit = unit * (picture.max() + 1) + picture
    numbered = known.with_columns(unit.alias("unit"))
    if not numbered.select("unit", "reader").is_duplicated().any():
        return numbered
    return numbered.unique(["unit", "reader"], keep="last", maintain_order=True)


def both_scored(units: pl.DataFrame, readers: Sequence[str]) -> pl.DataFrame:
    """Return the units that two readers both scored, from :func:`units_of`.

    The rows of the first reader, with the second one's score as ``score_b``.
    """
    first, second = (units.filter(pl.col("reader") == reader) for reader in readers)
    return first.join(second.select("unit", score_b="score"), on="unit", maintain_order="left")
