"""Export Parquet with one row an answer; boxes, scores, flags and remarks are lists of records.

A case without answers has one row. Title, notice and privacy notes are in the file's metadata, the
notice also in a column.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from rexview.export.export_job import ExportProgress
from rexview.export.export_records import ExportAnswer, ExportCase, ExportContent
from rexview.export.tables import FINALS, Row, answer_row, box_row, case_row, plain_rows

_AT_ONCE: Final = 200
"""Rows that are written together."""
_TEXT, _NUMBER, _WHOLE, _YES_NO = pa.string(), pa.float64(), pa.int64(), pa.bool_()
_TIME, _DAY, _TEXTS = pa.timestamp("us", "UTC"), pa.date32(), pa.list_(pa.string())


def _records(**columns: pa.DataType) -> pa.DataType:
    return pa.list_(pa.struct(list(columns.items())))


def _texts(*names: str) -> dict[str, pa.DataType]:
    return dict.fromkeys(names, _TEXT)


_BOXES: Final = _records(
    **_texts("image", "label"),
    **dict.fromkeys(("x", "y", "width", "height"), _NUMBER),
    side=_TEXT,
    score=_NUMBER,
    unsure=_YES_NO,
    problem=_TEXT,
)
SCHEMA: Final = pa.schema(
    {
        "number": _WHOLE,
        **_texts("case", "study", "patient", "site", "section"),
        "shown_s": _NUMBER,
        **_texts("question_type", "category", "difficulty"),
        "normal": _YES_NO,
        "tags": _TEXTS,
        **_texts("age", "sex", "indication", "comparison", "question"),
        "options": _TEXTS,
        **_texts("right_option", "right_explanation", "report_findings", "report_impression"),
        "views": _TEXTS,
        "votes": _WHOLE,
        **_texts("voted_right", "voted_harm"),
        **_texts("model", "model_name", "answer", "status", "finish_reason", "choice"),
        "choice_correct": _YES_NO,
        **_texts("explanation", "run", "prompt"),
        "created": _TIME,
        **dict.fromkeys(FINALS, _NUMBER),
        "n_readers": _WHOLE,
        "reference_boxes": _BOXES,
        "boxes": _BOXES,
        "scores": _records(
            **_texts("reader", "dimension"),
            score=_WHOLE,
            image=_WHOLE,
            comment=_TEXT,
            created=_TIME,
        ),
        "flags": _records(
            **_texts("failure", "name", "source", "message"),
            hint=_YES_NO,
            **_texts("reader", "verdict"),
            severity=_WHOLE,
        ),
        "marks": _records(
            **_texts("failure", "name", "version", "reader"), comment=_TEXT, created=_TIME
        ),
        "comments": _records(
            **_texts("id", "model", "person", "text", "on"),
            at=_TIME,
            reply_to=_TEXT,
            resolved=_YES_NO,
        ),
        "decisions": _records(
            **_texts("model", "meeting", "meeting_name"),
            held=_DAY,
            **_texts("reader", "failure", "failure_name"),
            severity=_WHOLE,
            **_texts("decision", "decision_name", "owner"),
            due=_DAY,
            **dict.fromkeys(("done", "is_open"), _YES_NO),
            comment=_TEXT,
            created=_TIME,
            stale=_YES_NO,
        ),
        "notice": _TEXT,
    }
)


def write(content: ExportContent, out: Path, progress: ExportProgress) -> None:
    """Write the table, some rows at a time."""
    said = {
        "title": content.title,
        "review_set": content.set_name,
        "notice": content.notice,
        "privacy": " ".join(content.notes),
    }
    schema = SCHEMA.with_metadata({name: words for name, words in said.items() if words})
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        rows: list[Row] = []
        for case in progress.over(content):
            rows += [_row(content, case, answer) for answer in case.answers or (None,)]
            if len(rows) >= _AT_ONCE:
                writer.write_table(pa.Table.from_pylist(rows, schema))
                rows = []
        writer.write_table(pa.Table.from_pylist(rows, schema))


def _row(content: ExportContent, case: ExportCase, answer: ExportAnswer | None) -> Row:
    """Return a row; the schema drops fields that a struct does not have."""
    model = answer.model if answer else None

    def of_answer(records: Any) -> list[Row]:
        return list(plain_rows(case, (one for one in records if one.model == model)))

    def of_case(records: Any) -> list[Row]:
        return list(plain_rows(case, (one for one in records if one.model in (None, model))))

    return {
        **case_row(case),
        **answer_row(content, case, answer),
        "reference_boxes": [box_row(case, box) for box in case.reference_boxes],
        "boxes": [box_row(case, box) for box in (answer.boxes if answer else ())],
        "scores": of_answer(case.scores),
        "flags": of_answer(case.flags),
        "marks": of_answer(case.marks),
        "comments": of_case(case.comments),
        "decisions": of_case(case.decisions),
        "notice": content.notice or None,
    }
