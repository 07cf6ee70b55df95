"""What models answer when asked for multiple choice questions, and whether they are sound."""

import json

import pytest
from support.rows import each_row

from rexview.curation.choice.proposing import read_questions
from rexview.curation.choice.validation import read_validation

ONE = {
    "statement": "Small left effusion.",
    "question": "On which side is the effusion?",
    "options": ["Right", "Left", "Both", "Neither"],
    "answer": "B",
    "explanation": "The left angle is blunted.",
    "category": "location_and_distribution",
    "difficulty": "easy",
}
FINE = {"fault": False, "reason": "Fine."}
SOUND = {
    "several_valid": FINE,
    "needs_comparison": FINE,
    "invented": FINE,
    "contradicts_report": FINE,
    "clinically_doubtful": {"fault": None, "reason": "Hard to say."},
    "identifies": {"probability": 0.02, "reason": "Nobody."},
}


def read(**changed):
    """Read a reply with one question that is changed."""
    return read_questions(json.dumps({"questions": [{**ONE, **changed}]}))


def test_a_question_is_read():
    found = read()
    [one] = found.questions
    assert (one.question, one.options, one.correct) == (ONE["question"], tuple(ONE["options"]), 1)
    assert (one.category, one.difficulty) == ("location_and_distribution", "easy")
    assert found.notes == ()


@pytest.mark.parametrize("answer", ["B", "b", "(B)", "B.", "B)", "B. Left", "Left", "left."])
def test_the_right_option_is_named_by_letter_or_words(answer):
    assert read(answer=answer).questions[0].correct == 1


@pytest.mark.parametrize(
    "answer", ["E", "", None, 1, "A. Left", "B or C", ["B"], "Superior", True, "BC"]
)
def test_an_answer_that_names_no_option_is_not_guessed(answer):
    found = read(answer=answer)
    assert found.questions[0].correct is None
    assert "names none of its options" in found.notes[0]


def test_letters_that_all_options_carry_are_taken_away():
    found = read(options=["A. Right", "B. Left", "C. Both", "D. Neither"])
    assert found.questions[0].options == tuple(ONE["options"])
    assert "taken away" in found.notes[0]
    named = read(options={"A": "Right", "B": "Left", "C": "Both", "D": "Neither"})
    assert named.questions[0].options == tuple(ONE["options"])
    kept = read(options=["A. Right", "Left", "Both", "Neither"])
    assert kept.questions[0].options[0] == "A. Right"


@pytest.mark.parametrize(
    ("name", "value"), [("category", "anatomy"), ("category", None), ("difficulty", "very hard")]
)
def test_a_word_that_is_none_of_those_asked_for_is_left_out_with_a_note(name, value):
    found = read(**{name: value})
    assert getattr(found.questions[0], name) is None
    assert name in found.notes[0]


def test_a_category_may_be_written_otherwise():
    assert read(category="Presence Assessment").questions[0].category == "presence_assessment"


@pytest.mark.parametrize(
    "changed",
    [
        *({"question": ""}, {"question": 3}, {"options": "A, B, C, D"}, {"options": []}),
        *({"options": [1, 2, 3, 4]}, {"options": {"X": "Right", "Y": "Left"}}, {"options": None}),
    ],
)
def test_a_question_without_words_or_options_is_left_out_and_told(changed):
    reply = {"questions": [{**ONE, **changed}, ONE, "no object", ONE]}
    found = read_questions(json.dumps(reply))
    assert len(found.questions) == 1
    assert len(found.notes) == 3  # left out, no object, twice
    alone = read(**changed)
    assert isinstance(alone, str)


@pytest.mark.parametrize(
    "text",
    [
        *("", "I cannot.", "[]", '{"questions": "none"}', '{"questions": []}', '{"question": 1}'),
        *(json.dumps({"questions": [ONE]})[:-20], json.dumps({"questions": [ONE] * 101})),
        f"Sure! Here it is: {json.dumps({'questions': [ONE]})}",
    ],
)
def test_what_is_no_answer_is_said_to_be_none(text):
    assert isinstance(read_questions(text), str)


def test_a_fence_is_read():
    assert read_questions(f"```json\n{json.dumps({'questions': [ONE]})}\n```").questions


def test_what_a_validator_says_is_read():
    found = read_validation(json.dumps(SOUND))
    told = {one.check: (one.passed, one.defect) for one in found.checks}
    assert told["several_valid"] == (True, None)
    assert told["clinically_doubtful"] == (None, None)
    assert told["identifies"] == (True, None)
    faulty = {**SOUND, "contradicts_report": {"fault": True, "reason": "It is right."}}
    told = {one.check: one for one in read_validation(json.dumps(faulty)).checks}
    assert told["contradicts_report"].defect == "wrong_answer"
    assert told["contradicts_report"].reason == "It is right."


@each_row(
    ("check", "said"),
    [
        *(("several_valid", value) for value in (None, True, {}, {"fault": "no"}, {"fault": 0})),
        ("invented", {"fault": False, "reason": 3}),
        *(
            ("identifies", {"probability": value, "reason": "x"})
            for value in (None, "0.1", True, -0.1, 1.1, 5)
        ),
    ],
)
def test_one_part_that_is_not_as_asked_takes_the_whole_answer_away(check, said):
    assert isinstance(read_validation(json.dumps({**SOUND, check: said})), str)
    missing = {name: one for name, one in SOUND.items() if name != check}
    assert isinstance(read_validation(json.dumps(missing)), str)


def test_nan_is_no_probability():
    text = json.dumps({**SOUND, "identifies": {"probability": float("nan"), "reason": ""}})
    assert isinstance(read_validation(text), str)


def test_letters_as_options_in_another_order_are_not_guessed():
    assert read(options=["D", "C", "B", "A"], answer="A").questions[0].correct is None
    assert read(options=["A", "B", "C", "D"], answer="B").questions[0].correct == 1


def test_a_part_that_stands_twice_makes_an_answer_none():
    sound = json.dumps({"questions": [ONE]})
    assert not isinstance(read_questions(sound), str)
    twice = sound.replace('"answer": "B"', '"answer": "A", "answer": "B"')
    assert twice != sound
    assert read_questions(twice) == "The answer is no JSON object."
