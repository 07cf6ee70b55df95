"""Text in the cells of spreadsheets: what would be taken for a formula is not."""

from __future__ import annotations

from typing import Final

_SEPARATORS: Final = " |;,\u00a0\ufeff\"'"
_FORMULA: Final = tuple("=+-@\t\r\n＝＋－＠")


def neutral(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would take for a formula.

    Spaces and separators before it do not make it one text more: a program that takes ``|`` for the
    separator finds a cell that begins after it.

    >>> neutral("=1+1"), neutral("-3"), neutral("No effusion - clear."), neutral("|=1")
    ("'=1+1", "'-3", 'No effusion - clear.', "'|'=1")
    """
    if text.startswith(_FORMULA):
        return f"'{text}"
    start = text.lstrip(_SEPARATORS)
    if start != text and start.startswith(_FORMULA):
        return f"'{text[: len(text) - len(start)]}'{start}"
    return text


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
