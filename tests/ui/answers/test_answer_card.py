"""The panels hold whatever files bring: every text is text, every piece is well-formed."""

from dataclasses import replace

import pytest
from support.page_text import StrictReader

from rexview.analysis.case.case_page import CasePage
from rexview.analysis.case.headline import CaseHeadline, FailingModels
from rexview.analysis.case.report_comparison import compare_texts
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.schema import (
    Answer,
    AnswerBox,
    Case,
    ChoiceReading,
    Context,
    Evidence,
    Flag,
    Model,
    Report,
    Score,
    SetInfo,
    StudyImage,
)
from rexview.stats import compute_answer_finals
from rexview.ui.answers import answer_card as answers_html
from rexview.ui.answers import choice_question
from rexview.ui.answers.answer_card import format_score, score_chain_html
from rexview.ui.answers.flags import flags_html
from rexview.ui.case.reports import differences_html

EVIL = "<img src=x onerror=alert(1)> \"' & </p><script>alert(2)</script> right effusion"


class Panel(StrictReader):
    """Fails on what could run or load something."""

    def check(self, tag, attributes):
        assert tag not in {"script", "img", "iframe", "a"}
        for name, _ in attributes:
            assert not name.startswith("on"), name


def read(rendered):
    return " ".join(" ".join(Panel.read(rendered).text).split())


def scores_of(model, *, reader="a", **marks):
    return [
        Score("c1", model, reader, dimension, mark, comment=EVIL)
        for dimension, mark in marks.items()
    ]


@pytest.fixture
def page():
    case = Case(
        id=EVIL,
        question=EVIL,
        context=Context("64", "F", EVIL, EVIL),
        report=Report("Right effusion.", EVIL),
        images=(StudyImage("i", "i.png", "PA", width=100, height=100),),
    )
    answers = (
        Answer("c1", "m", EVIL, finish_reason="stop", boxes=(AnswerBox("i", EVIL, (1, 1, 5, 5)),)),
        Answer("c1", "n", "", finish_reason="length", output_tokens=8, max_output_tokens=8),
        Answer("c1", "o", None, finish_reason="error", error=EVIL),
    )
    scores = tuple(scores_of("m", process=5, execution=2, synthesis=3, language=4))
    flags = (
        Flag(EVIL, "m", "laterality_error", "detector", EVIL, evidence=(Evidence("box", EVIL),)),
        Flag("c1", "n", "token_limit", "reader", EVIL, reader=EVIL, verdict="rejected"),
    )
    return CasePage(case, answers, scores, {"m": compute_answer_finals(scores)}, flags)


NAMES = {"m": EVIL, "n": "N", "o": "O"}


@pytest.fixture
def review_set(make_set):
    """The review set that the panels take names from."""
    info = SetInfo("Test", models=tuple(Model(key, name) for key, name in NAMES.items()))
    return replace(make_set(), info=info)


COLOURS = {"m": "#123456", "n": '"><script>', "o": "red"}


def test_answers(page, review_set):
    text = read(answers_html.answers_html(page, review_set, colours=COLOURS, gap_threshold=2))
    assert "No answer returned: token limit reached (8 of 8 tokens)" in text
    assert "Gap 3" in text
    assert text.count("no answer") == 2
    assert "Error: <img" in text


def test_of_many_answers_it_is_said_which_fail(page, review_set):
    assert len(page.answers) > 2

    def strip(*failing, suggested=()):
        found = FailingModels(failing, tuple(suggested))
        made = answers_html.answers_html(
            page, review_set, colours=COLOURS, gap_threshold=2, failing=found
        )
        return read(made)

    assert strip().startswith("3 models: no failure found")
    assert f"1 with a failure: {review_set.model_names['n']}" in strip("n")
    assert f"1 with a suggested failure: {review_set.model_names['m']}" in strip(
        "n", suggested=["m"]
    )


def test_the_worst_failure_is_open_and_its_words_are_marked_at_once(page, review_set):
    worst = CaseHeadline("Harm 3", "m", 3, "laterality_error", suggested=False)
    closed = answers_html.answers_html(page, review_set, colours=COLOURS, gap_threshold=2)
    opened = answers_html.answers_html(
        page, review_set, colours=COLOURS, gap_threshold=2, worst=worst
    )
    assert "data-rx-first" not in closed
    assert opened.count("data-rx-first") == 1
    read(opened)


def test_the_flags_of_an_answer_stand_in_its_column(page, review_set):
    text = read(answers_html.answers_html(page, review_set, colours=COLOURS, gap_threshold=2))
    first, second = text.split("Token-limit failure")
    assert "Laterality error" in first
    assert "by rule" in first
    assert "rejected" in second


