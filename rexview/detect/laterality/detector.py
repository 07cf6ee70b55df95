"""Laterality errors: a finding on the wrong side of the patient.

An answer is held against the report, against itself, against its own boxes and against reference
boxes; a chosen option against the correct one. The side of a box comes from the recorded size and
orientation of its image, so that no image file is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rexview.detect.core.detector import AnswerInCase, flag
from rexview.detect.findings import Mention, report_text
from rexview.detect.laterality.boxes import (
    against_boxes,
    boxes_with_sides,
    can_judge_boxes,
)
from rexview.detect.laterality.choice import can_judge_choice, wrong_side_chosen
from rexview.detect.laterality.text import can_judge_text, one_side, sides_named
from rexview.detect.laterality.text_boxes import text_against_boxes
from rexview.detect.laterality.told import claims_of_answer, contradictions_of, explained
from rexview.schema import Flag


@dataclass(frozen=True)
class Laterality:
    """Flags findings on the wrong side.

    Kinds: ``report`` (the report has the finding on the other side only), ``predominance`` (both
    have it on both sides, the report more of it on the other), ``self`` (the answer contradicts
    itself), ``boxes`` (a box lies on the other side than its label or the answer says),
    ``reference_boxes`` (the reference has boxes of the finding on the other side only), ``choice``
    (an option with the finding on the other side than the correct one is chosen). One side of what
    the other text has on both is none: see :mod:`rexview.detect.laterality.incomplete`.

    Of a text longer than :data:`rexview.detect.findings.reading.LONGEST` only that much is read;
    what stands beyond it is neither flagged nor evidence.

    Examples
    --------
    In a notebook, for one answer of a review set::

        from rexview.detect import flags_for
        from rexview.detect.laterality.detector import Laterality
        from rexview.reviewset import load

        review_set = load("assets/demo")
        case, answers = review_set.case("demo-001"), review_set.answers_of("demo-001")
        for found in flags_for(case, answers, detectors=[Laterality()]):
            print(found.model, found.kind, found.message)
    """

    failure: str = "laterality_error"

    def can_judge(self, one: AnswerInCase) -> bool:
        """Say whether a text, a chosen option or a box gives a side that could be contradicted."""
        case, answer = one.case, one.answer
        placed = boxes_with_sides(case, answer)
        boxed = bool(placed or case.reference_boxes)
        text = "" if one.language else one.text
        report = "" if one.report_language else report_text(case)
        return (
            can_judge_text(text, report, boxed=boxed)
            or (not any(sides_named(text)) and bool(claims_of_answer(one)))
            or can_judge_choice(case, answer)
            or can_judge_boxes(case, placed)
        )

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Hold the answer against its boxes, its choice, the report, itself and the reference."""
        case, answer = one.case, one.answer
        placed = boxes_with_sides(case, answer)
        claims = claims_of_answer(one)
        flags = [
            flag(self, answer, found.kind, found.message, found.evidence)
            for found in (against_boxes(case, placed, _on_both(claims)) if placed else ())
        ]
        flags += [
            flag(self, answer, "choice", message, evidence)
            for message, evidence in wrong_side_chosen(case, answer)
        ]
        if not claims:
            return flags
        for item in one.once(contradictions_of):
            if item.kind != "incomplete":
                message, evidence = explained(item, one, placed)
                flags.append(flag(self, answer, item.kind, message, evidence))
        return flags + text_against_boxes(self, one, claims, placed)


def _on_both(claims: Mapping[str, Sequence[Mention]]) -> list[str]:
    """Return the families of findings that an answer has on both sides."""
    return [family for family, sided in claims.items() if one_side(sided) == "bilateral"]
