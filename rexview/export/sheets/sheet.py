"""Define a sheet and its elements, in points from the top left, and measure text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Final

from fontTools.ttLib import TTFont

WIDTH: Final = 960.0
HEIGHT: Final = 540.0
"""16:9, 13.33 x 7.5 inches: PowerPoint's widescreen format."""
MARGIN: Final = 36.0
INK: Final = "#14191D"
QUIET: Final = "#4A5560"
SURFACE: Final = "#FFFFFF"
SHADE: Final = "#EEF1F3"
RULE: Final = "#C9CDD2"
DARK: Final = "#1B2024"
"""Background of a film that cannot be shown, and of words on a film."""
BOX_LINE: Final = 2.25
LEADER_LINE: Final = 1.0
LINE_HEIGHT: Final = 1.2
"""Height of a line of text, relative to its font's size."""


@dataclass(frozen=True)
class Rectangle:
    """A rectangle on a sheet."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.y + self.height

    def meets(self, other: Rectangle) -> bool:
        """Whether both share an area."""
        return (
            self.x < other.right
            and other.x < self.right
            and self.y < other.bottom
            and other.y < self.bottom
        )

    def holds(self, other: Rectangle) -> bool:
        """Whether another one is inside it."""
        return (
            self.x <= other.x
            and self.y <= other.y
            and other.right <= self.right + 1e-6
            and other.bottom <= self.bottom + 1e-6
        )


@dataclass(frozen=True)
class TextRun:
    """Words in one style."""

    text: str
    bold: bool = False
    colour: str = INK


RunLine = tuple[TextRun, ...]


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; it is broken into lines once its width is known.

    ``lines`` keep the space at which they were broken, so that joined they are the text. ``before``
    is the space above, dropped at the top of a sheet. With ``keep`` it is not left at the bottom of
    a sheet, away from what follows. ``part`` names its part, in a text with several.
    """

    lines: tuple[RunLine, ...]
    size: float
    indent: float = 0.0
    before: float = 0.0
    keep: bool = False
    part: str = ""

    @property
    def line_height(self) -> float:
        """The height of one line."""
        return self.size * LINE_HEIGHT

    @property
    def height(self) -> float:
        """Its height without the space above."""
        return len(self.lines) * self.line_height

    @property
    def runs(self) -> tuple[TextRun, ...]:
        """All its words, lines joined."""
        every = [run for line in self.lines for run in line]
        return tuple(
            TextRun("".join(run.text for run in same), bold, colour)
            for (bold, colour), same in groupby(every, lambda run: (run.bold, run.colour))
        )

    @property
    def text(self) -> str:
        """All its words without their style."""
        return "".join(run.text for run in self.runs)

    @property
    def from_right(self) -> bool:
        """Whether it is read from right to left, by its first letter with a direction."""
        directions = map(unicodedata.bidirectional, self.text)
        return next((one for one in directions if one in ("L", "R", "AL")), "L") != "L"


def make_paragraph(
    *runs: TextRun | str,
    size: float = 14.0,
    bold: bool = False,
    colour: str = INK,
    indent: float = 0.0,
    before: float = 0.0,
    keep: bool = False,
) -> Paragraph:
    """Return a paragraph of runs, or of words in one style, not broken into lines yet."""
    line = tuple(TextRun(run, bold, colour) if isinstance(run, str) else run for run in runs)
    return Paragraph((line,), size, indent, before, keep)


@dataclass(frozen=True)
class TextBlock:
    """Paragraphs broken to the width of their place, from its top."""

    place: Rectangle
    paragraphs: tuple[Paragraph, ...]
    name: str
    at_right: bool = False


@dataclass(frozen=True)
class TableRow:
    """A row of a table: the paragraphs of each cell, broken to the column's width."""

    cells: tuple[tuple[Paragraph, ...], ...]
    height: float


@dataclass(frozen=True)
class SheetTable:
    """A table; its first row is the head. ``pad`` is the space above and below a cell's text."""

    place: Rectangle
    widths: tuple[float, ...]
    rows: tuple[TableRow, ...]
    name: str
    pad: float


