"""Make all sheets of an export in order: title, agenda or list, cases, minutes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rexview.export.export_job import ExportProgress
from rexview.export.export_records import ExportCase, ExportContent
from rexview.export.sheets.case_details import case_details
from rexview.export.sheets.case_slide import case_slide
from rexview.export.sheets.case_wording import (
    Cells,
    agenda_table,
    case_table,
    minutes_tables,
    model_heading,
    one_line,
)
from rexview.export.sheets.sheet import (
    Element,
    Paragraph,
    Rectangle,
    Sheet,
    TextBlock,
    make_paragraph,
    printable_sheet_text,
)
from rexview.export.sheets.text_flow import (
    TABLE_SIZE,
    SheetFrame,
    SheetStack,
    column_height,
    flow_paragraphs,
)
from rexview.vocab import date_text, english_count

_TITLE_SIZES: Final = ((60, 40.0), (160, 28.0), (10**9, 18.0))
"""Sizes of a title by its most characters."""
_TABLE_SIZES: Final = (TABLE_SIZE, 11.0, 10.0)
"""Sizes of words in tables: the largest one that needs the fewest sheets is used."""


def make_sheets(content: ExportContent, progress: ExportProgress) -> Iterator[Sheet]:
    """Yield all sheets of an export; pictures are read when their sheet is made.

    A single case has no title and no list; its notes come at the end.

    Raises
    ------
    ExportCancelled
        The user has cancelled the export.
    """
    frame = SheetFrame(content)
    alone = len(content.case_ids) == 1 and content.minutes is None
    if alone:
        for case in progress.over(content):
            yield case_slide(content, frame, case, progress)
            yield from case_details(content, frame, case, progress)
        yield from _texts(frame, "About this file", _about(content), "About this file")
        return
    yield from _texts(frame, "Title", _title(content))
    if content.minutes:
        yield from _tables(frame, "Agenda", [agenda_table(content.minutes)])
    else:
        yield from _tables(frame, "Cases", [case_table(_count_cases(content, progress))])
    for case in progress.over(content, 0, 2):
        yield case_slide(content, frame, case, progress)
    if content.minutes:
        yield from _tables(frame, "Minutes", minutes_tables(content, content.minutes))
    for case in progress.over(content, 1, 2):
        yield from case_details(content, frame, case, progress)


def _count_cases(content: ExportContent, progress: ExportProgress) -> Iterator[ExportCase]:
    """Yield the cases for their list; they are made again for their own sheets."""
    for case in content.cases():
        progress.check()
        yield case


def missing_characters_text(characters: Iterable[str]) -> str:
    """Return words on which characters a font lacks."""
    named = ", ".join(f"U+{ord(one):04X}" for one in sorted(characters))
    return (
        "The font of this PDF lacks some characters; a square stands for each of them. "
        f"PowerPoint and the other formats have them. They are: {named}."
    )


def missing_characters_sheets(content: ExportContent, characters: Iterable[str]) -> Iterator[Sheet]:
    """Yield sheets that list the characters a font lacks."""
    title = "Characters that cannot be shown"
    yield from _texts(
        SheetFrame(content), title, [make_paragraph(missing_characters_text(characters))], title
    )


def _title(content: ExportContent) -> list[Paragraph]:
    title = one_line(content.title)
    size = next(size for most, size in _TITLE_SIZES if len(title) <= most)
    made = [make_paragraph(title, size=size, bold=True)]
    facts = [english_count(len(content.case_ids), "case")]
    minutes = content.minutes
    if minutes and minutes.meeting.held:
        facts.insert(0, f"Held {date_text(minutes.meeting.held)}")
    if content.set_name != content.title:
        facts.append(one_line(content.set_name))
    if minutes and minutes.seconds:
        facts.append(
            f"discussed for {english_count(max(round(minutes.seconds / 60), 1), 'minute')}"
        )
    made.append(make_paragraph(" · ".join(facts), size=18, before=8))
    made.append(make_paragraph("", size=10))
    return made + [model_heading(content, model.id) for model in content.models] + _about(content)


def _about(content: ExportContent) -> list[Paragraph]:
    """Return notes for anyone who passes the file on."""
    made = [make_paragraph("", size=10)]
    if content.notice:
        made += [
            make_paragraph(one, size=16, bold=True)
            for one in printable_sheet_text(content.notice).split("\n")
        ]
    made += [make_paragraph(one_line(note), size=13, before=6) for note in content.notes]
    when = f"Made on {date_text(content.made.date())}."
    words = f"{when} Not a medical device, not for clinical decisions."
    return [*made, make_paragraph(words, size=13, before=6)]


def _texts(
    frame: SheetFrame, name: str, paragraphs: list[Paragraph], title: str = ""
) -> Iterator[Sheet]:
    body = frame.body
    for column in flow_paragraphs(paragraphs, body.width, body.height):
        place = Rectangle(body.x, body.y, body.width, column_height(column))
        yield frame.sheet(title, [TextBlock(place, column, name)], begins=True)


def _tables(frame: SheetFrame, title: str, tables: Iterable[Cells]) -> Iterator[Sheet]:
    every = [one for one in tables if one[2]]
    best: list[list[Element]] = []
    for size in _TABLE_SIZES:
        stack = SheetStack(frame.body)
        for heading, head, cells in every:
            stack.table("" if heading == title else heading, head, cells, size=size)
        if not best or len(stack.sheets) < len(best):
            best = stack.sheets
    for number, elements in enumerate(best):
        yield frame.sheet(title, elements, begins=not number)
