"""Which way round images are stored: what a reader, and every claim of a side, must know."""

from __future__ import annotations

from typing import Final

import polars as pl

from rexview.geometry import orientation_of
from rexview.reviewset.tables.nested import items_of
from rexview.reviewset.tables.source import TableSource
from rexview.vocab import FRONTAL_VIEWS

_ORIENTATION_FIELDS: Final = ("view", "patient_orientation", "laterality_flip")


def check_orientations(cases: pl.DataFrame, boxed: pl.DataFrame, source: TableSource) -> None:
    """Warn of frontal images that are stored mirrored, and of boxes on images without known sides.

    ``cases`` has images as in :data:`rexview.frames.IMAGE`, filled in from their files; ``boxed``
    has ``case`` and ``image`` of the images that have boxes.
    """
    images = items_of(cases.rename({"id": "case"}), "images", "case", "_row")
    images = images.select(
        *_ORIENTATION_FIELDS, pl.col("id").alias("image"), "case", "_row", "index"
    )
    kinds = images.select(_ORIENTATION_FIELDS).unique()
    judged = images.join(
        kinds.with_columns(pl.Series("kind", [_kind(*row) for row in kinds.iter_rows()])),
        on=_ORIENTATION_FIELDS,
        nulls_equal=True,
        maintain_order="left",
    )
    source.report_rows(
        "warning",
        judged.filter(pl.col("kind") == "mirrored"),
        "The image is stored mirrored: the patient's left is on its left.",
        "Sides are read accordingly, and the viewer's key N turns it round. If it is not mirrored, "
        "correct patient_orientation or laterality_flip.",
        lambda row: f"images[{row['index']}].patient_orientation",
    )
    source.report_rows(
        "warning",
        judged.filter(pl.col("kind") == "unknown").join(
            boxed, on=["case", "image"], how="semi", maintain_order="left"
        ),
        "Neither view nor orientation is known, so the side of boxes on this image cannot be told.",
        "Give its view (PA, AP, LATERAL), or its patient_orientation.",
        lambda row: f"images[{row['index']}].view",
    )


def _kind(view: str | None, words: list[str] | None, flip: bool | None) -> str | None:
    """``mirrored``, ``unknown`` or None (nothing to say)."""
    orientation = orientation_of(view, words, flip)
    if orientation.mirrored and view in (*FRONTAL_VIEWS, "UNKNOWN", None):
        return "mirrored"
    return "unknown" if not orientation.known and view in ("UNKNOWN", None) else None
