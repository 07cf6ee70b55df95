"""The kinds of entries: what each is about, what its value says, and who may write it.

A new kind of entry is one more :class:`Kind` in :data:`KINDS`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from rexview.people import Person, Role
from rexview.store import value_fields
from rexview.store.value_fields import Field
from rexview.vocab import (
    CATEGORIES,
    CATEGORY_NAMES,
    CRITERIA,
    DECISIONS,
    DIMENSIONS,
    EDIT_ACTIONS,
    EDIT_KINDS,
    FAILURES,
    MEETING_STEPS,
    PREFERRED,
    QUESTION_DEFECTS,
    SIGNIFICANCES,
    VERDICTS,
)

PLACE: Final = re.compile(r"(0|[1-9][0-9]{0,4})(\+[1-9][0-9]?)?")
"""A line of a report, from 1, or what is inserted after it: ``4``, ``4+1``; ``0+1`` is first."""


@dataclass(frozen=True)
class Kind:
    """One kind of entry: what it is about, what its value says, and who may write it."""

    meaning: str
    about: Literal["answer", "case", "case or answer", "case or all", "all", "comment"]
    """What has to be named: case and model; a case and no model; a case and perhaps a model;
    perhaps a case and no model; neither; a comment, from which case and model are taken."""
    fields: Mapping[str, Field]
    """Every field of the value, in the order in which it is kept."""
    roles: frozenset[Role]
    subject: str | tuple[str, Collection[str]] | tuple[str, re.Pattern[str]] | None = None
    """A text that is needed, one of some words or of a form; None: there is none."""
    subject_of: Callable[[Mapping[str, Any]], str | None] | None = None
    """What makes the subject of the value."""
    reader_rule: str | None = None
    """The rule of the study (:class:`rexview.schema.Protocol`) without which no reader may."""
    optional: frozenset[str] = frozenset()
    """Fields that are left out of the value where they are None."""
    pictured: bool = False
    """Whether it may be about one of the answer's pictures."""
    removable: bool = False
    """Whether None as the value takes back what was there."""
    shared: bool = False
    """Whether there is one state for all; else everybody has a state of their own."""
    judging: bool = False
    """Whether it judges what an answer says: it is of the answer that was read and no later one."""
    outlives: bool = False
    """Whether it may be about an answer that has left the set: what was decided is still done."""


def _what(value: Mapping[str, Any]) -> str | None:
    return value.get("what")


def _pair(value: Mapping[str, Any]) -> str:
    """Name two models, whichever of them stands first: ids may be too long for a subject."""
    both = sorted(str(value.get(side)) for side in ("first", "second"))
    return hashlib.sha256(json.dumps(both).encode()).hexdigest()[:32]


_READERS: Final = frozenset[Role]({"reader", "lead"})
_ALL_WHO_WRITE: Final = frozenset[Role]({"reader", "adjudicator", "lead"})
_CURATORS: Final = frozenset[Role]({"adjudicator", "lead"})
"""Who curates reads the reports, so is no blinded reader."""
_CHAIRS: Final = _CURATORS
"""Who prepares and leads a meeting sees everything, too."""
_SCORE_FIELDS: Final[Mapping[str, Field]] = {
    "score": value_fields.score,
    "comment": value_fields.text("comment"),
}

