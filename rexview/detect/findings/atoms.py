"""The words of a sentence that mean something: its atoms, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rexview.detect.findings.lexicon import Meaning, lexicon
from rexview.detect.findings.mention import Side
from rexview.detect.findings.tokens import Tokens

MARKS: Final = frozenset(',;:()[]{}|"\n•—–=')
_MARK: Final = Meaning()
_LETTERS: Final[dict[str, Meaning]] = {
    "r": Meaning(side="right"),
    "l": Meaning(side="left"),
}


@dataclass(slots=True, eq=False)
class Atom:
    """A phrase of the lexicon (or a mark) at tokens ``i`` to ``j``.

    ``finding`` is the finding it means here; ``side`` the patient's side it gives here, unless
    it is a direction (``way``), what it names is normal (``clear``), or it is where a device goes
    in (``entry``). ``taken`` marks the part of the body that a finding is of.
    """

    meaning: Meaning
    i: int
    j: int
    mark: str = ""
    finding: str | None = None
    side: Side | None = None
    image_side: bool = False
    way: bool = False
    clear: bool = False
    entry: bool = False
    taken: bool = False

    def is_(self, *cues: str) -> bool:
        """Whether the phrase is a cue of one of these kinds."""
        return not self.meaning.cues.isdisjoint(cues)

    @property
    def place(self) -> bool:
        """Whether the phrase names a part of the body in which a finding lies."""
        return self.meaning.host or self.meaning.zone is not None or bool(self.meaning.site_of)


def scan(tokens: Tokens, start: int, end: int) -> list[Atom]:
    """Find the phrases of the lexicon among some tokens; at one place the longest counts."""
    phrases = lexicon().phrases
    words = tokens.words
    atoms: list[Atom] = []
    i = start
    while i < end:
        word = words[i]
        entries = phrases.get(word)
        if entries is not None:
            for length, phrase, meaning in entries:
                if length == 1 or (
                    i + length <= end and words[i + 1] == phrase[1]
                    and tuple(words[i : i + length]) == phrase
                ):  # fmt: skip
                    atoms.append(Atom(meaning, i, i + length, "", meaning.finding, meaning.side))
                    i += length
                    break
            else:
                if word in _LETTERS and _is_side_letter(tokens, i, end):
                    letter = _LETTERS[word]
                    atoms.append(Atom(letter, i, i + 1, "", None, letter.side))
                i += 1
            continue
        if word in MARKS:
            atoms.append(Atom(_MARK, i, i + 1, word))
        i += 1
    return atoms


def _names_place(tokens: Tokens, i: int, end: int) -> bool:
    """Whether a finding or a part of the body stands at token ``i``: "r apical ptx"."""
    entries = lexicon().phrases.get(tokens.words[i], ()) if i < end else ()
    return any(
        length == 1 and (meaning.finding or meaning.zone or meaning.host)
        for length, _, meaning in entries
    )


def _is_side_letter(tokens: Tokens, i: int, end: int) -> bool:
    """Whether a single letter is an R or L for a side: upper case, or before a place's name."""
    text, start, stop = tokens.text, tokens.starts[i], tokens.ends[i]
    if not text[start].isupper() and not _names_place(tokens, i + 1, end):
        last = i + 1 >= end or not tokens.words[i + 1].isalnum()
        if not (last and i and _names_place(tokens, i - 1, end)):
            return False
    if stop < len(text) and (text[stop].isalnum() or text[stop] in "'’"):
        return False
    after = tokens.words[i + 1] if i + 1 < end else ""
    return after not in ("spine", "spinal", "vertebra") and not after[:1].isdigit()
