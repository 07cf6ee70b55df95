"""Answers that reply with a side: the finding stands in the question, the options or the report."""

from support.rows import each_row

from rexview.detect import find_flags_for_answers
from rexview.schema import Answer, Case, Report

LISTED = "Please choose one: A. right upper lobe pneumonia B. left upper lobe pneumonia"
AIR = "Is there a pneumothorax on the left?"
WORSE = "Which lung is worse?\nA) The left, because of an effusion\nB) The right, because of air"


def flagged(question, report, answer):
    case = Case(id="c", question=question, report=Report(findings=report))
    found = find_flags_for_answers(case, [Answer(case="c", model="m", text=answer)])
    return any(one.failure == "laterality_error" for one in found)


@each_row(
    ("question", "report", "answer", "wrong"),
    [
        # "yes" takes the side of the question, unless the report has both or the answer another
        (AIR, "Right pneumothorax.", "Yes. A pleural line is seen.", True),
        (AIR, "Right pneumothorax.", "No. A pleural line is not seen.", False),
        (AIR, "Left pneumothorax.", "Yes. A pleural line is seen.", False),
        (AIR, "Bilateral pneumothoraces.", "Yes.", False),
        (AIR, "Right pneumothorax.", "Yes, but on the right.", False),
        # the letter of an option, in bold, or with reasons that name no side
        (LISTED, "Left upper lobe pneumonia.", "**A**", True),
        (LISTED, "Left upper lobe pneumonia.", "**B**", False),
        (WORSE, "Right effusion.", "Option: A. There is a meniscus.", True),
        # the first sentence replies, others say more
        (
            "Is there a nodule?",
            "Nodule at the left fifth rib.",
            "Yes, one. About 9 mm, over the right fifth rib. It could be a nipple.",
            True,
        ),
        (
            "Where is the nodule?",
            "Left nodule. Right plaque.",
            "In the right lower zone. There is also a plaque on the right.",
            True,
        ),
        (
            "Where is the nodule?",
            "Left nodule. Right plaque.",
            "In the left lower zone. There is also a plaque on the right.",
            False,
        ),
        # several findings are asked about: the one that the report puts on a side
        (
            "Is there a nodule? If so: location, calcification.",
            "Left lower nodule.",
            "Location: right lower zone\nCalcification: none",
            True,
        ),
        # the side of an organ is asked for, not that of the report's one finding
        ("On which side is the heart apex?", "Left bronchiectasis.", "On the right.", False),
        # none is named, and a side is asked for
        ("RML or lingula?", "Consolidation of the lingula.", "RML.", True),
        ("RML or lingula?", "Consolidation of the lingula. Right effusion.", "RML.", False),
        ("Is it worse?", "Consolidation of the lingula.", "RML.", False),
    ],
)
def test_a_reply_with_a_side(question, report, answer, wrong):
    assert flagged(question, report, answer) is wrong


def test_an_object_against_the_words_of_one_answer():
    told = "Consolidation, left lower lobe.\n\n"
    report = "Left lower lobe consolidation."
    assert flagged("Describe.", report, told + '{"consolidation": "RLL"}')
    assert not flagged("Describe.", report, told + '{"consolidation": "LLL"}')


def test_the_last_sentence_of_thoughts_counts():
    aloud = (
        "Let me think. Let me see. The left angle is blunted. No. {} Final diagnosis: {} effusion."
    )
    report = "Left effusion."
    assert flagged("Describe.", report, aloud.format("Or is it?", "right pleural"))
    assert not flagged("Describe.", report, aloud.format("Or is it?", "left pleural"))


@each_row(
    ("question", "answer"),
    [
        ("What do you see in the left base?", "There is a patchy opacity in the lower zone."),
        ("Is there a left opacity?", "Yes, a small patchy opacity is present."),
    ],
)
def test_a_finding_without_a_side_has_that_of_the_question(question, answer):
    assert flagged(question, "Patchy opacity in the right lower lobe.", answer)
    assert not flagged(question, "Patchy opacity in the left lower lobe.", answer)


@each_row(
    ("question", "answer"),
    [
        ("What do you see in the lungs?", "There is a patchy opacity."),
        (
            "What do you see in the left base?",
            "Nothing. There is a patchy opacity in the other lung.",
        ),
        ("What do you see in the left base?", "Clear. Right base: patchy opacity."),
        ("Is there a left effusion?", "No, there is a patchy opacity in the lower zone."),
        ("Is there more on the left or on the right?", "There is a patchy opacity."),
    ],
)
def test_it_has_not_where_the_answer_may_mean_another_place(question, answer):
    assert not flagged(question, "Patchy opacity in the right lower lobe.", answer)
