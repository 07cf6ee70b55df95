"""How wide text is, and where its lines break.

Measured with DejaVu Sans, which PDF files have embedded. It is wider than the fonts that slides are
shown in, so that text that fits here fits there, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from fontTools.ttLib import TTFont

from rexview.export.sheets.sheet import Line, Paragraph, Run

FONTS: Final = Path(__file__).resolve().parents[3] / "assets" / "fonts"
REGULAR: Final = FONTS / "DejaVuSans.ttf"
BOLD: Final = FONTS / "DejaVuSans-Bold.ttf"
_ABSENT: Final = 1.1
"""Taken for a character that the font lacks, in sizes: Chinese ones are square."""
_SLACK: Final = 0.5
_PIECES: Final = re.compile(r"\s*\S+|\s+")
_UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What no XML file may hold, or no screen can show."""


def printable(text: str) -> str:
    """Replace what cannot be shown by a sign that says so; ends of lines become newlines."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ")
    for end in "\u2028\u2029\x0b\x0c\x85":
        plain = plain.replace(end, "\n")
    return _UNPRINTABLE.sub("\ufffd", plain)


@cache
def widths(bold: bool) -> dict[int, float]:
    """Return the width of each character that the font has, by code point, in sizes."""
    with TTFont(BOLD if bold else REGULAR, lazy=True) as font:
        units = font["head"].unitsPerEm
        advances = font["hmtx"].metrics
        return {code: advances[name][0] / units for code, name in font.getBestCmap().items()}


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Return how wide a line of text is, in points."""
    known = widths(bold)
    return size * sum(known.get(ord(character), _ABSENT) for character in text)


def lacking(text: str) -> set[str]:
    """Return the characters of a text that the fonts do not have."""
    regular, bold = widths(bold=False), widths(bold=True)
    return {
        one
        for one in set(text)
        if not one.isspace() and (ord(one) not in regular or ord(one) not in bold)
    }


def broken(given: Paragraph, width: float) -> Paragraph:
    """Break a paragraph into lines of at most so many points.

    Lines break at blanks, within a word only where it is longer than a line. An end of a line in a
    run is a blank: whoever makes paragraphs makes one of each line.
    """
    room = width - given.indent - _SLACK
    lines: list[Line] = []
    line: list[Run] = []
    used = 0.0
    for run, piece in _pieces(given.runs):
        wide = text_width(piece.rstrip(), given.size, run.bold)
        if line and used + wide > room:
            blank = piece[: len(piece) - len(piece.lstrip())]
            if blank:
                line.append(replace(run, text=blank))
            lines.append(tuple(line))
            line, used = [], 0.0
            piece = piece.lstrip()
            wide = text_width(piece, given.size, run.bold)
        if wide > room:
            *whole, piece = _cut(piece, given.size, run.bold, room)
            lines += [(replace(run, text=one),) for one in whole]
        if piece:
            line.append(replace(run, text=piece))
            used += text_width(piece, given.size, run.bold)
    if line or not lines:
        lines.append(tuple(line))
    return replace(given, lines=tuple(_joined(line) for line in lines))


def _pieces(runs: Iterable[Run]) -> Iterator[tuple[Run, str]]:
    """Yield words with the blanks before them; a word may go on in the next run."""
    for run in runs:
        for piece in _PIECES.findall(run.text.replace("\n", " ")):
            yield run, piece


def _cut(piece: str, size: float, bold: bool, room: float) -> list[str]:
    """Cut a word that is longer than a line."""
    parts, part, used = [], "", 0.0
    for character in piece:
        wide = text_width(character, size, bold)
        if part and used + wide > room:
            parts.append(part)
            part, used = "", 0.0
        part += character
        used += wide
    return [*parts, part]


def _joined(line: Iterable[Run]) -> Line:
    """Join neighbours of one style."""
    return Paragraph((tuple(line),), 1).runs
