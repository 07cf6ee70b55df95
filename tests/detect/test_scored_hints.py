"""Certainty, length, choices, and readers who disagree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.rows import each_row

from rexview.detect import find_flags, find_flags_for_answers
from rexview.detect.registry import FailedExtraction
from rexview.detect.score_failures import AnswerLength, Disagreement, Overconfident, definite_words
from rexview.schema import Answer, Case, Score

CASE = Case("c", "What is abnormal?")


def answer(text: str, model: str = "g", **more: Any) -> Answer:
    return Answer("c", model, text=text, finish_reason="stop", **more)


def score(dimension: str, mark: int | None, reader: str = "a", **more: Any) -> Score:
    return Score("c", "g", reader, dimension, mark, **more)


@each_row(
    "text",
    [
        "This is definitely pneumonia.",
        "There is no doubt: this is oedema.",
        "Pneumothorax is excluded.",
        "The film rules out a perforation.",
        "**Certainty of the side**: high.",
        "No further imaging is required.",
        "It is 100% certain.",
        "I am certain that it is new.",
        "This must be pneumonia.",
        "The opacity must be caused by fluid.",
        "The heart is clearly enlarged.",
        "The lateral view confirms it.",
        "These findings exclude tension.",
        "Pneumothorax can be excluded.",
        "Confidence 100 %.",
    ],
)
def test_definite_wording(text: str) -> None:
    span = definite_words(text)
    assert span is not None
    assert text[slice(*span)].strip()


@each_row(
    "text",
    [
        "",
        None,
        "A small effusion cannot be excluded.",
        "There is no definite nodule.",
        "Not certain.",
        "This does not rule out pneumonia.",
        "CT is needed to confirm.",
        "Pneumonia is possible; the lungs are otherwise normal.",
        "It is unclear whether this is definitely new.",
        "The line may be used.",
        "Ultrasound can be used to confirm this.",
        "The tube must be withdrawn by 6 cm.",
        "A fracture must be carefully excluded.",
        "The pleural line is clearly visible.",
        "The nodule is clearly well defined.",
        "Confirm the side by auscultation.",
        "Rule out embolism with CT.",
        "In certain cases CT helps.",
        "The left angle is excluded from the image.",
        "Pneumonia can be excluded only by CT.",
        "Confidence is not high.",
        "No further imaging is available.",
    ],
)
def test_wording_that_leaves_room(text: str | None) -> None:
    assert definite_words(text) is None


@pytest.mark.parametrize(
    ("marks", "flagged"),
    [((2,), True), ((1, 3), True), ((2, 3), False), ((4,), False), ((), False)],
)
def test_certainty_is_a_hint_only_on_poor_reasoning(marks: tuple[int, ...], flagged: bool) -> None:
    scores = [score("synthesis", mark, f"r{n}") for n, mark in enumerate(marks)]
    flags = find_flags_for_answers(
        CASE, [answer("This is definitely pneumonia.")], scores, detectors=[Overconfident()]
    )
    assert bool(flags) == flagged
    for flag in flags:
        assert flag.is_hint
        assert [item.where for item in flag.evidence] == ["answer", "scores"]
    assert (
        find_flags_for_answers(
            CASE, [answer("It may be pneumonia.")], scores, detectors=[Overconfident()]
        )
        == []
    )


class TestLength:
    LONG = answer("word " * 300)
    SHORT = answer("Pacemaker noted.")
    OTHERS = (answer("word " * 80, "m"), answer("word " * 100, "n"))
    LOW = (score("language", 3),)
    HIGH = (score("language", 5),)
    SAID = (score("language", 5, comment="Far too long."),)

    def find(self, which: Any, one: Answer, scores: Any, others: Any = None) -> list[Any]:
        answers = (one, *(self.OTHERS if others is None else others))
        found = find_flags_for_answers(CASE, answers, list(scores), detectors=[AnswerLength(which)])
        return [flag for flag in found if flag.model == one.model]

    def test_long_and_scored_low(self) -> None:
        (flag,) = self.find("verbose", self.LONG, self.LOW)
        assert flag.failure == "verbose"
        assert flag.is_hint
        assert "300 words" in flag.message
        assert "Language 3" in flag.message

    def test_long_and_a_reader_says_so(self) -> None:
        (flag,) = self.find("verbose", self.LONG, self.SAID)
        assert "Far too long." in flag.message
        assert not self.find("terse", self.SHORT, self.SAID)

    def test_length_alone_is_no_failure(self) -> None:
        assert not self.find("verbose", self.LONG, self.HIGH)
        assert not self.find("verbose", self.LONG, ())
        assert not self.find("verbose", answer("word " * 100), self.LOW)

    def test_short(self) -> None:
        (flag,) = self.find("terse", self.SHORT, self.LOW)
        assert flag.failure == "terse"
        assert not self.find("terse", answer("word " * 40), self.LOW)
        assert not self.find("verbose", self.SHORT, self.LOW)

    def test_nothing_to_compare_with(self) -> None:
        assert not self.find("verbose", self.LONG, self.LOW, ())
        empty = (answer("", "m"), replace(answer("word", "n"), finish_reason="length"))
        assert not self.find("verbose", self.LONG, self.LOW, empty)
        assert (
            find_flags_for_answers(
                CASE, [self.LONG], list(self.LOW), detectors=[AnswerLength("verbose")]
            )
            == []
        )

    def test_the_survey_compares_within_the_case(self, make_set: Any) -> None:
        given = {"model": "g", "reader": "a", "dimension": "language", "score": 2}
        review_set = make_set(
            cases=[{"id": "c"}, {"id": "d"}],
            answers=[
                {"case": "c", "model": "g", "text": "word " * 300},
                {"case": "c", "model": "m", "text": "word " * 50},
                {"case": "d", "model": "g", "text": "word " * 300},
            ],
            scores=[{**given, "case": "c"}, {**given, "case": "d"}],
        )
        both = [AnswerLength("verbose"), AnswerLength("terse")]
        flags = find_flags(review_set, detectors=both)
        assert flags.select("case", "model", "failure", "hint").rows() == [
            ("c", "g", "verbose", True)
        ]
        case = review_set.case("c")
        assert case is not None
        shown = find_flags_for_answers(case, review_set.answers_of("c"), review_set.scores_of("c"))
        assert "verbose" in {flag.failure for flag in shown}


@pytest.mark.parametrize(
    ("choice", "kind"),
    [(None, "no_choice"), (4, "no_option"), (-1, "no_option"), (0, None), (3, None)],
)
def test_choices(make_set: Any, choice: int | None, kind: str | None) -> None:
    options = ["a", "b", "c", "d"]
    review_set = make_set(
        cases=[
            {"id": "c", "question_type": "choice", "options": options},
            {"id": "o", "options": options},
        ],
        answers=[
            {"case": "c", "model": "g", "text": "All of them.", "choice": choice},
            {"case": "o", "model": "g", "text": "All of them.", "choice": choice},
        ],
    )
    detector = FailedExtraction()
    flags = find_flags(review_set, detectors=[detector])
    assert flags.select("case", "kind").rows() == ([("c", kind)] if kind else [])
    case = review_set.case("c")
    assert case is not None
    found = find_flags_for_answers(case, [review_set.answers_of("c")[0]], detectors=[detector])
    assert [flag.kind for flag in found] == ([kind] if kind else [])
    assert not any(flag.is_hint for flag in found)


@pytest.mark.parametrize(
    ("marks", "threshold", "flagged"),
    [
        ({"a": (4, 4), "b": (2, 4)}, 2.0, True),
        ({"a": (4, 4), "b": (3, 4)}, 2.0, False),
        ({"a": (4, 4), "b": (3, 4)}, 1.0, True),
        ({"a": (1, 5)}, 2.0, False),
        ({"a": (5, 5), "b": (1, 1), "z": (3, 3)}, 4.0, True),
    ],
)
def test_disagreement(
    make_set: Any, marks: dict[str, tuple[int, int]], threshold: float, flagged: bool
) -> None:
    rows = [
        {"case": "c", "model": "g", "reader": reader, "dimension": name, "score": mark}
        for reader, given in marks.items()
        for name, mark in zip(("process", "language"), given, strict=True)
    ]
    review_set = make_set(cases=[{"id": "c"}], answers=[{"case": "c", "model": "g"}], scores=rows)
    detector = Disagreement(threshold)
    assert find_flags(review_set, detectors=[detector])["kind"].to_list() == ["scores"] * flagged
    case = review_set.case("c")
    assert case is not None
    found = find_flags_for_answers(
        case, [review_set.answers_of("c")[0]], review_set.scores_of("c"), detectors=[detector]
    )
    assert len(found) == flagged
    for flag in found:
        assert "Process" in flag.message
        assert all(item.where == "scores" for item in flag.evidence)
        assert len(flag.evidence) >= 2


def test_an_answer_that_never_came_has_no_disagreement() -> None:
    cut = replace(answer("The heart is"), finish_reason="length")
    scores = [score("process", 5), score("process", 1, "b")]
    assert find_flags_for_answers(CASE, [cut], scores, detectors=[Disagreement()]) == []
