"""What a model says of an answer and quotes of it, and where the quoted words stand in its text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rexview.analysis.case.comments import find_quote


@dataclass(frozen=True, kw_only=True)
class Quoting:
    """Why something is said of an answer, with the words that are quoted.

    ``start`` and ``end`` are the place of these in the answer's text, None where they are not in
    it. ``quote_known`` says that they stand in its explanation or in what the model was sent, where
    names of models are covered: then their absence here means nothing.
    """

    reason: str
    quote: str = ""
    start: int | None = None
    end: int | None = None
    quote_known: bool = True

    @property
    def is_located(self) -> bool:
        """Whether the quoted words can be marked in the text."""
        return self.start is not None

    @property
    def is_lost(self) -> bool:
        """Whether words are quoted that the answer does not have."""
        return bool(self.quote) and not self.is_located and not self.quote_known


def place_of(text: str, quote: str) -> tuple[int | None, int | None]:
    """Find quoted words in a text, blanks and capitals aside, as a judge's reply is read.

    >>> place_of("No effusion.  Heart  normal.", "heart normal")
    (14, 27)
    """
    if quote and (place := find_quote(text, quote, 0)):  # also with markup between its words
        return place.start, place.end
    words = quote.split()
    found = re.search(r"\s+".join(map(re.escape, words)), text, re.IGNORECASE) if words else None
    return (found.start(), found.end()) if found else (None, None)
