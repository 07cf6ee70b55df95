"""Check references between tables, and rules across columns of questions and opinions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import polars as pl

from rexview import vocab
from rexview.columns import DeclaredTable
from rexview.reviewset.problems import join_alternatives, quote_value
from rexview.reviewset.tables.source import TableSource
from rexview.schema import SetInfo

OWN_CANDIDATE_PREFIX: Final = "o-"
"""Prefix of the id of a candidate that a person wrote; it is in the reviews, not in the files."""
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
            rows = tables[name].filter(
                named & ~pl.col("candidate").str.starts_with(OWN_CANDIDATE_PREFIX)
            )
            sources[name].report_rows(
                "warning",
                rows.join(known, on=["case", "candidate"], how="anti", maintain_order="left"),
                lambda row: (
                    f"There is no candidate {quote_value(row['candidate'])} of "
                    f"{quote_value(row['case'])}."
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


Tables = Mapping[str, pl.DataFrame]
Sources = Mapping[str, TableSource]
_ABOUT_ANSWERS: Final = ("scores", "flags", "metrics", "edits", "opinions")
_ABOUT_CASES: Final = (
    *("choices", "preferences", "references", "comments", "decisions"),
    *("candidates", "candidate_ratings", "candidate_tags", "selections", "validations"),
)
_MODELS: Final = dict.fromkeys(_ABOUT_CASES, ()) | {
    "preferences": ("first", "second"),
    "comments": ("model",),
    "decisions": ("model",),
}
"""Columns that name a model of the set, if not ``model``."""


def check_references(tables: Tables, sources: Sources, info: SetInfo, *, all_cases: bool) -> None:
    """Check every reference between tables.

    ``all_cases`` is false if rows of ``cases`` could not be read. An unknown case is then no
    problem of the row that refers to it.
    """
    cases = tables["cases"]["id"]
    for name in ("answers", *_ABOUT_ANSWERS, *_ABOUT_CASES):
        if name not in sources:
            continue
        if all_cases:
            _check_cases(tables[name], sources[name], cases)
        for column in _MODELS.get(name, ("model",)):
            _check_models(name, column, tables, sources[name], info)
        if "reader" in tables[name].columns:
            _check_readers(tables[name], sources[name], info)
    if "answers" in sources:
        for name in _ABOUT_ANSWERS:
            if name in sources:
                _check_answers_exist(tables[name], sources[name], tables["answers"], cases)
    if "scores" in sources:
        _check_pictures(tables["scores"], sources["scores"], tables["answers"])
    if "preferences" in sources:
        _check_pairs(tables["preferences"], sources["preferences"])
    _check_choices(tables, sources)


def _check_cases(frame: pl.DataFrame, source: TableSource, cases: pl.Series) -> None:
    source.report_rows(
        "error",
        frame.filter(~pl.col("case").is_in(cases.implode())),
        lambda row: f"There is no case {quote_value(row['case'])}.",
        "Use the id of a row of cases, or remove the row.",
        "case",
    )


def _check_models(
    name: str, column: str, tables: Tables, source: TableSource, info: SetInfo
) -> None:
    """Report models new to the set: undeclared ones in answers, unknown ones elsewhere."""
    known = {model.id for model in info.models}
    if name != "answers":
        known |= set(tables["answers"]["model"].unique().drop_nulls().to_list())
    for model, rows in _unknown_values(known, tables[name], column):
        message = (
            f"The model {quote_value(model)} is not declared; it is shown under its id "
            f"({rows.height:,} "
            f"row{'s'[: rows.height != 1]})."
        )
        remedy = "Add it to models in reviewset.yaml."
        source.report_rows("warning", rows.head(1), message, remedy, column)


def _check_readers(frame: pl.DataFrame, source: TableSource, info: SetInfo) -> None:
    frame = frame.filter(~pl.col("reader").str.starts_with(vocab.JUDGE))  # no person to declare
    for reader, rows in _unknown_values({reader.id for reader in info.readers}, frame, "reader"):
        message = f"The reader {quote_value(reader)} is not declared and is shown under this id."
        remedy = "Add the reader to readers in reviewset.yaml."
        source.report_rows("warning", rows.head(1), message, remedy, "reader")


def _unknown_values(
    known: set[str], frame: pl.DataFrame, column: str
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield each unknown value with its rows; nothing if no value is known."""
    if known:
        for value in sorted(set(frame[column].unique().drop_nulls().to_list()) - known):
            yield value, frame.filter(pl.col(column) == value)


