"""The kinds of entries: what each is about, the fields of its value, and who may write it.

A new kind of entry is one more :class:`EntryKind` in :data:`ENTRY_KINDS`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from rexview.people import Person, Role
from rexview.store import kind_fields
from rexview.store.kind_fields import READERS, WRITING_ROLES, EntryKind, FieldCheck
from rexview.vocab import (
    DIMENSIONS,
    EDIT_ACTIONS,
    EDIT_KINDS,
    FAILURES,
    PREFERENCE_WORDS,
    SIGNIFICANCES,
    VERDICTS,
)

__all__ = ["ENTRY_KINDS", "LINE_PLACE", "SHARED_KINDS", "EntryKind", "may_write_kind"]

LINE_PLACE: Final = re.compile(r"(0|[1-9][0-9]{0,4})(\+[1-9][0-9]?)?")
"""A line of a report, from 1, or an insertion after it: ``4``, ``4+1``; ``0+1`` comes first."""


def _comparison_or_id(value: Mapping[str, Any]) -> str | None:
    return value.get("what")


def _model_pair(value: Mapping[str, Any]) -> str:
    """Return a digest of two models, in any order; their ids may be too long for a subject."""
    both = sorted(str(value.get(side)) for side in ("first", "second"))
    return hashlib.sha256(json.dumps(both).encode()).hexdigest()[:32]


_SCORE_FIELDS: Final[Mapping[str, FieldCheck]] = {
    "score": kind_fields.check_score,
    "comment": kind_fields.text_value_field("comment"),
}

# An adjudicator sees what readers gave, so does not score as a reader.
ENTRY_KINDS: Final[Mapping[str, EntryKind]] = {
    "score": EntryKind(
        "one dimension of an answer scored: `score` (1 to 5 or null), `comment`",
        about="answer",
        fields=_SCORE_FIELDS,
        roles=READERS,
        subject=("dimension", DIMENSIONS),
        pictured=True,
        judging=True,
    ),
    "verdict": EntryKind(
        "a failure confirmed or rejected: `verdict` (null takes it back), `comment`",
        about="answer",
        fields={
            "verdict": kind_fields.word_field("verdict", *VERDICTS, None),
            "comment": kind_fields.text_value_field("comment"),
        },
        roles=WRITING_ROLES,
        subject=("failure", FAILURES),
        judging=True,
    ),
    "comment": EntryKind(
        "words on something: `text`, `on` (what and where), `reply_to`; null: removed",
        about="case or answer",
        fields={
            "text": kind_fields.text_value_field("comment", required=True),
            "on": kind_fields.check_comment_place,
            "reply_to": kind_fields.check_reply,
        },
        roles=WRITING_ROLES,
        subject="id",
        removable=True,
    ),
    "resolve": EntryKind(
        "a comment settled: `resolved`",
        about="comment",
        fields={"resolved": kind_fields.word_field("value of resolved", True, False)},
        roles=WRITING_ROLES,
        subject="comment",
        shared=True,
    ),
    "assign": EntryKind(
        "a case given to a reader: `as` (`first` or `second`), `active`, `name` if known",
        about="case",
        fields={
            "as": kind_fields.word_field("value of as", "first", "second"),
            "active": kind_fields.word_field("value of active", True, False),
            "name": kind_fields.text_value_field("name"),
        },
        roles=frozenset[Role]({"lead"}),
        subject="reader",
        optional=frozenset({"name"}),
        shared=True,
    ),
    "adjudicate": EntryKind(
        "the consensus on a dimension of an answer: `score`, `comment`",
        about="answer",
        fields=_SCORE_FIELDS,
        roles=frozenset[Role]({"adjudicator", "lead"}),
        subject=("dimension", DIMENSIONS),
        pictured=True,
        shared=True,
        judging=True,
    ),
    "skip": EntryKind(
        "a case left out by a reader: `reason`; null: taken back",
        about="case",
        fields={"reason": kind_fields.text_value_field("reason")},
        roles=READERS,
        removable=True,
    ),
    "reveal": EntryKind(
        "a reader was shown what had been hidden: `what` (`models`, `report`, `solution`: the "
        "right option and the models' choices, `unblinded`: the case on a page that names its "
        "models), `accepted`: they score it all the same",
        about="case or all",
        fields={
            "what": kind_fields.word_field(
                "value of what", "models", "report", "solution", "unblinded"
            ),
            "accepted": kind_fields.check_acceptance,
        },
        roles=READERS,
        subject_of=_comparison_or_id,
        optional=frozenset({"accepted"}),
    ),
    "done": EntryKind(
        "a reader has finished a case: `done`",
        about="case or all",
        fields={"done": kind_fields.word_field("value of done", True, False)},
        roles=READERS,
    ),
    "choose": EntryKind(
        "a reader's own answer to a choice question: `choice` (from 0; null: left out), "
        "`option`, its words, `seconds`",
        about="case",
        fields={
            "choice": kind_fields.check_option,
            "option": kind_fields.text_value_field("option"),
            "seconds": kind_fields.check_seconds,
        },
        roles=READERS,
    ),
    "edit": EntryKind(
        "a line of a report corrected: `action`, `original`, `edited`, `severity` (0 to 4), "
        "`kind` of error, `significance`, `comment`; null: taken back",
        about="answer",
        fields={
            "action": kind_fields.word_field("action", *EDIT_ACTIONS),
            "original": kind_fields.text_value_field("line"),
            "edited": kind_fields.text_value_field("corrected line"),
            "severity": kind_fields.check_severity,
            "kind": kind_fields.word_field("kind of error", *EDIT_KINDS, None),
            "significance": kind_fields.word_field("significance", *SIGNIFICANCES, None),
            "comment": kind_fields.text_value_field("comment"),
        },
        roles=READERS,
        subject=("line", LINE_PLACE),
        removable=True,
        judging=True,
    ),
    "corrected": EntryKind(
        "a reader has corrected a whole report: `done`; until then its edits count nowhere",
        about="answer",
        fields={"done": kind_fields.word_field("value of done", True, False)},
        roles=READERS,
        judging=True,
    ),
    "prefer": EntryKind(
        "two models' reports of a case compared: `first` was on the left, `second` on the right, "
        "`preferred` (null: left out), `seconds`, `comment`, and the digests of both",
        about="case",
        fields={
            "first": kind_fields.id_field("first model"),
            "second": kind_fields.id_field("second model"),
            "preferred": kind_fields.word_field("preferred report", *PREFERENCE_WORDS, None),
            "seconds": kind_fields.check_seconds,
            "comment": kind_fields.text_value_field("comment"),
            "first_digest": kind_fields.check_digest,
            "second_digest": kind_fields.check_digest,
        },
        roles=READERS,
        subject_of=_model_pair,
    ),
    "reference": EntryKind(
        "a corrected report kept as a reference: `findings`, `impression`, `comment`; null: "
        "taken back",
        about="case",
        fields={
            "findings": kind_fields.text_value_field("findings"),
            "impression": kind_fields.text_value_field("impression"),
            "comment": kind_fields.text_value_field("comment"),
        },
        roles=WRITING_ROLES,
        reader_rule="reader_references",
        removable=True,
        shared=True,
    ),
    **kind_fields.CURATION_KINDS,
    **kind_fields.WRITTEN_FAILURE_KINDS,
    **kind_fields.MEETING_KINDS,
}
SHARED_KINDS: Final = frozenset(name for name, kind in ENTRY_KINDS.items() if kind.shared)
"""Kinds with one state shared by all."""


def may_write_kind(person: Person, kind: str) -> bool:
    """True if a person may write entries of a kind; nobody may write an unknown kind."""
    return kind in ENTRY_KINDS and person.role in ENTRY_KINDS[kind].roles
