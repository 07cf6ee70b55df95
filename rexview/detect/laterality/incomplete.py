"""One side of a bilateral finding: a hint, and no laterality error."""

from __future__ import annotations

from dataclasses import dataclass

from rexview.detect.core.detector import AnswerInCase, flag
from rexview.detect.findings import report_text
from rexview.detect.laterality.text import both_name_a_side
from rexview.detect.laterality.told import contradictions_of, explained
from rexview.schema import Flag


@dataclass(frozen=True)
class SideIncomplete:
    """Hints at findings that one of answer and report has on both sides, the other on one.

    Kind: ``hint``. It was the kind ``bilateral`` of a laterality error once; of
    reports by real models most such answers had the side right that they named.
    """

    failure: str = "side_incomplete"

    def can_judge(self, one: AnswerInCase) -> bool:
        """Say whether the answer and the report name a side."""
        if one.language or one.report_language:
            return False
        return both_name_a_side(one.text, report_text(one.case))

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Hold the answer against its report."""
        return [
            flag(self, one.answer, "hint", *explained(item, one, ()))
            for item in one.once(contradictions_of)
            if item.kind == "incomplete"
        ]
