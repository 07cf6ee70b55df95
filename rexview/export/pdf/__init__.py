"""Cases and minutes as PDF: text that can be selected, boxes as vectors.

The font is embedded. It lacks some scripts: what it lacks stands as a square, and the last page and
whoever asked for the export are told which characters these were.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from rexview.export.job import Progress
from rexview.export.pdf.pages import Pages
from rexview.export.records import Content
from rexview.export.sheets.deck import lacking_sheets, lacking_words, sheets


def write(content: Content, out: Path, progress: Progress) -> None:
    """Write a PDF file.

    Raises
    ------
    ExportCancelled
    """
    with closing(Pages(content.title, content.made)) as pages:
        for sheet in sheets(content, progress):
            pages.add(sheet)
        if pages.lacking:
            progress.note(lacking_words(pages.lacking))
            for sheet in list(lacking_sheets(content, pages.lacking)):
                pages.add(sheet)
        pages.save(out)


__all__ = ["write"]
