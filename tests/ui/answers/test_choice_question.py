"""A choice question on the Case page: who chose what, where it was read, what cannot be used."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.page_text import StrictReader

from rexview.analysis.case.case_page import CasePage
from rexview.schema import (
    Answer,
    Case,
    ChoiceReading,
    Model,
    Reader,
    ReaderChoice,
    ReviewSet,
    SetInfo,
)
from rexview.ui.answers import answer_card as answers_html
from rexview.ui.answers.choice_question import choice_html, collect_votes, options_html, reason_html

EVIL = '<img src=x onerror=alert(1)> " onmouseover="x" </li><script>alert(2)</script>'
COLOURS = {"a": "#3C90CC", "b": '"><script>', "c": "#8A34EE", "r": "#C00084"}
QUESTION = Case(
    "q",
    "Where?",
    "choice",
    options=("Left", f"Right {EVIL}", "Both sides", "None"),
    correct=1,
    explanation=f"The right angle is blunt. {EVIL}",
)


class Panel(StrictReader):
    """Fails on what could run or load something."""

    def check(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag not in {"script", "img", "iframe", "a"}
        for name, _ in attributes:
            assert not name.startswith("on"), name


def read(rendered: str) -> str:
    return " ".join(" ".join(Panel.read(rendered).text).split())


@pytest.fixture
def review_set(make_set: Any) -> ReviewSet:
    models = (
        *(Model("a", f"Model A {EVIL}"), Model("b", "Model B"), Model("c", "Model C")),
        Model("r", "Dr R", kind="reader"),
    )
    info = SetInfo("Test", models=models, readers=(Reader("p", f"Dr P {EVIL}"),))
    return replace(make_set(), info=info)


def page_of(*answers: Answer, case: Case = QUESTION, **more: Any) -> CasePage:
    return CasePage(case, answers, (), {}, (), **more)


def options(page: CasePage, review_set: ReviewSet) -> list[str]:
    """The text of each option's row, then of all that stands below."""
    votes = collect_votes(page, review_set, COLOURS)
    shown = answers_html.question_html(page.case, (), votes)
    read(shown)
    rows = shown.partition('<ol class="rx-options" type="A">')[2].partition("</ol>")
    return [*map(_words, rows[0].split("</li>")[:-1]), read(rows[2])]


def _words(row: str) -> str:
    return read(f"<ul>{row}</li></ul>")


def test_each_option_has_those_who_chose_it(review_set: ReviewSet) -> None:
    page = page_of(
        Answer("q", "a", "B", choice=1),
        Answer("q", "b", "C", choice=2),
        Answer("q", "c", "C", choice=2),
        Answer("q", "r", None, choice=1),
        choices=(ReaderChoice("q", "p", 0, seconds=12.34),),
    )
    left, right, both, none, below = options(page, review_set)
    assert left.startswith("Left 1 of 5 Readers Dr P <img")
    assert "(correct) 2 of 5 Models Model A <img" in right
    assert right.endswith("Readers Dr R")
    assert both == "Both sides 2 of 5 Models Model B Model C"
    assert none == "None"
    assert below == "Models: 1 right, 2 wrong. Readers: 1 right, 1 wrong."


def test_what_cannot_be_used_is_listed_with_the_reason(review_set: ReviewSet) -> None:
    page = page_of(
        Answer("q", "a", "It could be A or B."),
        Answer("q", "b", "", finish_reason="length", output_tokens=8, max_output_tokens=8),
        Answer("q", "c", "E", choice=4),
        choices=(ReaderChoice("q", "p", 7),),
    )
    below = options(page, review_set)[-1]
    assert below.startswith("No usable choice: Model A <img")
    assert "the text does not commit to one option" in below
    assert "Model B token limit reached" in below
    assert "Model C option number 5, of 4 options" in below
    assert "option number 8, of 4 options" in below
    assert below.endswith(
        "Models: 0 right, 0 wrong, 3 without a usable choice. "
        "Readers: 0 right, 0 wrong, 1 without a usable choice."
    )


def test_without_a_right_option_nobody_is_right_or_wrong(review_set: ReviewSet) -> None:
    case = replace(QUESTION, correct=None)
    page = page_of(Answer("q", "a", "B", choice=1), Answer("q", "b", "?"), case=case)
    *rows, below = options(page, review_set)
    assert "(correct)" not in " ".join(rows)
    assert below.endswith("Models: 1 chose an option, 1 without a usable choice.")
    assert "correct" not in choice_html(case, page.answers[0])


def test_nobody_has_answered_yet(review_set: ReviewSet) -> None:
    *rows, below = options(page_of(), review_set)
    assert len(rows) == 4
    assert below == ""


def test_why_the_right_option_is_right_and_what_counts_nowhere(review_set: ReviewSet) -> None:
    stale = (ReaderChoice("q", "p", 0), ReaderChoice("q", "x", 1))
    text = read(reason_html(page_of(stale_choices=stale)))
    assert "2 choices by readers among earlier options of this question, not counted." in text
    assert "Explanation The right angle is blunt. <img" in text
    assert reason_html(page_of(case=Case("c", "?"))) == ""


class TestAnswers:
    def show(self, answer: Answer, review_set: ReviewSet) -> str:
        return answers_html.answers_html(
            page_of(answer), review_set, colours=COLOURS, gap_threshold=2
        )

    def test_the_words_that_a_choice_was_read_from_are_marked(self, review_set: ReviewSet) -> None:
        text = "Both are blunt.\n\n**Answer:** B, not C."
        start = text.index("B,")
        read_choice = ChoiceReading(1, "stated", start, start + 1)
        shown = self.show(Answer("q", "a", text, choice=1, choice_read=read_choice), review_set)
        assert '<mark class="rx-chosen" title="The choice was read here">B</mark>, not C.' in shown
        assert "a sentence that names the answer" in read(shown)
        given = self.show(Answer("q", "a", text, choice=1), review_set)
        assert "rx-chosen" not in given

    def test_an_explanation_is_shown_where_the_text_does_not_say_the_same(
        self, review_set: ReviewSet
    ) -> None:
        why = f"The *right* angle is blunt. {EVIL}"
        answer = Answer("q", "a", "B", choice=1, explanation=why)
        assert "Explanation The right angle is blunt. <img" in read(self.show(answer, review_set))
        again = replace(answer, text=f"B.  {why.upper()}")
        assert "Explanation" not in self.show(again, review_set)
        assert "Explanation" not in self.show(replace(answer, explanation=None), review_set)


def test_a_letter_that_is_written_in_the_option_stands_once() -> None:
    case = replace(QUESTION, options=("A. Left", "B. Right", "C. Both", "D. None"))
    assert ">B. Right<" in choice_html(case, Answer("q", "a", choice=1))
    assert 'type="A"' not in options_html(case, lambda option, _: option)
    assert 'type="A"' in options_html(QUESTION, lambda option, _: option)
