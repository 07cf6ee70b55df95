"""The tables of what people said together: comments, and what meetings decided."""

from __future__ import annotations

from typing import Final

from rexview import vocab
from rexview.columns.column import (
    ANSWER_DIGEST,
    CASE,
    COMMENT,
    CREATED,
    EXTRA,
    READER,
    Column,
    Table,
)

NO_FAILURE: Final = "none"
"""What a meeting says where it agreed that there is no failure."""
_C = Column
_ANSWER: Final = _C("model", "id", "`id` of the model; absent: about the case")

_SPOT: Final = (
    _C("what", "word", "", vocabulary=("case", "answer", "box", "span")),
    _C("image", "id", "of a box: `id` of its image"),
    _C("box", "box", "of a box: where it was"),
    _C("label", "text", "of a box: its label"),
    _C("index", "integer", "of a box: which of the answer's, counted from 0", low=0),
    _C("field", "id", "of words: the field of the answer that has them"),
    _C("start", "integer", "of words: their first character, counted from 0", low=0),
    _C("end", "integer", "of words: the character behind them", low=0),
    _C("text", "text", "of words: the words"),
)

COMMENTS: Final = Table(
    "comments",
    "One row is one comment on a case, an answer, a box or words.",
    (
        CASE,
        _C("comment", "id", "unique in the set", required=True),
        _ANSWER,
        READER,
        _C("text", "text", "what was said", required=True),
        _C(
            "on",
            "record",
            "what it is on and where there; absent: on the case or the answer",
            fields=_SPOT,
        ),
        _C("reply_to", "id", "the comment that it answers"),
        _C("resolved", "yes_no", "whether it is settled"),
        _C("resolved_by", "id", "by whom"),
        CREATED,
        _C("edited", "date", "when its words were last changed"),
        EXTRA,
    ),
    key=("comment",),
)

DECISIONS: Final = Table(
    "decisions",
    "One row is what a meeting decided about a case or one model's answer to it.",
    (
        CASE,
        _ANSWER,
        _C("meeting", "id", "which meeting", required=True),
        _C("meeting_name", "text", "its name; absent: the same"),
        _C("held", "date", "on which day"),
        _C("reader", "id", "`id` of whoever wrote it down", required=True),
        _C(
            "failure",
            "word",
            "the failure mode that was agreed on, or the name of one in own words; "
            "`none`: that there is none",
            vocabulary=(*vocab.FAILURES, NO_FAILURE),
            open_vocabulary=True,
        ),
        _C("severity", "integer", "harm to the patient, 0 (none) to 4 (grave)", low=0, high=4),
        _C(
            "decision",
            "word",
            "what is to be done",
            vocabulary=tuple(vocab.MEETING_DECISIONS),
            open_vocabulary=True,
        ),
        _C("owner", "text", "who sees to it"),
        _C("due", "date", "until which day"),
        _C("done", "yes_no", "whether it has been done"),
        COMMENT,
        CREATED,
        ANSWER_DIGEST,
        EXTRA,
    ),
    key=("case", "model", "meeting"),
)
