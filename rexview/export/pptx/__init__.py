"""Cases and minutes as PowerPoint: every box, label, text and table can be edited there.

Boxes are plain rectangles over the film, named ``Box: MODEL: LABEL``; those of the reference are
dashed, with slightly round corners. Nothing is a placeholder: LibreOffice hides pictures in them.
"""

from __future__ import annotations

from pathlib import Path

from rexview.export.job import Progress
from rexview.export.pptx.slides import Deck
from rexview.export.records import Content
from rexview.export.sheets.deck import sheets


def write(content: Content, out: Path, progress: Progress) -> None:
    """Write a PowerPoint file.

    Raises
    ------
    ExportCancelled
    """
    deck = Deck(content.title, content.made)
    for sheet in sheets(content, progress):
        deck.add(sheet)
    deck.save(out)


__all__ = ["write"]
