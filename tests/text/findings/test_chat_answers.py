"""What chat models write around their findings: what is weighed, taught or set aside."""

from __future__ import annotations

import pytest
from support.rows import each_row

from rexview.text.findings import find_mentions


def read(text: str) -> list[tuple[str, str | None, str]]:
    return [(m.finding, m.side, m.status) for m in find_mentions(text) if not m.superseded]


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("Mimics:\n- Hernia: has folds\n- Bulla: has thin walls", "hernia"),
        ("## Less likely\n- Pulmonary embolism\n- Pneumothorax", "pneumothorax"),
        (
            "Why not the others?\n\n- **B (pleural effusion):** the angle is sharp.",
            "pleural_effusion",
        ),
        ("An abscess could look similar.", "cavity"),
        ("An abscess would not explain the calcium.", "cavity"),
        ("A pneumothorax, which would otherwise come to mind, has no such edge.", "pneumothorax"),
        ("Then comes treatment of the pleural effusion.", "pleural_effusion"),
        ("Smoking raises the lung cancer risk.", "mass"),
        (
            "Ask whether it is vascular (pulmonary embolism), pleural (pneumothorax).",
            "pneumothorax",
        ),
        ("Cardiomegaly can be present without oedema.", "cardiomegaly"),
    ],
)
def test_what_is_only_weighed_is_no_claim(text, finding):
    statuses = {status for name, _, status in read(text) if name == finding}
    assert statuses
    assert "positive" not in statuses


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("## Most likely\n- Pneumothorax", "pneumothorax"),
        ("A left pneumothorax, which needs a drain.", "pneumothorax"),
        ("The pleural effusion needs treatment.", "pleural_effusion"),
        ("Pneumothorax (right) is there.", "pneumothorax"),
        ("A nodule that would be worrisome for cancer lies in the right apex.", "nodule"),
    ],
)
def test_what_is_claimed_beside_such_words(text, finding):
    assert {status for name, _, status in read(text) if name == finding} <= {
        "positive",
        "uncertain",
    }


@each_row(
    ("text", "statuses"),
    [
        ("No pulmonary fibrosis (asbestosis).", ["negated", "negated"]),
        ("No pulmonary fibrosis (but a pneumothorax).", ["negated", "positive"]),
        ("Absent left hemidiaphragm contour, pneumothorax on the left.", ["positive"]),
        ("Absent pneumothorax, effusion.", ["negated", "negated"]),
        ("The NG tube has been withdrawn and now ends in the stomach.", ["positive"]),
        ("The NG tube has been withdrawn.", ["negated"]),
        ("Opacity at the right base, likely represents a fat pad.", ["negated"]),
        ("Opacity at the right base, likely represents pneumonia.", ["positive", "uncertain"]),
        ("Mediastinal widening is likely due to patient rotation.", ["negated"]),
        ("Failed left subclavian line.", ["negated"]),
        ("The oedema has cleared to some degree.", ["positive"]),
        ("The oedema has cleared.", ["negated"]),
        ("No pneumothorax full stop, heart enlarged full stop", ["negated", "positive"]),
        ("Nothing for a period of pneumothorax.", ["positive"]),
        ("| Item | Status |\n|---|---|\n| Effusion | ✅ None visible |", ["negated"]),
        ("| Heart | Not enlarged |\n| Lungs | clear |", ["negated"]),
        ("| Heart | Enlarged |\n| Lungs | clear |", ["positive"]),
    ],
)
def test_what_is_there_and_what_is_not(text, statuses):
    assert [status for _, _, status in read(text)] == statuses


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        (
            "No effusion on the right, small on the left.",
            {("left", "positive"), ("right", "negated")},
        ),
        ("No effusion on the right, there may be a small one on the left.", {("right", "negated")}),
        (
            "Moderate left effusion, unchanged. Small on right.",
            {("left", "positive"), ("right", "positive")},
        ),
        ("Effusions: right, none; left, small.", {("left", "positive"), ("right", "negated")}),
        (
            "Left effusion. The heart is normal. Small on right.",
            {("left", "positive"), ("right", "positive")},
        ),
        ("Left effusion. Small right hilum.", {("left", "positive")}),
    ],
)
def test_a_second_side_in_a_note(text, sides):
    found = {(side, status) for name, side, status in read(text) if name == "pleural_effusion"}
    assert found >= sides
    assert {side for side, _ in found} == {side for side, _ in sides} or "may be" in text


def test_what_was_removed_on_one_side_remains_on_the_other():
    assert read("The left chest tube was removed, the right remains.") == [
        ("chest_tube", "left", "negated"),
        ("chest_tube", "right", "positive"),
    ] or read("The left chest tube was removed, the right remains.") == [
        ("chest_tube", "right", "positive"),
        ("chest_tube", "left", "negated"),
    ]


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("Left effusion with shift of the heart to the right, and a large left effusion.", "right"),
        ("A right effusion. It pushes the heart away from it.", None),
        ("Shift of the heart to the left.", "left"),
    ],
)
def test_where_the_heart_is_shifted(text, side):
    assert {found for name, found, _ in read(text) if name == "mediastinal_shift"} == {side}


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("Sternotomy wires with fracture of the topmost wire.", "broken_wire"),
        ("Fractured pacemaker lead.", "broken_wire"),
        ("Sternotomy wires. Fracture of the right clavicle.", "clavicle_fracture"),
        ("Old fracture. Sternotomy wires.", "fracture"),
    ],
)
def test_a_broken_wire_is_no_broken_bone(text, finding):
    assert {name for name, _, _ in read(text)} - {"sternotomy", "pacing_lead"} == {finding}
