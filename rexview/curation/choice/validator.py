"""A model asked whether a multiple choice question is sound, and the rows of ``validations``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rexview.curation.asking import Row, Step, Subject
from rexview.curation.choice.checks.content import CONTENT, DEFECTS
from rexview.curation.choice.checks.identifying import CHECK, phi_check
from rexview.curation.choice.checks.question import Check, ChoiceQuestion
from rexview.curation.choice.proposing import report_of
from rexview.models.asking.prompts import fixed_wording
from rexview.models.asking.reading import json_object
from rexview.models.backend import closed_object

WORDING: Final = fixed_wording(Path(__file__).with_name("validate-choice-2.yaml"))
_LETTERS: Final = "ABCDEFGH"
_LONGEST: Final = 10_000


@dataclass(frozen=True)
class Validated:
    """What a model says of a question: a check each."""

    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()


def subjects_of(questions: Iterable[ChoiceQuestion]) -> list[Subject]:
    """Return what is asked about the questions that have a report."""
    return [_subject(one) for one in questions if report_of(one.report)]


def _subject(asked: ChoiceQuestion) -> Subject:
    lines = [f"{_LETTERS[at]}. {option}" for at, option in enumerate(asked.options[:8])]
    right = asked.correct
    values = {
        "told": report_of(asked.report),
        "comparison": WORDING.texts["with_prior" if asked.has_prior else "without_prior"],
        "question": asked.question,
        "options": "\n".join(lines),
        "right": "none" if right is None or right >= len(lines) else _LETTERS[right],
        "explanation": asked.explanation or "none",
    }
    return Subject(asked.case, (asked.candidate,), values)


def read_validation(text: str) -> Validated | str:
    """Read a reply; a sentence about what is wrong where anything in it is not as asked."""
    value = json_object(text)
    if value is None:
        return "The answer is no JSON object."
    found: list[Check] = []
    for check in (*CONTENT, CHECK):
        said = value.get(check)
        if not isinstance(said, dict):
            return f"The answer says nothing of {check}."
        reason = said.get("reason")
        if not isinstance(reason, str | None) or len(reason or "") > _LONGEST:
            return f"{check}: the reason is no text of at most {_LONGEST:,} characters."
        one = _check(check, said, (reason or "").strip())
        if isinstance(one, str):
            return f"{check}: {one}"
        found.append(one)
    unknown = sorted(value.keys() - {*CONTENT, CHECK})
    notes = (f"{unknown[0]!r:.60} was not asked for.",) if unknown else ()
    return Validated(tuple(found), notes)


def _check(check: str, said: dict[str, Any], reason: str) -> Check | str:
    if check == CHECK:
        probability = said.get("probability")
        if isinstance(probability, bool) or not isinstance(probability, int | float):
            return "there is no probability."
        if not 0 <= probability <= 1:
            return f"{probability!r:.60} is no probability from 0 to 1."
        return phi_check(float(probability), reason)
    fault = said.get("fault", "")
    if fault is not None and not isinstance(fault, bool):
        return "whether there is a fault is neither true nor false nor null."
    passed = None if fault is None else not fault
    return Check(check, passed, DEFECTS.get(check, check) if fault else None, reason)


def _rows(found: Validated, about: tuple[str, ...]) -> list[Row]:
    return [check_row(about[0], one) for one in found.checks]


def check_row(candidate: str, one: Check) -> Row:
    """Return a check as a row of ``validations``, but for whose word it is."""
    row = {
        "candidate": candidate,
        "check": one.check,
        "passed": one.passed,
        "defect": one.defect,
        "comment": one.reason or None,
    }
    return {**row, "extra": one.extra} if one.extra else row


def _fault() -> dict[str, Any]:
    return closed_object({"fault": {"type": ["boolean", "null"]}, "reason": {"type": "string"}})


VALIDATE: Final = Step(
    name="validate",
    table="validations",
    wording=WORDING,
    schema=closed_object(
        {
            **{check: _fault() for check in CONTENT},
            CHECK: closed_object({"probability": {"type": "number"}, "reason": {"type": "string"}}),
        }
    ),
    read=read_validation,
    rows=_rows,
    output_tokens=250,
)
