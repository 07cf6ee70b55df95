"""Declare the tables of a review set, column by column.

These are the tables of cases, answers and metrics, of readers and judges, of meetings and of
curation.
"""

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
    DeclaredColumn,
    DeclaredTable,
)

_C = DeclaredColumn
_TOKENS: Final = (
    _C("input_tokens", "integer", "tokens read", low=0),
    _C("output_tokens", "integer", "tokens written, reasoning included", low=0),
    _C("max_output_tokens", "integer", "the limit that was set; else the model's", low=0),
)
_BOX: Final = _C("box", "box", "pixels of the stored image, origin top left")

CASES: Final = DeclaredTable(
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

ANSWERS: Final = DeclaredTable(
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

METRICS: Final = DeclaredTable(
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


# Tables of curation: candidate questions, their ratings and the selection.

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

CANDIDATES: Final = DeclaredTable(
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

CANDIDATE_RATINGS: Final = DeclaredTable(
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

CANDIDATE_TAGS: Final = DeclaredTable(
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

SELECTIONS: Final = DeclaredTable(
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

VALIDATIONS: Final = DeclaredTable(
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


# Tables of discussion: comments, and the decisions of meetings.

NO_FAILURE: Final = "none"
"""A meeting's decision that there is no failure."""
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

COMMENTS: Final = DeclaredTable(
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

DECISIONS: Final = DeclaredTable(
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


# Tables of readers and judges: scores, flags, edits, choices, opinions and more.

OPINIONS: Final = DeclaredTable(
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


SCORES: Final = DeclaredTable(
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

FLAGS: Final = DeclaredTable(
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

EDITS: Final = DeclaredTable(
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

CHOICES: Final = DeclaredTable(
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

PREFERENCES: Final = DeclaredTable(
    "preferences",
    "One row is one reader's word on which of two models' reports of a case is the better one.",
    (
        CASE,
        _C("first", "id", "`id` of one model", required=True),
        _C("second", "id", "`id` of the other", required=True),
        READER,
        _C("preferred", "word", "", required=True, vocabulary=vocab.PREFERENCE_WORDS),
        _C("seconds", "number", "from seeing both to the answer", low=0),
        COMMENT,
        CREATED,
        _C("first_digest", "id", "`answer_digest` of the first model's report"),
        _C("second_digest", "id", "`answer_digest` of the second model's report"),
        EXTRA,
    ),
    key=("case", "first", "second", "reader"),
)

REFERENCES: Final = DeclaredTable(
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
