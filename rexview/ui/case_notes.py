"""What people wrote about cases beside scores and verdicts: consensus and comments.

Read from the database anew only when anything was written. Without the database there is nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import polars as pl

from rexview.analysis.commenting import CommentCount, counts_by_case
from rexview.analysis.settling import consensus_scores
from rexview.errors import StoreError
from rexview.schema import ReviewSet, Score
from rexview.store import Reviews
from rexview.ui import resources


@lru_cache(maxsize=4)
def _adjudications(kept: Reviews, revision: int) -> pl.DataFrame:
    return kept.adjudications()


@lru_cache(maxsize=4)
def _counts(kept: Reviews, revision: int) -> Mapping[str, CommentCount]:
    return counts_by_case(kept.comments())


def consensus(review_set: ReviewSet, case_id: str) -> tuple[Score, ...]:
    """Return what adjudication found on a case, as scores of who settled it."""
    try:
        kept = resources.reviews(review_set)
        return consensus_scores(_adjudications(kept, kept.revision()), case_id)
    except StoreError:
        return ()


def comment_counts(review_set: ReviewSet) -> Mapping[str, CommentCount]:
    """Return how many comments every case has that has any."""
    try:
        kept = resources.reviews(review_set)
        return _counts(kept, kept.revision())
    except StoreError:
        return {}
