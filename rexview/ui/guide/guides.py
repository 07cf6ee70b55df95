"""The guides as files: one Markdown text a role, and the pictures that they name."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from rexview.words import tr

FOLDER: Final = Path(__file__).resolve().parents[3] / "assets" / "guides"
GUIDES: Final = {
    "clinician": tr("Clinician"),
    "reader": tr("Reader"),
    "lead": tr("Lead"),
    "researcher": tr("Researcher"),
}
"""The file of each guide without ``.md``, and whom it is for, in the order of the page."""
_PICTURE: Final = re.compile(r"^!\[([^\]]+)\]\(pictures/([\w-]+\.webp)\)$", re.MULTILINE)


class Piece(NamedTuple):
    """Markdown, or a picture with the words that stand for it; one of both is empty."""

    markdown: str = ""
    picture: str = ""
    words: str = ""


@cache
def pieces(name: str) -> tuple[Piece, ...]:
    """Return a guide in the order that it is read in.

    Parameters
    ----------
    name : str
        A key of :data:`GUIDES`.

    Returns
    -------
    tuple of Piece
        Texts and pictures; a picture stands on a line of its own in the file.
    """
    # text, words, picture, text, words, picture, …, text
    found = _PICTURE.split((FOLDER / f"{name}.md").read_text(encoding="utf-8"))
    shown = [Piece(markdown=found[0].strip())]
    for at in range(1, len(found), 3):
        shown += [Piece(words=found[at], picture=found[at + 1]), Piece(found[at + 2].strip())]
    return tuple(one for one in shown if one.markdown or one.picture)


@cache
def pictures() -> frozenset[str]:
    """Return the names of all pictures that guides show."""
    return frozenset(one.picture for name in GUIDES for one in pieces(name) if one.picture)
