"""The tables of what was asked and answered: cases, answers, automatic metrics."""

from __future__ import annotations

from typing import Final

from rexview import vocab
from rexview.columns.column import CASE, CREATED, EXTRA, MODEL, Column, Table

_C = Column
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
            "question_boxes",
            "text",
            "the same with an instruction to draw boxes; put to models that are asked for them",
        ),
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
                _C(
                    "pixel_mm",
                    "number",
                    "mm at the detector from one pixel to the next, for a file that does not say",
                    low=1e-4,
                    high=100,
                ),
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
        EXTRA,
    ),
    key=("id",),
    required=True,
)

ANSWERS: Final = Table(
    "answers",
    "One row is one model's output for one case in one run, asked once or several times.",
    (
        CASE,
        MODEL,
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
        CREATED,
        _C("prompt_id", "id", "which wording of the prompt"),
        _C("run_id", "id", "tells runs of one model apart; the newest by `created` is shown"),
        _C("repeat", "integer", "which time the run asked the same, from 1; 1 when absent", low=1),
        EXTRA,
    ),
    key=("case", "model", "run_id", "repeat"),
)

METRICS: Final = Table(
    "metrics",
    "One row is one automatic metric of one answer (ReXrank).",
    (
        CASE,
        MODEL,
        _C("metric", "id", "its name, such as `bleu_2` or `radcliq_v1`", required=True),
        _C("value", "number", "as computed; reciprocals are taken of the mean, not here"),
        _C("implementation", "id", "what computed it, such as `radeval`; absent: not said"),
        _C("version", "id", "of the implementation, with its weights or judge"),
        _C(
            "scope",
            "id",
            "the sections that were compared: `findings`, `impression`, `findings+impression`",
        ),
        _C(
            "n",
            "integer",
            "answers that were computed together, where a value depends on it",
            low=1,
        ),
        _C(
            "answer_digest",
            "id",
            "digest of the answer that it is of; absent: of the answer as it is",
        ),
        EXTRA,
    ),
    key=("case", "model", "metric", "implementation", "version", "scope"),
)
