"""Given and written rows together: what pages count and show."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import polars as pl

from rexview.answer_digest import digests_of, with_stale_apart, with_stale_together
from rexview.schema import Reader, ReviewSet
from rexview.store.history_rows import flags_frame, scores_frame
from rexview.store.reviews import Reviews

SCORE_KEY: Final = ("case", "model", "reader", "dimension", "image")
FLAG_KEY: Final = ("case", "model", "reader", "failure")


def merged(review_set: ReviewSet, reviews: Reviews) -> ReviewSet:
    """Return the review set with what was written in it beside what was given.

    Of rows about the same thing by the same reader the newest by ``created`` stands; given rows
    without a date are the oldest. ``_origin`` says where a row comes from. What a reader took back
    is not there. Everybody who wrote is among the readers.

    Which rows are of earlier answers is decided last: the newest row of a reader stands, and if the
    answer was changed after it, it counts nowhere and neither does what stood before it.

    The fingerprint changes with every entry, and when a picture of an answer that somebody judged
    is replaced. Without any entry the set itself is returned.

    Raises
    ------
    StoreUnreachable, StoreBusy
    """
    current = reviews.current_state()
    if not current.revision:
        return review_set
    scores = _of_cases(scores_frame(current.rows("score")), review_set)
    flags = _of_cases(flags_frame(current.rows("verdict")), review_set)
    has_content = pl.col("score").is_not_null() | pl.col("comment").is_not_null()
    declared = {reader.id for reader in review_set.info.readers}
    new = [
        Reader(person.id, person.name, person.role)
        for person in current.people.values()
        if person.id not in declared
    ]
    given = with_stale_together(review_set)
    every = replace(
        review_set,
        info=replace(review_set.info, readers=(*review_set.info.readers, *new)),
        scores=_together(given.scores, scores, SCORE_KEY, has_content),
        flags=_together(given.flags, flags, FLAG_KEY, pl.col("verdict").is_not_null()),
    )
    counted = with_stale_apart(every)
    pictures = digests_of(review_set).pictures_state()
    state = f"{current.revision}-{pictures}" if pictures else str(current.revision)
    return replace(
        counted,
        fingerprint=f"{review_set.fingerprint}-{state}",
    )


def _of_cases(rows: pl.DataFrame, review_set: ReviewSet) -> pl.DataFrame:
    """Leave out what is about cases that are not there any more."""
    return rows.join(review_set.index.case_rows(rows["case"]), on="case", how="semi")


def _together(
    given: pl.DataFrame, written: pl.DataFrame, key: tuple[str, ...], has_content: pl.Expr
) -> pl.DataFrame:
    """Join both tables; of rows with the same key the newer stays.

    Written rows without ``has_content`` take back what was there: they only remove.
    """
    if written.is_empty():
        return given
    both = given.select(*key, "_row", given="created").join(
        written.select(*key, written_row="_row", written="created"), on=key, nulls_equal=True
    )
    given_newer = (pl.col("given") > pl.col("written")).fill_null(False)
    beaten = both.filter(~given_newer).select("_row")
    late = both.filter(given_newer).select(_row="written_row")
    last = given.select(pl.col("_row").max().fill_null(0)).item()
    return pl.concat(
        [
            given.join(beaten, on="_row", how="anti", maintain_order="left"),
            written.join(late, on="_row", how="anti", maintain_order="left")
            .filter(has_content)
            .with_columns((pl.int_range(pl.len()) + last + 1).cast(pl.UInt32).alias("_row")),
        ]
    )