def _check_answers_exist(
    frame: pl.DataFrame,
    source: TableSource,
    answers: pl.DataFrame,
    cases: pl.Series,
) -> None:
    """Report rows about a missing answer; those of unknown cases were reported already."""
    pair = ["case", "model"]
    asked = frame.select(pair).drop_nulls().unique()
    present = answers.select(pair).join(asked, on=pair, how="semi")
    absent = asked.join(present, on=pair, how="anti")
    absent = absent.filter(pl.col("case").is_in(cases.implode()))
    source.report_rows(
        "warning",
        frame.join(absent, on=pair, how="semi", maintain_order="left"),
        lambda row: (
            f"There is no answer of {quote_value(row['model'])} to {quote_value(row['case'])}."
        ),
        "Add the answer, or remove the row.",
    )


def _check_pictures(scores: pl.DataFrame, source: TableSource, answers: pl.DataFrame) -> None:
    placed = scores.filter(pl.col("image").is_not_null())
    if placed.is_empty():
        return
    of_text = ~pl.col("dimension").is_in(vocab.IMAGE_DIMENSIONS)
    source.report_rows(
        "warning",
        placed.filter(of_text),
        lambda row: f"A picture is named, but {row['dimension']} is not scored on pictures.",
        f"Leave image empty, or score {join_alternatives(vocab.IMAGE_DIMENSIONS)}.",
        "image",
    )
    pictures = answers.group_by("case", "model").agg(
        pl.col("images").list.len().max().cast(pl.Int64).alias("_pictures")
    )
    beyond = placed.filter(~of_text).join(
        pictures, on=["case", "model"], how="inner", maintain_order="left"
    )
    source.report_rows(
        "warning",
        beyond.filter(pl.col("image") >= pl.col("_pictures")),
        lambda row: (
            f"Picture {row['image']} is scored, but the answer has {row['_pictures']}; "
            "the first is 0."
        ),
        "Correct the number, or add the picture to the answer's images.",
        "image",
    )


def _check_pairs(preferences: pl.DataFrame, source: TableSource) -> None:
    source.report_rows(
        "error",
        preferences.filter(pl.col("first") == pl.col("second")),
        lambda row: f"The report of {quote_value(row['first'])} is compared with itself.",
        "Name two models.",
        "second",
    )


def _check_choices(tables: Tables, sources: Sources) -> None:
    cases = tables["cases"].select(
        "id", "question_type", "_row", "correct", pl.col("options").list.len().alias("_options")
    )
    choice = cases.filter(pl.col("question_type") == "choice")
    if choice.is_empty() or "cases" not in sources:
        return
    source = sources["cases"]
    message = "A choice question has no options."
    remedy = "List them, or make it an open question."
    source.report_rows("error", choice.filter(pl.col("_options") == 0), message, remedy, "options")
    some = choice.filter(pl.col("_options") > 0)
    source.report_rows(
        "error",
        some.filter(pl.col("correct") >= pl.col("_options")),
        lambda row: (
            f"Option {row['correct']} is marked correct, but there are {row['_options']}; "
            "the first is 0."
        ),
        "Count the options from 0.",
        "correct",
    )
    source.report_rows(
        "warning",
        some.filter(pl.col("correct").is_null()),
        "No option is marked correct, so answers cannot be marked.",
        "Give the number of the right option, counted from 0.",
        "correct",
    )
    fewest = some["_options"].min()  # a choice below that is valid in every case
    options = some.select(pl.col("id").alias("case"), "_options").unique("case")
    for name in ("answers", "choices"):
        if name not in sources:
            continue
        chosen = (
            tables[name]
            .select("case", "choice", "_row")
            .filter((pl.col("choice") < 0) | (pl.col("choice") >= pl.lit(fewest, pl.Int64)))
        )
        beyond = chosen.join(options, on="case", how="inner", maintain_order="left")
        sources[name].report_rows(
            "warning",
            beyond.filter((pl.col("choice") >= pl.col("_options")) | (pl.col("choice") < 0)),
            lambda row: (
                f"Option {row['choice']} is chosen, but there are {row['_options']}; the first "
                "is 0."
            ),
            "Count the options from 0, or leave it empty when no option could be read.",
            "choice",
        )


