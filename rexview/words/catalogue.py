"""The catalogue of one language: its texts by their English, and its plural forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

ENGLISH: Final = "en"
PSEUDO: Final = "x-pseudo"
"""A pseudo-language: each text in brackets, so that untranslated text is visible."""
CONTEXT_SEPARATOR: Final = "\x04"
"""Separates context and text in a key, as in GNU gettext's files."""
_REPEATS: Final = 100


@dataclass(frozen=True)
class Catalogue:
    """One language: its texts by their English, in one form or in all plural forms.

    ``which`` gives the form for each number from 0 to 199. From there on it repeats every hundred,
    as it does in all languages except for full millions. ``on_pages`` are the keys of texts used by
    scripts.
    """

    language: str
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    forms: int = 2
    which: tuple[int, ...] = ()
    on_pages: frozenset[str] = frozenset()

    def form_of(self, n: float) -> int:
        """Return the form for a number; a fraction takes the form for many."""
        if n != int(n) or n < 0:
            return self.forms - 1
        return self.which[plural_number(int(n))]

    def for_pages(self) -> dict[str, object]:
        """Return the texts of scripts and the rules for their forms, as JSON."""
        if self.language == ENGLISH:
            return {}
        texts = {key: self.texts[key] for key in sorted(self.on_pages & self.texts.keys())}
        language = ENGLISH if self.language == PSEUDO else self.language
        return {"language": language, "which": list(self.which), "texts": texts}


def plural_number(n: int) -> int:
    """Return the number below 200 that has the same form.

    >>> plural_number(7), plural_number(107), plural_number(2_011)
    (7, 107, 111)
    """
    return n if n < 2 * _REPEATS else _REPEATS + n % _REPEATS
