"""Export cases and minutes as PDF: selectable text, boxes as vectors.

The font is embedded. It lacks some scripts: missing characters become squares, and the last page
and a note list them.
"""

from __future__ import annotations

import io
import unicodedata
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Final

from fpdf import FPDF
from fpdf.fonts import TTFFont

from rexview.export.export_job import ExportProgress
from rexview.export.export_records import ExportContent
from rexview.export.sheets.deck import (
    make_sheets,
    missing_characters_sheets,
    missing_characters_text,
)
from rexview.export.sheets.sheet import (
    BOLD,
    BOX_LINE,
    DARK,
    HEIGHT,
    LEADER_LINE,
    LINE_HEIGHT,
    MARGIN,
    QUIET,
    REGULAR,
    RULE,
    SHADE,
    WIDTH,
    BoxMark,
    Paragraph,
    Rectangle,
    Sheet,
    SheetFilm,
    SheetTable,
    Tag,
    TextBlock,
    TextRun,
    missing_characters,
    printable_sheet_text,
)
from rexview.export.sheets.text_flow import NUMBER_WIDTH, PAD_X

# Sheets as pages, with fpdf2.

_FONT: Final = "DejaVu"
_SQUARE: Final = "□"
_SHAPED: Final = ("R", "AL", "AN", "NSM")
"""Directions (UAX 9) of characters that are joined or run from right to left."""


