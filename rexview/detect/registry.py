"""All failure detectors, with the settings that can be adjusted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rexview.detect.answer_length import AnswerLength
from rexview.detect.answer_text.ending import text_ending
from rexview.detect.answer_text.token_limit import TokenLimit
from rexview.detect.boxes.misplaced import BoxMisplaced
from rexview.detect.boxes.missing import BoxesMissing, models_with_boxes, models_without_boxes
from rexview.detect.boxes.unrelated import BoxUnrelated
from rexview.detect.core.detector import Detector
from rexview.detect.failed_extraction import FailedExtraction
from rexview.detect.findings import find_mentions
from rexview.detect.laterality.detector import Laterality
from rexview.detect.laterality.incomplete import SideIncomplete
from rexview.detect.overconfident import Overconfident
from rexview.detect.report_hints import InventedFinding, MissedFinding, WrongAbnormality
from rexview.detect.score_failures import (
    DISAGREEMENT_THRESHOLD,
    GAP_THRESHOLD,
    Disagreement,
    ExecutionGap,
)
from rexview.schema import Model


def detectors(
    *,
    gap_threshold: float = GAP_THRESHOLD,
    disagreement_threshold: float = DISAGREEMENT_THRESHOLD,
    models: Iterable[Model] = (),
) -> tuple[Detector, ...]:
    """Return all detectors, with the settings that can be adjusted.

    The thresholds are differences of scores from which an execution gap, a disagreement of readers
    is flagged. Of the review set's ``models`` those that draw no boxes miss none.
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


DETECTORS: Final = detectors()
"""All detectors with their default settings."""


def read_word_lists() -> None:
    """Read the lexicon and the other word lists now, not when the first text is looked at."""
    find_mentions("No effusion.")
    text_ending("No effusion")
