from hypothesis import given
from hypothesis import strategies as st

from rexview.analysis.case.report_comparison import MAX_COMPARED_WORDS, TextPart, compare_texts


def test_words_are_compared_regardless_of_case():
    pieces, whole = compare_texts("There is a left effusion.", "there is a Right effusion.")
    assert whole
    assert pieces == [
        TextPart("both", "there is a "),
        TextPart("first", "left "),
        TextPart("second", "Right "),
        TextPart("both", "effusion."),
    ]


@given(st.text(), st.text())
def test_both_texts_can_be_read_from_the_pieces(first, second):
    pieces, whole = compare_texts(first, second)
    if whole:
        own = "".join(piece.text for piece in pieces if piece.where != "first")
        assert own == second.lstrip()
        other = "".join(piece.text for piece in pieces if piece.where != "second")
        assert other.lower().split() == first.lower().split() or first.lower() == second.lower()


def test_a_very_long_text_is_compared_at_its_beginning():
    text = "word " * (MAX_COMPARED_WORDS + 5)
    pieces, whole = compare_texts(text, text)
    assert not whole
    assert len(pieces) == 1
