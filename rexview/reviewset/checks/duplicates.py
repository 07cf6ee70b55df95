"""Rows that are there twice, and which run of a model is the newest."""

from __future__ import annotations

import polars as pl

from rexview.columns import Table
from rexview.reviewset.tables.source import TableSource


def without_duplicates(frame: pl.DataFrame, table: Table, source: TableSource) -> pl.DataFrame:
    """Drop rows that repeat an earlier row exactly, and report them.

    A row that has the key of an earlier row but says something else is an error. Answers without a
    ``run_id`` are told apart by ``created``.
    """
    key = list(table.key) or [name for name in frame.columns if name != "_row"]
    if table.name == "answers":
        undated = pl.when(pl.col("run_id").is_null()).then(pl.col("created"))
        keyed = frame.with_columns(undated.alias("_run"))
        key = [*key, "_run"]
        alike = _alike(frame, ["case", "model"])  # mostly there is one run, and this is quicker
        if not alike.any():
            return frame
        keyed = keyed.filter(alike)
    else:
        keyed = frame
    named = [column.name for column in table.columns if column.required and column.name in key]
    suspects = keyed.filter(_alike(keyed, key) & pl.all_horizontal(pl.col(named).is_not_null()))
    if suspects.is_empty():
        return frame
    content = pl.struct(pl.exclude("_row", "_run")).struct.json_encode()
    suspects = suspects.with_columns(content.alias("_content")).with_columns(
        pl.col("_row").first().over(key).alias("_first"),
        pl.col("_content").first().over(key).alias("_first_content"),
        pl.col("_row").first().over([*key, "_content"]).alias("_same"),
    )
    again = suspects.filter(pl.col("_row") != pl.col("_same"))
    source.report_rows(
        "warning",
        again,
        lambda row: f"The row repeats {source.place(row['_same'], row['_row'])} and is left out.",
        "Remove it.",
    )
    other = suspects.filter(
        (pl.col("_row") == pl.col("_same")) & (pl.col("_content") != pl.col("_first_content"))
    )
    names = " and ".join(table.key)
    source.report_rows(
        "error",
        other,
        lambda row: (
            f"The row has the same {names} as {source.place(row['_first'], row['_row'])}, "
            "but says something else."
        ),
        "Keep one of them"
        + (", or give each run a run_id of its own." if table.name == "answers" else "."),
        table.key[0] if len(table.key) == 1 else None,
    )
    return frame.join(again.select("_row"), on="_row", how="anti", maintain_order="left")


def _alike(frame: pl.DataFrame, key: list[str]) -> pl.Series:
    """Mark rows that have their key in common with another row.

    Hashes are compared first, as most tables have no such rows and may have millions of others.
    """
    if frame.select(key).hash_rows().n_unique() == frame.height:
        return pl.Series([False]).new_from_index(0, frame.height)
    return frame.select(key).is_duplicated()


def with_newest(answers: pl.DataFrame) -> pl.DataFrame:
    """Mark, for each case and model, the answer of the newest run in ``_newest``.

    The newest is the latest by ``created``; without dates, or where they are equal, the last in the
    file.
    """
    alike = _alike(answers, ["case", "model"])
    older = (
        answers.filter(alike)
        .select("case", "model", "created", "_row")
        .sort("created", "_row", nulls_last=False)
        .filter(pl.col("_row") != pl.col("_row").last().over("case", "model"))
    )
    if older.is_empty():
        return answers.with_columns(pl.lit(True).alias("_newest"))
    return answers.with_columns((~pl.col("_row").is_in(older["_row"].implode())).alias("_newest"))
