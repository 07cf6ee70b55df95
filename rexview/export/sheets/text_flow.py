"""Flow text and tables over sheets, below the title of each sheet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby, zip_longest
from math import sqrt
from typing import Final

from rexview.export.export_records import ExportContent
from rexview.export.sheets.sheet import (
    HEIGHT,
    INK,
    MARGIN,
    QUIET,
    WIDTH,
    Element,
    Paragraph,
    Rectangle,
    Sheet,
    SheetTable,
    TableRow,
    TextBlock,
    break_paragraph,
    make_paragraph,
    printable_sheet_text,
    text_width,
)

PAD_X: Final = 6.0
"""Space beside the text of a cell."""
_PAD: Final = 0.3
"""Space above and below the text of a cell, relative to its size."""
TABLE_SIZE: Final = 12.0
GUTTER: Final = 20.0
"""Space between columns of text."""
_LEAST_ROOM: Final = 48.0
"""A table does not start in less room."""
_MIN_SPLIT_LINES: Final = 3
"""A paragraph of at most this many lines is not split between sheets."""
_NARROWEST: Final = 44.0

Cell = str | Paragraph
Column = tuple[Paragraph, ...]


def plain_lines(
    text: str, *, size: float, bold: bool = False, colour: str = INK
) -> list[Paragraph]:
    """Return one paragraph for each line of a text, unchanged."""
    lines = printable_sheet_text(text).split("\n")
    return [make_paragraph(line, size=size, bold=bold, colour=colour) for line in lines]


def mark_part(part: str, paragraphs: Iterable[Paragraph]) -> list[Paragraph]:
    """Return paragraphs marked with a part's name."""
    return [replace(one, part=part) for one in paragraphs]


