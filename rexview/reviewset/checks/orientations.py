"""Which way round images are stored: what a reader, and every claim of a side, must know."""

from __future__ import annotations

from typing import Final

import polars as pl

from rexview.geometry import orientation_of
from rexview.reviewset.checks.row_problems import report_rows
from rexview.reviewset.problems import ProblemList
from rexview.reviewset.sources import TableSource
from rexview.reviewset.tables.flat import Flat
from rexview.vocab import FRONTAL_VIEWS

_TOLD_BY: Final = ("view", "patient_orientation", "laterality_flip")


def check_orientations(
    cases: pl.DataFrame, boxed: pl.DataFrame, source: TableSource, problems: ProblemList
) -> None:
    """Warn of frontal images that are stored mirrored, and of boxes on images without known sides.

    Parameters
    ----------
    cases : pl.DataFrame
        With images as in :data:`rexview.frames.IMAGE`, filled in from their files.
    boxed : pl.DataFrame
        ``case`` and ``image`` of the images that have boxes.
    """
    flat = Flat.of_series(cases["images"])
    assert isinstance(flat.items, pl.Series)
    images = flat.items.struct.unnest().select(
        *_TOLD_BY,
        pl.col("id").alias("image"),
        cases["id"].gather(pl.Series(flat.owner)).alias("case"),
        cases["_row"].gather(pl.Series(flat.owner)).alias("_row"),
        pl.Series("index", flat.index),
    )
    kinds = images.select(_TOLD_BY).unique()
    judged = images.join(
        kinds.with_columns(pl.Series("kind", [_kind(*row) for row in kinds.iter_rows()])),
        on=_TOLD_BY,
        nulls_equal=True,
        maintain_order="left",
    )
    report_rows(
        problems,
        source,
        "warning",
        judged.filter(pl.col("kind") == "mirrored"),
        "The image is stored mirrored: the patient's left is on its left.",
        "Sides are read accordingly, and the viewer's key N turns it round. If it is not mirrored, "
        "correct patient_orientation or laterality_flip.",
        lambda row: f"images[{row['index']}].patient_orientation",
    )
    report_rows(
        problems,
        source,
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
