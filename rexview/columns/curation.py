"""The tables of questions in the making: candidates, what is thought of them, what was chosen."""

from __future__ import annotations

from typing import Final

from rexview import vocab
from rexview.columns.column import CASE, COMMENT, CREATED, EXTRA, Column, Table

_C = Column
_CANDIDATE: Final = _C("candidate", "id", "`id` of the candidate in its case", required=True)
_SOURCE: Final = _C(
    "source",
    "word",
    "who says so: a person, a model, a rule",
    required=True,
    vocabulary=vocab.SOURCES,
)
_BY: Final = _C("by", "id", "`id` of the reader, name of the model or the rules", required=True)
_PROMPT: Final = _C("prompt_id", "id", "which wording a model was asked in")
_RUN: Final = _C("run_id", "id", "in which run")
_MADE: Final = (_PROMPT, _RUN, CREATED, EXTRA)
_CATEGORY: Final = _C(
    "category",
    "word",
    "as in `cases`",
    vocabulary=tuple(vocab.CATEGORY_NAMES),
    open_vocabulary=True,
)

CANDIDATES: Final = Table(
    "candidates",
    "One row is one question proposed for the study of a case.",
    (
        CASE,
        _C("candidate", "id", "unique within the case", required=True),
        _C("question", "text", "as it was proposed", required=True),
        _C(
            "question_type",
            "word",
            "`open` when absent",
            vocabulary=tuple(vocab.QUESTION_TYPES),
        ),
        _CATEGORY,
        _C("options", "texts", "multiple choice: the options"),
        _C("correct", "integer", "multiple choice: the right option, counted from 0", low=0),
        _C("explanation", "text", "multiple choice: why"),
        _C("statement", "text", "multiple choice: the statement of the report that it rests on"),
        _C("difficulty", "word", "", vocabulary=vocab.DIFFICULTIES, open_vocabulary=True),
        _SOURCE,
        _BY,
        *_MADE,
    ),
    key=("case", "candidate"),
)

CANDIDATE_RATINGS: Final = Table(
    "candidate_ratings",
    "One row is what one person or model gives a candidate on the four criteria.",
    (
        CASE,
        _CANDIDATE,
        _SOURCE,
        _BY,
        *(
            _C(word, "integer", f"{name}, 1 to 5", low=vocab.SCORE_MIN, high=vocab.SCORE_MAX)
            for word, name in vocab.CRITERIA.items()
        ),
        _C("risk", "yes_no", "the question is a risk: it should not be asked as it is"),
        _C(
            "after_model",
            "yes_no",
            "a person gave them with a model's scores in view: they enter no agreement",
        ),
        _C("stated_total", "integer", "the sum that the model gave itself, right or not"),
        COMMENT,
        *_MADE,
    ),
    key=("case", "candidate", "source", "by"),
)

CANDIDATE_TAGS: Final = Table(
    "candidate_tags",
    "One row is how one person or model tags a candidate.",
    (
        CASE,
        _CANDIDATE,
        _SOURCE,
        _BY,
        _C("tags", "tags", "as in `cases`"),
        *_MADE,
    ),
    key=("case", "candidate", "source", "by"),
)

SELECTIONS: Final = Table(
    "selections",
    "One row is what was decided on a candidate, with the question as it was edited.",
    (
        CASE,
        _CANDIDATE,
        _C("reader", "id", "`id` of the person", required=True),
        _C("decision", "word", "absent: edited and not decided yet", vocabulary=vocab.DECISIONS),
        _C("question", "text", "as it was edited; absent: as it was proposed"),
        _C("boxes_question", "text", "the same with an instruction to draw boxes"),
        _CATEGORY,
        COMMENT,
        CREATED,
        EXTRA,
    ),
    key=("case", "candidate"),
)

VALIDATIONS: Final = Table(
    "validations",
    "One row is one check of a multiple choice candidate, by a rule, a model or an expert.",
    (
        CASE,
        _CANDIDATE,
        _C("check", "id", "what was checked, such as `option_count` or `expert`", required=True),
        _SOURCE,
        _BY,
        _C("passed", "yes_no", "absent: it could not be told"),
        _C(
            "defect",
            "word",
            "what is wrong with it",
            vocabulary=tuple(vocab.QUESTION_DEFECTS),
            open_vocabulary=True,
        ),
        COMMENT,
        *_MADE,
    ),
    key=("case", "candidate", "check", "source", "by"),
)
