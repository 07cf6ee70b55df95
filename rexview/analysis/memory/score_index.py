"""Which answers have the single scores that a filter asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.analysis.filter.pair_condition import ReaderPair
from rexview.analysis.filter.score_condition import Mark
from rexview.schema import ReviewSet
from rexview.stats.values import single_scores
from rexview.vocab import IMAGE_DIMENSIONS


@dataclass(frozen=True, eq=False)
class Marks:
    """The readers' single scores beside the rows of an answer table; gathered when asked for.

    Attributes
    ----------
    review_set : ReviewSet
    place : polars.DataFrame
        ``case``, ``model`` (String) and ``row`` (UInt32) of each row of the answer table.
    """

    review_set: ReviewSet
    place: pl.DataFrame

    @cached_property
    def readers(self) -> dict[str, str]:
        """Name on screen by reader id; equal names are told apart by the ids."""
        return told_apart(self.review_set.reader_names)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row a score: the columns of ``single_scores``, ``row``, and ``day`` (Date, UTC)."""
        given = single_scores(self.review_set).filter(pl.col("score").is_not_null())
        return given.join(
            self.place, on=["case", "model"], how="inner", maintain_order="left"
        ).with_columns(pl.col("created").dt.date().alias("day"))

    def having(self, words: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Say which rows of the answer table have all of some marks.

        Parameters
        ----------
        words : sequence of str
            Marks as :class:`rexview.analysis.filter.score_condition.Mark` writes them. Those about
            pictures have to hold for one and the same picture of the answer.

        Returns
        -------
        numpy.ndarray
            Shape (rows of the answer table,), bool.
        """
        everywhere = np.ones(len(self.place), dtype=np.bool_)
        of_pictures: pl.DataFrame | None = None
        for mark in map(Mark.parse, words):
            found = self.frame.filter(_meets(mark))
            if mark.dimension in IMAGE_DIMENSIONS:
                pictures = found.select("row", "image").unique()
                of_pictures = (
                    pictures
                    if of_pictures is None
                    else of_pictures.join(
                        pictures, on=["row", "image"], how="semi", nulls_equal=True
                    )
                )
            else:
                everywhere &= self._rows(found)
        return everywhere if of_pictures is None else everywhere & self._rows(of_pictures)

    def shared(self, words: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Say which rows of the answer table two readers both scored, so many points apart.

        Parameters
        ----------
        words : sequence of str
            As :class:`rexview.analysis.filter.pair_condition.ReaderPair` writes them; all have to
            hold, each about a picture of its own. What is compared is what statistics compare.

        Returns
        -------
        numpy.ndarray
            Shape (rows of the answer table,), bool.
        """
        everywhere = np.ones(len(self.place), dtype=np.bool_)
        for pair in map(ReaderPair.parse, words):
            if not everywhere.any():
                break
            unit = ["row", "image"] if pair.dimension in IMAGE_DIMENSIONS else ["row"]
            given = self.frame.filter(pl.col("dimension") == pair.dimension)
            first, second = (
                given.filter(pl.col("reader") == reader)
                .select(*unit, pl.col("score").alias(name))
                .unique(unit, keep="last")
                for name, reader in zip(("first", "second"), pair.readers, strict=True)
            )
            apart = (pl.col("first") - pl.col("second")).abs()
            met = first.join(second, on=unit, nulls_equal=True)
            everywhere &= self._rows(met.filter(apart.is_between(pair.low, pair.high)))
        return everywhere

    def _rows(self, found: pl.DataFrame) -> npt.NDArray[np.bool_]:
        chosen = np.zeros(len(self.place), dtype=np.bool_)
        chosen[found["row"].to_numpy()] = True
        return chosen


def told_apart(names: Mapping[str, str]) -> dict[str, str]:
    """Write the id behind each of the names that several readers have."""
    met = Counter(names.values())
    return {
        reader: name if met[name] == 1 else f"{name} ({reader})" for reader, name in names.items()
    }


def _meets(mark: Mark) -> pl.Expr:
    """Return the condition of one mark on the rows of :attr:`Marks.frame`."""
    wanted = [pl.lit(True)]
    if mark.dimension:
        wanted.append(pl.col("dimension") == mark.dimension)
    if mark.reader:
        wanted.append(pl.col("reader") == mark.reader)
    if mark.low is not None:
        wanted.append(pl.col("score").is_between(mark.low, mark.high))
    if mark.first is not None:
        wanted.append(pl.col("day").is_between(mark.first, mark.last))
    return pl.all_horizontal(wanted)
