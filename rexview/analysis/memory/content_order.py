"""The answer table with Content worked out in the other order, without looking for failures again.

Content is the smallest of the readers' means of Process, Execution and Synthesis, or the mean of
the readers' smallest scores (:data:`rexview.stats.CONTENT_ORDERS`). No detector looks at Content.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from rexview.analysis.filter.case_filter import WEAKEST
from rexview.analysis.memory.severity import severity
from rexview.analysis.memory.table import AnswerTable
from rexview.schema import ReviewSet
from rexview.stats import ContentOrder, finals_of, weakest_link
from rexview.stats.values import finals

_CHANGED = ("content", "weakest", "severity")


def in_content_order(
    table: AnswerTable, review_set: ReviewSet, content_order: ContentOrder
) -> AnswerTable:
    """Return the table of the same answers with Content in another order.

    Parameters
    ----------
    table : AnswerTable
        Of this review set.
    review_set : ReviewSet
    content_order : str
        A word of :data:`rexview.stats.CONTENT_ORDERS`.

    Returns
    -------
    AnswerTable
        Equal to :func:`rexview.analysis.answer_table` with that order.
    """
    if content_order == table.content_order:
        return table
    content = finals_of(review_set, content_order=content_order).select(
        "case", pl.col("model").alias("_model"), "content"
    )
    rows = (
        table.rows.drop(_CHANGED)
        .with_columns(pl.col("model").cast(pl.String).alias("_model"))
        .join(content, on=["case", "_model"], how="left", maintain_order="left")
        .with_columns(weakest_link().cast(pl.Enum(WEAKEST)).alias("weakest"))
    )
    rows = severity(rows).select(table.rows.columns).rechunk()
    scored = finals(review_set, content_order=content_order)
    return replace(table, rows=rows, finals=scored, content_order=content_order)
