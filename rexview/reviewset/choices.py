"""Choices that stand only in the answers' texts: read when a set is opened, and marked as read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from rexview import frames

if TYPE_CHECKING:
    from rexview.reviewset.choice_process import Asked


def with_choices_read(answers: pl.DataFrame, cases: pl.DataFrame) -> pl.DataFrame:
    """Fill in the choice of answers to choice questions that give none but have a text.

    ``_choice_read`` says how it was read and where in the text; it is null where a choice was given
    or none could be read. A given choice is never changed.
    """
    kind = frames.ANSWERS["_choice_read"]
    questions = cases.filter(
        pl.col("question_type") == "choice", pl.col("options").list.len() > 0
    ).select("question", "options", case="id")
    asked = (
        answers.with_row_index("_at")
        .filter(pl.col("choice").is_null(), pl.col("text").str.contains(r"\S"))
        .select("_at", "case", "text")
        .join(questions.unique("case"), on="case", maintain_order="left")
    )
    places, options, places_in_text = [], [], []
    wanted: list[Asked] = [
        (text, tuple(option or "" for option in given), question or "")
        for _, _, text, question, given in asked.iter_rows()
    ]
    different = list(dict.fromkeys(wanted))
    choices = {}
    if different:  # most sets have no such questions
        from rexview.reviewset.choice_process import read_choices

        choices = dict(zip(different, read_choices(different), strict=True))
    for at, asked_for in zip(asked["_at"].to_list(), wanted, strict=True):
        found = choices[asked_for]
        if found:
            places.append(at)
            options.append(found.option)
            places_in_text.append({"method": found.method, "start": found.start, "end": found.end})
    if not places:
        return answers.with_columns(pl.lit(None, kind).alias("_choice_read"))
    read = pl.DataFrame(
        {"_at": places, "_option": options, "_choice_read": places_in_text},
        schema={"_at": pl.UInt32(), "_option": pl.Int64(), "_choice_read": kind},
    )
    return (
        answers.with_row_index("_at")
        .join(read, on="_at", how="left", maintain_order="left")
        .with_columns(pl.coalesce("choice", "_option").alias("choice"))
        .drop("_at", "_option")
    )
