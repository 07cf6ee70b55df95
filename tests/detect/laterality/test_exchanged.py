"""Two findings of one kind, one on each side: exchanged, or one of them moved."""

from __future__ import annotations

import pytest

from rexview.detect import find_flags_for_answers
from rexview.detect.laterality.detector import Laterality
from rexview.schema import Answer, Case, Report


def is_flagged(answer: str, report: str) -> bool:
    answers = [Answer(case="c", model="m", text=answer)]
    case = Case("c", "", report=Report(findings=report))
    return bool(find_flags_for_answers(case, answers, detectors=[Laterality()]))


NODULES = "Left upper lobe nodule, 14 mm. Right lower lobe nodule, 6 mm."
EFFUSIONS = "The right effusion has decreased after drainage. The left effusion is unchanged."


@pytest.mark.parametrize(
    ("answer", "report"),
    [
        # lengths
        ("Left upper lobe nodule, 6 mm. Right lower lobe nodule, 1.5 cm.", NODULES),
        # heights
        ("Nodules in the right upper and left lower lobe.", NODULES),
        ("Nodule in the left upper zone. Another nodule in the left lower zone.", NODULES),
        (
            "Chronic bronchiectasis. New consolidation in the right lower lobe.",
            "Tubular opacities in both upper lobes. New opacity in the left lower lobe.",
        ),
        # what has changed
        ("The left effusion is smaller, the right effusion is unchanged.", EFFUSIONS),
        # which is new
        (
            "Old rib fracture on the left, and a new rib fracture on the left.",
            "Old left rib fracture. New right rib fracture.",
        ),
        # drains that are told one by one
        (
            "Drains: one on each side. The upper one lies on the left, the lower one on the right.",
            "Right upper chest tube, left lower chest tube.",
        ),
        # by its name
        (
            "Consolidation in the right upper lobe with fainter opacity in the left upper lobe.",
            "Consolidation of the left upper lobe. Slight opacity of the right upper lobe.",
        ),
    ],
)
def test_what_is_told_apart_and_has_the_other_side_is_found(answer, report):
    assert is_flagged(answer, report)


@pytest.mark.parametrize(
    ("answer", "report"),
    [
        ("Left upper lobe nodule, 1.5 cm. Right lower lobe nodule, 5 mm.", NODULES),
        ("Nodules in the left upper and right lower lobe.", NODULES),
        ("Nodule in the left upper lobe, 14 mm.", NODULES),
        # the answer leaves the height open
        ("Two nodules in the left lung.", NODULES),
        # the report does
        ("Opacities in the right lower lobe.", "Right opacity. Left lower lobe opacity."),
        ("The right effusion is smaller, the left effusion is unchanged.", EFFUSIONS),
        ("Small right effusion, smaller left effusion.", EFFUSIONS),
        (
            "Old rib fracture on the left, and a new rib fracture on the right.",
            "Old left rib fracture. New right rib fracture.",
        ),
        # one that is calcified is a nodule, too
        ("Right lower lobe nodule.", "Left nodule. Calcified granuloma in the right lower lobe."),
        # how far a tip is from the carina is no size
        (
            "Right PICC ends 3 cm above the carina. Left port ends 5 cm below the carina.",
            "Right PICC 5 cm below the carina. Left port 3 cm above the carina.",
        ),
    ],
)
def test_what_is_told_alike_or_too_little_is_not(answer, report):
    assert not is_flagged(answer, report)
