"""The lines of a report: every word stands in one of them, and headings of sections in none."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rexview.metrics.report_lines import report_lines

CASES = {
    "sentences under headings": (
        "FINDINGS: Clear lungs. No effusion.\nIMPRESSION:\n1. Normal chest.\n2) No 2.5 cm nodule.",
        [
            ("findings", "Clear lungs."),
            ("findings", "No effusion."),
            ("impression", "1. Normal chest."),
            ("impression", "2) No 2.5 cm nodule."),
        ],
    ),
    "markdown": (
        "**Findings:**\n- Heart normal\n- **Right lung:** clear.\n\n"
        "## Impression\nDr. Smith: no ptx.",
        [
            ("findings", "- Heart normal"),
            ("findings", "- **Right lung:** clear."),
            ("impression", "Dr. Smith: no ptx."),
        ],
    ),
    "a heading without a colon": (
        "FINDINGS\nLungs clear\nIMPRESSION\nNormal",
        [("findings", "Lungs clear"), ("impression", "Normal")],
    ),
    "a sentence over two lines": (
        "the lungs are\nclear and the heart\nis normal. there is no effusion .",
        [
            (None, "the lungs are\nclear and the heart\nis normal."),
            (None, "there is no effusion ."),
        ],
    ),
    "a heading of its own": (
        "## Lungs\nClear.",
        [(None, "## Lungs"), (None, "Clear.")],
    ),
    "a heading glued to the word before": (
        "No acute process.Impression: Normal.",
        [(None, "No acute process."), ("impression", "Normal.")],
    ),
    "nothing": ("", []),
    "an empty section": ("Findings:\n\nImpression: Normal", [("impression", "Normal")]),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_lines(text, expected):
    lines = report_lines(text)
    assert [(line.section, line.text) for line in lines] == expected
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))


def test_no_text_has_no_lines():
    assert report_lines(None) == ()


@given(st.text(alphabet="aA .,:;\n1-*#?é", max_size=80))
def test_every_word_is_in_one_line(text):
    lines = report_lines(text)
    assert all(line.text == text[line.start : line.end] for line in lines)
    assert all(one.end <= other.start for one, other in pairwise(lines))
    assert "".join(filter(str.isalnum, "".join(line.text for line in lines))) == "".join(
        filter(str.isalnum, text)
    )


def test_a_text_that_never_ends_is_not_lost():
    lines = report_lines("word " * 60_000)
    assert sum(line.text.count("word") for line in lines) == 60_000
