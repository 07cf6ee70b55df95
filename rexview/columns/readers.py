"""The tables of what readers and judges gave: scores, flags, edits, choices, opinions and more."""

from __future__ import annotations

from typing import Final

from rexview import vocab
from rexview.columns.column import (
    ANSWER_DIGEST,
    CASE,
    COMMENT,
    CREATED,
    EXTRA,
    MODEL,
    READER,
    Column,
    Table,
)

_C = Column
OPINIONS: Final = Table(
    "opinions",
    "One row is what one judge, a model, said of one failure or one dimension of an answer.",
    (
        CASE,
        MODEL,
        _C("judge", "id", "name of the model that judges", required=True),
        _C("prompt_id", "id", "which wording it was asked in", required=True),
        _C("prompt_hash", "id", "digest of that wording"),
        _C("failure", "word", "the failure mode, or", vocabulary=tuple(vocab.FAILURES)),
        _C("present", "yes_no", "whether the answer has it"),
        _C("dimension", "word", "the dimension", vocabulary=vocab.DIMENSIONS),
        _C(
            "score",
            "integer",
            "1 (poor) to 5 (excellent)",
            low=vocab.SCORE_MIN,
            high=vocab.SCORE_MAX,
        ),
        _C("reason", "text", "in the judge's words"),
        _C("quote", "text", "what it quotes of the answer"),
        _C("run_id", "id", "in which run"),
        CREATED,
        ANSWER_DIGEST,
        EXTRA,
    ),
    key=("case", "model", "judge", "prompt_id", "failure", "dimension"),
)


SCORES: Final = Table(
    "scores",
    "One row is one dimension of one answer, scored by one reader.",
    (
        CASE,
        MODEL,
        READER,
        _C("dimension", "word", "", required=True, vocabulary=vocab.DIMENSIONS),
        _C(
            "score",
            "integer",
            "1 (poor) to 5 (excellent); empty is not scored, never 0",
            low=vocab.SCORE_MIN,
            high=vocab.SCORE_MAX,
        ),
        _C("image", "integer", "which of the answer's `images`, counted from 0", low=0),
        COMMENT,
        CREATED,
        ANSWER_DIGEST,
        EXTRA,
    ),
    key=("case", "model", "reader", "dimension", "image"),
)

FLAGS: Final = Table(
    "flags",
    "One row is one failure mode that a reader confirmed or rejected for an answer.",
    (
        CASE,
        MODEL,
        READER,
        _C("failure", "word", "the failure mode", required=True, vocabulary=tuple(vocab.FAILURES)),
        _C("verdict", "word", "`confirmed` when absent", vocabulary=vocab.VERDICTS),
        COMMENT,
        CREATED,
        ANSWER_DIGEST,
        EXTRA,
    ),
    key=("case", "model", "reader", "failure"),
)

EDITS: Final = Table(
    "edits",
    "One row is one correction to one line of an answer (FineRadScore, ReFiSco).",
    (
        CASE,
        MODEL,
        _C("reader", "id", "`id` of the reader, or of the judge: `fineradscore:MODEL`"),
        _C(
            "line",
            "integer",
            "line of the answer, counted from 1 as the Case page does (sentences and list items, "
            "not headings); 0 inserts before the first",
            low=0,
        ),
        _C("original", "text", "the line as the model wrote it"),
        _C("edited", "text", "the line as it should be"),
        _C("action", "word", "", required=True, vocabulary=vocab.EDIT_ACTIONS),
        _C("severity", "integer", "0 (none) to 4 (emergent)", low=0, high=4),
        _C(
            "kind",
            "word",
            "what is wrong with the line",
            vocabulary=tuple(vocab.EDIT_KINDS),
            open_vocabulary=True,
        ),
        _C(
            "significance",
            "word",
            "whether that matters for the patient",
            vocabulary=vocab.SIGNIFICANCES,
            open_vocabulary=True,
        ),
        COMMENT,
        CREATED,
        ANSWER_DIGEST,
        EXTRA,
    ),
)

CHOICES: Final = Table(
    "choices",
    "One row is one reader's own answer to a choice question.",
    (
        CASE,
        READER,
        _C("choice", "integer", "option chosen, counted from 0", required=True, low=0),
        _C("option", "text", "its words; where the case has others there, the row counts nowhere"),
        _C("seconds", "number", "from seeing the question to the answer", low=0),
        COMMENT,
        CREATED,
        EXTRA,
    ),
    key=("case", "reader"),
)

PREFERENCES: Final = Table(
    "preferences",
    "One row is one reader's word on which of two models' reports of a case is the better one.",
    (
        CASE,
        _C("first", "id", "`id` of one model", required=True),
        _C("second", "id", "`id` of the other", required=True),
        READER,
        _C("preferred", "word", "", required=True, vocabulary=vocab.PREFERRED),
        _C("seconds", "number", "from seeing both to the answer", low=0),
        COMMENT,
        CREATED,
        _C("first_digest", "id", "`answer_digest` of the first model's report"),
        _C("second_digest", "id", "`answer_digest` of the second model's report"),
        EXTRA,
    ),
    key=("case", "first", "second", "reader"),
)

REFERENCES: Final = Table(
    "references",
    "One row is one corrected report, kept as a reference beside the one that was given.",
    (
        CASE,
        READER,
        _C("findings", "text", ""),
        _C("impression", "text", ""),
        COMMENT,
        CREATED,
        EXTRA,
    ),
    key=("case", "reader"),
)
