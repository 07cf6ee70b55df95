"""What was agreed on cases, beside the scores that readers gave.

Read from the database anew only when anything was written. Without the database there is nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import polars as pl

from rexview.analysis.readers.consensus import consensus_scores
from rexview.errors import StoreError
from rexview.schema import ReviewSet, Score
from rexview.store import Reviews
from rexview.ui.server import review_sets


@lru_cache(maxsize=4)
def _adjudications(kept: Reviews, revision: int) -> pl.DataFrame:
    return kept.adjudications()


def consensus(review_set: ReviewSet, case_id: str) -> tuple[Score, ...]:
    """Return what adjudication found on a case, as scores of who settled it."""
    try:
        kept = review_sets.reviews(review_set)
        return consensus_scores(_adjudications(kept, kept.revision()), case_id)
    except StoreError:
        return ()


def settled_scores(review_set: ReviewSet) -> Mapping[tuple[str, str, str], tuple[int, ...]]:
    """Return each consensus score by case, model and dimension; several where pictures are."""
    try:
        kept = review_sets.reviews(review_set)
        rows = _adjudications(kept, kept.revision())
    except StoreError:
        return {}
    found: dict[tuple[str, str, str], tuple[int, ...]] = {}
    for row in rows.sort("image").iter_rows(named=True):
        if row["score"] is not None:
            key = (row["case"], row["model"], row["dimension"])
            found[key] = (*found.get(key, ()), row["score"])
    return found
