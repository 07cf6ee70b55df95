"""Choices read out of free text, against texts that people labelled before the code was there."""

from pathlib import Path

import pytest
from support.growth import growth
from support.rows import each_row

from rexview.package_data import read_package_table
from rexview.text.choices.answer_cues import asks_for_absence
from rexview.text.choices.choice_reader import read_choice
from rexview.text.choices.option_words import METHODS

HERE = Path(__file__).parent
CORPORA = {
    name: read_package_table(HERE / f"{name}.yaml")
    for name in (
        *("answers", "more_answers", "last_answers", "further_answers"),
        *("strangers_answers", "more_strangers_answers"),
    )
}
SEEN = ["Pneumothorax", "Pleural effusion", "Cardiomegaly", "Consolidation"]


def option(text, options=SEEN, question="Which is seen?"):
    found = read_choice(text, options, question)
    return found and found.option


@pytest.mark.parametrize(
    ("name", "precision", "recall"),
    [
        ("answers", 0.995, 0.97),
        ("more_answers", 0.995, 0.97),
        ("last_answers", 0.995, 0.92),
        ("further_answers", 0.995, 0.97),
        ("strangers_answers", 0.995, 0.83),
        ("more_strangers_answers", 0.995, 0.74),
    ],
)
def test_what_a_person_reads_is_read(name, precision, recall):
    corpus = CORPORA[name]
    read = right = there = 0
    wrong = []
    for answer in corpus["answers"]:
        question = corpus["questions"][answer["q"]]
        found = option(answer["text"], question["options"], question["question"])
        read += found is not None
        there += answer["is"] is not None
        if found is not None and found == answer["is"]:
            right += 1
        elif found is not None:
            wrong.append(answer)
    assert right / read >= precision, wrong
    assert right / there >= recall


def test_method_and_place_are_kept():
    text = "The heart is wide.\n\n**Answer:** C. Cardiomegaly"
    found = read_choice(text, SEEN)
    assert (found.option, found.method, text[found.start : found.end]) == (2, "stated", "C")
    text = "The film shows a small pleural effusion."
    found = read_choice(text, SEEN)
    assert (found.method, text[found.start : found.end]) == ("mentioned", "pleural effusion")
    assert read_choice('{"answer": "B"}', SEEN).method == "field"
    assert read_choice("Cardiomegaly.", SEEN).method == "option"
    assert read_choice("D", SEEN).method == "letter"


@pytest.mark.parametrize("name", CORPORA)
def test_every_place_lies_in_its_text(name):
    for answer in CORPORA[name]["answers"]:
        question = CORPORA[name]["questions"][answer["q"]]
        found = read_choice(answer["text"], question["options"], question["question"])
        if found:
            assert 0 <= found.start < found.end <= len(answer["text"])
            assert found.method in METHODS


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Answer: **D**", 3), ("C because I see it", 2), ("B. Note that A is not seen", 1)],
)
def test_known_wrong_readings_of_others(text, expected):
    assert option(text) == expected


def test_two_options_of_the_same_words_are_not_told_apart():
    assert option("Effusion", ["Effusion", "Effusion", "None"]) is None
    assert option("B", ["Effusion", "Effusion", "None"]) == 1


def test_a_number_is_a_choice_only_where_options_are_numbered():
    assert option("2") is None
    assert option("2", ["1. Effusion", "2. Mass"]) == 1
    assert option("0", ["0) Effusion", "1) Mass"]) == 0


def test_what_is_there_is_no_answer_to_what_is_not():
    assert asks_for_absence("Which is NOT seen?")
    assert option("There is cardiomegaly.", question="Which is NOT seen?") is None
    assert option("Answer: cardiomegaly", question="Which is NOT seen?") == 2


def test_odd_options_and_texts():
    assert read_choice("A", []) is None
    assert option("", ["", ""]) is None
    assert option("x" * 60_000) is None
    assert option("B", ["", "(", ""]) == 1


