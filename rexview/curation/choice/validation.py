"""Check multiple choice questions by rules and by a model, and combine the results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import polars as pl

from rexview.curation.candidates import choice_id
from rexview.curation.choice.checks import RULES, Check, ChoiceQuestion
from rexview.curation.choice.checks.content import CONTENT, DEFECTS, content_checks
from rexview.curation.choice.checks.identifying import (
    CHECK,
    check_identifying_signs,
    check_phi_probability,
)
from rexview.curation.choice.checks.structure import (
    STRUCTURAL,
    TOO_LONG,
    find_huge_text,
    structural_checks,
)
from rexview.curation.choice.proposing import format_report
from rexview.curation.comparison_questions import has_readable_prior
from rexview.curation.near_duplicates import SIMILARITY_THRESHOLD, Similarity, find_similar_pairs
from rexview.curation.step import CurationStep, QuestionSubject, Row
from rexview.models.asking.prompts import read_fixed_prompt
from rexview.models.asking.reply_reader import json_object
from rexview.models.backend import closed_object_schema
from rexview.models.running.run_folder import write_part
from rexview.schema import Case, ReviewSet
from rexview.store.merged_set import EXPERT_CHECK

# Checks of a multiple choice question by a model, and their rows of ``validations``.

WORDING: Final = read_fixed_prompt(Path(__file__).with_name("validate-choice-2.yaml"))
_LETTERS: Final = "ABCDEFGH"
_LONGEST: Final = 10_000


@dataclass(frozen=True)
class ValidatorReply:
    """The results of a model's checks of a question."""

    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()


def validation_subjects(questions: Iterable[ChoiceQuestion]) -> list[QuestionSubject]:
    """Return the subjects for the questions that have a report."""
    return [_subject(one) for one in questions if format_report(one.report)]


def _subject(asked: ChoiceQuestion) -> QuestionSubject:
    lines = [f"{_LETTERS[at]}. {option}" for at, option in enumerate(asked.options[:8])]
    right = asked.correct
    values = {
        "told": format_report(asked.report),
        "comparison": WORDING.texts["with_prior" if asked.has_prior else "without_prior"],
        "question": asked.question,
        "options": "\n".join(lines),
        "right": "none" if right is None or right >= len(lines) else _LETTERS[right],
        "explanation": asked.explanation or "none",
    }
    return QuestionSubject(asked.case, (asked.candidate,), values)


def read_validation(text: str) -> ValidatorReply | str:
    """Parse a reply; return a sentence on what is wrong if anything is not as requested."""
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
    return ValidatorReply(tuple(found), notes)


def _check(check: str, said: dict[str, Any], reason: str) -> Check | str:
    if check == CHECK:
        probability = said.get("probability")
        if isinstance(probability, bool) or not isinstance(probability, int | float):
            return "there is no probability."
        if not 0 <= probability <= 1:
            return f"{probability!r:.60} is no probability from 0 to 1."
        return check_phi_probability(float(probability), reason)
    fault = said.get("fault", "")
    if fault is not None and not isinstance(fault, bool):
        return "whether there is a fault is neither true nor false nor null."
    passed = None if fault is None else not fault
    return Check(check, passed, DEFECTS.get(check, check) if fault else None, reason)


def _rows(found: ValidatorReply, about: tuple[str, ...]) -> list[Row]:
    return [check_row(about[0], one) for one in found.checks]


def check_row(candidate: str, one: Check) -> Row:
    """Return a check as a row of ``validations``, without its author."""
    row = {
        "candidate": candidate,
        "check": one.check,
        "passed": one.passed,
        "defect": one.defect,
        "comment": one.reason or None,
    }
    return {**row, "extra": one.extra} if one.extra else row


def _fault() -> dict[str, Any]:
    return closed_object_schema(
        {"fault": {"type": ["boolean", "null"]}, "reason": {"type": "string"}}
    )


