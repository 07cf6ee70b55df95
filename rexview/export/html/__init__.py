"""Cases as one HTML file that works from a disk: the app's viewer, and all that was said of them.

The film keeps its depth, so that brightness and contrast work as in the app. A case takes at most
:data:`MOST_BYTES`; films that would take more are kept smaller, which is said beside them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rexview.export.html.document import case_parts, head_html, tail_html
from rexview.export.html.pictures import films
from rexview.export.html.texts import case_html, minutes_html, minutes_row
from rexview.export.job import Progress
from rexview.export.records import Content

MOST_BYTES: Final = 1_500_000
"""Of one case in the file, its texts among them."""
_BESIDE: Final = 4_000
"""What the names of boxes and films take besides."""


def write(content: Content, out: Path, progress: Progress) -> None:
    """Write an export as one HTML file.

    Raises
    ------
    ExportCancelled, OSError
    """
    decided = []
    with out.open("w", encoding="utf-8", newline="\n") as file:
        file.write(head_html(content))
        for case in progress.over(content):
            texts = case_html(case, content)
            beside = len(texts.encode()) + _BESIDE
            made = films(case, content, MOST_BYTES - beside)
            file.write(texts)
            for part in case_parts(case.number, made):
                file.write(part)
            for reason in made.unread:
                progress.note(reason)
            decided.append(minutes_row(case, content))
            progress.check()
        file.write(minutes_html(content, decided))
        file.write(tail_html())


__all__ = ["MOST_BYTES", "write"]
