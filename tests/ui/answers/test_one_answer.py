"""The line of facts below an answer."""

from rexview.schema import Answer
from rexview.ui.answers.answer_card import facts_html


def test_one_word_and_one_token_are_not_several():
    answer = Answer("q1", "m", "A", finish_reason="stop", output_tokens=1)
    assert facts_html(answer) == "1 word · 1 token · Finished"


def test_tokens_stand_beside_what_was_allowed():
    answer = Answer("q1", "m", "(D)", finish_reason="stop", output_tokens=3, max_output_tokens=512)
    assert facts_html(answer) == "1 word · 3 of at most 512 tokens · Finished"


def test_thousands_are_set_off():
    answer = Answer("q1", "m", "A word", finish_reason="stop", output_tokens=1204)
    assert facts_html(answer) == "2 words · 1,204 tokens · Finished"
