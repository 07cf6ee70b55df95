import pytest
from support.rows import each_row

from rexview.vocab import (
    FAILURES,
    FINISH_REASONS,
    HEADLINE_FAILURES,
    VIEWS,
    english_count,
    judge_name,
    normalise_finish_reason,
    normalise_view,
)


@each_row(
    ("word", "view"),
    [
        ("PA", "PA"),
        ("pa", "PA"),
        ("AP SUPINE", "AP"),
        ("PORTABLE AP", "AP"),
        ("Portable semi-erect AP", "AP"),
        ("POSTERO_ANTERIOR", "PA"),
        ("antero-posterior", "AP"),
        ("Frontal", "FRONTAL"),
        ("Chest PA view", "PA"),
        ("LL", "LATERAL"),
        ("RL", "LATERAL"),
        ("LAT", "LATERAL"),
        ("Lateral", "LATERAL"),
        ("left lateral", "LATERAL"),
        ("LLD", "DECUBITUS"),
        ("LEFT LATERAL DECUBITUS", "DECUBITUS"),
        ("LAO", "OBLIQUE"),
        ("PA AND LATERAL", "UNKNOWN"),
        ("AP/PA", "UNKNOWN"),
        ("swimmer's", "UNKNOWN"),
        ("", "UNKNOWN"),
        (None, "UNKNOWN"),
    ],
)
def test_views(word, view):
    assert normalise_view(word) == view
    assert view in VIEWS


@each_row(
    ("word", "reason"),
    [
        ("stop", "stop"),
        ("STOP", "stop"),
        ("end_turn", "stop"),
        ("eos", "stop"),
        ("length", "length"),
        ("max_tokens", "length"),
        ("MAX_TOKENS", "length"),
        ("FinishReason.MAX_TOKENS", "length"),
        ("max_output_tokens", "length"),
        ("limit", "length"),
        ("model_length", "length"),
        ("model_context_window_exceeded", "length"),
        ("SAFETY", "content_filter"),
        ("content-filter", "content_filter"),
        ("", "unknown"),
        (None, "unknown"),
        ("nan", "unknown"),
        ("incomplete: max_output_tokens", "length"),
        ("incomplete (content_filter)", "content_filter"),
        ("maxTokens", "length"),
        ("max_completion_tokens", "length"),
        ("context_length_exceeded", "length"),
        ("guardrail_intervened", "content_filter"),
        ("tool_calls", "stop"),
        ("abort", "error"),
        ("stop or length", None),
        ("out to lunch", None),
    ],
)
def test_finish_reasons(word, reason):
    assert normalise_finish_reason(word) == reason
    assert reason is None or reason in FINISH_REASONS


def test_headline_failures_are_failures():
    assert set(HEADLINE_FAILURES) <= set(FAILURES)


@pytest.mark.parametrize(
    ("n", "word", "written"),
    [
        (1, "answer", "1 answer"),
        (0, "answer", "0 answers"),
        (1204, "answer", "1,204 answers"),
        (2, "entry", "2 entries"),
        (1, "entry", "1 entry"),
        (3, "box", "3 boxes"),
        (4, "day", "4 days"),
    ],
)
def test_a_number_with_its_noun(n, word, written):
    assert english_count(n, word) == written


def test_a_judge_is_named_in_words():
    assert judge_name("fineradscore:openai/gpt-5") == "FineRadScore (openai/gpt-5)"
    assert judge_name("Reader A") == "Reader A"
