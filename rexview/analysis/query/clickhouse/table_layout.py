"""The tables in ClickHouse: their columns, their creation, and rows as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import polars as pl

from rexview.analysis.query.clickhouse.database import ClickHouseDatabase, quote_name

LAYOUT_NUMBER: Final = 5
"""Number of the tables' layout; sets of another layout have to be loaded again."""
CASES_TABLE: Final = f"rexview_cases_{LAYOUT_NUMBER}"
RECORDS_TABLE: Final = f"rexview_records_{LAYOUT_NUMBER}"
LOADS_TABLE: Final = f"rexview_loads_{LAYOUT_NUMBER}"

_WORDS, _CODES = pl.List(pl.String()), pl.List(pl.UInt32())
CASE_COLUMNS: Final = pl.Schema(
    {
        "version": pl.String(),
        "shard": pl.UInt64(),  # a hash of the id
        "case_row": pl.UInt32(),  # the case's place in the files
        "id": pl.String(),
        "patient": pl.UInt32(),  # cases of one patient, else of one study, have the same number
        "question_type": pl.String(),  # empty where it is not known; see `known` in the load
        "category": pl.String(),
        "difficulty": pl.String(),
        "site": pl.String(),
        "study": pl.String(),
        "tags": _WORDS,  # name:value, as in the filter
        "outcomes": _WORDS,  # outcomes of a choice question, as in the filter
        "phrases_of_report": _CODES,  # indices into the phrases of the load
        "question": pl.String(),
        "findings": pl.String(),
        "impression": pl.String(),
    }
)
"""Columns of each case."""
ANSWER_COLUMNS: Final = pl.Schema(
    {
        "model": pl.UInt16(),  # index into the models of the load; their number: no answer
        "answered": pl.UInt8(),  # 1 for an answer, 0 for the row of a case without any
        "status": pl.UInt8(),  # index into ANSWER_STATUSES
        "created": pl.Int64(),  # microseconds since 1970
        "answer_text": pl.String(),
        "by_source": pl.UInt64(),  # as in Flagged.by_source, detectors only
        "judged": pl.UInt32(),  # bits of FAILURE_BITS
        "named": pl.UInt32(),  # bits of the failures whose finding is known
        "about": _WORDS,  # failure|detector or hint|finding
        "looked_at": pl.UInt8(),  # 0 no detector yet, 1 detectors have run, 2 a detector failed
        "severity": pl.Float32(),
        "phrases": _CODES,
        "again": _WORDS,  # outcomes of asking the same question again, as in the filter
        "opinions": _WORDS,  # about:said:prompt:judge, as in the filter
        "metric_values": pl.List(pl.Float64()),  # in the order of the load's metrics, NaN: none
        "choice": pl.Int16(),  # as in Chosen.option: -1 failed, -2 not asked or no choice question
        "repeats": pl.List(pl.UInt32()),  # times, side, is_choice, usable, choice; empty: once
    }
)
"""Columns of each answer, in the order of the models. In ``cases`` they are arrays. A case without
answers has one row."""
RIGHT_OPTION: Final = "right_option"
STUDY_COLUMNS: Final = pl.Schema(
    {
        "to_score": pl.UInt8(),  # 1 where readers have something to score
        "to_answer": pl.UInt8(),  # 1 where readers answer the question
        "n_reports": pl.UInt16(),  # reports that readers correct, and compare in pairs
    }
)
"""Columns of each case with the work for readers."""
RECORD_COLUMNS: Final = pl.Schema(
    {
        "version": pl.String(),
        "shard": pl.UInt64(),
        "case_row": pl.UInt32(),
        "id": pl.String(),
        "patient": pl.UInt32(),
        "record": pl.String(),  # the row of the table cases, as JSON
        "answers": _WORDS,  # rows of answers, all runs, in the order of the file
        "metrics": _WORDS,
        "stale_metrics": _WORDS,
        "opinions": _WORDS,
        "stale_opinions": _WORDS,
        "flags": _WORDS,  # index of the answer among the newest, failure, kind, finding, ...
        "looked_at": pl.List(pl.UInt8()),  # of the newest answers
        "judged_by": _CODES,  # bits of the detectors that judge without scores
        "words": _CODES,  # of each answer's text
        "traits": pl.List(pl.UInt8()),  # rexview.detect.scan.batch
        "phrases": pl.List(_CODES),  # of the newest answers
        "phrases_of_report": _CODES,
    }
)
TABLES_BY_CASE: Final = ("answers", "metrics", "stale_metrics", "opinions", "stale_opinions")
"""Tables whose rows are stored with their case."""
FLAG_COLUMNS: Final = pl.Schema(
    {
        "place": pl.UInt32(),  # index of the answer among the newest of its case
        "failure": pl.String(),
        "kind": pl.String(),
        "finding": pl.String(),
        "message": pl.String(),
        "evidence": pl.String(),
    }
)
"""Columns of a flag in the records of a case."""
LOAD_COLUMNS: Final = pl.Schema(
    {
        "review_set": pl.String(),  # the set's short name
        "version": pl.String(),
        "state": pl.String(),  # begun, shown
        "fingerprint": pl.String(),  # the state of the files
        "manifest": pl.String(),
    }
)
CASES_TABLE_COLUMNS: Final = pl.Schema(
    CASE_COLUMNS
    | {RIGHT_OPTION: pl.Int16()}
    | dict(STUDY_COLUMNS)
    | {name: pl.List(kind) for name, kind in ANSWER_COLUMNS.items()}
)
"""Columns of the table ``cases``."""
_TYPES: Final = {
    pl.Int16: "Int16",
    pl.Int64: "Int64",
    pl.UInt8: "UInt8",
    pl.UInt16: "UInt16",
    pl.UInt32: "UInt32",
    pl.UInt64: "UInt64",
    pl.Float32: "Float32",
    pl.Float64: "Float64",
    pl.String: "String",
}
_LOW_CARDINALITY_COLUMNS: Final = frozenset(
    (
        *("version", "question_type", "category", "difficulty", "site", "study"),
        *("tags", "outcomes", "about", "again", "opinions"),
    )
)
"""Columns that repeat the same few words."""
_COMPRESSED_COLUMNS: Final = frozenset(
    ("question", "findings", "impression", "answer_text", "record", "answers", "flags")
)


