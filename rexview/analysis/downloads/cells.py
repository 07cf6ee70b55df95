"""Text in the cells of spreadsheets: what would be taken for a formula is not."""

from __future__ import annotations

from typing import Final

_FORMULA: Final = tuple("=+-@\t\r\n＝＋－＠")


def neutral(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would take for a formula.

    >>> neutral("=1+1"), neutral("-3"), neutral("No effusion - clear.")
    ("'=1+1", "'-3", 'No effusion - clear.')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text


def neutral_unless_number(text: str) -> str:
    """Do so but for a plain number, as columns of numbers written as text have.

    >>> neutral_unless_number("-3"), neutral_unless_number("-3+cmd")
    ('-3', "'-3+cmd")
    """
    try:
        float(text)
    except ValueError:
        return neutral(text)
    return text