# Duplicate rows, and the newest run of each model.

_PAIR: Final = ["case", "model"]
_RUN_KEY: Final = [*_PAIR, "run_id", "_run"]
_DISTINGUISHING: Final = (
    ", or give each run a run_id of its own, and each time that it asked a repeat."
)


def drop_duplicate_rows(
    frame: pl.DataFrame, table: DeclaredTable, source: TableSource
) -> pl.DataFrame:
    """Drop rows that repeat an earlier row exactly, and report them.

    A row with the key of an earlier row but other content is an error. Answers without a ``run_id``
    are distinguished by ``created`` (see :func:`_with_runs`).
    """
    key = list(table.key) or [name for name in frame.columns if name != "_row"]
    if table.name == "answers":
        alike = _rows_sharing_key(frame, _PAIR)  # usually there is one run, and this is faster
        if not alike.any():
            return frame
        keyed = _with_runs(frame.filter(alike))
        key = [*_RUN_KEY, "_repeat"]
    else:
        keyed = frame
    named = [column.name for column in table.columns if column.required and column.name in key]
    suspects = keyed.filter(
        _rows_sharing_key(keyed, key) & pl.all_horizontal(pl.col(named).is_not_null())
    )
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
        "Keep one of them" + (_DISTINGUISHING if table.name == "answers" else "."),
        table.key[0] if len(table.key) == 1 else None,
    )
    return frame.join(again.select("_row"), on="_row", how="anti", maintain_order="left")


def _with_runs(answers: pl.DataFrame) -> pl.DataFrame:
    """Add columns that distinguish answers of one model to a case: ``_repeat`` and ``_run``.

    ``_repeat`` is 1 if none is given. ``_run`` is the date if there is no ``run_id``; if repeats
    are numbered, all without a ``run_id`` belong to one run.
    """
    answers = answers.with_columns(_repeat=pl.col("repeat").fill_null(1))
    is_dated = pl.col("run_id").is_null()
    if _has_repeats(answers):
        is_dated &= pl.col("_repeat").max().over(*_PAIR, "run_id") == 1
    return answers.with_columns(_run=pl.when(is_dated).then("created"))


def _has_repeats(answers: pl.DataFrame) -> bool:
    return bool((answers["_repeat"] > 1).any())


def _rows_sharing_key(frame: pl.DataFrame, key: list[str]) -> pl.Series:
    """Mark rows that share their key with another row.

    Hashes are compared first: most tables have no such rows and may have millions of others.
    """
    if frame.select(key).hash_rows().n_unique() == frame.height:
        return pl.Series([False]).new_from_index(0, frame.height)
    return frame.select(key).is_duplicated()


def mark_newest_answers(answers: pl.DataFrame) -> pl.DataFrame:
    """Mark in ``_newest``, for each case and model, the answer that is shown.

    It belongs to the newest run: the latest by ``created``; without dates, or if they are equal,
    the last in the file. Of a run with repeats it is the first one present; ``_repeated`` marks the
    others.
    """
    alike = answers.filter(_rows_sharing_key(answers, _PAIR))
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
