"""The tables of a review set as declared columns.

One declaration serves reading, checking and writing, ``FORMAT.md`` (a test keeps it in step), and
:mod:`rexview.frames`, which says what the columns become once they are read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

import polars as pl

from rexview import vocab

Kind = Literal[
    "id",  # text that rows are matched by; numbers are taken as text, outer spaces are cut
    "text",
    "word",  # one of the `vocabulary`; case, spaces and hyphens do not matter
    "integer",
    "number",
    "yes_no",
    "date",  # ISO 8601, UTC unless it says otherwise
    "texts",  # list of text
    "tags",  # {text: [text]}
    "box",  # x, y, width, height: pixels of the stored image, origin top left
    "object",  # any JSON object, kept as JSON
    "record",  # object with `fields`
    "records",  # list of such objects
]
_KINDS: Final[dict[Kind, tuple[str, pl.DataType]]] = {
    "id": ("text", pl.String()),
    "text": ("text", pl.String()),
    "word": ("word", pl.String()),
    "integer": ("whole number", pl.Int64()),
    "number": ("number", pl.Float64()),
    "yes_no": ("true or false", pl.Boolean()),
    "date": ("date and time", pl.Datetime("us", "UTC")),
    "texts": ("list of text", pl.List(pl.String())),
    "tags": (
        "{text: [text]}",
        pl.List(pl.Struct({"name": pl.String(), "values": pl.List(pl.String())})),
    ),
    "box": ("[x, y, width, height]", pl.List(pl.Float64())),
    "object": ("object", pl.String()),
}
"""How ``FORMAT.md`` and messages name a kind, and the type of its columns."""


@dataclass(frozen=True)
class Column:
    """One column, or one field of a nested column.

    ``vocabulary`` has the words it may hold; with ``open_vocabulary`` any other word is kept
    with a warning, else it is an error. ``low`` and ``high`` are inclusive. ``fields`` are those of
    a ``record`` or of each of ``records``.
    """

    name: str
    kind: Kind
    meaning: str
    required: bool = False
    vocabulary: tuple[str, ...] = ()
    open_vocabulary: bool = False
    low: float | None = None
    high: float | None = None
    fields: tuple[Column, ...] = ()

    @property
    def dtype(self) -> pl.DataType:
        """The polars type that it is read into, before words are normalised."""
        if self.kind in ("record", "records"):
            struct = pl.Struct({part.name: part.dtype for part in self.fields})
            return struct if self.kind == "record" else pl.List(struct)
        return _KINDS[self.kind][1]

    @property
    def kind_name(self) -> str:
        """The kind in the words of ``FORMAT.md`` and of messages."""
        records = {"record": "object", "records": "list of objects"}
        return records.get(self.kind) or _KINDS[self.kind][0]

    def absent(self, height: int) -> pl.Series:
        """Make the column where a file does not have it: nulls, or empty lists."""
        nothing: list[Any] | None = [] if isinstance(self.dtype, pl.List) else None
        return pl.Series(self.name, [nothing], dtype=self.dtype).new_from_index(0, height)

    def absent_everywhere(self) -> pl.Expr:
        """Make the column where nothing at all is given: one value, whatever the height."""
        nothing: list[Any] | None = [] if isinstance(self.dtype, pl.List) else None
        return pl.lit(nothing, self.dtype).alias(self.name)

    @property
    def is_scalar(self) -> bool:
        """Whether a CSV cell holds it as it is, not as JSON."""
        return self.kind in ("id", "text", "word", "integer", "number", "yes_no", "date")


@dataclass(frozen=True)
class Table:
    """One table: its columns, and the columns that together name a row.

    Two rows that are alike in ``key`` contradict each other, unless they are alike in everything.
    An empty ``key`` means that rows have no name.
    """

    name: str
    meaning: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    required: bool = False
    by_name: dict[str, Column] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {column.name: column for column in self.columns})


_C = Column
_CASE: Final = _C("case", "id", "`id` of the case", required=True)
_MODEL: Final = _C("model", "id", "`id` of the model", required=True)
_READER: Final = _C("reader", "id", "`id` of the reader", required=True)
_COMMENT: Final = _C("comment", "text", "free text")
_CREATED: Final = _C("created", "date", "when it was made")
_ANSWER_DIGEST: Final = _C(
    "answer_digest", "id", "digest of the answer that was read; absent: of the answer as it is"
)
_EXTRA: Final = _C("extra", "object", "any other fields, where they have no column of their own")
_TOKENS: Final = (
    _C("input_tokens", "integer", "tokens read", low=0),
    _C("output_tokens", "integer", "tokens written, reasoning included", low=0),
    _C("max_output_tokens", "integer", "the limit that was set; else the model's", low=0),
)
_BOX: Final = _C("box", "box", "pixels of the stored image, origin top left")

CASES: Final = Table(
    "cases",
    "One row is one case: one question about one study.",
    (
        _C("id", "id", "unique", required=True),
        _C("question", "text", "the task put to the model", required=True),
        _C(
            "question_type",
            "word",
            "ReXecution task, ReXVQA question or ReXrank study; `open` when absent",
            vocabulary=tuple(vocab.QUESTION_TYPES),
        ),
        _C(
            "category",
            "word",
            "kind of task; the first three go with `open`, the others with `choice`",
            vocabulary=tuple(vocab.CATEGORY_NAMES),
            open_vocabulary=True,
        ),
        _C("tags", "tags", 'question tags by name, such as `{"region": ["left lower zone"]}`'),
        _C("difficulty", "word", "", vocabulary=vocab.DIFFICULTIES, open_vocabulary=True),
        _C("study_id", "id", "pseudonymous"),
        _C("patient_id", "id", "pseudonymous"),
        _C("site", "text", "where the study was made, pseudonymous"),
        _C("normal", "yes_no", "study without significant abnormality"),
        _C(
            "context",
            "record",
            "what the requester said",
            fields=(
                _C("age", "text", "such as `64` or `60-70`"),
                _C("sex", "text", ""),
                _C("indication", "text", ""),
                _C("comparison", "text", ""),
            ),
        ),
        _C(
            "report",
            "record",
            "the radiologist's reference",
            fields=(_C("findings", "text", ""), _C("impression", "text", "")),
        ),
        _C(
            "images",
            "records",
            "the study's images",
            fields=(
                _C("id", "id", "unique within the case; boxes refer to it", required=True),
                _C("path", "text", "relative to the images folder", required=True),
                _C(
                    "view",
                    "text",
                    "DICOM ViewPosition; other spellings are understood",
                    vocabulary=tuple(vocab.VIEWS),
                    open_vocabulary=True,
                ),
                _C("key", "yes_no", "the image to show first"),
                _C("prior", "yes_no", "from an earlier study"),
                _C("width", "integer", "pixels; read from the file when absent", low=1),
                _C("height", "integer", "pixels; read from the file when absent", low=1),
                _C(
                    "patient_orientation",
                    "texts",
                    'DICOM (0020,0020), such as `["L", "F"]`; read from the file when absent',
                ),
                _C("laterality_flip", "yes_no", "the pixels are flipped left to right"),
            ),
        ),
        _C(
            "reference_boxes",
            "records",
            "where the findings truly are",
            fields=(
                _C("image", "id", "`id` of the image; not needed when the case has one image"),
                _C("label", "text", "the finding"),
                _BOX,
                _C("side", "word", "the patient's side", vocabulary=vocab.SIDES),
            ),
        ),
        _C("options", "texts", "choice questions: the options"),
        _C("correct", "integer", "choice questions: the right option, counted from 0", low=0),
        _C("explanation", "text", "choice questions: why"),
        _EXTRA,
    ),
    key=("id",),
    required=True,
)

ANSWERS: Final = Table(
    "answers",
    "One row is one model's output for one case in one run, asked once or several times.",
    (
        _CASE,
        _MODEL,
        _C("text", "text", "the answer; empty when none came"),
        _C(
            "finish_reason",
            "text",
            "why it ended; other spellings are understood",
            vocabulary=tuple(vocab.FINISH_REASONS),
            open_vocabulary=True,
        ),
        _C("usage", "record", "token counts", fields=_TOKENS),
        *(_C(part.name, "integer", "the same, outside `usage`", low=0) for part in _TOKENS),
        _C(
            "boxes",
            "records",
            "what the model marked",
            fields=(
                _C("image", "id", "`id` of the image; not needed when the case has one image"),
                _C("label", "text", "the model's word for it"),
                _BOX,
                _C("score", "number", "the model's own confidence"),
                _C("unsure", "yes_no", "how its model counts is not known: enters no failure"),
            ),
        ),
        _C("images", "texts", "pictures that the model returned, relative to the images folder"),
        _C("choice", "integer", "option chosen, counted from 0; absent when none was usable"),
        _C("explanation", "text", "choice questions: the model's reason"),
        _C("error", "text", "what went wrong instead of an answer"),
        _C("latency_s", "number", "seconds from request to answer", low=0),
        _CREATED,
        _C("prompt_id", "id", "which wording of the prompt"),
        _C("run_id", "id", "tells runs of one model apart; the newest by `created` is shown"),
        _C("repeat", "integer", "which time the run asked the same, from 1; 1 when absent", low=1),
        _EXTRA,
    ),
    key=("case", "model", "run_id", "repeat"),
)

SCORES: Final = Table(
    "scores",
    "One row is one dimension of one answer, scored by one reader.",
    (
        _CASE,
        _MODEL,
        _READER,
        _C("dimension", "word", "", required=True, vocabulary=vocab.DIMENSIONS),
        _C(
            "score",
            "integer",
            "1 (poor) to 5 (excellent); empty is not scored, never 0",
            low=vocab.SCORE_MIN,
            high=vocab.SCORE_MAX,
        ),
        _C("image", "integer", "which of the answer's `images`, counted from 0", low=0),
        _COMMENT,
        _CREATED,
        _ANSWER_DIGEST,
        _EXTRA,
    ),
    key=("case", "model", "reader", "dimension", "image"),
)

FLAGS: Final = Table(
    "flags",
    "One row is one failure mode that a reader confirmed or rejected for an answer.",
    (
        _CASE,
        _MODEL,
        _READER,
        _C("failure", "word", "the failure mode", required=True, vocabulary=tuple(vocab.FAILURES)),
        _C("verdict", "word", "`confirmed` when absent", vocabulary=vocab.VERDICTS),
        _COMMENT,
        _CREATED,
        _ANSWER_DIGEST,
        _EXTRA,
    ),
    key=("case", "model", "reader", "failure"),
)

METRICS: Final = Table(
    "metrics",
    "One row is one automatic metric of one answer (ReXrank).",
    (
        _CASE,
        _MODEL,
        _C("metric", "id", "its name, such as `bleu_2` or `radcliq_v1`", required=True),
        _C("value", "number", "as computed; reciprocals are taken of the mean, not here"),
        _EXTRA,
    ),
    key=("case", "model", "metric"),
)

EDITS: Final = Table(
    "edits",
    "One row is one correction to one line of an answer (FineRadScore, ReFiSco).",
    (
        _CASE,
        _MODEL,
        _C("reader", "id", "`id` of the reader"),
        _C(
            "line",
            "integer",
            "line of the answer, counted from 1; 0 inserts before the first",
            low=0,
        ),
        _C("original", "text", "the line as the model wrote it"),
        _C("edited", "text", "the line as it should be"),
        _C("action", "word", "", required=True, vocabulary=vocab.EDIT_ACTIONS),
        _C("severity", "integer", "0 (none) to 4 (emergent)", low=0, high=4),
        _COMMENT,
        _EXTRA,
    ),
)

TABLES: Final[dict[str, Table]] = {
    table.name: table for table in (CASES, ANSWERS, SCORES, FLAGS, METRICS, EDITS)
}
