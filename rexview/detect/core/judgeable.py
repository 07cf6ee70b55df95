"""The answers that can be judged for a failure, with who says that they show it."""

from __future__ import annotations

from typing import Final

import polars as pl

from rexview.detect.core.flags import Survey

_KEY: Final = ("case", "model", "failure")


def judged_answers(survey: Survey) -> pl.DataFrame:
    """List every answer that can be judged, once for each failure that it can be judged for.

    Returns
    -------
    polars.DataFrame
        ``case``, ``model``, ``failure``, ``detected`` (a detector's flag that stands), ``marked``
        (a reader says so), ``hinted`` (a detector's hint that stands), all Boolean.
    """
    by_detector = pl.col("source") == "detector"
    said = (
        survey.flags.filter("stands")
        .group_by(_KEY)
        .agg(
            (by_detector & ~pl.col("hint")).any().alias("detected"),
            (~by_detector).any().alias("marked"),
            pl.col("hint").any().alias("hinted"),
        )
    )
    judged = survey.judged.select(_KEY).unique(maintain_order=True)
    return judged.join(said, on=_KEY, how="left", maintain_order="left").with_columns(
        pl.col("detected", "marked", "hinted").fill_null(False)
    )
