"""Problems of questions in the making, and of judges' opinions, that no column shows by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl

from rexview.reviewset.problems import quoted
from rexview.reviewset.tables.source import TableSource

OWN: Final = "o-"
"""Before the name of a candidate that a person wrote, which is in the reviews, not in the files."""
_OF_CANDIDATES: Final = ("candidate_ratings", "candidate_tags", "selections", "validations")


def check_curation(tables: Mapping[str, pl.DataFrame], sources: Mapping[str, TableSource]) -> None:
    """Check rows that name a candidate, choice candidates, and opinions."""
    if "opinions" in sources:
        _check_opinions(tables["opinions"], sources["opinions"])
    if "candidates" in sources:
        _check_choice(tables["candidates"], sources["candidates"])
    known = tables["candidates"].select("case", "candidate")
    for name in _OF_CANDIDATES:
        if name in sources:
            named = pl.all_horizontal(pl.col("case", "candidate").is_not_null())
            rows = tables[name].filter(named & ~pl.col("candidate").str.starts_with(OWN))
            sources[name].report_rows(
                "warning",
                rows.join(known, on=["case", "candidate"], how="anti", maintain_order="left"),
                lambda row: (
                    f"There is no candidate {quoted(row['candidate'])} of {quoted(row['case'])}."
                ),
                "Add it to candidates, or remove the row.",
                "candidate",
            )


def _check_opinions(opinions: pl.DataFrame, source: TableSource) -> None:
    is_failure, is_dimension = (pl.col(name).is_not_null() for name in ("failure", "dimension"))
    source.report_rows(
        "error",
        opinions.filter(is_failure == is_dimension),
        "An opinion is of one failure or of one dimension.",
        "Give one of the two columns.",
        "failure",
    )
    wrong = (is_failure & pl.col("score").is_not_null()) | (
        is_dimension & pl.col("present").is_not_null()
    )
    source.report_rows(
        "error",
        opinions.filter((is_failure != is_dimension) & wrong),
        "A failure has present, a dimension has a score, not the other way round.",
        "Empty the other column.",
        "present",
    )


def _check_choice(candidates: pl.DataFrame, source: TableSource) -> None:
    options = pl.col("options").list.len()
    source.report_rows(
        "error",
        candidates.filter((pl.col("question_type") == "choice") & (pl.col("correct") >= options)),
        lambda row: (
            f"Option {row['correct']} is marked correct, but there are {len(row['options'])}; "
            "the first is 0."
        ),
        "Count the options from 0.",
        "correct",
    )
