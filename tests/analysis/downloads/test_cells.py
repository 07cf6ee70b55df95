"""What a spreadsheet would take for a formula is text in a table to take away."""

import pytest

from rexview.analysis.download_files import escape_formula, escape_text_formula


@pytest.mark.parametrize("before", ["", " ", "|", ";", ",", "| ", "||", "\ufeff", '"', "\u00a0|"])
@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "＝"])
def test_no_separator_before_a_formula_lets_it_through(before, sign):
    text = f"{before}{sign}1+cmd"
    made = escape_formula(text)
    assert made != text
    for separator in "|;,":
        for cell in made.split(separator):
            assert not cell.lstrip(' \u00a0\ufeff"').startswith(sign)


@pytest.mark.parametrize("text", ["No effusion - clear.", "| left |", "", "a=1", "Left; -3 cm"])
def test_other_texts_stay(text):
    assert escape_formula(text) == text


def test_numbers_stay():
    assert escape_text_formula("-3") == "-3"
