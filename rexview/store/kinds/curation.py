"""What people write of questions in the making."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from rexview.store import value_fields
from rexview.store.kinds.kind import CURATORS, Kind
from rexview.vocab import CATEGORIES, CATEGORY_NAMES, CRITERIA, DECISIONS, QUESTION_DEFECTS

_of_candidate = partial(
    Kind, about="case", roles=CURATORS, subject="id of the candidate", removable=True
)

KINDS: Final[Mapping[str, Kind]] = {
    "propose": _of_candidate(
        "a candidate question of one's own: `question`, `category`; null: taken back",
        fields={
            "question": value_fields.text("question", required=True),
            "category": value_fields.word("category", *CATEGORIES["open"], None),
        },
        shared=True,
    ),
    "select": _of_candidate(
        "what becomes of a candidate: `decision` (null: open), `question` as it was edited, "
        "`boxes_question` with an instruction to draw boxes, `category`, `comment`; null: all of "
        "it taken back",
        fields={
            "decision": value_fields.word("decision", *DECISIONS, None),
            "question": value_fields.text("question"),
            "boxes_question": value_fields.text("question with boxes"),
            "category": value_fields.word("category", *CATEGORY_NAMES, None),
            "comment": value_fields.text("comment"),
        },
        shared=True,
    ),
    "rate": _of_candidate(
        "a candidate scored on the four criteria (1 to 5 or null), `risk`, `comment`, "
        "`after_model`: a model's scores were to be seen; null: taken back",
        fields={
            **dict.fromkeys(CRITERIA, value_fields.score),
            "risk": value_fields.word("value of risk", True, False, None),
            "comment": value_fields.text("comment"),
            "after_model": value_fields.word("value of after_model", True, None),
        },
        optional=frozenset({"after_model"}),
    ),
    "tag": _of_candidate(
        "a candidate tagged: `tags`, the values of each of the eight; null: taken back",
        fields={"tags": value_fields.tags},
    ),
    "validate": _of_candidate(
        "an expert's word on a multiple choice candidate: `passed` (null: not told), `defect`, "
        "`comment`; null: taken back",
        fields={
            "passed": value_fields.word("value of passed", True, False, None),
            "defect": value_fields.word("defect", *QUESTION_DEFECTS, None),
            "comment": value_fields.text("comment"),
        },
    ),
}
