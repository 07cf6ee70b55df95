"""The values that statistics are made of: final scores in the units that are counted.

Text dimensions, Content and the gap have one value for each answer that came; image dimensions
have one for each picture that a model gave. Averages are worked out in :mod:`rexview.stats.final`
and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

import polars as pl

from rexview.schema import ReviewSet
from rexview.stats.final import ContentOrder, came, final_pictures, finals_of, newest_scores
from rexview.vocab import IMAGE_DIMENSIONS, TEXT_DIMENSIONS

SCORE_ORDER: Final = (
    "content",
    "language",
    "process",
    "execution",
    "synthesis",
    "image_content",
    "image_style",
)
"""The order of the dimensions in tables."""
TESTED_TOGETHER: Final = ("content", "language", "process", "execution", "synthesis")
"""The text scores, whose p values are adjusted together."""
SINGLE_SCORES: Final = pl.Schema(
    {
        "case": pl.String(),
        "model": pl.String(),
        "image": pl.Int64(),
        "dimension": pl.String(),
        "reader": pl.String(),
        "score": pl.Int8(),
        "created": pl.Datetime("us", "UTC"),
        "comment": pl.String(),
    }
)
"""Columns of :func:`single_scores`."""
_ANSWER: Final = ("case", "model")
_PER_ANSWER: Final = (*TEXT_DIMENSIONS, "content", "gap")


@dataclass(frozen=True, eq=False)
class Finals:
    """Final scores of a review set; null is missing, never 0.

    ``answers`` has one row for each answer that came, in the order of the file: ``case``,
    ``model``, the text dimensions, ``content`` and ``gap`` (Float64). ``pictures`` has one row for
    each scored picture: ``case``, ``model``, ``image`` (Int64, null when the score names none),
    ``image_content`` and ``image_style`` (Float64).
    """

    answers: pl.DataFrame
    pictures: pl.DataFrame

    def of(self, dimension: str) -> pl.DataFrame:
        """Return the values of one dimension, ``content`` or ``gap``, without the missing ones.

        Columns ``case``, ``model``, for image dimensions ``image``, and ``value`` (Float64).
        """
        pictured = dimension in IMAGE_DIMENSIONS
        frame = self.pictures if pictured else self.answers
        unit = (*_ANSWER, "image") if pictured else _ANSWER
        return frame.select(*unit, pl.col(dimension).alias("value")).filter(
            pl.col("value").is_not_null()
        )

    def by_answer(self, dimension: str) -> pl.DataFrame:
        """Return the values as :meth:`of` does, one an answer: the mean over its pictures."""
        values = self.of(dimension)
        if "image" in values.columns:
            values = values.group_by(*_ANSWER, maintain_order=True).agg(pl.col("value").mean())
        return values

    def only(self, pairs: pl.DataFrame) -> Finals:
        """Keep the answers whose ``case`` and ``model`` stand in the given frame."""
        return Finals(
            *(
                frame.join(pairs, on=_ANSWER, how="semi", maintain_order="left")
                for frame in (self.answers, self.pictures)
            )
        )


def finals(review_set: ReviewSet, *, content_order: ContentOrder = "mean_first") -> Finals:
    """Return the final scores of a review set's newest answers, worked out once."""
    known = _FINALS.setdefault(review_set, {})
    if content_order not in known:
        scored = finals_of(review_set, content_order=content_order)
        answers = came(review_set.answers).join(
            scored.select(*_ANSWER, *_PER_ANSWER), on=_ANSWER, how="left", maintain_order="left"
        )
        known[content_order] = Finals(answers, final_pictures(single_scores(review_set)))
    return known[content_order]


def single_scores(review_set: ReviewSet) -> pl.DataFrame:
    """Return the single scores as given, with columns :data:`SINGLE_SCORES`, worked out once.

    Of several scores of one reader for the same answer, dimension and picture only the newest is
    here, and only scores of answers that came.
    """
    if review_set not in _SINGLE:
        scores = newest_scores(review_set.scores, review_set.answers)
        _SINGLE[review_set] = scores.select(SINGLE_SCORES.names())
    return _SINGLE[review_set]


def unfinished_work(review_set: ReviewSet) -> pl.DataFrame:
    """Return ``reader`` and ``case`` of each case that a reader has begun and not finished."""
    return review_set.unfinished.select("reader", "case").unique(maintain_order=True)


_FINALS: Final[WeakKeyDictionary[ReviewSet, dict[ContentOrder, Finals]]] = WeakKeyDictionary()
_SINGLE: Final[WeakKeyDictionary[ReviewSet, pl.DataFrame]] = WeakKeyDictionary()