VALIDATE: Final = CurationStep(
    name="validate",
    table="validations",
    wording=WORDING,
    schema=closed_object_schema(
        {
            **{check: _fault() for check in CONTENT},
            CHECK: closed_object_schema(
                {"probability": {"type": "number"}, "reason": {"type": "string"}}
            ),
        }
    ),
    read=read_validation,
    rows=_rows,
    output_tokens=250,
)


ALIKE_CHECK: Final = "alike"
_PART: Final = "rules"
_COMPARED: Final = 4_000
"""Characters of question and options; none that pass have more, and a server may refuse them."""


def find_choice_questions(review_set: ReviewSet) -> Iterator[ChoiceQuestion]:
    """Yield the multiple choice candidates of a set with the report of their study.

    In the order of the set's cases, so that the order of the replies does not matter.
    """
    cases: dict[str, tuple[Case, bool]] = {}
    rows = review_set.candidates.filter(pl.col("question_type") == "choice")
    rows = rows[review_set.case_rows(rows["case"]).argsort(kind="stable")]
    for row in rows.iter_rows(named=True):
        if row["case"] not in cases:
            case = review_set.case(row["case"])
            assert case is not None  # rows about other cases are not in the set's tables
            cases[row["case"]] = (case, has_readable_prior(review_set, case))
        case, has_prior = cases[row["case"]]
        yield ChoiceQuestion(
            row["case"],
            row["candidate"],
            row["question"],
            tuple(row["options"] or ()),
            row["correct"],
            row["explanation"] or "",
            row["statement"] or "",
            row["category"],
            row["difficulty"],
            case.report,
            has_prior,
        )


def find_case_questions(review_set: ReviewSet) -> Iterator[ChoiceQuestion]:
    """Yield the cases of a set that are multiple choice questions."""
    for case_id in review_set.cases.filter(pl.col("question_type") == "choice")["id"].to_list():
        case = review_set.case(case_id)
        assert case is not None
        yield ChoiceQuestion(
            case.id,
            choice_id(case.question, case.options),
            case.question,
            case.options,
            case.correct,
            case.explanation or "",
            category=case.category,
            difficulty=case.difficulty,
            report=case.report,
            has_prior=has_readable_prior(review_set, case),
        )


def check_questions(
    questions: Sequence[ChoiceQuestion], similarity: Similarity | None = None
) -> list[tuple[ChoiceQuestion, list[Check]]]:
    """Return the results of all rules for some questions, in their order.

    ``similarity`` compares them with one another, by letters if absent.
    """
    each = [_checks(asked) for asked in questions]
    sound = [all(one.passed is not False for one in checks) for checks in each]
    alike = _alike(questions, sound, similarity)
    return [
        (asked, [*checks, last]) for asked, checks, last in zip(questions, each, alike, strict=True)
    ]


def _checks(asked: ChoiceQuestion) -> list[Check]:
    """Run the checks on one question; if a text is huge, it fails without further checks."""
    if not (huge := find_huge_text(asked)):
        return [*structural_checks(asked), *content_checks(asked), check_identifying_signs(asked)]
    _, _, defect = STRUCTURAL[TOO_LONG]
    return [
        Check(check, False, defect, huge)
        if check == TOO_LONG
        else Check(check, None, None, "A text of it is too long to be looked through.")
        for check in (*STRUCTURAL, *CONTENT, CHECK)
    ]


def _alike(
    questions: Sequence[ChoiceQuestion], sound: Sequence[bool], similarity: Similarity | None
) -> list[Check]:
    """Check for each question whether another one that is kept is too similar.

    The first of similar ones is kept, preferably one that passes all other checks. Options count as
    the question does: the same question about another study, with other options, is different.
    """
    near: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
    texts = [" ".join((one.question, *sorted(one.options)))[:_COMPARED] for one in questions]
    for first, second, how in find_similar_pairs(texts, similarity):
        near[first].append((second, how))
        near[second].append((first, how))
    dropped: dict[int, tuple[int, float]] = {}
    for place in sorted(range(len(questions)), key=lambda one: not sound[one]):
        if place not in dropped:
            for other, how in near[place]:
                dropped.setdefault(other, (place, how))
    name = similarity.name if similarity else "letters"
    found = []
    for place in range(len(questions)):
        if place not in dropped:
            found.append(Check(ALIKE_CHECK, True, extra={"compared_by": name}))
            continue
        at, how = dropped[place]
        kept = questions[at]
        extra = {"of": [kept.case, kept.candidate], "similarity": round(how, 4)}
        reason = (
            f"As {kept.candidate} of {kept.case}: similarity {how:.2f}, "
            f"above {SIMILARITY_THRESHOLD}."
        )
        found.append(Check(ALIKE_CHECK, False, "other", reason, {**extra, "compared_by": name}))
    return found


