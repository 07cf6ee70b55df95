"""The translations that there are: one file a language in ``assets/words/``."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from rexview.words.catalogue import ENGLISH, PSEUDO, Catalogue
from rexview.words.checks import checked

FOLDER: Final = Path(__file__).resolve().parents[2] / "assets" / "words"
TEMPLATE: Final = FOLDER / "rexview.pot"
"""All words of the pages, as ``python -m tools.words`` gathers them."""


def languages() -> tuple[str, ...]:
    """Return the languages that there are: English, and a translation a file."""
    return (ENGLISH, *sorted(file.stem for file in FOLDER.glob("*.po")))


@cache
def read_catalogue(language: str) -> Catalogue:
    """Read a language.

    Raises
    ------
    ValueError
        There is no such translation, or it cannot be used: every reason, with file and entry.
    """
    if language in (ENGLISH, PSEUDO):
        return Catalogue(language)
    known = languages()
    if language not in known:
        raise ValueError(f"there is no such translation; there are {', '.join(known)}")
    return checked(language, FOLDER / f"{language}.po", TEMPLATE)
