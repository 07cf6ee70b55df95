"""Choices read out of free text, against texts that people labelled before the code was there."""

import time
from pathlib import Path

import pytest
import yaml

from rexview.choices import METHODS, asks_for_absence, read_choice

HERE = Path(__file__).parent
CORPORA = {
    name: yaml.safe_load((HERE / f"{name}.yaml").read_text("utf-8"))
    for name in ("answers", "more_answers", "last_answers", "further_answers")
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


@pytest.mark.parametrize(
    "text",
    [
        "A.\n" * 16_000,
        "x\na" + "\n" * 49_000 + "b",
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
    start = time.process_time()
    option(text)
    assert time.process_time() - start < 5
