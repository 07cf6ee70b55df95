"""Slips of the tongue, dates, places and lists: what a sentence says after all."""

from __future__ import annotations

import pytest
from support.rows import each_row

from rexview.text.findings import find_mentions, misplaced_devices


def read(text: str) -> list[tuple[str, str | None, str]]:
    return [(m.finding, m.side, m.status) for m in find_mentions(text) if not m.superseded]


@each_row(
    ("text", "side"),
    [
        ("There is a nodule in the left correction right upper lobe", "right"),
        ("Nodule in the left, correction, right upper lobe.", "right"),
        ("Nodule on the left sorry right side.", "right"),
        ("Small left I mean right nodule", "right"),
        ("Left scratch that right lower lobe nodule", "right"),
        ("Left, er, right basal nodule.", "right"),
        ("Nodule left - no, right.", "right"),
        ("left make that right nodule", "right"),
        ("Nodule left rather than right.", "left"),
        ("Nodule on the left, no right effusion.", "left"),
        ("~~Left~~ Right nodule.", "right"),
        ("Left and right nodule? No, only right.", "right"),
        ("Left nodule? No, right.", "right"),
        ("Slightly larger left nodule.", "left"),
        ("Nodule: R+, L-", "right"),
        ("The left nodule has resolved. It lies on the right now.", "right"),
    ],
)
def test_the_side_that_was_meant(text, side):
    there = {m[1] for m in read(text) if m[0] == "nodule" and m[2] == "positive"}
    assert there == {side}


@each_row(
    ("text", "status"),
    [
        ("Right nodule, not seen in ___.", "positive"),
        ("Right nodule, not seen on 3/4/2019.", "positive"),
        ("Right nodule, not seen in March.", "positive"),
        ("Right nodule, not present on [**2011**].", "positive"),
        ("Right nodule, not seen in this film.", "negated"),
        ("Right nodule not seen.", "negated"),
        ("Lungs clear other than a right nodule.", "positive"),
        ("Something other than a right nodule.", "negated"),
        ("Interval right nodule resolution.", "negated"),
        ("Follow the right nodule to resolution.", "positive"),
        ("The apparent right nodule is a skin fold.", "negated"),
        ("The request says right nodule.", "hypothetical"),
        ("Sarcoid usually causes a right nodule.", "hypothetical"),
        ("The right side had the nodule.", "prior"),
    ],
)
def test_what_is_said_of_it(text, status):
    assert [m[2] for m in read(text) if m[0] == "nodule"] == [status]


@each_row(
    ("text", "expected"),
    [
        ("Collapse right base, left drain.", {"atelectasis": "right", "chest_tube": "left"}),
        ("Drain, right, and basal nodule, left.", {"chest_tube": "right", "nodule": "left"}),
        (
            "Fracture of the right clavicle and fracture of the left 9th rib.",
            {"clavicle_fracture": "right", "rib_fracture": "left"},
        ),
        (
            "The right base is consolidated / lesion of the left fifth rib is lytic",
            {"consolidation": "right"},
        ),
        ("Dextroscoliosis, left effusion.", {"scoliosis": "right", "pleural_effusion": "left"}),
        ("The aortic arch is right-sided.", {"arch_side": "right"}),
        ("RUQ clips, left effusion.", {"abdominal_clips": "right", "pleural_effusion": "left"}),
        ("R CT to suction.", {"chest_tube": "right"}),
        ("R CT chest advised.", {}),
        ("Right paratracheal mass.", {"mediastinal_mass": "right"}),
        ("The right lung is overinflated.", {"overinflated_lung": "right"}),
        ("PICC from the left arm passes over to the right of the mediastinum.", {"picc": "left"}),
        ("Left effusion, right fluid.", {"pleural_effusion": "left"}),
        ("No left effusion; this is the right lung.", {"pleural_effusion": None}),
    ],
)
def test_each_side_stays_with_its_own(text, expected):
    found: dict[str, str | None] = {}
    for finding, side, status in read(text):
        if status == "positive":
            found.setdefault(finding, side)
    for finding, side in expected.items():
        assert found.get(finding) == side
    if not expected:
        assert found == {}


@pytest.mark.parametrize(
    "text",
    [
        "effusion: {left: false, right: true}",
        "Pleural effusion:\n  Right: yes\n  Left: no",
        '{"effusion": {"r": true, "l": false}}',
        '{"pleura": {"effusion": ["right"]}}',
        '{"findings": [{"name": "effusion", "attributes": {"side": "right", "size": "small"}}]}',
        '{"effusion": "small", "details": {"side": "right"}, "other": {"side": "left"}}',
    ],
)
def test_sides_in_fields(text):
    sides = [m[1] for m in read(text) if m[2] == "positive"]
    assert sides == ["right"]


def test_a_tube_in_a_bronchus_is_a_tube():
    assert misplaced_devices("bronchial_tube") == ("endotracheal_tube", "enteric_tube")
    assert misplaced_devices("endotracheal_tube") == ()
