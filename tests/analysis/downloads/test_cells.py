"""What a spreadsheet would take for a formula is text in a table to take away."""

import pytest

from rexview.analysis.download_files import neutral, neutral_unless_number


@pytest.mark.parametrize("before", ["", " ", "|", ";", ",", "| ", "||", "\ufeff", '"', "\u00a0|"])
@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "＝"])
def test_no_separator_before_a_formula_lets_it_through(before, sign):
    text = f"{before}{sign}1+cmd"
    made = neutral(text)
    assert made != text
    for separator in "|;,":
        for cell in made.split(separator):
            assert not cell.lstrip(' \u00a0\ufeff"').startswith(sign)


@pytest.mark.parametrize("text", ["No effusion - clear.", "| left |", "", "a=1", "Left; -3 cm"])
def test_other_texts_stay(text):
    assert neutral(text) == text


def test_numbers_stay():
    assert neutral_unless_number("-3") == "-3"
