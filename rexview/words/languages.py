"""The translations that there are: one file a language in ``assets/words/``."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from rexview.words.catalogue import ENGLISH, PSEUDO, Catalogue
from rexview.words.checks import asked_by_scripts, checked
from rexview.words.po_file import read_po

FOLDER: Final = Path(__file__).resolve().parents[2] / "assets" / "words"
TEMPLATE: Final = FOLDER / "rexview.pot"
"""All words of the pages, as ``python -m tools.words`` gathers them."""
_OPENS, _CLOSES = "⟦", "⟧"


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
    if language == ENGLISH:
        return Catalogue(ENGLISH)
    if language == PSEUDO:
        return _in_brackets()
    known = languages()
    if language not in known:
        raise ValueError(f"there is no such translation; there are {', '.join(known)}")
    return checked(language, FOLDER / f"{language}.po", TEMPLATE)


def _in_brackets() -> Catalogue:
    """Return the language that is none: all texts that were gathered, in brackets."""
    entries = [entry for entry in read_po(TEMPLATE) if entry.key]
    texts = {
        entry.key: tuple(
            f"{_OPENS}{form}{_CLOSES}" for form in (entry.id, entry.plural) if form is not None
        )
        for entry in entries
    }
    which = tuple(int(n != 1) for n in range(200))
    return Catalogue(PSEUDO, texts, 2, which, asked_by_scripts(entries))
