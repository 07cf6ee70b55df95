"""One language: its texts by their English, and which form goes with a number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

ENGLISH: Final = "en"
PSEUDO: Final = "x-pseudo"
"""No language: each text in brackets, so that what was not asked for is seen."""
CONTEXT_ENDS: Final = "\x04"
"""Between context and text in a key, as in GNU gettext's files."""
_REPEATS: Final = 100


@dataclass(frozen=True)
class Catalogue:
    """One language: its texts by their English, in one form or as many as the language has.

    ``which`` says by the number 0 to 199 which form goes with it; from there on it repeats with
    every hundred, as it does in all languages but for full millions. ``on_pages`` are the keys of
    the texts that scripts ask for.
    """

    language: str
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    forms: int = 2
    which: tuple[int, ...] = ()
    on_pages: frozenset[str] = frozenset()

    def form_of(self, n: float) -> int:
        """Return which form goes with a number; a fraction takes that of many."""
        if n != int(n) or n < 0:
            return self.forms - 1
        return self.which[folded(int(n))]

    def for_pages(self) -> dict[str, object]:
        """Return the texts of scripts and how to choose their forms, as JSON."""
        if self.language == ENGLISH:
            return {}
        texts = {key: self.texts[key] for key in sorted(self.on_pages & self.texts.keys())}
        language = ENGLISH if self.language == PSEUDO else self.language
        return {"language": language, "which": list(self.which), "texts": texts}


def folded(n: int) -> int:
    """Return the number below 200 whose form a number has.

    >>> folded(7), folded(107), folded(2_011)
    (7, 107, 111)
    """
    return n if n < 2 * _REPEATS else _REPEATS + n % _REPEATS
