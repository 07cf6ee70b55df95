"""The words of a sentence that mean something: its terms, in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from rexview.detect.findings.lexicon import Meaning, Opening, lexicon
from rexview.detect.findings.mention import Side

_TELLING: Final = ("correction", "same", "opposite", "topic")
PUNCTUATION: Final = frozenset(',;:()[]{}|"\n•—–=')
_RIBS: Final = frozenset(("rib", "ribs"))
_UNITS: Final = frozenset(("cm", "mm"))
_TO_RIBS: Final = 12
"""Tokens from a side's letter to the ribs whose numbers follow it."""
_NO_MEANING: Final = Meaning()
_LETTERS: Final[dict[str, Meaning]] = {
    "r": Meaning(side="right"),
    "l": Meaning(side="left"),
}


@dataclass(slots=True, eq=False)
class Term:
    """A phrase of the lexicon (or a punctuation ``mark``) at tokens ``i`` to ``j``.

    ``cues`` are the kinds of cues that it is, ``finding`` the finding it means here; ``side`` the
    patient's side it gives here, unless it is a direction (``way``), what it names is normal
    (``clear``), or it is where a device goes in (``entry``). ``is_site`` says that it is the part
    of the body that a finding is of.
    """

    meaning: Meaning
    cues: frozenset[str]
    i: int
    j: int
    mark: str = ""
    finding: str | None = None
    side: Side | None = None
    image_side: bool = False
    way: bool = False
    clear: bool = False
    entry: bool = False
    is_site: bool = False

    def is_(self, *cues: str) -> bool:
        """Whether the phrase is a cue of one of these kinds."""
        return not self.cues.isdisjoint(cues)

    @property
    def names_anatomy(self) -> bool:
        """Whether the phrase names a part of the body in which a finding lies."""
        return self.meaning.host or self.meaning.zone is not None or bool(self.meaning.site_of)


class Outline(NamedTuple):
    """What there is among some terms.

    ``near`` are words that mean a finding only with a part of the body; ``matters`` says that
    anything is said of findings, sides or what was said before.
    """

    finding: bool
    near: bool
    side: bool
    zone: bool
    matters: bool
    cues: set[str]


def outline(terms: Iterable[Term]) -> Outline:
    """Say what there is among some terms."""
    finding = near = side = zone = False
    cues: set[str] = set()
    for term in terms:
        if term.mark:
            continue
        meaning = term.meaning
        if term.finding is not None:
            finding = True
        if term.side is not None:
            side = True
        if meaning.near:
            near = True
        if meaning.zone is not None:
            zone = True
        if term.cues:
            cues |= term.cues
    matter = finding or near or side or not cues.isdisjoint(_TELLING)
    return Outline(finding, near, side, zone, matter, cues)


def scan(words: list[str], start: int, end: int, side_letters: Mapping[int, bool]) -> list[Term]:
    """Find the phrases of the lexicon among some words; at one place the longest counts.

    ``side_letters`` are the places of an "R" or "L" by itself, and whether it is in upper case.
    """
    terms: list[Term] = []
    free = start
    for i, opening in enumerate(map(_openings().get, words[start:end]), start):
        if opening is None or i < free:
            continue
        free, meaning, mark = i + 1, opening.alone, ""
        for k in range(i + 1, end):
            longer = opening.longer.get(words[k])
            if longer is None:
                break
            opening = longer
            if opening.alone is not None:
                free, meaning = k + 1, opening.alone
        if meaning is None:
            meaning, mark = _NO_MEANING, words[i]
            if mark in _LETTERS:
                if i not in side_letters or not _is_side_letter(words, i, end, side_letters[i]):
                    continue
                meaning, mark = _LETTERS[mark], ""
            elif mark not in PUNCTUATION:
                continue
        cues, finding, side = meaning.cues, meaning.finding, meaning.side
        terms.append(Term(meaning, cues, i, free, mark, finding, side))
    return terms


@cache
def _openings() -> dict[str, Opening]:
    """Return what may begin a term, by its first word: a phrase, a mark or a side's letter."""
    others = {word: Opening() for word in (*PUNCTUATION, *_LETTERS)}
    return others | lexicon().phrases


def _names_place(words: list[str], i: int, end: int) -> bool:
    """Whether a finding or a part of the body stands at token ``i``: "r apical ptx"."""
    opening = lexicon().phrases.get(words[i]) if i < end else None
    meaning = opening.alone if opening else None
    return meaning is not None and bool(meaning.finding or meaning.zone or meaning.host)


def _is_side_letter(words: list[str], i: int, end: int, upper: bool) -> bool:
    """Whether a single letter is an R or L for a side: upper case, or before a place's name."""
    if not upper and not _names_place(words, i + 1, end):
        last = i + 1 >= end or not words[i + 1].isalnum()
        before = i - 2 if i > 1 and words[i - 1] == "," else i - 1
        if not (last and i and _names_place(words, before, end)):
            return False
    after = words[i + 1] if i + 1 < end else ""
    if after[:1].isdigit():  # "L 4" is a vertebra, "R 4-7 lateral ribs" a side
        if upper and i + 2 < end and words[i + 2] in _UNITS:
            return True  # "PTX R 2 cm"
        return upper and not _RIBS.isdisjoint(words[i + 2 : min(end, i + _TO_RIBS)])
    return after not in ("spine", "spinal", "vertebra")
