"""Questions with and without the instruction to draw boxes."""

import pytest

from rexview.curation.curated_set import (
    INSTRUCTION,
    asks_for_boxes,
    create_box_versions,
    remove_instruction,
)

PLAIN = "Is there an effusion, and on which side?"


def test_the_standard_sentence_asks_for_boxes_and_is_taken_off_again():
    both = create_box_versions(PLAIN)
    assert both.plain == PLAIN
    assert both.boxes == f"{PLAIN} {INSTRUCTION}"
    assert asks_for_boxes(INSTRUCTION)
    assert not asks_for_boxes(PLAIN)
    assert remove_instruction(both.boxes) == PLAIN
    assert create_box_versions(both.boxes) == both


@pytest.mark.parametrize(
    "sentence",
    [
        "Draw a bounding box around each finding.",
        "Please mark it with boxes on the image.",
        "Localize the finding with a bounding box.",
        "Provide bounding boxes for all abnormalities.",
        "Highlight the lesion using a rectangle.",
    ],
)
def test_a_sentence_of_its_own_can_be_taken_off(sentence):
    both = create_box_versions(f"{PLAIN} {sentence}")
    assert both.plain == PLAIN
    assert both.boxes == f"{PLAIN} {sentence}"
    assert not both.woven_in


def test_boxes_asked_for_within_a_sentence_are_left_and_said():
    woven = "Which finding explains the dyspnoea, and can you draw a bounding box around it?"
    both = create_box_versions(woven)
    assert (both.plain, both.boxes, both.woven_in) == (woven, woven, True)


def test_a_question_that_is_nothing_but_the_instruction_stays():
    only = "Draw a bounding box around every abnormality."
    assert remove_instruction(only) == only
    assert create_box_versions(only).woven_in


def test_what_a_person_wrote_stands():
    both = create_box_versions(PLAIN, "Box the effusion and name its side.")
    assert (both.plain, both.boxes) == (PLAIN, "Box the effusion and name its side.")
    assert create_box_versions(PLAIN, "  ").boxes == f"{PLAIN} {INSTRUCTION}"


@pytest.mark.parametrize(
    "question", ["Is the heart box-shaped?", "Measure the heart. It is large."]
)
def test_other_words_are_left_alone(question):
    assert remove_instruction(question) == question
