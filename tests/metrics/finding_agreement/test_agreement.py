"""The finding-level agreement: what two invented reports agree on, and how much that counts."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import each_row

from rexview.harm import load_harm
from rexview.metrics.finding_agreement import (
    ReportPart,
    StudyRequest,
    compare_findings,
    create_weigher,
    read_stated_findings,
)
from rexview.metrics.finding_agreement.stated_findings import load_agreement_rules
from rexview.text.findings import finding_info

RANKING_TESTS = Path(__file__).parents[4] / "shared" / "data" / "radjudge" / "cases.json"


def agreement(reference, candidate, request=StudyRequest()):  # noqa: B008 - immutable
    weigh = create_weigher(load_harm().findings, request)
    expected, denied = read_stated_findings([ReportPart("findings", reference)], weigh)
    given, denied_by_candidate = read_stated_findings([ReportPart(None, candidate)], weigh)
    return compare_findings(expected, given, denied, denied_by_candidate)


def names(lone):
    return [one.stated.name for one in lone]


@each_row(
    ("reference", "candidate"),
    [
        ("The lungs are clear. Normal heart size.", "No acute abnormality."),
        ("The lungs are clear.", "No pneumothorax, no effusion, no consolidation."),
        ("", ""),
        ("Left basal opacity. No effusion.", "Opacity at the base of the left lung."),
        ("Small right effusion.", "There is a small pleural effusion on the right."),
        ("Small effusion.", "Small right effusion."),
        ("Bilateral oedema.", "Pulmonary oedema."),
        ("Right effusion. Left effusion.", "Bilateral pleural effusions."),
        ("Large right and small left effusion.", "Small left and large right pleural effusions."),
        ("Heart is mildly enlarged.", "Mild cardiomegaly."),
        ("Right basal opacity, likely atelectasis.", "Right basilar atelectasis may be present."),
        ("Right lower lobe consolidation.", "Right lower lobe pneumonia."),
        ("Resolved left effusion. Prior right rib fracture.", "Clear."),
        ("Bibasilar opacities suggestive of oedema.", "Possible pulmonary edema."),
    ],
)
def test_the_same_in_other_words_agrees_fully(reference, candidate):
    assert agreement(reference, candidate).score == 1


def test_the_number_by_hand():
    found = agreement(
        "Right lower lobe consolidation. Cardiomegaly. Sternotomy wires.",
        "Right lower lobe consolidation. Large left pneumothorax. Sternotomy wires.",
    )
    # harm: consolidation 3, cardiomegaly 2, sternotomy 1, pneumothorax 4; the rest of the chest 1
    assert found.score == pytest.approx((1 + 2 * (3 + 1)) / (1 + 2 * (3 + 1) + 2 + 4))
    assert [(pair.reference.name, pair.credit) for pair in found.agreed] == [
        ("right consolidation", 1.0),
        ("sternotomy wires", 1.0),
    ]
    assert names(found.missed) == ["cardiomegaly"]
    assert names(found.invented) == ["left pneumothorax"]


def test_a_wrong_side_counts_as_missed_and_invented():
    found = agreement("Right pneumothorax.", "Left pneumothorax.")
    assert [(pair.reference.name, pair.candidate.name) for pair in found.swapped] == [
        ("right pneumothorax", "left pneumothorax")
    ]
    assert found.agreed == found.missed == found.invented == ()
    both = (
        agreement("Right pneumothorax.", "Normal.").score,
        agreement("Normal.", "Left pneumothorax.").score,
    )
    assert found.score == pytest.approx(1 / (1 + 2 * 4))
    assert found.score < min(both)


def test_leaving_all_out_is_not_worse_than_inventing():
    reference = "Right pleural effusion. Left basal consolidation."
    missed = agreement(reference, "Normal chest.")
    assert names(missed.missed) == ["right pleural effusion", "left consolidation"]
    assert missed.score == pytest.approx(1 / (1 + 3 + 3))
    assert agreement(reference, "Pneumoperitoneum.").score < missed.score


@each_row(
    ("reference", "candidate", "differs"),
    [
        ("Right pleural effusion.", "Pleural effusion.", ("location",)),
        ("Bilateral pleural effusions.", "Right pleural effusion.", ("location",)),
        ("Right upper lobe nodule.", "Right lower zone nodule at the base.", ("location",)),
        ("Endotracheal tube in the right main bronchus.", "ETT in good position.", ("location",)),
        ("Small right pneumothorax.", "Large right pneumothorax.", ("severity",)),
        ("Small right pneumothorax.", "Right pneumothorax.", ("severity",)),
        ("A 10 mm nodule on the right.", "A 2 cm nodule on the right.", ("measurement",)),
        ("A 10 mm nodule on the right.", "A nodule on the right.", ("measurement",)),
        ("Right pneumothorax.", "Possible right pneumothorax.", ("certainty",)),
        ("Right lower lobe pneumonia.", "Right lower lobe opacity.", ("descriptor",)),
        ("Right lower lobe opacity.", "Right lower lobe pneumonia.", ("descriptor",)),
        ("Right empyema.", "Right haemothorax.", ("descriptor",)),
        ("Right rib fracture.", "Right fracture.", ("descriptor",)),
        ("Granuloma on the left.", "Nodule on the left.", ("descriptor",)),
        ("Small left effusion.", "Possible large effusion.", ("location", "severity", "certainty")),
    ],
)
def test_what_differs_costs_credit_and_is_named(reference, candidate, differs):
    found = agreement(reference, candidate)
    (pair,) = found.agreed
    assert pair.differs == differs
    assert load_agreement_rules().credit["least"] <= pair.credit < 1
    assert agreement(reference, "Normal.").score < found.score < 1


@pytest.mark.parametrize(
    ("reference", "better", "worse"),
    [
        ("Right effusion.", "Left effusion, small.", "Left effusion. Pneumothorax."),
        ("10 mm nodule.", "11 mm nodule.", "14 mm nodule."),
        ("10 mm nodule.", "9 mm nodule.", "6 mm nodule."),
        ("Large effusion.", "Moderate effusion.", "Trace effusion."),
        ("Pneumothorax. Granuloma.", "Pneumothorax.", "Granuloma."),
        ("Right effusion. Cardiomegaly.", "Right effusion.", "Left effusion."),
    ],
)
def test_what_is_further_away_agrees_less(reference, better, worse):
    assert agreement(reference, better).score > agreement(reference, worse).score


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("Right upper lobe nodule. Right lower lobe nodule.", ["right nodule", "right nodule"]),
        ("Opacity at the left base. This is atelectasis or pneumonia.", None),
        (
            "Right effusion. The effusion is larger. Impression: right effusion.",
            ["right pleural effusion"],
        ),
        ("Bilateral perihilar opacities due to oedema.", ["bilateral pulmonary oedema"]),
        ("Basal opacity and pulmonary oedema.", ["opacity", "pulmonary oedema"]),
        ("Left basal atelectasis versus pneumonia may be present.", ["left atelectasis"]),
        ("Opacity that may represent pneumonia, atelectasis or oedema.", ["pneumonia"]),
        ("Right opacity next to the heart, pneumonia, atelectasis or scar.", ["right pneumonia"]),
        ("Basal opacity. The opacity is possibly pneumonia.", ["pneumonia"]),
        ("If there is fever, pneumonia is to be excluded.", []),
    ],
)
def test_a_finding_is_there_once(text, stated):
    found, _ = read_stated_findings(
        [ReportPart(None, text)], create_weigher(load_harm().findings, StudyRequest())
    )
    if stated is not None:
        assert [one.name for one in found] == stated


@pytest.mark.parametrize(
    ("text", "degree"),
    [
        ("Small right and large left effusion.", {"right": 2, "left": 4}),
        ("Small to moderate effusion.", {None: 2.5}),
        ("A small, loculated effusion.", {None: 2}),
        ("The effusion is moderate.", {None: 3}),
        ("Large lung volumes, with effusion.", {}),
        ("Cardiomegaly is mild, effusion.", {}),
        ("Moderate cardiomegaly and effusion.", {}),
        ("Massively enlarged heart. Effusion.", {}),
    ],
)
def test_degrees(text, degree):
    found, _ = read_stated_findings(
        [ReportPart(None, text)], create_weigher(load_harm().findings, StudyRequest())
    )
    effusion = next(one for one in found if one.findings[0] == "pleural_effusion")
    assert effusion.degrees == degree


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("A 12 mm nodule.", 12),
        ("Nodule measuring 1.2 x 0.8 cm.", 12),
        ("Nodule 2 cm above the hilum.", None),
        ("A nodule. A 4 cm mass.", 40),
        ("3 cm cavity and nodule.", None),
    ],
)
def test_sizes(text, size):
    found, _ = read_stated_findings(
        [ReportPart(None, text)], create_weigher(load_harm().findings, StudyRequest())
    )
    nodule = next(one for one in found if {"nodule", "mass"} & set(one.findings))
    assert nodule.size == size


@pytest.mark.parametrize(
    ("text", "harm"),
    [
        ("Pneumothorax.", 4),
        ("Small pneumothorax.", 3),
        ("Minimal scarring.", 1),
        ("Endotracheal tube 4 cm above the carina.", 1),
        ("Endotracheal tube too low.", 4),
        ("Endotracheal tube without a kink, not too low.", 1),
        ("Possible pneumothorax.", 4),
    ],
)
def test_weights(text, harm):
    (one,), _ = read_stated_findings(
        [ReportPart(None, text)], create_weigher(load_harm().findings, StudyRequest())
    )
    assert one.harm == harm


@pytest.mark.parametrize(
    ("finding", "request_", "harm"),
    [
        ("Degenerative changes.", StudyRequest("70"), 0),
        ("Degenerative changes.", StudyRequest("30-40"), 1),
        ("Degenerative changes.", StudyRequest(None), 1),
        ("Subcutaneous emphysema.", StudyRequest(None, "After lobectomy"), 1),
        ("Subcutaneous emphysema.", StudyRequest(None, "Cough"), 2),
        ("Rib fracture.", StudyRequest("8 months"), 3),
        ("Rib fracture.", StudyRequest("44", "status post CPR"), 1),
    ],
)
def test_the_request_changes_weights(finding, request_, harm):
    (one,), _ = read_stated_findings(
        [ReportPart(None, finding)], create_weigher(load_harm().findings, request_)
    )
    assert one.harm == harm


def test_parts_say_where_they_stand():
    reference, candidate = "Clear. Small right effusion.", "No effusion. Left rib fracture."
    found = agreement(reference, candidate)
    (missed,), (invented,) = found.missed, found.invented
    span = missed.stated.spans[0]
    assert (span.section, reference[span.start : span.end]) == ("findings", "effusion")
    assert missed.against is not None
    assert candidate[missed.against.start : missed.against.end] == "effusion"
    assert invented.against is None
    assert [candidate[s.start : s.end] for s in invented.stated.spans] == ["rib fracture"]


def stated_in_sections(findings, impression):
    parts = [ReportPart("findings", findings), ReportPart("impression", impression)]
    return read_stated_findings(parts, create_weigher(load_harm().findings, StudyRequest()))[0]


@pytest.mark.parametrize(
    ("findings", "impression", "stated"),
    [
        ("Bilateral perihilar opacities.", "Pulmonary oedema.", ["bilateral pulmonary oedema"]),
        ("Left basal opacity.", "Left basal atelectasis.", ["left atelectasis"]),
        ("Right upper lobe opacity.", "Left atelectasis.", ["right opacity", "left atelectasis"]),
        ("Basal opacity. Pulmonary oedema.", "Unchanged.", ["opacity", "pulmonary oedema"]),
        ("Cardiomegaly.", "Pericardial effusion.", ["cardiomegaly", "pericardial effusion"]),
    ],
)
def test_the_impression_names_what_the_findings_describe(findings, impression, stated):
    assert [one.name for one in stated_in_sections(findings, impression)] == stated


def test_what_is_called_alike_is_paired_first():
    found = agreement(
        "Moderate left opacity. Mild pulmonary oedema.",
        "Opacities are consistent with severe pulmonary oedema.",
    )
    assert [pair.reference.name for pair in found.agreed] == ["pulmonary oedema"]
    assert names(found.missed) == ["left opacity"]


def test_what_the_reference_denies_is_named_with_what_is_invented():
    (invented,) = agreement("No pneumothorax.", "Right pneumothorax.").invented
    assert invented.against is not None
    assert invented.against.text == "pneumothorax"


def test_every_finding_in_the_rules_is_one_of_the_lexicon():
    known = load_agreement_rules()
    for found in (*known.signs.values(), *(rule.findings for rule in known.context), known.general):
        assert all(finding_info(one) for one in found)


TEXT = st.lists(
    st.sampled_from(
        [
            *("Right effusion. ", "Small left pneumothorax. ", "No consolidation. ", "Clear. "),
            *("Bilateral opacities, ", "possible oedema ", "and a 3 cm mass. ", "ETT too low. "),
            *("Left rib fracture ", "or ", "atelectasis ", "due to ", "cardiomegaly. ", "\n"),
        ]
    ),
    max_size=8,
).map("".join)


@given(TEXT, TEXT)
def test_it_is_a_share_and_parts_are_complete(reference, candidate):
    found = agreement(reference, candidate)
    assert 0 < found.score <= 1
    assert agreement(reference, reference).score == 1
    weigh = create_weigher(load_harm().findings, StudyRequest())
    expected, _ = read_stated_findings([ReportPart(None, reference)], weigh)
    given, _ = read_stated_findings([ReportPart(None, candidate)], weigh)
    pairs = len(found.agreed) + len(found.swapped)
    assert pairs + len(found.missed) == len(expected)
    assert pairs + len(found.invented) == len(given)


@pytest.mark.parametrize(
    ("reference", "best_first"),
    [
        (
            "Small right apical pneumothorax. Right chest tube in place.",
            ["Tiny right apical pneumothorax, chest tube unchanged.", "Chest tube. Clear lungs."],
        ),
        (
            "Moderate cardiomegaly with pulmonary edema and small bilateral effusions.",
            [
                "Enlarged heart, interstitial edema, and trace bilateral effusions.",
                "Cardiomegaly. Clear lungs.",
                "Normal heart. Multifocal pneumonia",
            ],
        ),
        (
            "Right upper lobe mass, 4 cm, with hilar adenopathy.",
            [
                "4.2 cm right upper lobe mass. Right hilar lymphadenopathy.",
                "Right upper lobe nodule.",
                "Left upper lobe mass.",
            ],
        ),
        (
            "Low lung volumes with bibasilar atelectasis. No effusion.",
            [
                "Bibasilar opacities likely representing atelectasis.",
                "Bilateral lower lobe pneumonia.",
            ],
        ),
        (
            "NG tube coiled in the esophagus.",
            ["Enteric tube is coiled in the oesophagus", "Nasogastric tube tip in the stomach."],
        ),
        (
            "Left PICC tip in the SVC. Stable left pleural effusion.",
            ["Left PICC. Left effusion, unchanged.", "Right PICC. Left effusion."],
        ),
        (
            "Left lower lobe consolidation concerning for pneumonia with small effusion.",
            [
                "Left basilar pneumonia and small left effusion.",
                "Left lower lobe opacity.",
                "Right lower lobe pneumonia.",
            ],
        ),
        (
            "Interval resolution of right pneumothorax.",
            ["No pneumothorax.", "Right pneumothorax."],
        ),
        (
            "Subtle retrocardiac opacity may be atelectasis or early pneumonia.",
            ["Retrocardiac atelectasis.", "Large left pleural effusion"],
        ),
        (
            "Mild pulmonary vascular congestion. Small right effusion.",
            [
                "Mild pulmonary edema with small right pleural effusion.",
                "Severe pulmonary edema with large right pleural effusion.",
                "Clear.",
            ],
        ),
        (
            "Endotracheal tube terminates 2 cm above the carina.",
            [
                "ETT in good position.",
                "No abnormality.",
                "Tube tip: ETT in the right main bronchus.",
            ],
        ),
    ],
)
def test_whole_reports_are_ranked(reference, best_first):
    scores = [agreement(reference, candidate).score for candidate in best_first]
    assert all(better > worse for better, worse in pairwise(scores)), scores


OTHERS = "The heart is enlarged. Moderate bilateral pleural effusions. Mild pulmonary oedema. "
GRAVE = [
    # another lobe or zone
    (
        "Consolidation in the right middle lobe.",
        "Right middle lobe consolidation.",
        "Consolidation in the right lower lobe.",
    ),
    ("Consolidation in the right upper lobe.", "RUL consolidation.", "RLL consolidation."),
    ("Nodule in the left mid zone.", "Left mid zone nodule.", "Nodule in the left lower zone."),
    ("Nodule in the RUZ.", "Right upper zone nodule.", "Nodule in the right lower zone."),
    # another course
    ("New mass in the left lung.", "Left lung mass, new.", "Unchanged mass in the left lung."),
    (
        "Mass in the left lung, which was not there before.",
        "New left lung mass.",
        "Stable left lung mass.",
    ),
    (
        "The right effusion has increased.",
        "Larger right effusion than before.",
        "The right effusion has decreased.",
    ),
    # another number of leads
    (
        "Single-chamber pacemaker with its lead in the right ventricle.",
        "Pacemaker with a single lead, which ends in the right ventricle.",
        "Dual-chamber pacemaker with two leads.",
    ),
    # a wrong device, and an invented one
    (
        "Right PICC with its tip in the SVC.",
        "PICC from the right, tip in the SVC.",
        "Right port with its tip in the SVC.",
    ),
    (
        "Endotracheal tube 4 cm above the carina.",
        "ETT 4 cm above the carina.",
        "ETT 4 cm above the carina. Right chest tube.",
    ),
    ("No devices.", "No tubes or lines.", "Right internal jugular central venous catheter."),
    ("Left pacemaker.", "Pacemaker on the left.", "Left chest tube."),
]


@pytest.mark.parametrize("others", ["", OTHERS])
@each_row(("reference", "right", "wrong"), GRAVE)
def test_grave_errors_cost_something_in_any_report(others, reference, right, wrong):
    good = agreement(others + reference, others + right).score
    assert good == pytest.approx(1)
    assert agreement(others + reference, others + wrong).score <= good - 0.15 + 1e-9


@each_row(
    ("reference", "candidate"),
    [
        # one place by another name, or two on both sides
        ("Nodule in the lingula.", "Nodule in the left upper lobe."),
        ("Right basal consolidation.", "Right lower zone consolidation."),
        ("Pneumonia, right upper and left lower lobes.", "Consolidation in RUL and LLL."),
        # one course by other words, or of another finding
        ("New effusion on the right.", "The right effusion has increased."),
        ("Right effusion, unchanged.", "Right effusion."),
        ("Chest tube; the effusion is smaller.", "New chest tube. Smaller effusion."),
        # a device by its general name
        ("Right PICC.", "PICC through the right subclavian vein, a central line."),
        (
            "Dual-chamber pacemaker.",
            "Pacemaker, one lead in the atrium, the other in the ventricle.",
        ),
        ("Sternotomy.", "Sternotomy with clips."),
    ],
)
def test_what_is_no_grave_error(reference, candidate):
    found = agreement(reference, candidate)
    assert not [pair for pair in found.agreed if pair.grave]
    assert found.score > 0.6


@each_row(
    ("text", "names"),
    [
        ("Normal film. Sarcoidosis is not excluded by it.", []),
        ("Pneumonia cannot be excluded.", []),
        ("Airspace shadowing in the right upper lobe, down to the fissure.", ["right opacity"]),
        (
            "The endotracheal tube has been pulled back out of the right main bronchus and now "
            "ends 5 cm above the carina.",
            ["endotracheal tube"],
        ),
    ],
)
def test_what_only_seems_to_be_said(text, names):
    found, _ = read_stated_findings(
        [ReportPart(None, text)], create_weigher(load_harm().findings, StudyRequest())
    )
    assert [one.name for one in found] == names
    assert not any(one.misplaced for one in found)


def test_a_tube_that_a_later_sentence_calls_too_low():
    reference = "Endotracheal tube 5 cm above the carina."
    text = "The endotracheal tube ends 1 cm above the carina. Tube still too low."
    (pair,) = agreement(reference, text).agreed
    assert pair.differs == ("location",)


def ranking_tests():
    if not RANKING_TESTS.is_file():
        return []
    categories = json.loads(RANKING_TESTS.read_text(encoding="utf-8"))
    return [test for category in categories for test in category["tests"]]


@pytest.mark.skipif(not ranking_tests(), reason="the ranking tests of CRIMSON are not at hand")
def test_the_ranking_tests_of_crimson():
    right = [test["id"] for test in ranking_tests() if is_ranked(test)]
    assert len(ranking_tests()) == 30
    assert len(right) >= 24, right


def is_ranked(test):
    """Whether candidates come in the order that is expected; equal ones have to be equal."""
    score = {}
    for name, candidate in test["candidates"].items():
        context = candidate.get("context", {})
        request = StudyRequest(context.get("age"), context.get("indication"))
        score[name] = agreement(test["ground_truth"], candidate["text"], request).score
    orders = test["expected_ranking"]
    for order in [orders] if isinstance(orders, str) else orders:
        words = order.split()
        for (one, sign), (other, _) in pairwise(zip(words[::2], [*words[1::2], ""], strict=True)):
            equal = score[one] == pytest.approx(score[other])
            if equal != (sign == "=") or (not equal and score[one] < score[other]):
                return False
    return True
