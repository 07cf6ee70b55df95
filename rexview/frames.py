"""Columns and types of the tables of an open review set (polars).

The words are those of ``reviewset/FORMAT.md``. Three things differ from the files, so that a query
never has to parse anything: ``usage`` is spread over three columns; ``tags`` is a list of
``{name, values}``; raw spellings stand beside the normalised word (``finish_reason_raw``,
``view_raw``). Columns that start with an underscore come from loading, not from the file.
"""

from __future__ import annotations

from typing import Final

import polars as pl

IMAGE: Final = pl.Struct(
    {
        "id": pl.String(),
        "path": pl.String(),
        "view": pl.String(),  # vocab.VIEWS
        "view_raw": pl.String(),
        "key": pl.Boolean(),
        "prior": pl.Boolean(),
        "width": pl.Int64(),  # pixels
        "height": pl.Int64(),  # pixels
        "patient_orientation": pl.List(pl.String()),  # DICOM (0020,0020), row then column direction
        "laterality_flip": pl.Boolean(),
    }
)
REFERENCE_BOX: Final = pl.Struct(
    {
        "image": pl.String(),
        "label": pl.String(),
        "box": pl.List(pl.Float64()),  # x, y, width, height in pixels of the stored image
        "side": pl.String(),  # vocab.SIDES
    }
)
ANSWER_BOX: Final = pl.Struct(
    {
        "image": pl.String(),
        "label": pl.String(),
        "box": pl.List(pl.Float64()),
        "score": pl.Float64(),
    }
)
CASES: Final = pl.Schema(
    {
        "id": pl.String(),
        "question": pl.String(),
        "question_type": pl.String(),  # vocab.QUESTION_TYPES
        "category": pl.String(),
        "tags": pl.List(pl.Struct({"name": pl.String(), "values": pl.List(pl.String())})),
        "difficulty": pl.String(),
        "study_id": pl.String(),
        "patient_id": pl.String(),
        "site": pl.String(),
        "normal": pl.Boolean(),
        "context": pl.Struct(
            {
                "age": pl.String(),
                "sex": pl.String(),
                "indication": pl.String(),
                "comparison": pl.String(),
            }
        ),
        "report": pl.Struct({"findings": pl.String(), "impression": pl.String()}),
        "images": pl.List(IMAGE),
        "reference_boxes": pl.List(REFERENCE_BOX),
        "options": pl.List(pl.String()),
        "correct": pl.Int64(),
        "explanation": pl.String(),
        "extra": pl.String(),  # unknown fields, as one JSON object
        "_row": pl.UInt32(),  # 1-based row in its file, in file order
    }
)
ANSWERS: Final = pl.Schema(
    {
        "case": pl.String(),
        "model": pl.String(),
        "run_id": pl.String(),
        "text": pl.String(),
        "finish_reason": pl.String(),  # vocab.FINISH_REASONS
        "finish_reason_raw": pl.String(),
        "input_tokens": pl.Int64(),
        "output_tokens": pl.Int64(),
        "max_output_tokens": pl.Int64(),  # the answer's own limit, else the model's
        "boxes": pl.List(ANSWER_BOX),
        "images": pl.List(pl.String()),
        "choice": pl.Int64(),
        "explanation": pl.String(),
        "error": pl.String(),
        "latency_s": pl.Float64(),
        "created": pl.Datetime("us", "UTC"),
        "prompt_id": pl.String(),
        "extra": pl.String(),
        "_newest": pl.Boolean(),  # the newest run of its (case, model): the one shown by default
        "_row": pl.UInt32(),
    }
)
SCORES: Final = pl.Schema(
    {
        "case": pl.String(),
        "model": pl.String(),
        "reader": pl.String(),
        "dimension": pl.String(),  # vocab.DIMENSIONS
        "score": pl.Int8(),  # 1 to 5; null is not scored, never 0
        "image": pl.Int64(),  # 0-based index into answers.images, image dimensions only
        "comment": pl.String(),
        "created": pl.Datetime("us", "UTC"),
        "answer_digest": pl.String(),  # of the answer that was read: rexview.answer_digest
        "extra": pl.String(),
        "_row": pl.UInt32(),
        "_origin": pl.String(),  # file: given with the set; app: written here
    }
)
FLAGS: Final = pl.Schema(
    {
        "case": pl.String(),
        "model": pl.String(),
        "reader": pl.String(),
        "failure": pl.String(),  # vocab.FAILURES
        "verdict": pl.String(),  # vocab.VERDICTS
        "comment": pl.String(),
        "created": pl.Datetime("us", "UTC"),
        "answer_digest": pl.String(),  # as for scores
        "extra": pl.String(),
        "_row": pl.UInt32(),
        "_origin": pl.String(),  # as for scores
    }
)
METRICS: Final = pl.Schema(
    {
        "case": pl.String(),
        "model": pl.String(),
        "metric": pl.String(),
        "value": pl.Float64(),
        "extra": pl.String(),
        "_row": pl.UInt32(),
    }
)
EDITS: Final = pl.Schema(
    {
        "case": pl.String(),
        "model": pl.String(),
        "reader": pl.String(),
        "line": pl.Int64(),
        "original": pl.String(),
        "edited": pl.String(),
        "action": pl.String(),  # vocab.EDIT_ACTIONS
        "severity": pl.Int8(),  # 0 to 4
        "comment": pl.String(),
        "extra": pl.String(),
        "_row": pl.UInt32(),
    }
)
TABLES: Final[dict[str, pl.Schema]] = {
    "cases": CASES,
    "answers": ANSWERS,
    "scores": SCORES,
    "flags": FLAGS,
    "metrics": METRICS,
    "edits": EDITS,
}
