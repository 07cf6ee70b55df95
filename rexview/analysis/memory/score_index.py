"""Single scores of readers by answer: which answers have those that a filter asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from rexview.analysis.engine import unique_names
from rexview.analysis.filter.conditions import ReaderPair, ScoreCondition
from rexview.analysis.memory.coded_column import Mask
from rexview.schema import ReviewSet
from rexview.stats.units import both_scored, units_of
from rexview.stats.values import single_scores
from rexview.vocab import IMAGE_DIMENSIONS


@dataclass(frozen=True, eq=False)
class ScoreIndex:
    """The readers' single scores beside the rows of an answer table; gathered when asked for.

    ``place`` has ``case``, ``model`` (String) and ``row`` (UInt32) of each row of the table.
    """

    review_set: ReviewSet
    place: pl.DataFrame

    @cached_property
    def readers(self) -> dict[str, str]:
        """Name on screen by reader id; equal names are told apart by the ids."""
        return unique_names(self.review_set.reader_names)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row a score: the columns of ``single_scores``, ``row``, and ``day`` (Date, UTC)."""
        given = single_scores(self.review_set).filter(pl.col("score").is_not_null())
        return given.join(
            self.place, on=["case", "model"], how="inner", maintain_order="left"
        ).with_columns(pl.col("created").dt.date().alias("day"))

    def having(self, words: Sequence[str]) -> Mask:
        """Say which rows of the answer table meet all conditions on single scores.

        Those about pictures have to hold for one and the same picture of the answer.
        """
        everywhere = np.ones(len(self.place), dtype=np.bool_)
        of_pictures: pl.DataFrame | None = None
        for wanted in map(ScoreCondition.parse, words):
            found = self.frame.filter(_meets(wanted))
            if wanted.dimension not in IMAGE_DIMENSIONS:
                everywhere &= self._rows(found)
            elif of_pictures is None:
                of_pictures = found
            else:
                unit = ["row", "image"]
                of_pictures = of_pictures.join(found, on=unit, how="semi", nulls_equal=True)
        return everywhere if of_pictures is None else everywhere & self._rows(of_pictures)

    def shared(self, words: Sequence[str]) -> Mask:
        """Say which rows of the answer table two readers both scored, so many points apart.

        All conditions have to hold, each about a picture of its own. What is compared is what
        statistics compare.
        """
        everywhere = np.ones(len(self.place), dtype=np.bool_)
        for pair in map(ReaderPair.parse, words):
            met = both_scored(units_of(self.frame, pair.dimension), pair.readers)
            apart = (pl.col("score") - pl.col("score_b")).abs()
            everywhere &= self._rows(met.filter(apart.is_between(pair.low, pair.high)))
        return everywhere

    def _rows(self, found: pl.DataFrame) -> Mask:
        chosen = np.zeros(len(self.place), dtype=np.bool_)
        chosen[found["row"].to_numpy()] = True
        return chosen


def _meets(wanted: ScoreCondition) -> pl.Expr:
    """Return the condition on the rows of :attr:`ScoreIndex.frame`."""
    conditions = [pl.lit(True)]
    if wanted.dimension:
        conditions.append(pl.col("dimension") == wanted.dimension)
    if wanted.reader:
        conditions.append(pl.col("reader") == wanted.reader)
    if wanted.low is not None:
        conditions.append(pl.col("score").is_between(wanted.low, wanted.high))
    if wanted.first is not None:
        conditions.append(pl.col("day").is_between(wanted.first, wanted.last))
    return pl.all_horizontal(conditions)
