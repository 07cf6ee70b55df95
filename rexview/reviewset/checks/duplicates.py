"""Rows that are there twice, and which run of a model is the newest."""

from __future__ import annotations

from typing import Final

import polars as pl

from rexview.columns import Table
from rexview.reviewset.tables.source import TableSource

_PAIR: Final = ["case", "model"]
_RUN_KEY: Final = [*_PAIR, "run_id", "_run"]
_TELL_APART: Final = ", or give each run a run_id of its own, and each time that it asked a repeat."


def without_duplicates(frame: pl.DataFrame, table: Table, source: TableSource) -> pl.DataFrame:
    """Drop rows that repeat an earlier row exactly, and report them.

    A row that has the key of an earlier row but says something else is an error. Answers without a
    ``run_id`` are told apart by ``created`` (see :func:`_with_runs`).
    """
    key = list(table.key) or [name for name in frame.columns if name != "_row"]
    if table.name == "answers":
        alike = _alike(frame, _PAIR)  # mostly there is one run, and this is quicker
        if not alike.any():
            return frame
        keyed = _with_runs(frame.filter(alike))
        key = [*_RUN_KEY, "_repeat"]
    else:
        keyed = frame
    named = [column.name for column in table.columns if column.required and column.name in key]
    suspects = keyed.filter(_alike(keyed, key) & pl.all_horizontal(pl.col(named).is_not_null()))
    if suspects.is_empty():
        return frame
    content = pl.struct(pl.exclude("_row", "repeat", "_repeat", "_run")).struct.json_encode()
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
        "Keep one of them" + (_TELL_APART if table.name == "answers" else "."),
        table.key[0] if len(table.key) == 1 else None,
    )
    return frame.join(again.select("_row"), on="_row", how="anti", maintain_order="left")


def _with_runs(answers: pl.DataFrame) -> pl.DataFrame:
    """Add what tells answers to a case apart besides their names: ``_repeat`` and ``_run``.

    ``_repeat`` is 1 where none is given. ``_run`` is the date where there is no ``run_id``; where
    repeats are numbered, all without a ``run_id`` are of one run.
    """
    answers = answers.with_columns(_repeat=pl.col("repeat").fill_null(1))
    is_dated = pl.col("run_id").is_null()
    if _has_repeats(answers):
        is_dated &= pl.col("_repeat").max().over(*_PAIR, "run_id") == 1
    return answers.with_columns(_run=pl.when(is_dated).then("created"))


def _has_repeats(answers: pl.DataFrame) -> bool:
    return bool((answers["_repeat"] > 1).any())


def _alike(frame: pl.DataFrame, key: list[str]) -> pl.Series:
    """Mark rows that have their key in common with another row.

    Hashes are compared first, as most tables have no such rows and may have millions of others.
    """
    if frame.select(key).hash_rows().n_unique() == frame.height:
        return pl.Series([False]).new_from_index(0, frame.height)
    return frame.select(key).is_duplicated()


def with_newest(answers: pl.DataFrame) -> pl.DataFrame:
    """Mark, for each case and model, the answer that is shown in ``_newest``.

    It is of the newest run: the latest by ``created``; without dates, or where they are equal, the
    last in the file. Of a run that asked several times it is the first that is there; ``_repeated``
    marks the others.
    """
    alike = answers.filter(_alike(answers, _PAIR))
    if alike.is_empty():
        return answers.with_columns(_newest=pl.lit(True), _repeated=pl.lit(False))
    several = _with_runs(alike.select(*_PAIR, "run_id", "repeat", "created", "_row"))
    shown = several.sort("created", "_row", nulls_last=False).unique(_PAIR, keep="last")
    newest = shown
    if _has_repeats(several):
        newest = several.join(shown, on=_RUN_KEY, how="semi", nulls_equal=True)
        shown = newest.sort("_repeat", "_row").unique(_PAIR, keep="first")
    rows = shown["_row"].implode()
    hidden = several.filter(~pl.col("_row").is_in(rows))["_row"].implode()
    again = newest.filter(~pl.col("_row").is_in(rows))["_row"].implode()
    return answers.with_columns(
        _newest=~pl.col("_row").is_in(hidden), _repeated=pl.col("_row").is_in(again)
    )