@each_row(
    "text",
    [
        "A.\n" * 16_000,
        "x\na" + "\n" * 49_000 + "b",
        "x\nQ" + " " * 49_900,
        "answer is: " * 4_500,
        "pleural effusion " * 2_900,
        "so" + " " * 49_900,
        '{"answer":"' * 4_500,
        "(" * 49_999,
        "so pneumothorax " * 3_100,
        "pneumothorax (A) " * 2_900,
        "the first option is " * 2_400,
        "A. Pneumothorax B. Pleural effusion C. Cardiomegaly D. Consolidation " * 700,
        "<think>" * 7_000,
        "- A: " * 9_900,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_texts_take_no_longer(text):
    assert growth(option, text[:100], text[: len(text) // 10], text) < 40, "ten times as long"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A 0.08, B 0.83, C 0.06, D 0.03", 1),
        ('{"A": 0.91, "B": 0.04, "C": 0.03, "D": 0.02}', 0),
        (
            "| Option | Probability |\n|---|---|\n"
            "| A | 10% |\n| **C** | **78%** |\n| B | 7% |\n| D | 5% |",
            2,
        ),
        ("A: 25%, B: 25%, C: 25%, D: 25%", None),
        ("A: 45%, B: 40%, C: 10%, D: 5%", None),
        ("A: 55%, B: 40%, C: 3%, D: 2%", None),
        ("A 0.9, B 0.8, C 0.7, D 0.6", None),  # no probabilities of one choice
        ("A 0.08, B 0.83, C 0.09", None),
        ("A 3 mm, B 83 mm, C 6 mm, D 8 mm", None),
    ],
)
def test_probabilities_say_what_stands_out(text, expected):
    assert option(text) == expected


@each_row(
    ("text", "options", "question", "expected"),
    [
        ("ICD", ["Pacemaker", "Implantable cardioverter defibrillator"], "Which?", 1),
        ("LLL atelectasis", ["Left lower lobe atelectasis", "Hiatal hernia"], "Which?", 0),
        ("PA", ["Pulmonary artery", "Aorta"], "Which?", None),  # a view, too
        ("The seventh rib on the right.", ["Right 7th rib", "Left 7th rib"], "Which rib?", 0),
        ("caridomegaly", ["Cardiomegaly", "Effusion"], "Which?", 0),
        ("Hyperinflated", ["Hypoinflated", "Normal"], "How?", None),
        ("Pneumonia", ["Lobar pneumonia", "Edema"], "Which diagnosis?", None),
        ("Metastases", ["Pulmonary metastases", "Septic emboli"], "Which?", 0),
        ("Dextrocardia", ["Left (levocardia)", "Right (dextrocardia)"], "Where?", 1),
        ("It measures 1.2 cm.", ["5 mm", "12 mm", "25 mm"], "What size?", 1),
        ("It measures 1.2 x 2.5 cm.", ["5 mm", "12 mm", "25 mm"], "What size?", None),
        ("It enters on the right.", ["Right lung", "Left lung", "Both lungs"], "Which side?", 0),
        ("Seen bilaterally.", ["Right lung", "Left lung", "Both lungs"], "Which side?", 2),
        ("Not bilateral.", ["Right lung", "Left lung", "Both lungs"], "Which side?", None),
        ("A normal chest radiograph.", ["Effusion", "No finding"], "Which is seen?", 1),
        ("C\n\nQuestion: Which lobe?\nAnswer: A", SEEN, "Which is seen?", 2),
        ("The answer is A.\n\nFinal answer: C", SEEN, "Which is seen?", None),
        ("The answer is A. Wait, the heart is wide.\n\nFinal answer: C", SEEN, "Which?", 2),
        ("**A. Pneumothorax** and **C. Cardiomegaly**", SEEN, "Which?", None),
        ("None of these: all is clear.", ["Mass", "Nodule", "None"], "Which is seen?", 2),
    ],
)
def test_what_means_an_option_though_its_words_differ(text, options, question, expected):
    assert option(text, options, question) == expected


@pytest.mark.parametrize(
    "text",
    [
        "The second best answer is B.",
        "My second choice is B.",
        "The least likely answer is B.",
        "The wrong answer is B.",
        "Rejected answer: B",
        "Less likely: B",
        "A.\n\nB.",
    ],
)
def test_what_is_not_the_first_choice_is_not_read(text):
    assert option(text) is None


def test_a_line_that_ends_with_likely_does_not_choose_the_next():
    text = "A. Pneumothorax - unlikely\nB. Pleural effusion - likely\nC. Cardiomegaly - unlikely"
    assert option(text) == 1


def test_a_list_in_one_line_is_a_list():
    text = "A. No pneumothorax. B. No pleural effusion. D. There is consolidation."
    assert option(text) in (3, None)


@pytest.mark.parametrize("text", ["1.2 cm", "The nodule is less than 2 cm.", "It measures >2 cm."])
def test_a_bound_or_the_rest_of_a_number_is_no_length(text):
    assert option(text, ["1 cm", "2 cm", "3 cm"], "How large is the nodule?") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("The nodule is < 2 cm.", 0), ("It is > 3 cm.", 2), ("> 3 cm", 2), ("2-3 cm", 1)],
)
def test_a_bound_that_is_an_option_is_read(text, expected):
    options = ["< 2 cm", "2-3 cm", "> 3 cm"]
    assert option(text, options, "How large is the nodule?") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("There is nothing to suggest a pneumothorax.", 1),
        ("The image shows that a pneumothorax is absent.", 1),
        ("There is a skin fold that mimics a pneumothorax.", None),
        ("There is a history of pneumothorax.", None),
        ("There is a low chance of pneumothorax.", None),
        ("It fails to show a pneumothorax.", None),
        ("No pneumothorax on the left, but on the right it is large.", None),
        ("There is a pneumothorax on the right.", 0),
    ],
)
def test_what_only_looks_like_a_yes_or_a_no_is_neither(text, expected):
    assert option(text, ["Yes", "No"], "Is there a pneumothorax?") == expected