class PdfPages:
    """A PDF file to which sheets are added.

    Parameters
    ----------
    title : str
    made : datetime

    Attributes
    ----------
    lacking : set of str
        Characters so far that the font lacks.
    """

    def __init__(self, title: str, made: datetime) -> None:
        self.lacking: set[str] = set()
        self._file = FPDF(unit="pt", format=(WIDTH, HEIGHT))
        self._file.set_auto_page_break(False)
        self._file.set_margin(0)
        self._file.c_margin = 0
        self._file.add_font(_FONT, "", REGULAR)
        self._file.add_font(_FONT, "B", BOLD)
        self._file.set_title(printable_sheet_text(title))
        self._file.set_creator("rexview")
        self._file.set_lang("en")
        self._file.set_creation_date(made)

    def add(self, sheet: Sheet) -> None:
        """Add a page."""
        self._file.add_page()
        if sheet.begins:
            self._file.set_font(_FONT, "", 10)
            self._file.start_section(self._shown(sheet.title))
        for one in sheet.elements:
            if isinstance(one, TextBlock):
                self._text(one)
            elif isinstance(one, SheetTable):
                self._table(one)
            else:
                self._film(one)
        number = TextRun(str(self._file.page_no()), colour=QUIET)
        at = Rectangle(WIDTH - MARGIN - NUMBER_WIDTH, HEIGHT - 26, NUMBER_WIDTH, 14)
        self._line((number,), 10, at, at_right=True)

    def save(self, out: Path) -> None:
        """Write the file."""
        self._file.output(str(out))

    def close(self) -> None:
        """Close the font files, also after a cancelled export."""
        for font in self._file.fonts.values():
            if isinstance(font, TTFFont):
                font.close()

    def _shown(self, text: str) -> str:
        """Return a text with squares for characters that the font lacks, and remember these."""
        missing = missing_characters(text)
        self.lacking |= missing
        for one in missing:
            text = text.replace(one, _SQUARE)
        return text

    def _text(self, text: TextBlock) -> None:
        self._column(text.paragraphs, text.place, text.at_right)

    def _column(
        self, paragraphs: tuple[Paragraph, ...], place: Rectangle, at_right: bool = False
    ) -> None:
        y = place.y
        for one in paragraphs:
            y += one.before
            turned = one.from_right
            for line in one.lines:
                x = place.x + one.indent
                room = Rectangle(x, y, place.right - x, one.line_height)
                runs = line[::-1] if turned else line
                self._line(runs, one.size, room, at_right=at_right or turned)
                y += one.line_height

    def _line(
        self, line: tuple[TextRun, ...], size: float, place: Rectangle, *, at_right: bool = False
    ) -> None:
        """Write a line of text, right-aligned on request."""
        x = place.x
        if at_right:
            x = place.right - sum(
                self._width(self._shown(run.text), size, run.bold) for run in line
            )
        for run in line:
            text = self._shown(run.text)
            if not text:
                continue
            self._file.set_text_color(run.colour)
            width = self._width(text, size, run.bold)
            self._file.set_xy(x, place.y)
            self._file.cell(width, size * LINE_HEIGHT, text)
            x += width

    def _width(self, text: str, size: float, bold: bool) -> float:
        """Choose the font for a text, and return its width."""
        self._file.set_font(_FONT, "B" if bold else "", size)
        joined = any(unicodedata.bidirectional(one) in _SHAPED for one in text)
        self._file.set_text_shaping(joined)
        return float(self._file.get_string_width(text))

    def _rectangle(
        self,
        place: Rectangle,
        *,
        fill: str | None = None,
        line: str | None = None,
        width: float = 1,
    ) -> None:
        if fill:
            self._file.set_fill_color(fill)
        if line:
            self._file.set_draw_color(line)
            self._file.set_line_width(width)
        style = ("D" if line else "") + ("F" if fill else "")
        self._file.rect(place.x, place.y, place.width, place.height, style=style)

    def _table(self, table: SheetTable) -> None:
        y = table.place.y
        for number, row in enumerate(table.rows):
            if not number:
                self._rectangle(
                    Rectangle(table.place.x, y, table.place.width, row.height), fill=SHADE
                )
            x = table.place.x
            for paragraphs, width in zip(row.cells, table.widths, strict=True):
                inside = Rectangle(x + PAD_X, y + table.pad, width - 2 * PAD_X, row.height)
                self._column(paragraphs, inside)
                x += width
            y += row.height
            self._file.set_draw_color(RULE)
            self._file.set_line_width(0.75)
            self._file.line(table.place.x, y, table.place.right, y)

    def _film(self, film: SheetFilm) -> None:
        place = film.place
        if film.jpeg:
            self._file.image(
                io.BytesIO(film.jpeg),
                place.x,
                place.y,
                place.width,
                place.height,
                alt_text=self._shown(film.told),
            )
        else:
            self._rectangle(place, fill=DARK)
        for box in film.boxes:
            self._box(box)
        self._file.set_line_width(LEADER_LINE)
        for leader in film.leaders:
            self._file.set_draw_color(leader.colour)
            self._file.line(*leader.start, *leader.end)
        for tag in film.tags:
            self._tag(tag)

    def _box(self, box: BoxMark) -> None:
        if box.reference:
            self._file.set_dash_pattern(dash=8, gap=4)
        self._rectangle(box.place, line=box.colour, width=BOX_LINE)
        self._file.set_dash_pattern()

    def _tag(self, tag: Tag) -> None:
        if tag.fill:
            self._rectangle(tag.place, fill=tag.fill)
        size = tag.place.height / LINE_HEIGHT * 0.88
        text = self._shown(tag.text)
        width = self._width(text, size, True)
        x = tag.place.x + (tag.place.width - width) / 2
        y = tag.place.y + (tag.place.height - size * LINE_HEIGHT) / 2
        self._line((TextRun(text, True, tag.colour),), size, Rectangle(x, y, width, 0))


def write(content: ExportContent, out: Path, progress: ExportProgress) -> None:
    """Write a PDF file.

    Raises
    ------
    ExportCancelled
    """
    with closing(PdfPages(content.title, content.made)) as pages:
        for sheet in make_sheets(content, progress):
            pages.add(sheet)
        if pages.lacking:
            progress.note(missing_characters_text(pages.lacking))
            for sheet in list(missing_characters_sheets(content, pages.lacking)):
                pages.add(sheet)
        pages.save(out)


__all__ = ["write"]
