"""The options of a question as a text may name them: their labels and their words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rexview.choices.markup import folded, plain

_OWN_LABEL: Final = re.compile(r"\s*\(?([A-Za-z]|\d{1,2})[.):]\s+(?=\S)")
_BRACKETED: Final = re.compile(r"([^()]+)\(([^()]+)\)")
_CJK: Final = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
_TOKENS: Final = {
    kind: re.compile(
        rf"(?:(?:option|choice|ans|answer|letter)\s*:?\s+)?(?P<open>[(\[]+\s*)?(?:option\s+)?"
        rf"{label}(?!['’])(?![^\W{_CJK}])(?!-\w)(?P<close>\s*[)\]]+)?",
        re.IGNORECASE,
    )
    for kind, label in {
        "letter": "(?P<label>[A-Za-z])",
        "digit": r"(?:(?:number|no\.)\s*)?(?P<label>\d{1,2})",
    }.items()
}


@dataclass(frozen=True)
class Options:
    """The options of a question, each tuple with an entry for each.

    ``labels`` are in upper case; ``folded`` are the words in lower case, apart by one space;
    ``token`` finds a label with what may be around it; ``parts`` are the folded words before and in
    the brackets that an option ends with; ``plain`` are the options without labels.
    """

    labels: tuple[str, ...]
    folded: tuple[str, ...]
    token: re.Pattern[str]
    parts: tuple[tuple[str, ...], ...]
    plain: tuple[str, ...]

    def labelled(self, label: str) -> int | None:
        """Return the option of a label, in whatever case."""
        return self.labels.index(label.upper()) if label.upper() in self.labels else None

    def by_part(self, words: str) -> int | None:
        """Return the one option that has some folded words before or in its brackets."""
        met = [place for place, parts in enumerate(self.parts) if words and words in parts]
        return met[0] if len(met) == 1 else None

    def counted(self, number: int) -> int | None:
        """Return the option by its place in the list, from 1."""
        return number - 1 if 1 <= number <= len(self.folded) else None


@lru_cache(maxsize=4_096)
def options_of(options: tuple[str, ...]) -> Options:
    """Read the labels that options carry, or count them A, B, C; ``options`` is not empty."""
    own = [_OWN_LABEL.match(option) for option in options]
    labels = tuple(match[1].upper() if match else "" for match in own)
    runs = (
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        [str(n) for n in range(1, 100)],
        [str(n) for n in range(99)],
    )
    if len(options) > 1 and any(list(labels) == list(run[: len(labels)]) for run in runs):
        options = tuple(
            option[match.end() :] for option, match in zip(options, own, strict=True) if match
        )
    else:
        labels = tuple(chr(ord("A") + n) for n in range(min(len(options), 26)))
    token = _TOKENS["digit" if labels[0].isdigit() else "letter"]
    words = tuple(plain(option) for option in options)
    split = [_BRACKETED.fullmatch(one.strip()) for one in words]
    parts = tuple((folded(one[1]), folded(one[2])) if one else () for one in split)
    return Options(labels, tuple(folded(one) for one in words), token, parts, words)