DIAGNOSES = ["Pneumonia", "Pneumothorax", "Pleural effusion", "None of the above"]


@each_row(
    "text",
    [
        "It is no more likely pneumonia than effusion.",
        "More likely pneumonia than effusion? No: effusion is more likely.",
        "Thus the question is pneumonia or pneumothorax.",
        "Hence the differential is pneumonia and pneumothorax.",
        "So what is pneumonia? An infection.",
        "None of these lobes is spared.",
        "The angle is sharp, which rules out, option A.",
        "Reviewed by Dr. B.",
        "See fig. A.",
        "As likely A as B",
        "Pneumothorax is unlikely (B).",
        "Wrong: A: 70%, B: 10%, C: 10%, D: 10%",
        '{"answer": null, "rejected": "B"}',
    ],
)
def test_what_only_looks_like_a_conclusion_is_none(text):
    assert option(text, DIAGNOSES, "What is the most likely diagnosis?") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Most likely pneumonia.", 0),
        ("Most likely pneumonia is excluded, so pneumothorax.", 1),
        ("None of these.", 3),
    ],
)
def test_what_is_concluded_is_read(text, expected):
    assert option(text, DIAGNOSES, "What is the most likely diagnosis?") == expected


@pytest.mark.parametrize(
    "text",
    ["Not a normal chest radiograph", "Is this a normal film?", "No disease is excluded by it"],
)
def test_a_sentence_that_does_not_just_say_normal_is_no_choice_of_normal(text):
    assert option(text, ["Normal", "Pneumonia"], "What is the diagnosis?") is None


@each_row(
    ("text", "chosen"),
    [
        ("Not D. B.", 1),
        ("Not D, but B.", 1),
        ("Not D.", None),
        ("Severe or Cannot be determined", None),
        ("The answer is Severe or Cannot be determined.", None),
        ("Severe", 2),
    ],
)
def test_one_option_beside_another(text, chosen):
    assert option(text, ["Mild", "Moderate", "Severe", "Cannot be determined"], "How?") == chosen
