"""The side that has more of a finding on both sides: read, compared, shown."""

from __future__ import annotations

import pytest

from rexview.detect import find_flags_for_answers
from rexview.detect.laterality.detector import Laterality
from rexview.schema import Answer, Case, Flag, Report
from rexview.text.findings import find_mentions
from rexview.text.predominance import find_predominances


def more(text: str) -> dict[str, set[str | None]]:
    """Return the sides with more, by family of findings."""
    found = find_predominances(text, find_mentions(text))
    return {family: {one.side[0] for one in some} for family, some in found.items()}


def flags(answer: str, findings: str, impression: str | None = None) -> list[Flag]:
    report = Report(findings=findings, impression=impression)
    answers = [Answer(case="c", model="m", text=answer)]
    return find_flags_for_answers(Case("c", "", report=report), answers, detectors=[Laterality()])


@pytest.mark.parametrize(
    ("text", "family", "side"),
    [
        ("Bilateral effusions, R>L.", "pleural_fluid", "right"),
        ("L > R pleural effusions.", "pleural_fluid", "left"),
        ("CHF with left greater than right effusions.", "pleural_fluid", "left"),
        (
            "Effusions on both sides, larger on the right than on the left.",
            "pleural_fluid",
            "right",
        ),
        ("Bibasilar atelectasis worse on the left.", "atelectasis", "left"),
        ("Both bases have atelectasis, less on the right than on the left.", "atelectasis", "left"),
        ("Bilateral opacities, right < left.", "airspace_opacity", "left"),
        ("Bilateral opacities, to a lesser extent on the left.", "airspace_opacity", "right"),
        ("Bilateral opacities with right-sided predominance.", "airspace_opacity", "right"),
        ("Bilateral opacities, particularly in the left lung.", "airspace_opacity", "left"),
        ("Both lungs have opacities. The right one is worse.", "airspace_opacity", "right"),
        ("Bilateral nodules, the largest 2.4 cm in the left lower lobe.", "nodule", "left"),
        ("Bilateral nodules; the biggest (approx. 4 cm) in the right base.", "nodule", "right"),
        (
            "Bilateral effusions, moderate on the left and small on the right.",
            "pleural_fluid",
            "left",
        ),
        ("Effusions (right moderate, left small).", "pleural_fluid", "right"),
        ("Moderate left pleural effusion and a small one on the right.", "pleural_fluid", "left"),
        ("Right effusion, now moderate. Left effusion is small.", "pleural_fluid", "right"),
        ("Small left effusion. There is also a large right effusion.", "pleural_fluid", "right"),
        ("Small effusions on both sides, of which the left is larger.", "pleural_fluid", "left"),
        (
            "Bibasal opacities; those on the left are less than on the right.",
            "airspace_opacity",
            "right",
        ),
        ("Nodules in both lungs. The dominant lesion is in the RUL.", "nodule", "right"),
        ("Bilateral oedema with relative sparing of the right lung.", "edema", "left"),
        (
            "| | Right | Left |\n|---|---|---|\n| Effusion | small | large |",
            "pleural_fluid",
            "left",
        ),
        ("Effusions on both sides, the left being the larger.", "pleural_fluid", "left"),
        (
            "Bilateral opacities, better on the left, worse on the right.",
            "airspace_opacity",
            "right",
        ),
        (
            "Right effusion has grown from small to moderate. Left effusion is small.",
            "pleural_fluid",
            "right",
        ),
        (
            "Marked decrease of the right effusion, now small. Moderate left effusion.",
            "pleural_fluid",
            "left",
        ),
        (
            "Bilateral opacities, improved on the left, with progression on the right.",
            "airspace_opacity",
            "right",
        ),
        (
            "| | Right | Left |\n|---|---|---|\n| Effusion | yes, larger | yes |",
            "pleural_fluid",
            "right",
        ),
        (
            "The lungs are studded with nodules. The biggest is in the right lower lobe.",
            "nodule",
            "right",
        ),
        ('{"pleural effusion": {"right": "small", "left": "moderate"}}', "pleural_fluid", "left"),
        ("| Airspace disease | both, mainly left lower lobe |", "airspace_opacity", "left"),
    ],
)
def test_the_side_with_more_is_read(text, family, side):
    assert more(text)[family] == {side}


@pytest.mark.parametrize(
    "text",
    [
        "Bilateral effusions.",
        "Bilateral effusions, larger on the right than on the prior study.",
        "Bilateral effusions, worse on the left compared to yesterday.",
        "The left effusion is larger, the right one unchanged.",
        "Bilateral opacities, more confluent in the right and left lower lobes.",
        "Bilateral effusions, larger on the left side of the image.",
        "Moderate right and moderate left pleural effusions.",
        "Moderate left effusion, larger than before.",
        "Bilateral effusions, right larger than left on the prior.",
        "",
    ],
)
def test_no_side_is_read_where_none_has_more(text):
    assert more(text) == {}


def test_a_comparison_is_of_the_finding_that_it_follows_or_stands_before():
    text = (
        "Bilateral effusions, right worse than left, bibasilar atelectasis, left more than right."
    )
    assert more(text) == {"pleural_fluid": {"right"}, "atelectasis": {"left"}}
    sized = "Bilateral effusions, moderate on the right and small on the left, and basal opacities."
    assert more(sized) == {"pleural_fluid": {"right"}}


def test_more_on_the_other_side_is_a_laterality_error_with_its_words():
    (flag,) = flags(
        "Effusions on both sides, larger on the left.",
        "Heart enlarged.",
        "Bilateral pleural effusions, right greater than left.",
    )
    assert flag.kind == "predominance"
    assert flag.message == "Answer: pleural effusion, more on the left; report: more on the right."
    assert [(one.where, one.field, one.side, one.text) for one in flag.evidence] == [
        ("answer", None, "left", "Effusions on both sides, larger on the left"),
        ("report", "impression", "right", "pleural effusions, right greater than left"),
    ]


def test_more_above_on_one_side_and_below_on_the_other_is_exchanged():
    report = "Bilateral opacities, densest in the right upper and left lower lobes."
    (flag,) = flags(
        "Opacities on both sides, densest in the left upper and right lower lobe.", report
    )
    assert flag.kind == "predominance"
    assert flags("Bilateral opacities, worst in the left lower and right upper lobe.", report) == []


def test_an_answer_of_two_minds_is_wrong_in_one():
    answer = "Effusions, moderate on the right, small on the left.\nImpression: effusions, L>R."
    (flag,) = flags(answer, "Bilateral effusions, L>R.")
    assert flag.message == "Answer: pleural effusion, more on the right; report: more on the left."


@pytest.mark.parametrize(
    ("answer", "report"),
    [
        ("Bilateral effusions, larger on the right.", "Bilateral effusions, R>L."),
        ("Bilateral effusions.", "Bilateral effusions, R>L."),
        ("Bilateral effusions, larger on the left.", "Bilateral effusions."),
        # the report is of two minds
        ("Bilateral effusions, L>R.", "Moderate right, small left effusion. Effusions, L>R."),
        # of another finding
        ("Bilateral atelectasis, worse on the left.", "Bilateral nodules, worse on the right."),
    ],
)
def test_no_error_where_the_texts_agree_or_one_is_silent(answer, report):
    assert flags(answer, report) == []
