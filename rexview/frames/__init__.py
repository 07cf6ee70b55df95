"""Columns and types of the tables of an open review set (polars).

They are the declared columns of the files (:mod:`rexview.columns`) but for what spares every query
from parsing: ``usage`` is spread over three columns, raw spellings stand beside the normalised word
(``finish_reason_raw``, ``view_raw``), and scores are small numbers. What starts with an underscore
comes from loading: ``_row``, the row in the file from 1; ``_newest``, whether an answer is of the
newest run of its case and model, the one shown by default, ``_repeated``, whether it is of that
run, too, asked another time; ``_choice_read``, how a choice was read
from the text (:data:`rexview.choices.METHODS`) and where; ``_origin``, ``file`` for what was given
with the set and ``app`` for what was written here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import polars as pl

from rexview import columns, vocab

_RAW: Final = {"view": "view_raw", "finish_reason": "finish_reason_raw"}
_SMALL: Final = frozenset(("score", "severity", *vocab.CRITERIA))
_LOADED: Final[dict[str, dict[str, pl.DataType]]] = {
    "answers": {
        "_newest": pl.Boolean(),
        "_repeated": pl.Boolean(),
        "_choice_read": pl.Struct({"method": pl.String(), "start": pl.Int64(), "end": pl.Int64()}),
    },
    "scores": {"_origin": pl.String()},
    "flags": {"_origin": pl.String()},
    "edits": {"_origin": pl.String()},
    "choices": {"_origin": pl.String()},
    "preferences": {"_origin": pl.String()},
    "references": {"_origin": pl.String()},
    "comments": {"_origin": pl.String()},
    "decisions": {"_origin": pl.String()},
    "candidates": {"_origin": pl.String()},
    "candidate_ratings": {"_origin": pl.String()},
    "candidate_tags": {"_origin": pl.String()},
    "selections": {"_origin": pl.String()},
    "validations": {"_origin": pl.String()},
}


def _types(declared: Iterable[columns.Column]) -> dict[str, pl.DataType]:
    found: dict[str, pl.DataType] = {}
    for column in declared:
        if column.name == "usage":
            continue
        found[column.name] = column.dtype
        if column.kind == "integer" and column.name in _SMALL:
            found[column.name] = pl.Int8()
        if column.kind == "records":
            found[column.name] = pl.List(pl.Struct(_types(column.fields)))
        if column.name in _RAW:
            found[_RAW[column.name]] = pl.String()
    return found


TABLES: Final[dict[str, pl.Schema]] = {
    name: pl.Schema(_types(table.columns) | {"_row": pl.UInt32()} | _LOADED.get(name, {}))
    for name, table in columns.TABLES.items()
}
CASES: Final = TABLES["cases"]
ANSWERS: Final = TABLES["answers"]
SCORES: Final = TABLES["scores"]
FLAGS: Final = TABLES["flags"]
METRICS: Final = TABLES["metrics"]
EDITS: Final = TABLES["edits"]
CHOICES: Final = TABLES["choices"]
PREFERENCES: Final = TABLES["preferences"]
REFERENCES: Final = TABLES["references"]
OPINIONS: Final = TABLES["opinions"]
COMMENTS: Final = TABLES["comments"]
DECISIONS: Final = TABLES["decisions"]
CANDIDATES: Final = TABLES["candidates"]
CANDIDATE_RATINGS: Final = TABLES["candidate_ratings"]
CANDIDATE_TAGS: Final = TABLES["candidate_tags"]
SELECTIONS: Final = TABLES["selections"]
VALIDATIONS: Final = TABLES["validations"]


def given_choice() -> pl.Expr:
    """Return the choices that were given with the answers, without those read from their texts."""
    read = pl.col("_choice_read").struct.field("method").is_not_null()
    return pl.when(~read).then("choice").alias("choice")


IMAGE: Final[pl.Struct] = CASES["images"].inner  # type: ignore[attr-defined]
