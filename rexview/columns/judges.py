"""The table of what judges said: models that give a second opinion on answers."""

from __future__ import annotations

from typing import Final

from rexview import vocab
from rexview.columns.column import ANSWER_DIGEST, CASE, CREATED, EXTRA, MODEL, Column, Table

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
