"""Readers' scores and final scores by row of the answer table, for the scored rows only.

A few thousand answers of millions have scores. Only the masks here are as long as the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.analysis.query.engine import make_names_unique
from rexview.analysis.query.filter.case_filter import WEAKEST_LINKS, NumberRange
from rexview.analysis.query.filter.conditions import ReaderPair, ScoreCondition
from rexview.analysis.query.memory.set_columns import CodedColumn, Codes, Mask, Numbers, SetColumns
from rexview.schema import ReviewSet
from rexview.stats import (
    ContentOrder,
    Finals,
    list_single_scores,
    load_answer_finals,
    weakest_link_expression,
)
from rexview.stats.reader_agreement import join_shared_units, number_units
from rexview.stats.score_finals import compute_picture_finals
from rexview.vocab import DIMENSIONS, IMAGE_DIMENSIONS

FINAL_NUMBERS: Final = ("content", *DIMENSIONS, "gap", "spread")
"""Final scores of an answer, and the numbers computed from them."""
_EPSILON: Final = 1e-4


@dataclass(frozen=True, eq=False)
class ScoreIndex:
    """The scores of a review set by row of its answer table; computed on first use."""

    review_set: ReviewSet
    columns: SetColumns
    content_order: ContentOrder = "mean_first"

    @cached_property
    def readers(self) -> dict[str, str]:
        """Name on screen by reader id; equal names have the id added."""
        return make_names_unique(self.review_set.reader_names)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row a score: the columns of ``single_scores``, ``row``, and ``day`` (Date, UTC)."""
        given = list_single_scores(self.review_set).filter(pl.col("score").is_not_null())
        return self._placed(given).with_columns(pl.col("created").dt.date().alias("day"))

    @cached_property
    def finals(self) -> pl.DataFrame:
        """One row for each answer with a score, by ``row``.

        ``case``, ``model``, :data:`FINAL_NUMBERS` (Float64), ``n_readers`` and ``weakest`` (Enum).
        """
        scored = load_answer_finals(self.review_set, content_order=self.content_order)
        weakest = weakest_link_expression().cast(pl.Enum(WEAKEST_LINKS)).alias("weakest")
        return self._placed(scored).with_columns(weakest).sort("row")

    @cached_property
    def _pictures(self) -> pl.DataFrame:
        return self._placed(compute_picture_finals(list_single_scores(self.review_set)))

    def _placed(self, named: pl.DataFrame) -> pl.DataFrame:
        """Add ``row`` (UInt32) for ``case`` and ``model``; drop records without such an answer."""
        row = pl.Series("row", self.review_set.numbers_of(named))
        return (
            named.with_columns(row)
            .filter(row >= 0)
            .with_columns(row.filter(row >= 0).cast(pl.UInt32))
        )

    def finals_left(self, rows: Mask) -> Finals:
        """Return the final scores of the answers in some rows."""
        return Finals(*(filter_by_mask(frame, rows) for frame in (self.finals, self._pictures)))

    @cached_property
    def scored(self) -> Numbers:
        """The rows that have any final score, ascending."""
        return self.finals["row"].cast(pl.Int64).to_numpy()

    def number(self, name: str) -> npt.NDArray[np.float64]:
        """Return one of :data:`FINAL_NUMBERS` for the rows :attr:`scored`, NaN where missing."""
        return self.finals[name].fill_null(np.nan).to_numpy()

    @cached_property
    def weakest(self) -> CodedColumn:
        """The weakest link, which sets Content, of each row of the table."""
        values = tuple(WEAKEST_LINKS)
        codes = np.full(len(self.columns), len(values), dtype=np.uint8)
        codes[self.scored] = CodedColumn.of(self.finals["weakest"]).codes
        return CodedColumn(codes, values)

    def within(self, name: str, limits: NumberRange) -> Mask:
        """Return a mask of rows whose number (one of :data:`FINAL_NUMBERS`) is within limits."""
        numbers = self.number(name)
        inside = ~np.isnan(numbers)
        if limits.low is not None:
            inside &= numbers >= limits.low - _EPSILON
        if limits.high is not None:
            inside &= numbers <= limits.high + _EPSILON
        return self._mask(self.scored[inside])

    def having(self, words: Sequence[str]) -> Mask:
        """Return a mask of the rows that meet all conditions on single scores.

        Conditions on pictures have to hold for the same picture of the answer.
        """
        everywhere = np.ones(len(self.columns), dtype=np.bool_)
        of_pictures: pl.DataFrame | None = None
        for wanted in map(ScoreCondition.parse, words):
            found = self.frame.filter(_condition_expression(wanted))
            if wanted.dimension not in IMAGE_DIMENSIONS:
                everywhere &= self._mask(found["row"].to_numpy())
            elif of_pictures is None:
                of_pictures = found
            else:
                unit = ["row", "image"]
                of_pictures = of_pictures.join(found, on=unit, how="semi", nulls_equal=True)
        if of_pictures is None:
            return everywhere
        return everywhere & self._mask(of_pictures["row"].to_numpy())

    def shared(self, words: Sequence[str]) -> Mask:
        """Return a mask of the rows that two readers both scored, within the pair's distance.

        All conditions have to hold; each may hold for another picture. The compared units are
        those of the statistics (:func:`number_units`).
        """
        everywhere = np.ones(len(self.columns), dtype=np.bool_)
        for pair in map(ReaderPair.parse, words):
            met = join_shared_units(number_units(self.frame, pair.dimension), pair.readers)
            apart = (pl.col("score") - pl.col("score_b")).abs()
            near = met.filter(apart.is_between(pair.low, pair.high))
            everywhere &= self._mask(near["row"].to_numpy())
        return everywhere

    def _mask(self, rows: npt.NDArray[np.integer]) -> Mask:
        chosen = np.zeros(len(self.columns), dtype=np.bool_)
        chosen[rows] = True
        return chosen


def records_at_rows(placed: pl.DataFrame, rows: Codes) -> pl.DataFrame:
    """Return the records of a frame for some rows of the answer table, in the order of ``rows``.

    ``placed`` has the column ``row``, ascending, which the result drops. Rows without a record are
    null.
    """
    if placed.is_empty():
        return placed.drop("row").clear(len(rows))
    known = placed["row"].to_numpy()
    places = np.minimum(np.searchsorted(known, rows), len(known) - 1)
    there = pl.Series(known[places] == rows)
    wanted = pl.Series(places, dtype=pl.UInt32).set(~there, None)
    return placed.select(pl.exclude("row").gather(wanted))


def filter_by_mask(placed: pl.DataFrame, rows: Mask) -> pl.DataFrame:
    """Return the records of a frame, by its column ``row``, for the rows of a mask."""
    return placed.filter(pl.Series(rows[placed["row"].to_numpy()]))


def _condition_expression(wanted: ScoreCondition) -> pl.Expr:
    """Return the expression of a condition for :attr:`ScoreIndex.frame`."""
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