def flow_paragraphs(
    paragraphs: Iterable[Paragraph], width: float, height: float, inset: float = 0.0
) -> list[Column]:
    """Break paragraphs into columns of a width and most height; at least one, maybe empty.

    The first column starts below an ``inset``.
    """
    columns: list[list[Paragraph]] = [[]]
    used = inset
    for whole in paragraphs:
        rest = break_paragraph(whole, width)
        while True:
            column = columns[-1]
            before = rest.before if column else 0.0
            fit = int((height - used - before + 1e-6) // rest.line_height)
            if not column:
                fit = max(fit, 1)
            elif fit < len(rest.lines) <= _MIN_SPLIT_LINES:
                fit = 0
            if fit >= len(rest.lines):
                column.append(replace(rest, before=before))
                used += before + rest.height
                break
            if fit > 0:
                column.append(replace(rest, lines=rest.lines[:fit], before=before))
                rest = replace(rest, lines=rest.lines[fit:], before=0.0)
                moved: list[Paragraph] = []
            else:
                moved = _move_headings(column)
            columns.append(moved)
            used = sum(one.before + one.height for one in moved)
    return [tuple(column) for column in columns]


def _move_headings(column: list[Paragraph]) -> list[Paragraph]:
    """Take headings from the end of a column, unless it has nothing else."""
    at = len(column)
    while at and column[at - 1].keep:
        at -= 1
    if not at:
        return []
    moved = column[at:]
    del column[at:]
    return [
        replace(one, before=0.0 if place == 0 else one.before) for place, one in enumerate(moved)
    ]


def flow_largest(
    texts: Callable[[float], Sequence[Sequence[Paragraph]]],
    sizes: Sequence[float],
    width: float,
    height: float,
) -> list[list[Column]]:
    """Flow parallel texts in the largest size that needs the fewest sheets.

    ``texts`` returns the paragraphs of each text in a size.
    """
    best: list[list[Column]] = []
    for size in sizes:
        flows = [flow_paragraphs(one, width, height) for one in texts(size)]
        if not best or max(map(len, flows)) < max(map(len, best)):
            best = flows
        if max(map(len, best)) == 1:
            break
    return best


def column_height(column: Column) -> float:
    """Return the height of a column of broken paragraphs."""
    return sum(one.before + one.height for one in column)


def column_widths(cells: Sequence[Sequence[Cell]], total: float, size: float) -> tuple[float, ...]:
    """Divide a width among columns by their needs; wide columns give way."""
    wants = [
        max(_NARROWEST, *(_cell_width(cell, size) + 2 * PAD_X + 2 for cell in column))
        for column in zip(*cells, strict=True)
    ]
    if sum(wants) <= total:
        return tuple(want * total / sum(wants) for want in wants)
    # narrow columns get their need; the others share the rest, with a little more for longer texts
    given: dict[int, float] = {}
    while True:
        wide = {at: sqrt(want) for at, want in enumerate(wants) if at not in given}
        left = total - sum(given.values())
        share = {at: left * root / sum(wide.values()) for at, root in wide.items()}
        enough = {at: wants[at] for at in wide if wants[at] <= share[at]}
        if not enough:
            given |= share
            break
        given |= enough
    return tuple(given[at] for at in range(len(wants)))


def _cell_width(cell: Cell, size: float) -> float:
    if isinstance(cell, Paragraph):
        return sum(text_width(run.text, cell.size, run.bold) for run in cell.runs)
    return max(text_width(line, size, bold=True) for line in printable_sheet_text(cell).split("\n"))


def table_rows(
    cells: Sequence[Cell], widths: Sequence[float], height: float, size: float, bold: bool = False
) -> list[TableRow]:
    """Return a row of a table; several rows if its text is longer than a sheet."""
    pad = size * _PAD
    columns = []
    for cell, width in zip(cells, widths, strict=True):
        given = [cell] if isinstance(cell, Paragraph) else plain_lines(cell, size=size, bold=bold)
        columns.append(flow_paragraphs(given, width - 2 * PAD_X, height - 2 * pad))
    rows = []
    for parts in zip_longest(*columns, fillvalue=()):
        tallest = max(map(column_height, parts))
        rows.append(TableRow(tuple(parts), max(tallest, size) + 2 * pad))
    return rows


def column_texts(column: Column, at: Rectangle, name: str) -> list[TextBlock]:
    """Return a text for each part of a column, stacked from ``at``; the rest is one text too."""
    made: list[TextBlock] = []
    y = at.y
    for part, same in groupby(column, key=lambda one: one.part):
        own = list(same)
        gap = own[0].before
        own[0] = replace(own[0], before=0.0)
        place = Rectangle(at.x, y + gap, at.width, column_height(tuple(own)))
        made.append(TextBlock(place, tuple(own), part or name))
        y = place.bottom
    return made


def _flow_lowest(
    paragraphs: Sequence[Paragraph], width: float, room: float, columns: int, inset: float
) -> list[Column]:
    """Flow paragraphs into columns of the least height that holds them."""
    low, high = inset, room
    while high - low > 1:
        middle = (low + high) / 2
        if len(flow_paragraphs(paragraphs, width, middle, inset)) <= columns:
            high = middle
        else:
            low = middle
    return flow_paragraphs(paragraphs, width, high, inset)


class SheetStack:
    """Texts and tables stacked on as many sheets as they need.

    Parameters
    ----------
    body : Rectangle
        Their area on each sheet.
    """

    def __init__(self, body: Rectangle) -> None:
        self.body = body
        self.sheets: list[list[Element]] = []
        self._y = body.bottom

    def _new(self) -> None:
        self.sheets.append([])
        self._y = self.body.y

    def _room(self, least: float, size: float = TABLE_SIZE) -> float:
        """Start a new sheet if less room is left; return the room."""
        if not self.sheets:
            self._new()
        elif self._y > self.body.y:
            self._y += size
            if self.body.bottom - self._y < least:
                self._new()
        return self.body.bottom - self._y

    def text(
        self,
        paragraphs: Sequence[Paragraph],
        name: str,
        columns: int = 1,
        *,
        balanced: bool = False,
        inset: float = 0.0,
    ) -> None:
        """Add paragraphs over the whole width, or in columns of equal width.

        Each named part becomes its own text. ``balanced`` columns on one sheet are as low as
        possible; the first one starts below an ``inset``.
        """
        if not paragraphs:
            return
        width = (self.body.width - GUTTER * (columns - 1)) / columns
        first = break_paragraph(paragraphs[0], width)
        room = self._room(_LEAST_ROOM if first.keep else first.line_height)
        parts = flow_paragraphs(paragraphs, width, room, inset)
        if balanced and len(parts) <= columns:
            parts = _flow_lowest(paragraphs, width, room, columns, inset)
        if len(parts) > columns:  # later sheets have more room
            rest = [one for part in parts[columns:] for one in part]
            parts = [*parts[:columns], *flow_paragraphs(rest, width, self.body.height)]
        for at in range(0, len(parts), columns):
            if at:
                self._new()
            beside = parts[at : at + columns]
            taken = [0.0 if at else inset, *[0.0] * len(beside[1:])]
            for number, part in enumerate(beside):
                x = self.body.x + number * (width + GUTTER)
                place = Rectangle(x, self._y + taken[number], width, 0)
                self.sheets[-1] += column_texts(part, place, name)
            self._y += max(top + column_height(one) for top, one in zip(taken, beside, strict=True))

    def table(
        self,
        heading: str,
        head: Sequence[str],
        cells: Sequence[Sequence[Cell]],
        *,
        size: float = TABLE_SIZE,
        width: float | None = None,
    ) -> None:
        """Add a table under a heading, if any; each further sheet repeats its head."""
        total = width or self.body.width
        cells = [
            [replace(one, size=size) if isinstance(one, Paragraph) else one for one in line]
            for line in cells
        ]
        widths = column_widths([head, *cells], total, size)
        top = table_rows(head, widths, self.body.height, size, bold=True)[0]
        title = break_paragraph(
            make_paragraph(heading, size=size * 4 / 3, bold=True), self.body.width
        )
        over = title.height + size / 2 if heading else 0.0
        most = self.body.height - over - top.height
        rows = [row for line in cells for row in table_rows(line, widths, most, size)]
        whole = over + top.height + sum(row.height for row in rows)
        splits = whole > self.body.height / 2
        self._room(over + top.height + rows[0].height if splits else whole, size)
        while rows:
            if heading:
                place = Rectangle(self.body.x, self._y, self.body.width, title.height)
                self.sheets[-1].append(TextBlock(place, (title,), f"Heading: {heading}"))
            self._y += over
            left = self.body.bottom - self._y - top.height
            fit, used = 0, 0.0
            while fit < len(rows) and used + rows[fit].height <= left + 1e-6:
                used += rows[fit].height
                fit += 1
            place = Rectangle(self.body.x, self._y, sum(widths), top.height + used)
            self.sheets[-1].append(
                SheetTable(place, widths, (top, *rows[:fit]), heading or "Table", size * _PAD)
            )
            self._y = place.bottom
            rows = rows[fit:]
            if rows:
                self._new()
                more = make_paragraph(f"{heading}, continued", size=size * 4 / 3, bold=True)
                title = break_paragraph(more, self.body.width)


# Parts of every sheet: its title above, the set's notice below.

_TOP: Final = 18.0
_HEAD: Final = 40.0
_LOW_HEAD: Final = 18.0
"""Height of the title on a sheet of small print."""
_FOOT_SIZE: Final = 10.0
_FOOT_LINES: Final = 4
"""A longer notice is only on the first sheet, and the others refer to it."""
_ASIDE_WIDTH: Final = 150.0
"""Width for the position in the list, right of the title."""
NUMBER_WIDTH: Final = 48.0
_SIZES: Final = (24.0, 20.0, 16.0, 14.0, 10.5, 6.0)
_FULL_NOTICE: Final = "Read the notice on the first sheet."


class SheetFrame:
    """Makes the sheets of one export."""

    def __init__(self, content: ExportContent) -> None:
        self.title = printable_sheet_text(content.title).replace("\n", " ")
        room = WIDTH - 2 * MARGIN - NUMBER_WIDTH
        lines = plain_lines(content.notice, size=_FOOT_SIZE, colour=QUIET)
        foot = flow_paragraphs(lines, room, HEIGHT)[0]
        if sum(len(one.lines) for one in foot) > _FOOT_LINES:
            foot = (
                break_paragraph(make_paragraph(_FULL_NOTICE, size=_FOOT_SIZE, colour=QUIET), room),
            )
        high = column_height(foot)
        place = Rectangle(MARGIN, HEIGHT - 12 - high, room, high)
        self._foot = TextBlock(place, foot, "Notice")
        self.body, self.small_body = (
            Rectangle(MARGIN, top, WIDTH - 2 * MARGIN, place.y - 8 - top)
            for top in (_TOP + _HEAD + 8, _TOP + _LOW_HEAD + 6)
        )

    def sheet(
        self,
        title: str,
        elements: Sequence[Element],
        *,
        aside: str = "",
        begins: bool = False,
        small: bool = False,
    ) -> Sheet:
        """Make a sheet; ``aside`` is shown right of its title, except without a title.

        A ``small`` title leaves more room: elements may use ``small_body``.
        """
        title = printable_sheet_text(title).replace("\n", " ")
        if not title:
            return Sheet(self.title, (*elements, *self._footer()), begins)
        right = _ASIDE_WIDTH if aside else 0.0
        high = _LOW_HEAD if small else _HEAD
        place = Rectangle(MARGIN, _TOP, WIDTH - 2 * MARGIN - right, high)
        for size in _SIZES:
            head = break_paragraph(make_paragraph(title, size=size, bold=True), place.width)
            if head.height <= high:
                break
        every: list[Element] = [TextBlock(place, (head,), "Title")]
        if aside:
            beside = break_paragraph(make_paragraph(aside, size=12, colour=QUIET), right)
            at = Rectangle(place.right, _TOP + (0 if small else 6), right, beside.height)
            every.append(TextBlock(at, (beside,), "Place in the list", at_right=True))
        return Sheet(title, (*every, *elements, *self._footer()), begins)

    def _footer(self) -> list[TextBlock]:
        return [self._foot] if any(one.text.strip() for one in self._foot.paragraphs) else []