def test_each_failure_is_named_once_with_all_that_is_said_of_it():
    answer = Answer("c", "m", "A")
    said = {"case": "c", "model": "m", "failure": "omission", "message": "Missed."}
    flags = [Flag(source="detector", **said), Flag(source="reader", reader="a", **said)]
    text = read(
        flags_html(CasePage(Case("c", "q"), (answer,), (), {}, tuple(flags)), answer, {"a": "Dr A"})
    )
    assert text.count("Missed finding") == 1
    assert text.count("Missed.") == 2
    assert "Dr A" in text
    assert flags_html(CasePage(Case("c", "q"), (answer,), (), {}, ()), answer, {}) == ""


@pytest.mark.parametrize(
    ("conditions", "unfolded"),
    [
        ({}, 0),
        ({"failures": ("omission",)}, 0),
        ({"failures": ("omission",), "sources": ("hint",)}, 1),
        ({"failures": ("hallucination",), "sources": ("hint",)}, 0),
        ({"failures": ("omission",), "sources": ("hint",), "models": ("n",)}, 0),
    ],
)
def test_a_hint_is_unfolded_where_the_filter_that_led_here_is_about_it(conditions, unfolded):
    answer = Answer("c", "m", "A")
    hint = Flag("c", "m", "omission", "detector", "Not named.", kind="hint")
    assert hint.is_hint
    page = CasePage(Case("c", "q"), (answer,), (), {}, (hint,))
    listed = flags_html(page, answer, {}, case_filter=CaseFilter(**conditions))
    assert listed.count('<details class="rx-hints" data-rx-keep="c/m" open>') == unfolded
    assert listed.count("data-rx-asked") == unfolded
    rejected = CasePage(Case("c", "q"), (answer,), (), {}, (replace(hint, verdict="rejected"),))
    listed = flags_html(rejected, answer, {}, case_filter=CaseFilter(**conditions))
    assert "data-rx-asked" not in listed


def test_a_failure_that_the_filter_names_is_unfolded():
    answer = Answer("c", "m", "A")
    flag = Flag("c", "m", "omission", "reader", "Missed.", reader="a", verdict="confirmed")
    page = CasePage(Case("c", "q"), (answer,), (), {}, (flag,))
    assert " open>" not in flags_html(page, answer, {})
    named = CaseFilter(failures=("omission",))
    assert " open>" in flags_html(page, answer, {}, case_filter=named)


REJECTED = {"case": "c", "model": "m", "source": "reader", "verdict": "rejected"}


def test_a_rejected_failure_that_nobody_raised_is_said_in_words_and_is_no_chip():
    answer = Answer("c", "m", "A")
    ruled_out = Flag(failure="omission", reader="a", message="It is there.", **REJECTED)
    html = flags_html(
        CasePage(Case("c", "q"), (answer,), (), {}, (ruled_out,)), answer, {"a": "Dr A"}
    )
    text = read(html)
    assert "rx-badge" not in html
    assert "Missed finding: rejected; no longer flagged." in text
    assert "Dr A rejected It is there." in text


@pytest.mark.parametrize(
    "raised",
    [
        Flag("c", "m", "omission", "detector", "Missed.", verdict="rejected"),
        Flag("c", "m", "omission", "reader", "Missed.", reader="b", verdict="confirmed"),
    ],
)
def test_a_rejected_failure_that_a_rule_or_a_reader_raised_stays_a_chip(raised):
    answer = Answer("c", "m", "A")
    rejected = Flag(failure="omission", reader="a", message="It is there.", **REJECTED)
    page = CasePage(Case("c", "q"), (answer,), (), {}, (raised, rejected))
    html = flags_html(page, answer, {})
    assert html.count("rx-badge") == 1
    assert "Ruled out" not in read(html)


def test_the_question_with_boxes_stands_below_the_question():
    case = Case("c", "Where is it?", question_boxes=f"Where is it? Box it. {EVIL}")
    text = read(answers_html.question_html(case))
    assert text.index("Where is it?") < text.index("If boxes are requested: Where is it? Box it")
    assert "If boxes" not in read(answers_html.question_html(replace(case, question_boxes=None)))


def test_the_options_that_contradict_are_marked_in_the_question():
    case = Case(
        "c", "Where?", question_type="choice", options=("On the right", "On the left"), correct=1
    )
    evidence = (
        Evidence("option", "right", "0", 7, 12, side="right"),
        Evidence("correct_option", "left", "1", 7, 11, side="left"),
    )
    flag = Flag("c", "m", "laterality_error", "detector", "Wrong.", evidence=evidence)
    html = answers_html.question_html(case, [("f1", flag)])
    marked = [part.split("<")[0] for part in html.split('data-rx-evidence="f1"')[1:]]
    assert [part.split(">")[-1] for part in marked] == ["right", "left"]
    listed = flags_html(
        CasePage(case, (Answer("c", "m", "A"),), (), {}, (flag,)), Answer("c", "m", "A"), {}
    )
    assert "Choice right Correct left" in read(listed)


