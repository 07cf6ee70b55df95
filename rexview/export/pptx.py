"""Export cases and minutes as PowerPoint, where every box, label, text and table can be edited.

Boxes are plain rectangles over the film, named ``Box: MODEL: LABEL``; those of the reference are
dashed, with slightly round corners. Nothing is a placeholder: LibreOffice hides pictures in them.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from lxml import etree
from pptx import Presentation
from pptx.dml.color import RGBColor
from pptx.enum.dml import MSO_LINE
from pptx.enum.shapes import MSO_CONNECTOR, MSO_SHAPE
from pptx.enum.text import MSO_ANCHOR, MSO_AUTO_SIZE
from pptx.oxml.ns import qn
from pptx.util import Emu, Pt

from rexview.export.export_job import ExportProgress
from rexview.export.export_records import ExportContent
from rexview.export.sheets.deck import make_sheets
from rexview.export.sheets.sheet import (
    BOX_LINE,
    DARK,
    HEIGHT,
    LEADER_LINE,
    LINE_HEIGHT,
    MARGIN,
    QUIET,
    RULE,
    SHADE,
    SURFACE,
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
    make_paragraph,
    printable_sheet_text,
)
from rexview.export.sheets.text_flow import NUMBER_WIDTH, PAD_X

# Sheets as slides, with python-pptx: every shape has its position, nothing is a placeholder.

_EMU: Final = 12_700
"""English metric units in a point."""
_FONT: Final = "Arial"
"""Available on every computer, or replaced by a font of the same width."""
_P, _P_PR, _R, _R_PR, _T, _END = map(qn, ("a:p", "a:pPr", "a:r", "a:rPr", "a:t", "a:endParaRPr"))
_LINE_SPACING, _SPACE_BEFORE, _SPACE_AFTER, _POINTS = map(
    qn, ("a:lnSpc", "a:spcBef", "a:spcAft", "a:spcPts")
)
_SOLID, _RGB, _LATIN, _FIELD = map(qn, ("a:solidFill", "a:srgbClr", "a:latin", "a:fld"))
_BLANK: Final = 6
_ROUND: Final = 0.02


class SlideDeck:
    """A presentation to which sheets are added.

    Parameters
    ----------
    title : str
    made : datetime
    """

    def __init__(self, title: str, made: datetime) -> None:
        self._file: Any = Presentation()
        self._file.slide_width, self._file.slide_height = _emu(WIDTH), _emu(HEIGHT)
        about = self._file.core_properties
        about.title, about.author, about.last_modified_by = (
            printable_sheet_text(title)[:255],
            "rexview",
            "",
        )
        about.created = about.modified = made.replace(tzinfo=None)
        self._blank = self._file.slide_layouts[_BLANK]

    def add(self, sheet: Sheet) -> None:
        """Add a slide."""
        slide = self._file.slides.add_slide(self._blank)
        for one in sheet.elements:
            if isinstance(one, TextBlock):
                _text(slide.shapes, one)
            elif isinstance(one, SheetTable):
                _table(slide.shapes, one)
            else:
                _film(slide.shapes, one)
        _number(slide.shapes)

    def save(self, out: Path) -> None:
        """Write the file."""
        self._file.save(str(out))


def _emu(points: float) -> Emu:
    return Emu(round(points * _EMU))


def _at(place: Rectangle) -> tuple[Emu, Emu, Emu, Emu]:
    return _emu(place.x), _emu(place.y), _emu(place.width), _emu(place.height)


def _colour(text: str) -> Any:
    made: Any = RGBColor
    return made(*bytes.fromhex(text.removeprefix("#")))


def _text(shapes: Any, text: TextBlock) -> None:
    box = shapes.add_textbox(*_at(text.place))
    box.name = text.name
    _fill(box.text_frame, text.paragraphs, "r" if text.at_right else "l")


def _fill(frame: Any, paragraphs: Sequence[Paragraph], align: str = "l") -> None:
    """Put paragraphs into a text box, which keeps its size."""
    frame.word_wrap, frame.auto_size = True, MSO_AUTO_SIZE.NONE
    frame.vertical_anchor = MSO_ANCHOR.TOP
    frame.margin_left = frame.margin_right = frame.margin_top = frame.margin_bottom = 0
    _paragraphs(frame, paragraphs, align)


def _paragraphs(frame: Any, paragraphs: Sequence[Paragraph], align: str = "l") -> None:
    """Write paragraphs as XML, three times as fast as setting each through python-pptx.

    Source: ECMA-376 part 1, 21.1.2.2 (paragraphs) and 21.1.2.3 (runs).
    """
    body = frame._txBody
    body.remove(frame.paragraphs[0]._p)
    for given in paragraphs or (make_paragraph(""),):  # PowerPoint would repair it
        made = etree.SubElement(body, _P)
        style = etree.SubElement(made, _P_PR, marL=str(_emu(given.indent)), indent="0", algn=align)
        if given.from_right:
            style.attrib.update({"algn": "r", "rtl": "1"})
        for name, points in (
            (_LINE_SPACING, given.line_height),
            (_SPACE_BEFORE, given.before),
            (_SPACE_AFTER, 0.0),
        ):
            etree.SubElement(etree.SubElement(style, name), _POINTS, val=str(round(points * 100)))
        for run in given.runs:
            if run.text:
                added = etree.SubElement(made, _R)
                _style(added, _R_PR, given.size, run)
                etree.SubElement(added, _T).text = run.text
        _style(made, _END, given.size, TextRun(""))


def _style(parent: Any, name: str, size: float, run: TextRun) -> Any:
    """Set the size, weight, colour and font of a run."""
    style = etree.SubElement(
        parent, name, lang="en-US", sz=str(round(size * 100)), b="1" if run.bold else "0"
    )
    fill = etree.SubElement(style, _SOLID)
    etree.SubElement(fill, _RGB, val=run.colour.removeprefix("#"))
    etree.SubElement(style, _LATIN, typeface=_FONT)
    return style


def _table(shapes: Any, table: SheetTable) -> None:
    frame = shapes.add_table(len(table.rows), len(table.widths), *_at(table.place))
    frame.name = table.name
    made = frame.table
    made.horz_banding = False
    for column, width in zip(made.columns, table.widths, strict=True):
        column.width = _emu(width)
    for at, row in enumerate(table.rows):
        made.rows[at].height = _emu(row.height)
        for cell, paragraphs in zip(made.rows[at].cells, row.cells, strict=True):
            cell.fill.solid()
            cell.fill.fore_color.rgb = _colour(SURFACE if at else SHADE)
            cell.margin_left = cell.margin_right = _emu(PAD_X)
            cell.margin_top = cell.margin_bottom = _emu(table.pad)
            cell.vertical_anchor = MSO_ANCHOR.TOP
            _paragraphs(cell.text_frame, paragraphs)
            _lines(cell)


def _lines(cell: Any) -> None:
    """Draw a thin line above and below a cell."""
    properties = cell._tc.get_or_add_tcPr()
    for place, edge in enumerate(("a:lnT", "a:lnB")):  # lines come before the fill of the cell
        line = etree.Element(qn(edge), w=str(round(0.75 * _EMU)))
        fill = etree.SubElement(line, _SOLID)
        etree.SubElement(fill, _RGB, val=RULE.removeprefix("#"))
        properties.insert(place, line)


def _film(shapes: Any, film: SheetFilm) -> None:
    if film.jpeg:
        drawn = shapes.add_picture(io.BytesIO(film.jpeg), *_at(film.place))
    else:
        drawn = shapes.add_textbox(*_at(film.place))
        drawn.fill.solid()
        drawn.fill.fore_color.rgb = _colour(DARK)
    drawn.name = film.name
    _describe(drawn, film.told)
    for box in film.boxes:
        _box(shapes, box)
    for leader in film.leaders:
        line = shapes.add_connector(
            MSO_CONNECTOR.STRAIGHT, *map(_emu, leader.start), *map(_emu, leader.end)
        )
        line.name = "Line to a label"
        line.line.color.rgb = _colour(leader.colour)
        line.line.width = Pt(LEADER_LINE)
    for tag in film.tags:
        _tag(shapes, tag)


def _box(shapes: Any, box: BoxMark) -> None:
    kind = MSO_SHAPE.ROUNDED_RECTANGLE if box.reference else MSO_SHAPE.RECTANGLE
    drawn = shapes.add_shape(kind, *_at(box.place))
    drawn.name = box.name
    _describe(drawn, box.told)
    drawn.shadow.inherit = False
    drawn.fill.background()
    drawn.line.color.rgb = _colour(box.colour)
    drawn.line.width = Pt(BOX_LINE)
    if box.reference:
        drawn.adjustments[0] = _ROUND
        drawn.line.dash_style = MSO_LINE.DASH


def _tag(shapes: Any, tag: Tag) -> None:
    drawn = shapes.add_textbox(*_at(tag.place))
    drawn.name = tag.name
    if tag.fill:
        drawn.fill.solid()
        drawn.fill.fore_color.rgb = _colour(tag.fill)
    size = tag.place.height / LINE_HEIGHT * 0.88
    words = make_paragraph(TextRun(tag.text, True, tag.colour), size=size)
    _fill(drawn.text_frame, (words,), "ctr")
    drawn.text_frame.word_wrap = False
    drawn.text_frame.vertical_anchor = MSO_ANCHOR.MIDDLE


def _describe(shape: Any, told: str) -> None:
    """Add a shape's alternative text for readers who do not see it."""
    shape._element.xpath(".//p:cNvPr")[0].set("descr", told)


def _number(shapes: Any) -> None:
    """Add the slide's number; it follows when slides are moved."""
    place = Rectangle(WIDTH - MARGIN - NUMBER_WIDTH, HEIGHT - 26, NUMBER_WIDTH, 14)
    drawn = shapes.add_textbox(*_at(place))
    drawn.name = "Number"
    _fill(drawn.text_frame, (make_paragraph("", size=10),), "r")
    made = drawn.text_frame.paragraphs[0]._p
    field = etree.Element(_FIELD, id="{B6F15528-21DE-4FAA-801E-634DDDAF4B2B}", type="slidenum")
    _style(field, _R_PR, 10, TextRun("", colour=QUIET))
    etree.SubElement(field, _T).text = "‹#›"
    made.insert(len(made) - 1, field)  # the end of the paragraph stays last


def write(content: ExportContent, out: Path, progress: ExportProgress) -> None:
    """Write a PowerPoint file.

    Raises
    ------
    ExportCancelled
    """
    deck = SlideDeck(content.title, content.made)
    for sheet in make_sheets(content, progress):
        deck.add(sheet)
    deck.save(out)


__all__ = ["write"]
