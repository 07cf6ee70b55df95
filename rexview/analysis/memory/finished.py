"""Scores that count: those of cases that their reader has finished.

A reader who is in the middle of a case has given some of its scores and may change them; a mean, an
agreement or an adjudication over them would be about half a judgement. So scores written in the app
enter no table until their reader has given every score that the case asks for
(:func:`rexview.analysis.memory.study.required_scores`). Scores that came with the set
count as they are, whole or not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import polars as pl

from rexview.analysis.memory.study import required_scores
from rexview.schema import ReviewSet

_WORK: Final = ("reader", "case")
_KEY: Final = ("case", "model", "reader", "dimension", "image")


def only_finished(loaded: ReviewSet, review_set: ReviewSet) -> ReviewSet:
    """Leave out the scores of cases that their reader has begun in the app and not finished.

    ``loaded`` is the set as its files have it, ``review_set`` the same with what was written in the
    app (:func:`rexview.store.merged`). Where a score that is left out had replaced one of the
    files, that one counts again.
    ``unfinished`` of the new set has what was left out.
    """
    scored = review_set.scores.filter(pl.col("score").is_not_null())
    written = scored.filter(pl.col("_origin") == "app")
    if written.is_empty():
        return review_set
    begun = written.select(_WORK).unique(maintain_order=True)
    required = required_scores(_part(loaded, begun["case"]))  # what all cases ask for may be much
    required = begun.join(required, on="case", maintain_order="left")
    # scores of an earlier text of an answer count nowhere, but are no missing work
    stale = review_set.stale_scores.filter(pl.col("score").is_not_null())
    scored_items = (
        pl.concat([scored, stale])
        .join(begun, on=list(_WORK), how="semi")
        .select(
            "reader", "case", "model", "dimension", pl.col("image").cast(pl.Int64).alias("picture")
        )
    )
    item = ["reader", "case", "model", "dimension"]
    missing = required.join(scored_items, on=[*item, "picture"], how="anti", nulls_equal=True)
    # a score of the files may name no picture where there is only one
    unnamed = scored_items.filter(pl.col("picture").is_null())
    missing = missing.join(unnamed, on=item, how="anti")
    unfinished = missing.select(_WORK).unique(maintain_order=True)
    if unfinished.is_empty():
        return review_set
    is_written = (pl.col("_origin") == "app") & pl.col("score").is_not_null()
    left_out = review_set.scores.filter(is_written).join(
        unfinished, on=list(_WORK), how="semi", maintain_order="left"
    )
    kept = review_set.scores.join(left_out.select("_row"), on="_row", how="anti")
    back = loaded.scores.join(left_out, on=list(_KEY), how="semi", nulls_equal=True)
    return replace(
        review_set,
        scores=pl.concat([kept, back]).sort("_row", maintain_order=True),
        unfinished=left_out,
    )


def _part(review_set: ReviewSet, case_ids: pl.Series) -> ReviewSet:
    """Return some cases of a set with their newest answers."""
    rows = review_set.index.case_rows(case_ids)["case_row"]
    answers = review_set.index.answers_to(case_ids, review_set.answers.columns)
    return replace(review_set, cases=review_set.cases[rows], answers=answers)