@dataclass(frozen=True)
class BoxMark:
    """A box over a film. ``told`` describes it in words; ``reference`` marks the truth."""

    place: Rectangle
    colour: str
    name: str
    told: str
    reference: bool = False


@dataclass(frozen=True)
class Tag:
    """Words on a film, in one line."""

    place: Rectangle
    text: str
    fill: str | None
    colour: str
    name: str


@dataclass(frozen=True)
class Leader:
    """A thin line from a box to its label next to the film."""

    start: tuple[float, float]
    end: tuple[float, float]
    colour: str


@dataclass(frozen=True, eq=False)
class SheetFilm:
    """A picture with boxes over it; without ``jpeg`` it could not be read."""

    place: Rectangle
    jpeg: bytes | None
    name: str
    told: str
    boxes: tuple[BoxMark, ...] = ()
    tags: tuple[Tag, ...] = ()
    leaders: tuple[Leader, ...] = ()


Element = TextBlock | SheetTable | SheetFilm


@dataclass(frozen=True, eq=False)
class Sheet:
    """One slide or page. ``title`` is for lists of slides; ``begins`` marks the start of a case."""

    title: str
    elements: Sequence[Element] = field(default_factory=tuple)
    begins: bool = False


# Width of text, and line breaks.
#
# Text is measured in DejaVu Sans, which is embedded in PDF files. It is wider than the fonts of
# slides, so that text that fits here also fits there.

FONTS: Final = Path(__file__).resolve().parents[3] / "assets" / "fonts"
REGULAR: Final = FONTS / "DejaVuSans.ttf"
BOLD: Final = FONTS / "DejaVuSans-Bold.ttf"
_MISSING_WIDTH: Final = 1.1
"""Assumed width of a character that the font lacks, in sizes: Chinese ones are square."""
_SLACK: Final = 0.5
_PIECES: Final = re.compile(r"\s*\S+|\s+")
_UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML cannot contain or a screen cannot show."""


def printable_sheet_text(text: str) -> str:
    """Replace characters that cannot be shown by a visible sign; line ends become newlines."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ")
    for end in "\u2028\u2029\x0b\x0c\x85":
        plain = plain.replace(end, "\n")
    return _UNPRINTABLE.sub("\ufffd", plain)


@cache
def character_widths(bold: bool) -> dict[int, float]:
    """Return the width of each character in the font, by code point, relative to the size."""
    with TTFont(BOLD if bold else REGULAR, lazy=True) as font:
        units = font["head"].unitsPerEm
        advances = font["hmtx"].metrics
        return {code: advances[name][0] / units for code, name in font.getBestCmap().items()}


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Return the width of a line of text, in points."""
    known = character_widths(bold)
    return size * sum(known.get(ord(character), _MISSING_WIDTH) for character in text)


def missing_characters(text: str) -> set[str]:
    """Return the characters of a text that the fonts lack."""
    regular, bold = character_widths(bold=False), character_widths(bold=True)
    return {
        one
        for one in set(text)
        if not one.isspace() and (ord(one) not in regular or ord(one) not in bold)
    }


def break_paragraph(given: Paragraph, width: float) -> Paragraph:
    """Break a paragraph into lines of at most ``width`` points.

    Lines break at spaces, and within a word only if it is longer than a line. A line end in a run
    becomes a space: callers make one paragraph for each line.
    """
    room = width - given.indent - _SLACK
    lines: list[RunLine] = []
    line: list[TextRun] = []
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
    return replace(given, lines=tuple(_join_runs(line) for line in lines))


def _pieces(runs: Iterable[TextRun]) -> Iterator[tuple[TextRun, str]]:
    """Yield words with the spaces before them; a word may continue in the next run."""
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


def _join_runs(line: Iterable[TextRun]) -> RunLine:
    """Join neighbouring runs of the same style."""
    return Paragraph((tuple(line),), 1).runs
