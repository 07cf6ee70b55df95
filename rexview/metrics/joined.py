"""A review set with the metrics that the app works out itself, beside those that were given."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import polars as pl

from rexview.metrics.computed import ComputedMetrics
from rexview.metrics.identity import MetricId
from rexview.metrics.of_answer import IDENTITIES
from rexview.schema import ReviewSet

_OF_ANSWER: Final = ["case", "model"]


def asks_for_reports(review_set: ReviewSet) -> bool:
    """Whether any case asks for a report: without one there is nothing to work out."""
    return "report" in review_set.cases["question_type"].unique()


def with_computed(review_set: ReviewSet, known: ComputedMetrics) -> ReviewSet:
    """Add what is worked out by now to the table of metrics.

    Of an answer that was gone over it takes the place of what was given of the same identities,
    which may be of an earlier text or of earlier rules. The fingerprint changes with what is known.
    """
    if known.gone_over.is_empty():
        return review_set
    own = pl.DataFrame(IDENTITIES, schema=list(MetricId._fields), orient="row")
    given = review_set.metrics
    beaten = given.join(known.gone_over, on=_OF_ANSWER, how="semi").join(
        own, on=own.columns, how="semi"
    )
    if beaten.is_empty() and known.values.is_empty():
        return review_set
    left = given.join(beaten.select("_row"), on="_row", how="anti", maintain_order="left")
    return replace(
        review_set,
        metrics=pl.concat([left, known.values]),
        fingerprint=f"{review_set.fingerprint}-metrics{known.done}",
    )