def write_rules(review_set: ReviewSet, similarity: Similarity | None = None) -> Path | None:
    """Check all multiple choice candidates by rules, and write the set's folder ``validations``.

    The part replaces the previous one. Returns its path if it changed.

    Raises
    ------
    RunError
        If it cannot be written; it is unchanged then.
    """
    rows: list[Row] = []
    for asked, checks in check_questions(list(find_choice_questions(review_set)), similarity):
        who = {"source": "rule", "by": RULES}
        rows += [{"case": asked.case, **check_row(asked.candidate, one), **who} for one in checks]
    return write_part(review_set.folder / "validations", _PART, rows)


# Combination of all checks of a multiple choice question: all must pass.

State = Literal["passed", "failed", "untold"]
CHECKS: Final[dict[str, str]] = {
    **{check: name for check, (_, name, _) in STRUCTURAL.items()},
    **CONTENT,
    CHECK: "It identifies nobody",
    ALIKE_CHECK: "Not as another question",
}
"""All checks that a question must pass, each with the statement that is then true."""
CandidateRow = Mapping[str, Any]


@dataclass(frozen=True)
class QuestionVerdict:
    """The combined result for a question.

    ``failed`` are the rows of ``validations`` that did not pass. ``untold`` are the checks without
    a result, or that were not made.
    """

    case: str
    candidate: str
    failed: tuple[CandidateRow, ...]
    untold: tuple[str, ...]
    expert_passed: bool

    @property
    def state(self) -> State:
        """Failed if any check failed; an expert settles checks of content without a result."""
        if self.failed:
            return "failed"
        settled: Container[str] = CONTENT if self.expert_passed else ()
        return "passed" if all(check in settled for check in self.untold) else "untold"


def combine_checks(case: str, candidate: str, rows: Sequence[CandidateRow]) -> QuestionVerdict:
    """Combine the rows of ``validations`` of one question.

    A check fails if any row fails, and passes if one row passes and none fails. An expert's verdict
    that the question is good replaces missing results of checks of content. It does not undo a
    failed check, nor replace checks that rules have yet to make.
    """
    failed = tuple(row for row in rows if row["passed"] is False or _names_defect(row))
    told = {row["check"] for row in rows if row["passed"] is not None}
    untold = tuple(check for check in CHECKS if check not in told)
    is_good = any(row["check"] == EXPERT_CHECK and row["passed"] for row in rows)
    return QuestionVerdict(case, candidate, failed, untold, is_good)


def _names_defect(row: CandidateRow) -> bool:
    return row["check"] == EXPERT_CHECK and bool(row["defect"]) and not row["passed"]


def combine_all_checks(
    review_set: ReviewSet, *, experts: bool = True
) -> dict[tuple[str, str], QuestionVerdict]:
    """Return the verdict on each multiple choice candidate of a set, in the order of the table.

    Without ``experts`` their verdicts are left out.
    """
    rows: defaultdict[tuple[str, str], list[CandidateRow]] = defaultdict(list)
    given = review_set.validations
    for row in given.iter_rows(named=True):
        if experts or row["check"] != EXPERT_CHECK:
            rows[row["case"], row["candidate"]].append(row)
    named = review_set.candidates.filter(pl.col("question_type") == "choice")
    return {
        (case, candidate): combine_checks(case, candidate, rows[case, candidate])
        for case, candidate in named.select("case", "candidate").iter_rows()
    }
