"""Normalise the tables as read for queries: one spelling a word, nothing left to parse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import polars as pl

from rexview import frames
from rexview.reviewset.problems import join_alternatives, quote_value
from rexview.reviewset.tables.source import TableSource
from rexview.schema import Model
from rexview.vocab import FINISH_REASONS, normalise_finish_reason, normalise_view

_TOKENS: Final = ("input_tokens", "output_tokens", "max_output_tokens")


def normalise_views(cases: pl.DataFrame, raw_view: str = "view") -> pl.DataFrame:
    """Normalise the view words of images; the given words, in ``raw_view``, go to ``view_raw``."""
    raw = cases.select(pl.col("images").explode().struct.field(raw_view)).to_series()
    words = {word: normalise_view(word) for word in raw.unique().drop_nulls().to_list()}
    image = pl.element().struct
    fields = {name: image.field(name) for name, _ in frames.IMAGE if name != "view_raw"}
    fields["view"] = image.field(raw_view).replace_strict(
        words, default="UNKNOWN", return_dtype=pl.String
    )
    fields["view_raw"] = image.field(raw_view)
    fields["key"] = image.field("key").fill_null(False)
    fields["prior"] = image.field("prior").fill_null(False)
    orientation = image.field("patient_orientation")
    fields["patient_orientation"] = pl.when(orientation.list.len() > 0).then(orientation)
    structs = pl.struct(fields[name].alias(name) for name, _ in frames.IMAGE)
    return cases.with_columns(pl.col("images").list.eval(structs))


def normalise_answers(
    answers: pl.DataFrame, models: Sequence[Model], source: TableSource | None
) -> pl.DataFrame:
    """Normalise finish reasons, split token counts into columns, and fill in the models' limits.

    An unknown finish reason becomes ``unknown`` with a warning; the given word stays in
    ``finish_reason_raw``.
    """
    raw = answers["finish_reason"]
    words = {word: normalise_finish_reason(word) for word in raw.unique().drop_nulls().to_list()}
    unknown = [word for word, reason in words.items() if reason is None]
    if unknown and source:
        source.report_rows(
            "warning",
            answers.filter(pl.col("finish_reason").is_in(unknown)),
            lambda row: (
                f"The finish reason {quote_value(row['finish_reason'])} is not a known one."
            ),
            f"Use {join_alternatives(FINISH_REASONS)}.",
            "finish_reason",
        )
    reasons = {word: reason or "unknown" for word, reason in words.items()}
    usage = pl.col("usage").struct
    limits = {m.id: m.max_output_tokens for m in models if m.max_output_tokens is not None}
    return (
        answers.with_columns(
            pl.col("finish_reason").alias("finish_reason_raw"),
            pl.col("finish_reason").replace_strict(
                reasons, default="unknown", return_dtype=pl.String
            ),
            *(pl.coalesce(usage.field(name), name).alias(name) for name in _TOKENS),
        )
        .with_columns(
            pl.col("max_output_tokens").fill_null(
                pl.col("model").replace_strict(limits, default=None, return_dtype=pl.Int64)
            )
        )
        .drop("usage")
    )


def _with_origin(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.lit("file").alias("_origin"))


NORMALISERS: Final[dict[str, Callable[[pl.DataFrame], pl.DataFrame]]] = {
    "cases": lambda cases: normalise_views(cases).with_columns(
        pl.col("question_type").fill_null("open")
    ),
    "scores": _with_origin,
    "flags": lambda flags: _with_origin(flags).with_columns(
        pl.col("verdict").fill_null("confirmed")
    ),
    "edits": _with_origin,
    "choices": _with_origin,
    "preferences": _with_origin,
    "references": _with_origin,
    "comments": _with_origin,
    "decisions": _with_origin,
    "candidates": lambda candidates: _with_origin(candidates).with_columns(
        pl.col("question_type").fill_null("open")
    ),
    "candidate_ratings": _with_origin,
    "candidate_tags": _with_origin,
    "selections": _with_origin,
    "validations": _with_origin,
}
"""The normalisation of the other tables."""
