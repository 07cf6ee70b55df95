"""A sheet and what lies on it. All lengths are points (1/72 inch) from the top left corner."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

WIDTH: Final = 960.0
HEIGHT: Final = 540.0
"""16:9, 13.33 x 7.5 inches: what PowerPoint calls widescreen."""
MARGIN: Final = 36.0
INK: Final = "#14191D"
QUIET: Final = "#4A5560"
SURFACE: Final = "#FFFFFF"
SHADE: Final = "#EEF1F3"
RULE: Final = "#C9CDD2"
DARK: Final = "#1B2024"
"""Behind a film that cannot be shown, and behind words on a film."""
BOX_LINE: Final = 2.25
LEADER_LINE: Final = 1.0
LINE_HEIGHT: Final = 1.2
"""Of a line of text, in sizes of its font."""


@dataclass(frozen=True)
class Place:
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

    def meets(self, other: Place) -> bool:
        """Whether both share an area."""
        return (
            self.x < other.right
            and other.x < self.right
            and self.y < other.bottom
            and other.y < self.bottom
        )

    def holds(self, other: Place) -> bool:
        """Whether another one lies within it."""
        return (
            self.x <= other.x
            and self.y <= other.y
            and other.right <= self.right + 1e-6
            and other.bottom <= self.bottom + 1e-6
        )


@dataclass(frozen=True)
class Run:
    """Some words in one style."""

    text: str
    bold: bool = False
    colour: str = INK


Line = tuple[Run, ...]


@dataclass(frozen=True)
class Paragraph:
    """A paragraph, broken into lines once its width is known.

    ``lines`` keep the blank that they were broken at, so that put together they are the text.
    ``before`` is the space above, which falls away at the top of a sheet. With ``keep`` it does not
    stand at the bottom of a sheet, away from what follows. ``part`` names what it is part of, where
    a text has several.
    """

    lines: tuple[Line, ...]
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
    def runs(self) -> tuple[Run, ...]:
        """All its words, lines joined."""
        every = [run for line in self.lines for run in line]
        return tuple(
            Run("".join(run.text for run in same), bold, colour)
            for (bold, colour), same in groupby(every, lambda run: (run.bold, run.colour))
        )

    @property
    def text(self) -> str:
        """All its words without their style."""
        return "".join(run.text for run in self.runs)

    @property
    def from_right(self) -> bool:
        """Whether it is read from right to left: its first letter that has a direction is."""
        directions = map(unicodedata.bidirectional, self.text)
        return next((one for one in directions if one in ("L", "R", "AL")), "L") != "L"


def paragraph(
    *runs: Run | str,
    size: float = 14.0,
    bold: bool = False,
    colour: str = INK,
    indent: float = 0.0,
    before: float = 0.0,
    keep: bool = False,
) -> Paragraph:
    """Make a paragraph of runs, or of words in one style; not broken into lines yet."""
    line = tuple(Run(run, bold, colour) if isinstance(run, str) else run for run in runs)
    return Paragraph((line,), size, indent, before, keep)


@dataclass(frozen=True)
class Text:
    """Paragraphs that were broken to the width of their place, from its top on."""

    place: Place
    paragraphs: tuple[Paragraph, ...]
    name: str
    at_right: bool = False


@dataclass(frozen=True)
class Row:
    """A row of a table: of each cell its paragraphs, broken to the width of the column."""

    cells: tuple[tuple[Paragraph, ...], ...]
    height: float


@dataclass(frozen=True)
class Table:
    """A table; its first row is the head. ``pad`` is the space above and below a cell's text."""

    place: Place
    widths: tuple[float, ...]
    rows: tuple[Row, ...]
    name: str
    pad: float


@dataclass(frozen=True)
class BoxMark:
    """A box over a film. ``told`` says in words what it is; ``reference`` is the truth."""

    place: Place
    colour: str
    name: str
    told: str
    reference: bool = False


@dataclass(frozen=True)
class Tag:
    """Words on a film, in one line."""

    place: Place
    text: str
    fill: str | None
    colour: str
    name: str


@dataclass(frozen=True)
class Leader:
    """A thin line from a box to the words beside its film."""

    start: tuple[float, float]
    end: tuple[float, float]
    colour: str


@dataclass(frozen=True, eq=False)
class Film:
    """A picture with boxes over it; without ``jpeg`` it could not be read."""

    place: Place
    jpeg: bytes | None
    name: str
    told: str
    boxes: tuple[BoxMark, ...] = ()
    tags: tuple[Tag, ...] = ()
    leaders: tuple[Leader, ...] = ()


Element = Text | Table | Film


@dataclass(frozen=True, eq=False)
class Sheet:
    """One slide or page. ``title`` stands in lists of slides, ``begins`` says that a case does."""

    title: str
    elements: Sequence[Element] = field(default_factory=tuple)
    begins: bool = False
