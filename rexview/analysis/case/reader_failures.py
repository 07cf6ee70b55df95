"""Which failures a reader can find in an answer."""

from __future__ import annotations

from typing import Final

from rexview.schema import Answer, Case
from rexview.vocab import FAILURES

READER_FAILURES: Final = tuple(name for name in FAILURES if name != "disagreement")
"""Failures that somebody can see in an answer; that readers disagree follows from their scores."""


def failures_of_reader(case: Case, answer: Answer) -> tuple[str, ...]:
    """Return the failures that a reader can find in an answer to a case, in the usual order."""
    drawn = bool(answer.boxes or answer.images)
    left_out = {"boxes_missing"} if drawn else {"box_misplaced", "box_unrelated"}
    if case.question_type != "choice":
        left_out.add("failed_extraction")
    return tuple(failure for failure in READER_FAILURES if failure not in left_out)
