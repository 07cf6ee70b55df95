"""What all checks of a multiple choice question together mean: all must pass."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import polars as pl

from rexview.curation.choice.checks.content import CONTENT
from rexview.curation.choice.checks.identifying import CHECK
from rexview.curation.choice.checks.structure import STRUCTURAL
from rexview.curation.choice.rules import ALIKE_CHECK
from rexview.schema import ReviewSet
from rexview.store.merged_set import EXPERT

State = Literal["passed", "failed", "untold"]
CHECKS: Final[dict[str, str]] = {
    **{check: name for check, (_, name, _) in STRUCTURAL.items()},
    **CONTENT,
    CHECK: "It identifies nobody",
    ALIKE_CHECK: "Not as another question",
}
"""All that a question must pass, with what is true of one that does."""
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Verdict:
    """What became of a question.

    ``failed`` are the rows of ``validations`` that did not pass, ``untold`` the checks that nobody
    could tell or nobody has made.
    """

    case: str
    candidate: str
    failed: tuple[Row, ...]
    untold: tuple[str, ...]
    expert_passed: bool

    @property
    def state(self) -> State:
        """Failed where any check says so; an expert settles what of the content was not told."""
        if self.failed:
            return "failed"
        settled: Container[str] = CONTENT if self.expert_passed else ()
        return "passed" if all(check in settled for check in self.untold) else "untold"


def verdict_of(case: str, candidate: str, rows: Sequence[Row]) -> Verdict:
    """Put the rows of ``validations`` of one question together.

    A check fails when anybody says so, and passes when anybody says so and nobody otherwise. An
    expert's word that the question is good stands for checks of content that could not be told, but
    undoes none that failed, nor does it stand for checks that rules have yet to make.
    """
    failed = tuple(row for row in rows if row["passed"] is False or _names_defect(row))
    told = {row["check"] for row in rows if row["passed"] is not None}
    untold = tuple(check for check in CHECKS if check not in told)
    is_good = any(row["check"] == EXPERT and row["passed"] for row in rows)
    return Verdict(case, candidate, failed, untold, is_good)


def _names_defect(row: Row) -> bool:
    return row["check"] == EXPERT and bool(row["defect"]) and not row["passed"]


def verdicts(review_set: ReviewSet, *, experts: bool = True) -> dict[tuple[str, str], Verdict]:
    """Return the verdict on each multiple choice candidate of a set, in the order of the table.

    Without ``experts`` their word is left out.
    """
    rows: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    given = review_set.validations
    for row in given.iter_rows(named=True):
        if experts or row["check"] != EXPERT:
            rows[row["case"], row["candidate"]].append(row)
    named = review_set.candidates.filter(pl.col("question_type") == "choice")
    return {
        (case, candidate): verdict_of(case, candidate, rows[case, candidate])
        for case, candidate in named.select("case", "candidate").iter_rows()
    }