def _type(name: str, kind: pl.DataType) -> str:
    if isinstance(kind, pl.List):
        return f"Array({_type(name, kind.inner)})"  # type: ignore[arg-type]
    plain = _TYPES[type(kind)]
    return (
        f"LowCardinality({plain})"
        if name in _LOW_CARDINALITY_COLUMNS and plain == "String"
        else plain
    )


def _columns(schema: pl.Schema) -> str:
    columns = []
    for name, kind in schema.items():
        packed = " CODEC(ZSTD(3))" if name in _COMPRESSED_COLUMNS else ""
        columns.append(f"{name} {_type(name, kind)}{packed}")
    return ", ".join(columns)


def _statements(cluster: str) -> list[str]:
    """Return the statements that create the tables, on a cluster also the distributed ones."""
    by_case = "ENGINE = MergeTree PARTITION BY version ORDER BY"
    tables = {
        CASES_TABLE: (_columns(CASES_TABLE_COLUMNS), f"{by_case} case_row"),
        # few rows of long text: small granules, so that a query reads little more than it needs
        RECORDS_TABLE: (
            _columns(RECORD_COLUMNS),
            f"{by_case} (id, case_row) SETTINGS index_granularity = 32",
        ),
        LOADS_TABLE: (
            f"{_columns(LOAD_COLUMNS)}, at DateTime64(6) DEFAULT now64(6)",
            "ENGINE = MergeTree ORDER BY (review_set, at)",
        ),
    }
    if not cluster:
        return [
            f"CREATE TABLE IF NOT EXISTS {name} ({columns}) {engine}"
            for name, (columns, engine) in tables.items()
        ]
    on, made = f"ON CLUSTER {quote_name(cluster)}", []
    for name, (columns, engine) in tables.items():
        key = "shard" if name != LOADS_TABLE else "0"
        made += [
            f"CREATE TABLE IF NOT EXISTS {name}_local {on} ({columns}) {engine}",
            f"CREATE TABLE IF NOT EXISTS {name} {on} ({columns}) ENGINE = "
            f"Distributed({quote_name(cluster)}, currentDatabase(), {name}_local, {key})",
        ]
    return made


def create_tables(database: ClickHouseDatabase) -> None:
    """Create the tables that do not exist.

    Raises
    ------
    EngineUnreachable
    """
    for statement in _statements(database.cluster):
        database.run(statement)


def drop_version(database: ClickHouseDatabase, version: str) -> None:
    """Remove everything of one version of a set.

    Raises
    ------
    EngineUnreachable
    """
    local = "_local" if database.cluster else ""
    on = f" ON CLUSTER {quote_name(database.cluster)}" if database.cluster else ""
    for table in (CASES_TABLE, RECORDS_TABLE):
        # safe in SQL: this program generated the version from letters and digits
        database.run(f"ALTER TABLE {table}{local}{on} DROP PARTITION '{version}'")
    database.run(
        f"ALTER TABLE {LOADS_TABLE}{local}{on} DELETE WHERE version = {{version:String}}",
        {"version": version},
    )


# Rows of a review set's tables as JSON and back, without loss.
#
# ClickHouse has no nullable lists or records, but a case has to be shown exactly as in its file.


def encode_rows(rows: pl.DataFrame) -> pl.Series:
    """Return each row as JSON."""
    plain = (pl.col(name).cast(_json_type(kind)) for name, kind in rows.schema.items())
    as_record = rows.select(pl.struct(plain).alias("record"))
    return as_record.select(pl.col("record").struct.json_encode()).to_series()


def decode_rows(texts: Iterable[str], schema: pl.Schema) -> pl.DataFrame:
    """Return the rows of texts from :func:`encode_rows`; ``schema`` is that of their table."""
    column = pl.Series("record", list(texts), dtype=pl.String)
    if column.is_empty():
        return schema.to_frame()
    kinds = pl.Struct({name: _json_type(kind) for name, kind in schema.items()})
    return column.str.json_decode(kinds).struct.unnest().cast(schema)


def _json_type(kind: pl.DataType) -> pl.DataType:
    """Return the type that represents another one in JSON."""
    if isinstance(kind, pl.List):
        return pl.List(_json_type(kind.inner))  # type: ignore[arg-type]
    if isinstance(kind, pl.Struct):
        return pl.Struct({one.name: _json_type(one.dtype) for one in kind.fields})  # type: ignore[arg-type]
    if isinstance(kind, pl.Enum | pl.Categorical):
        return pl.String()
    return pl.Int64() if isinstance(kind, pl.Datetime) else kind