# An adjudicator sees what readers gave, so does not score as one.
KINDS: Final[Mapping[str, Kind]] = {
    "score": Kind(
        "one dimension of an answer scored: `score` (1 to 5 or null), `comment`",
        about="answer",
        fields=_SCORE_FIELDS,
        roles=_READERS,
        subject=("dimension", DIMENSIONS),
        pictured=True,
        judging=True,
    ),
    "verdict": Kind(
        "a failure confirmed or rejected: `verdict` (null takes it back), `comment`",
        about="answer",
        fields={
            "verdict": value_fields.word("verdict", *VERDICTS, None),
            "comment": value_fields.text("comment"),
        },
        roles=_ALL_WHO_WRITE,
        subject=("failure", FAILURES),
        judging=True,
    ),
    "comment": Kind(
        "words on something: `text`, `on` (what and where), `reply_to`; null: removed",
        about="case or answer",
        fields={
            "text": value_fields.text("comment", required=True),
            "on": value_fields.spot,
            "reply_to": value_fields.replied_to,
        },
        roles=_ALL_WHO_WRITE,
        subject="id",
        removable=True,
    ),
    "resolve": Kind(
        "a comment settled: `resolved`",
        about="comment",
        fields={"resolved": value_fields.word("value of resolved", True, False)},
        roles=_ALL_WHO_WRITE,
        subject="comment",
        shared=True,
    ),
    "assign": Kind(
        "a case given to a reader: `as` (`first` or `second`), `active`, `name` if known",
        about="case",
        fields={
            "as": value_fields.word("value of as", "first", "second"),
            "active": value_fields.word("value of active", True, False),
            "name": value_fields.text("name"),
        },
        roles=frozenset[Role]({"lead"}),
        subject="reader",
        optional=frozenset({"name"}),
        shared=True,
    ),
    "adjudicate": Kind(
        "the consensus on a dimension of an answer: `score`, `comment`",
        about="answer",
        fields=_SCORE_FIELDS,
        roles=frozenset[Role]({"adjudicator", "lead"}),
        subject=("dimension", DIMENSIONS),
        pictured=True,
        shared=True,
        judging=True,
    ),
    "skip": Kind(
        "a case left out by a reader: `reason`; null: taken back",
        about="case",
        fields={"reason": value_fields.text("reason")},
        roles=_READERS,
        removable=True,
    ),
    "reveal": Kind(
        "a reader was shown what had been hidden: `what` (`models`, `report`, `solution`: the "
        "right option and the models' choices, `unblinded`: the case on a page that names its "
        "models), `accepted`: they score it all the same",
        about="case or all",
        fields={
            "what": value_fields.word("value of what", "models", "report", "solution", "unblinded"),
            "accepted": value_fields.accepted,
        },
        roles=_READERS,
        subject_of=_what,
        optional=frozenset({"accepted"}),
    ),
    "done": Kind(
        "a reader has finished a case: `done`",
        about="case or all",
        fields={"done": value_fields.word("value of done", True, False)},
        roles=_READERS,
    ),
    "choose": Kind(
        "a reader's own answer to a choice question: `choice` (from 0; null: left out), "
        "`option`, its words, `seconds`",
        about="case",
        fields={
            "choice": value_fields.choice,
            "option": value_fields.text("option"),
            "seconds": value_fields.seconds,
        },
        roles=_READERS,
    ),
    "edit": Kind(
        "a line of a report corrected: `action`, `original`, `edited`, `severity` (0 to 4), "
        "`kind` of error, `significance`, `comment`; null: taken back",
        about="answer",
        fields={
            "action": value_fields.word("action", *EDIT_ACTIONS),
            "original": value_fields.text("line"),
            "edited": value_fields.text("corrected line"),
            "severity": value_fields.severity,
            "kind": value_fields.word("kind of error", *EDIT_KINDS, None),
            "significance": value_fields.word("significance", *SIGNIFICANCES, None),
            "comment": value_fields.text("comment"),
        },
        roles=_READERS,
        subject=("line", PLACE),
        removable=True,
        judging=True,
    ),
    "corrected": Kind(
        "a reader has corrected a whole report: `done`; until then its edits count nowhere",
        about="answer",
        fields={"done": value_fields.word("value of done", True, False)},
        roles=_READERS,
        judging=True,
    ),
    "prefer": Kind(
        "two models' reports of a case compared: `first` was on the left, `second` on the right, "
        "`preferred` (null: left out), `seconds`, `comment`, and the digests of both",
        about="case",
        fields={
            "first": value_fields.id_of("first model"),
            "second": value_fields.id_of("second model"),
            "preferred": value_fields.word("preferred report", *PREFERRED, None),
            "seconds": value_fields.seconds,
            "comment": value_fields.text("comment"),
            "first_digest": value_fields.digest,
            "second_digest": value_fields.digest,
        },
        roles=_READERS,
        subject_of=_pair,
    ),
    "reference": Kind(
        "a corrected report kept as a reference: `findings`, `impression`, `comment`; null: "
        "taken back",
        about="case",
        fields={
            "findings": value_fields.text("findings"),
            "impression": value_fields.text("impression"),
            "comment": value_fields.text("comment"),
        },
        roles=_ALL_WHO_WRITE,
        reader_rule="reader_references",
        removable=True,
        shared=True,
    ),
    "propose": Kind(
        "a candidate question of one's own: `question`, `category`; null: taken back",
        about="case",
        fields={
            "question": value_fields.text("question", required=True),
            "category": value_fields.word("category", *CATEGORIES["open"], None),
        },
        roles=_CURATORS,
        subject="id of the candidate",
        removable=True,
        shared=True,
    ),
    "select": Kind(
        "what becomes of a candidate: `decision` (null: open), `question` as it was edited, "
        "`boxes_question` with an instruction to draw boxes, `category`, `comment`; null: all of "
        "it taken back",
        about="case",
        fields={
            "decision": value_fields.word("decision", *DECISIONS, None),
            "question": value_fields.text("question"),
            "boxes_question": value_fields.text("question with boxes"),
            "category": value_fields.word("category", *CATEGORY_NAMES, None),
            "comment": value_fields.text("comment"),
        },
        roles=_CURATORS,
        subject="id of the candidate",
        removable=True,
        shared=True,
    ),
    "rate": Kind(
        "a candidate scored on the four criteria (1 to 5 or null), `risk`, `comment`, "
        "`after_model`: a model's scores were to be seen; null: taken back",
        about="case",
        fields={
            **dict.fromkeys(CRITERIA, value_fields.score),
            "risk": value_fields.word("value of risk", True, False, None),
            "comment": value_fields.text("comment"),
            "after_model": value_fields.word("value of after_model", True, None),
        },
        roles=_CURATORS,
        subject="id of the candidate",
        optional=frozenset({"after_model"}),
        removable=True,
    ),
    "tag": Kind(
        "a candidate tagged: `tags`, the values of each of the eight; null: taken back",
        about="case",
        fields={"tags": value_fields.tags},
        roles=_CURATORS,
        subject="id of the candidate",
        removable=True,
    ),
    "validate": Kind(
        "an expert's word on a multiple choice candidate: `passed` (null: not told), `defect`, "
        "`comment`; null: taken back",
        about="case",
        fields={
            "passed": value_fields.word("value of passed", True, False, None),
            "defect": value_fields.word("defect", *QUESTION_DEFECTS, None),
            "comment": value_fields.text("comment"),
        },
        roles=_CURATORS,
        subject="id of the candidate",
        removable=True,
    ),
    "meeting": Kind(
        "a meeting: `name`, `held` (its day), `minutes` planned, `steps` in which a case is shown, "
        "`decisions` of its own list, `closed`; null: removed",
        about="all",
        fields={
            "name": value_fields.text("name", required=True),
            "held": value_fields.day("day of the meeting"),
            "minutes": value_fields.whole("number of minutes", 0, 10_000),
            "steps": value_fields.words_of("steps", MEETING_STEPS),
            "decisions": value_fields.words_of("decisions"),
            "closed": value_fields.word("value of closed", True, False, None),
        },
        roles=_CHAIRS,
        subject="id of the meeting",
        removable=True,
        shared=True,
    ),
    "agenda": Kind(
        "a case on a meeting's agenda: `place` in its order, `section`, `minutes` expected, "
        "`found_by`: the filter it was found by; null: taken off",
        about="case",
        fields={
            "place": value_fields.number("place on the agenda"),
            "section": value_fields.text("section"),
            "minutes": value_fields.number("number of minutes", 0, 1_000),
            "found_by": value_fields.text("filter"),
        },
        roles=_CHAIRS,
        subject="id of the meeting",
        removable=True,
        shared=True,
    ),
    "presenter_note": Kind(
        "one's own notes on a case of a meeting, for nobody else: `text`; null: taken back",
        about="case",
        fields={"text": value_fields.text("note")},
        roles=_CHAIRS,
        subject="id of the meeting",
        removable=True,
    ),
    "discussed": Kind(
        "a case was shown in a meeting: `seconds` in all; null: it does not count",
        about="case",
        fields={"seconds": value_fields.seconds},
        roles=_CHAIRS,
        subject="id of the meeting",
        removable=True,
        shared=True,
    ),
    "vote": Kind(
        "what people thought before the models were named, without names: `count` of people, "
        "`right`: how many held which model right (also `none`, `unsure`), `harm`: how many gave "
        "0 to 4; null: taken back",
        about="case",
        fields={
            "count": value_fields.whole("number of votes", 0, 100_000),
            "right": value_fields.counts("votes"),
            "harm": value_fields.counts("grades of harm", tuple("01234")),
        },
        roles=_CHAIRS,
        subject="id of the meeting",
        removable=True,
        shared=True,
    ),
    "decide": Kind(
        "what a meeting decided about a case or an answer: `failure` agreed on (or `none`), "
        "`severity` (0 to 4), `decision` (of the list or of the meeting's own), `owner`, `due` (a "
        "day), `done`, `comment`; null: taken back",
        about="case or answer",
        fields={
            "failure": value_fields.text("failure"),
            "severity": value_fields.severity,
            "decision": value_fields.text("decision"),
            "owner": value_fields.text("owner"),
            "due": value_fields.day("day until which it is to be done"),
            "done": value_fields.word("value of done", True, False, None),
            "comment": value_fields.text("comment"),
        },
        roles=_CHAIRS,
        subject="id of the meeting",
        removable=True,
        shared=True,
        judging=True,
        outlives=True,
    ),
}
SHARED: Final = frozenset(name for name, kind in KINDS.items() if kind.shared)
"""Kinds of which there is one state for all."""


def may(person: Person, kind: str) -> bool:
    """Whether a person may write entries of a kind; nobody may write an unknown one."""
    return kind in KINDS and person.role in KINDS[kind].roles