@pytest.mark.parametrize(("finish", "counts"), [("length", False), ("stop", True)])
def test_scores_of_an_answer_that_was_cut_off_are_shown_and_said_to_count_nowhere(
    page, review_set, finish, counts
):
    answer = Answer("c1", "n", "It is", finish_reason=finish)
    scores = tuple(scores_of("n", process=5, execution=4, synthesis=4, language=3))
    finals = {"n": compute_answer_finals(scores)} if counts else {}
    page = replace(page, answers=(answer,), scores=scores, finals=finals)
    column = answers_html.answers_html(page, review_set, colours=COLOURS, gap_threshold=2)
    table = answers_html.scores_html(scores, names=NAMES, readers={}, uncounted=page.uncounted)
    for html in (column, table):
        assert ("not part of any table or mean" in read(html)) is not counts
    assert 'title="Execution 4' in column
    assert ">5</td>" in table


def test_an_answer_cut_at_the_limit_says_so_though_the_server_said_stop(page, review_set):
    cut = Answer("c1", "n", "It is", finish_reason="stop", output_tokens=8, max_output_tokens=8)
    page = replace(page, answers=(cut,))
    made = answers_html.answers_html(page, review_set, colours=COLOURS, gap_threshold=2)
    assert "Cut here: token limit reached" in read(made)
    scrolling = made.partition('<div class="rx-body" tabindex="0">')[2]
    words, _, after = scrolling.partition("</div>")  # of the text; what scrolls ends later
    assert "It is" in words
    assert after.startswith('<p class="rx-cut">'), "at the end of the words, wherever that is"


def test_the_other_panels(page):
    assert "64 years, F" in read(answers_html.report_html(page))
    scores = read(answers_html.scores_html(page.scores, names=NAMES, readers={"a": EVIL}))
    assert "Process" in scores
    read(answers_html.question_html(page.case))
    pieces, whole = compare_texts(EVIL, "else")
    read(differences_html(pieces, EVIL, "b", whole=whole))


def test_empty_panels_say_so():
    case = Case("c", "q")
    assert "no reference report" in read(answers_html.report_html(CasePage(case, (), (), {}, ())))
    assert "No one has scored" in read(answers_html.scores_html((), names={}, readers={}))


def test_choice_questions_name_the_option_and_whether_it_is_right(review_set):
    case = Case("c", "Which?", "choice", options=("left", "right"), correct=1)
    answers = (Answer("c", "m", "B", choice=1), Answer("c", "n", "?", choice=7))
    page = CasePage(case, answers, (), {}, ())
    text = read(answers_html.answers_html(page, review_set, colours=COLOURS, gap_threshold=2))
    assert "B. right – correct" in text
    assert "No usable choice" in text
    assert "right (correct)" in read(answers_html.question_html(case))


@pytest.mark.parametrize(
    ("score", "text"), [(None, "–"), (4.0, "4"), (3.5, "3.5"), (10 / 3, "3.3"), (1.0, "1")]
)
def test_scores_are_written_short(score, text):
    assert format_score(score) == text


def test_the_chain_marks_the_weakest_link_only_when_there_is_one():
    weak = score_chain_html({"process": 5, "execution": 2, "synthesis": 3}, gap_threshold=2)
    assert weak.count("rx-weak") == 1
    assert "Gap 3" in weak
    even = score_chain_html({"process": 4, "execution": 4, "synthesis": 4}, gap_threshold=2)
    assert "rx-weak" not in even
    good = score_chain_html({"process": 5, "execution": 4.5, "synthesis": 5}, gap_threshold=2)
    assert "rx-weak" not in good  # it is the weakest, and no shortfall
    assert "weakest link" in good
    part = score_chain_html({"process": 4, "execution": 1}, gap_threshold=2)
    assert "rx-weak" not in part
    assert "Gap 3" in part
    assert score_chain_html({}, gap_threshold=2) == ""
    for chain in (weak, even, part):
        read(chain)


def test_a_choice_read_from_the_text_says_from_which_words():
    case = Case("c", "Which?", question_type="choice", options=("Mass", "Nodule"), correct=1)
    text = "It is <i>round</i>.\n\n**Answer:** B"
    read = ChoiceReading(1, "stated", text.index("<i>"), len(text))
    shown = choice_question.choice_html(case, Answer("c", "m", text, choice=1, choice_read=read))
    assert "B. Nodule<b> – correct</b>" in shown
    assert "read from the text: “&lt;i&gt;round&lt;/i&gt;. **Answer:** B”" in shown
    assert "read from" not in choice_question.choice_html(case, Answer("c", "m", text, choice=1))
