"""The multiple choice questions of a set, and what rules say of them as a part of the set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import polars as pl

from rexview.curation.alike import ALIKE, Similarity, alike_pairs
from rexview.curation.asking import Row
from rexview.curation.candidate import choice_id
from rexview.curation.choice.checks.content import CONTENT, content_checks
from rexview.curation.choice.checks.identifying import CHECK, identifying_check
from rexview.curation.choice.checks.question import RULES, Check, ChoiceQuestion
from rexview.curation.choice.checks.structure import (
    STRUCTURAL,
    TOO_LONG,
    huge_text,
    structural_checks,
)
from rexview.curation.choice.validator import check_row
from rexview.curation.comparison import has_readable_prior
from rexview.models.running.folder import write_part
from rexview.schema import Case, ReviewSet

ALIKE_CHECK: Final = "alike"
_PART: Final = "rules"
_COMPARED: Final = 4_000
"""Characters of question and options; none that pass have more, and a server may refuse them."""


def questions_of(review_set: ReviewSet) -> Iterator[ChoiceQuestion]:
    """Yield the multiple choice candidates of a set with the report of their study.

    In the order of its cases, so that it does not matter which answer came first.
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


def questions_of_cases(review_set: ReviewSet) -> Iterator[ChoiceQuestion]:
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


def checks_of(
    questions: Sequence[ChoiceQuestion], similarity: Similarity | None = None
) -> list[tuple[ChoiceQuestion, list[Check]]]:
    """Return all that the rules say of some questions, in their order.

    ``similarity`` compares them with each other; by their letters when absent.
    """
    each = [_checks(asked) for asked in questions]
    sound = [all(one.passed is not False for one in checks) for checks in each]
    alike = _alike(questions, sound, similarity)
    return [
        (asked, [*checks, last]) for asked, checks, last in zip(questions, each, alike, strict=True)
    ]


def _checks(asked: ChoiceQuestion) -> list[Check]:
    """Look at one question; at one with a huge text, which fails anyway, only for that."""
    if not (huge := huge_text(asked)):
        return [*structural_checks(asked), *content_checks(asked), identifying_check(asked)]
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
    """Say of each question whether another one that is kept is more alike than allowed.

    The first one is kept, of those that pass all else where there is such a one. Options count as
    the question does: the same question about another study, with other options, is another one.
    """
    near: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
    texts = [" ".join((one.question, *sorted(one.options)))[:_COMPARED] for one in questions]
    for first, second, how in alike_pairs(texts, similarity):
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
        reason = f"As {kept.candidate} of {kept.case}: similarity {how:.2f}, above {ALIKE}."
        found.append(Check(ALIKE_CHECK, False, "other", reason, {**extra, "compared_by": name}))
    return found


def write_rules(review_set: ReviewSet, similarity: Similarity | None = None) -> Path | None:
    """Check all multiple choice candidates by rules, into the set's folder ``validations``.

    The part takes the place of the one that was there. Returns it where it is another than before.

    Raises
    ------
    RunError
        It cannot be written; it is as it was.
    """
    rows: list[Row] = []
    for asked, checks in checks_of(list(questions_of(review_set)), similarity):
        who = {"source": "rule", "by": RULES}
        rows += [{"case": asked.case, **check_row(asked.candidate, one), **who} for one in checks]
    return write_part(review_set.folder / "validations", _PART, rows)
