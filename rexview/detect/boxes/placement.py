"""Which side of the patient boxes lie on, for all boxes of a review set at once."""

from __future__ import annotations

import polars as pl

from rexview.detect.boxes.side_labels import claim_of, label_key
from rexview.detect.core.detector import newest
from rexview.geometry import (
    MIDLINE_SPREAD,
    MIDLINE_TOLERANCE,
    OTHER_SIDE,
    Orientation,
    orientation_of,
)
from rexview.schema import ReviewSet


def placed_boxes(review_set: ReviewSet, answers: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return one row a box of the newest answers: its side, the side it claims, its finding.

    With ``answers``, rows of the set's answers, it is about the boxes of these.

    Columns ``case``, ``model``, ``image`` (resolved id), ``side``, ``claim``, ``finding``; boxes
    that have no side of the patient are left out.
    """
    boxes = (
        (newest(review_set) if answers is None else answers)
        .filter(pl.col("boxes").list.len() > 0)
        .select("case", "model", "boxes")
        .explode("boxes")
        .unnest("boxes")
    )
    return _placed(boxes, review_set)


def placed_references(review_set: ReviewSet) -> pl.DataFrame:
    """Return one row a reference box with a finding: ``case``, ``image``, ``finding``, ``side``."""
    boxes = (
        review_set.cases.filter(pl.col("reference_boxes").list.len() > 0)
        .select(pl.col("id").alias("case"), "reference_boxes")
        .explode("reference_boxes")
        .unnest("reference_boxes")
        .rename({"side": "given"})
    )
    return _placed(boxes, review_set).filter(pl.col("finding").is_not_null())


def _placed(boxes: pl.DataFrame, review_set: ReviewSet) -> pl.DataFrame:
    labels = boxes["label"].unique().to_list()
    claims = [claim_of(label) for label in labels]
    read = pl.DataFrame(
        {
            "label": labels,
            "claim": [claim and claim.side for claim in claims],
            "finding": [label_key(label) for label in labels],
        },
        schema={"label": pl.String, "claim": pl.String, "finding": pl.String},
    )
    useful = boxes.join(
        read.filter(pl.any_horizontal(pl.col("claim", "finding").is_not_null())), on="label"
    )
    cases = review_set.cases.filter(pl.col("images").list.len() > 0)
    images = (
        cases.select(
            pl.col("id").alias("case"),
            "images",
            (pl.col("images").list.len() == 1).alias("only"),
        )
        .join(useful.select("case").unique(), on="case", how="semi")
        .explode("images")
        .unnest("images")
    )
    alone = images.filter("only").select("case", only_image="id")
    useful = (
        useful.with_columns(pl.col("image").replace("", None))
        .join(alone, on="case", how="left")
        .with_columns(pl.coalesce("image", "only_image").alias("image"))
    )
    edges = _edges(images)
    joined = useful.join(edges, left_on=["case", "image"], right_on=["case", "id"])
    placed = joined.with_columns(_side().alias("side"))
    return placed.filter(pl.col("side").is_not_null()).drop(
        "box", "low", "across", "width", "height", "label", "only_image"
    )


def _edges(images: pl.DataFrame) -> pl.DataFrame:
    """Return what :func:`_side` needs of each image: ``low``, ``across``, ``width``, ``height``.

    ``low`` is the patient's side at the low end of the axis ``across`` (0 for x, 1 for y).
    """
    kinds = ["view", "patient_orientation", "laterality_flip"]
    seen = images.select(kinds).unique()
    turned = [orientation_of(*row) for row in seen.iter_rows()]
    ends = [_low_end(orientation) for orientation in turned]
    seen = seen.with_columns(
        pl.Series("low", [low for low, _ in ends], dtype=pl.String()),
        pl.Series("across", [axis for _, axis in ends], dtype=pl.Int64()),
    )
    return (
        images.join(seen, on=kinds, nulls_equal=True)
        .filter(pl.col("low").is_not_null() & (pl.col("width") > 0) & (pl.col("height") > 0))
        .select(
            "case",
            "id",
            "low",
            "across",
            "width",
            "height",
        )
        .unique(["case", "id"], keep="first", maintain_order=True)
    )


def _low_end(orientation: Orientation) -> tuple[str | None, int | None]:
    for axis, letter in enumerate((orientation.left, orientation.top)):
        if letter in ("R", "L"):
            return ("right" if letter == "R" else "left"), axis
    return None, None


def _side() -> pl.Expr:
    """Say on which side a box lies: :func:`rexview.geometry.box_side` as an expression."""
    numbers = [pl.col("box").list.get(place, null_on_oob=True) for place in range(4)]
    x, y, box_width, box_height = numbers
    drawable = (
        (pl.col("box").list.len() == 4)
        & pl.all_horizontal(number.is_finite() for number in numbers)
        & (box_width > 0)
        & (box_height > 0)
        & (x + box_width > 0)
        & (y + box_height > 0)
        & (x < pl.col("width"))
        & (y < pl.col("height"))
    )
    along_x = pl.col("across") == 0
    start = pl.when(along_x).then(x / pl.col("width")).otherwise(y / pl.col("height"))
    end = (
        pl.when(along_x)
        .then((x + box_width) / pl.col("width"))
        .otherwise((y + box_height) / pl.col("height"))
    )
    low, high = start.clip(lower_bound=0), end.clip(upper_bound=1)
    centre = (low + high) / 2
    both = (low < 0.5 - MIDLINE_SPREAD) & (high > 0.5 + MIDLINE_SPREAD)
    middle = both | ((centre - 0.5).abs() <= MIDLINE_TOLERANCE)
    high_side = pl.col("low").replace_strict(OTHER_SIDE, return_dtype=pl.String())
    side = pl.when(centre < 0.5).then("low").otherwise(high_side)
    return pl.when(drawable).then(pl.when(middle).then(pl.lit("midline")).otherwise(side))
