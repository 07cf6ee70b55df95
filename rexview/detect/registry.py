"""List all failure detectors, with their adjustable settings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from rexview.detect.box_failures import (
    BoxesMissing,
    BoxMisplaced,
    BoxUnrelated,
    models_with_boxes,
    models_without_boxes,
)
from rexview.detect.detector import AnswerInCase, Detector, make_flag
from rexview.detect.laterality.detector import Laterality, SideIncomplete
from rexview.detect.report_hints import InventedFinding, MissedFinding, WrongAbnormality
from rexview.detect.score_failures import (
    DISAGREEMENT_THRESHOLD,
    GAP_THRESHOLD,
    AnswerLength,
    Disagreement,
    ExecutionGap,
    Overconfident,
)
from rexview.detect.token_limit import TokenLimit
from rexview.schema import Evidence, Flag, Model
from rexview.text.answer_ending import text_ending
from rexview.text.findings import find_mentions

# Choice questions without a usable choice.

_SHOWN: Final = 120
"""Characters of the answer shown as evidence."""


@dataclass(frozen=True)
class FailedExtraction:
    """Flags answers to choice questions that name no option of the question.

    Kinds: ``no_choice`` (no option could be read from the answer) and ``no_option`` (its number is
    not among the options).
    """

    failure: str = "failed_extraction"

    def can_judge(self, one: AnswerInCase) -> bool:
        """True if the question offers a choice, and the rules can read the answer."""
        if one.case.question_type != "choice":
            return False
        return one.answer.choice is not None or one.language is None

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Check the number of the option that was read from the answer."""
        choice, count = one.answer.choice, len(one.case.options)
        text = " ".join(one.text.split())
        if choice is None:
            kind, message = "no_choice", "No option could be taken from the answer."
            if not text:
                message = "No option was chosen: the answer is empty."
        elif choice < 0 or (count and choice >= count):
            kind = "no_option"
            message = f"Option number {choice + 1} was chosen; the question has {count} options."
        else:
            return []
        return [make_flag(self, one.answer, kind, message, (Evidence("answer", text[:_SHOWN]),))]


def create_detectors(
    *,
    gap_threshold: float = GAP_THRESHOLD,
    disagreement_threshold: float = DISAGREEMENT_THRESHOLD,
    models: Iterable[Model] = (),
) -> tuple[Detector, ...]:
    """Return all detectors, with their adjustable settings.

    The thresholds are the differences of scores from which an execution gap, or a disagreement
    between readers, is flagged. The review set's ``models`` that draw no boxes are not flagged for
    missing ones.
    """
    return (
        Laterality(),
        TokenLimit(),
        ExecutionGap(threshold=gap_threshold),
        InventedFinding(),
        MissedFinding(),
        WrongAbnormality(),
        SideIncomplete(),
        BoxesMissing(models_without_boxes(models), models_with_boxes(models)),
        BoxMisplaced(),
        BoxUnrelated(),
        Overconfident(),
        AnswerLength("verbose"),
        AnswerLength("terse"),
        FailedExtraction(),
        Disagreement(threshold=disagreement_threshold),
    )


DETECTORS: Final = create_detectors()
"""All detectors with their default settings."""


def read_word_lists() -> None:
    """Read the lexicon and the other word lists now, rather than with the first text."""
    find_mentions("No effusion.")
    text_ending("No effusion")
