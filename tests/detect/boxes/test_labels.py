"""The side that a box label claims, and the labels that claim none."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from support.rows import each_row

from rexview.detect.box_labels import read_label_side, reduce_label


@each_row(
    ("label", "side"),
    [
        ("right pleural effusion", "right"),
        ("Right-sided pleural effusion", "right"),
        ("LEFT LOWER LOBE CONSOLIDATION", "left"),
        ("LLL consolidation", "left"),
        ("rul nodule", "right"),
        ("RML opacity", "right"),
        ("middle lobe collapse", "right"),
        ("lingular infiltrate", "left"),
        ("Mass (L)", "left"),
        ("R effusion", "right"),
        ("effusion-R", "right"),
        ("R-sided effusion", "right"),
        ("pneumothorax, left apex", "left"),
        ("left_basal_opacity", "left"),
        ("Rt CP angle blunting", "right"),
        ("right hemidiaphragm elevation", "right"),
        ("left chest tube", "left"),
        ("right pigtail catheter", "right"),
        ("right pleural line", "right"),
        ("left retrocardiac opacity", "left"),
        ("right effusion (left side of the image)", "right"),
        ("displaced left rib fracture", "left"),
        ("left cardiophrenic angle opacity", "left"),
        ("pacemaker, left chest wall", "left"),
        ("left cardiac device", "left"),
        ("Left pacemaker generator", "left"),
        ("ICD (L)", "left"),
        ("right chest port", "right"),
        ("Right port-a-cath", "right"),
    ],
)
def test_claims(label: str, side: str) -> None:
    claim = read_label_side(label)
    assert claim is not None
    assert claim.side == side
    assert label[claim.start : claim.end].strip() == label[claim.start : claim.end] != ""


@each_row(
    "label",
    [
        None,
        "",
        "pleural effusion",
        "bilateral effusions",
        "bibasilar atelectasis",
        "right and left effusion",
        "effusion, left > right",
        "L/R basal opacity",
        "opacity on the left side of the image",
        "left side of image",
        "image left",
        "image-right opacity",
        "viewer's left",
        "nodule in the upper left corner",
        "left ventricle",
        "right heart border",
        "left atrial enlargement",
        "right-sided aortic arch",
        "mediastinal shift to the left",
        "trachea deviated to the right",
        "patient rotated to the left",
        "right IJ line",
        "left PICC tip",
        "left subclavian catheter",
        "left pacemaker lead",
        "right atrial lead of the pacemaker",
        "left port tip",
        "left port catheter",
        "right IJ port",
        "right mainstem intubation",
        "no left effusion",
        "r/o effusion",
        "R/O pneumonia",
        "post-RT fibrosis",
        "left lateral view",
        "R marker",
        "right middle or left lower lobe",
        "midline trachea",
        "L1 fracture",
        "L'épanchement",
        "bright spot",
        "cleft",
        "x" * 400 + " left",
    ],
)
def test_claims_nothing(label: str | None) -> None:
    assert read_label_side(label) is None


@each_row(
    ("label", "finding"),
    [
        ("Right pleural effusions", "pleural effusion"),
        ("pleural_effusion (L)", "pleural effusion"),
        ("LLL consolidation", "lower lobe consolidation"),
        ("RLL consolidation", "lower lobe consolidation"),
        ("left lower lobe consolidation", "lower lobe consolidation"),
        ("Pneumothorax", "pneumothorax"),
        ("Atelectasis", "atelectasis"),
        ("right lung", None),
        ("left", None),
        ("Cardiac silhouette", None),
        ("left PICC", None),
        ("no effusion", None),
        ("lesion", None),
    ],
)
def test_finding(label: str, finding: str | None) -> None:
    assert reduce_label(label) == finding


@given(st.text(max_size=60))
def test_any_text_is_read_without_harm(label: str) -> None:
    claim = read_label_side(label)
    if claim is not None:
        assert 0 <= claim.start < claim.end <= len(label)
    reduce_label(label)
