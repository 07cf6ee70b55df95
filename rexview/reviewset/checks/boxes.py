"""Boxes of answers and reference boxes: on which image they lie and whether they can be drawn.

No box is dropped: what cannot be drawn is a warning and stays in the table, where
:func:`rexview.geometry.box_problem` decides what a page draws.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from rexview.errors import Severity
from rexview.geometry import box_problem
from rexview.reviewset.problems import quoted
from rexview.reviewset.tables.nested import Flat, items_of
from rexview.reviewset.tables.source import TableSource

_DRAWN: Final = (
    "Give x, y, width and height in pixels of the stored image, from its top left corner."
)


def image_sizes(cases: pl.DataFrame) -> pl.DataFrame:
    """One row an image: ``case``, ``image``, ``width``, ``height`` (pixels), ``n`` in its case."""
    count = pl.col("images").list.len().alias("n")
    return (
        items_of(cases.rename({"id": "case"}), "images", "case", count)
        .select("case", "n", pl.col("id").alias("image"), "width", "height")
        .filter(pl.col("image").is_not_null())
        .unique(["case", "image"], keep="first", maintain_order=True)
    )


def with_images_named(
    frame: pl.DataFrame, column: str, case: str, images: pl.DataFrame
) -> pl.DataFrame:
    """Fill in the image of boxes that name none, where the case has only one.

    ``column`` has the boxes, ``case`` the id of the case; ``images`` are :func:`image_sizes`.
    ``image`` and ``label`` of a box are not null afterwards: unknown ones are empty texts.
    """
    if not frame.select((pl.col(column).list.len() > 0).any()).item():
        return frame
    flat = Flat.of_series(frame[column])
    boxes = flat.fields
    if not boxes["image"].null_count() and not boxes["label"].null_count():
        return frame
    only = images.filter(pl.col("n") == 1).select("case", pl.col("image").alias("_only"))
    owners = frame[case].gather(pl.Series(flat.owner)).alias("case")
    filled = owners.to_frame().join(only, on="case", how="left", maintain_order="left")["_only"]
    boxes = boxes.with_columns(
        pl.coalesce("image", filled).fill_null(""), pl.col("label").fill_null("")
    )
    return frame.with_columns(flat.lists(boxes.to_struct(column)).alias(column))


def boxed_images(frame: pl.DataFrame, case: str, column: str) -> pl.DataFrame:
    """Which images have boxes: ``case``, ``image``, without repetition."""
    image = pl.col(column).list.eval(pl.element().struct.field("image").unique())
    return (
        frame.select(pl.col(case).alias("case"), image.alias("image"))
        .explode("image")
        .drop_nulls("image")
        .unique()
    )


def check_boxes(
    frame: pl.DataFrame, column: str, case: str, images: pl.DataFrame, source: TableSource
) -> None:
    """Report boxes on images that the case does not have, and boxes that cannot be drawn.

    A reference box on an unknown image is an error, as nothing can be compared with it; a model's
    is a warning, as models do such things.
    """
    boxes = items_of(frame, column, "_row", pl.col(case).alias("case"))
    if boxes.is_empty():
        return
    known = images.with_columns(pl.lit(True).alias("_known"))
    boxes = boxes.join(known, on=["case", "image"], how="left", maintain_order="left")
    _report_unknown_images(boxes, column, source)
    doubtful = boxes.filter(~_can_be_drawn())
    problems = [box_problem(*row) for row in doubtful.select("box", "width", "height").iter_rows()]
    source.report_rows(
        "warning",
        doubtful.with_columns(_problem=pl.Series(problems, dtype=pl.String)).drop_nulls("_problem"),
        lambda row: f"{row['_problem']} It is not drawn.",
        _DRAWN,
        lambda row: f"{column}[{row['index']}].box",
    )


def _can_be_drawn() -> pl.Expr:
    """Tell of millions of boxes at once that :func:`box_problem` has nothing to say of them."""
    x, y, width, height = numbers = [pl.col("box").list.get(n, null_on_oob=True) for n in range(4)]
    return pl.all_horizontal(
        pl.col("box").list.len() == len(numbers),
        *(number.is_finite() for number in numbers),
        width > 0,
        height > 0,
        x + width > 0,
        y + height > 0,
        (x < pl.col("width")).fill_null(True),
        (y < pl.col("height")).fill_null(True),
    ).fill_null(False)


def _report_unknown_images(boxes: pl.DataFrame, column: str, source: TableSource) -> None:
    severity: Severity = "error" if column == "reference_boxes" else "warning"
    unknown = boxes.filter(pl.col("_known").is_null() & pl.col("case").is_not_null())
    source.report_rows(
        severity,
        unknown.filter(pl.col("image") != ""),
        lambda row: f"The case has no image {quoted(row['image'])}.",
        "Use the id of one of the case's images.",
        lambda row: f"{column}[{row['index']}].image",
    )
    source.report_rows(
        severity,
        unknown.filter(pl.col("image") == ""),
        "The box does not say on which image it lies.",
        "Give the id of one of the case's images.",
        lambda row: f"{column}[{row['index']}].image",
    )
