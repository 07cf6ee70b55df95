"""A second finding of a kind, what came in place of one, and what is gone only in part."""

from __future__ import annotations

import pytest

from rexview.text.findings import find_mentions

LEFT_GONE = [("left", "negated"), ("right", "positive")]
LEFT = [("left", "positive")]
LEFT_AND_RIGHT = [("left", "positive"), ("right", "positive")]


@pytest.mark.parametrize(
    ("text", "finding", "found"),
    [
        ("The left IJ line was replaced by a right one.", "central_line", LEFT_GONE),
        ("The left IJ line was replaced by a right IJ line.", "central_line", LEFT_GONE),
        ("The left IJ line has been exchanged for a right-sided one.", "central_line", LEFT_GONE),
        ("A left effusion and a small right one.", "pleural_effusion", LEFT_AND_RIGHT),
        ("A left effusion and a smaller one on the right.", "pleural_effusion", LEFT_AND_RIGHT),
        ("A left effusion, and no one on the right.", "pleural_effusion", LEFT),
        ("The left opacity has partly cleared.", "opacity", LEFT),
        ("The left opacity has cleared.", "opacity", [("left", "negated")]),
        ("A left nodule, which was not present on the film of 2019.", "nodule", LEFT),
        ("A left nodule is not present.", "nodule", [("left", "negated")]),
        ("A left nodule that was not visible in 2017.", "nodule", LEFT),
        ("The left lung is clear apart from a nodule in the mid zone.", "nodule", LEFT),
        ("The right lung is clear apart from a nodule in the left base.", "nodule", LEFT),
        ("The lungs are clear apart from a nodule.", "nodule", [(None, "positive")]),
        ("Both drains lie in the left pleural space.", "chest_tube", LEFT),
        ("Both effusions are larger on the left.", "pleural_effusion", [("bilateral", "positive")]),
        (
            "A pocket with both air and fluid at the base of the left hemithorax.",
            "pneumothorax",
            LEFT,
        ),
        ("There is fluid on both sides.", "pleural_effusion", [("bilateral", "positive")]),
        (
            "Two nodules can be made out, one on either side. The one at the left base is tiny.",
            "nodule",
            [("bilateral", "positive"), ("left", "positive")],
        ),
        ("There is atelectasis. On the left side, nothing.", "atelectasis", [(None, "positive")]),
        ("There is atelectasis. On the left side.", "atelectasis", LEFT),
        (
            "The left lung is darker than the right, and clips lie in the axilla on that side.",
            "surgical_clips",
            LEFT,
        ),
        ("Large right effusion, shift to L.", "mediastinal_shift", LEFT),
    ],
)  # fmt: skip
def test_each_has_its_own_side_and_status(text, finding, found):
    said = [(one.side, one.status) for one in find_mentions(text) if one.finding == finding]
    assert sorted(said, key=str) == sorted(found, key=str)
