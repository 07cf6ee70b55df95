"""Find the phrases of ``lexicon.yaml`` and ``cues.yaml`` in a sentence, as terms in order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from rexview.package_data import read_package_table
from rexview.text.findings.mention import LexiconFinding, Side
from rexview.text.findings.sentences import split_words

_FOLDER: Final = Path(__file__).parent
_CHOICE: Final = re.compile(r"\{([^{}]*)\}")
_BRITISH: Final = (
    ("oedema", "edema"),
    ("haem", "hem"),
    ("tumour", "tumor"),
    ("oesoph", "esoph"),
    ("paed", "ped"),
)

_SIDES: Final[dict[str, Side]] = {
    **dict.fromkeys(("left", "lt", "l"), "left"),
    **dict.fromkeys(("right", "rt", "r"), "right"),
}
_CHAMBERS: Final = frozenset({"ventricular", "atrial"})
"""Next to these, left and right belong to a part's name, not to the patient."""


@dataclass(slots=True)
class Meaning:
    """Meanings of a phrase; a phrase may have several.

    ``near`` are findings that it means together with a part of the body that lists them in
    ``site_of``. One finding may have several such pairs of lists; "pleural_effusion/2" is another.
    """

    finding: str | None = None
    near: tuple[str, ...] = ()
    site_of: frozenset[str] = frozenset()
    zone: str | None = None
    lobe: bool = False
    host: bool = False
    side: Side | None = None
    cues: frozenset[str] = frozenset()


@dataclass(slots=True)
class PhraseNode:
    """Phrases that start with the same words: their own meaning, and longer ones by next word."""

    alone: Meaning | None = None
    longer: dict[str, PhraseNode] = field(default_factory=lambda: _NOTHING_LONGER)


_NOTHING_LONGER: Final[dict[str, PhraseNode]] = {}
"""Shared by the many phrases that start no longer one; it must remain empty."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """All findings by id, all phrases word by word, and words narrower than their finding.

    ``narrower`` holds the latter as lists of words ("empyema" for a pleural effusion).
    ``misplaced`` maps a finding to the devices that it is in the wrong place (a tube in a
    bronchus).
    """

    findings: dict[str, LexiconFinding]
    phrases: dict[str, PhraseNode]
    narrower: frozenset[tuple[str, ...]]
    misplaced: dict[str, tuple[str, ...]]


@cache
def lexicon() -> Lexicon:
    """Read the lexicon, once."""
    data = _load("lexicon.yaml")
    meanings: dict[tuple[str, ...], Meaning] = {}
    findings: dict[str, LexiconFinding] = {}
    for group, entries in (("finding", data["findings"]), ("device", data["devices"])):
        for name, entry in entries.items():
            findings[name] = LexiconFinding(
                name,
                entry["name"],
                "device" if group == "device" else "finding",
                entry["family"],
                entry["region"],
                entry.get("sided", True),
            )
            for words in _spellings([*entry["words"], entry["name"]], plurals=True):
                meaning = meanings.setdefault(words, Meaning())
                meaning.finding = name
                meaning.side = _side_within(words) if findings[name].sided else None
            for words in _spellings(entry.get("near", ()), plurals=True):
                meanings.setdefault(words, Meaning()).near += (name,)
            for words in _spellings(entry.get("site", ())):
                meanings.setdefault(words, Meaning()).site_of |= {name}
            for number, more in enumerate(entry.get("also", ()), 2):
                for words in _spellings(more["near"]):
                    meanings.setdefault(words, Meaning()).near += (f"{name}/{number}",)
                for words in _spellings(more["site"]):
                    meanings.setdefault(words, Meaning()).site_of |= {f"{name}/{number}"}
    for entry in data["anatomy"].values():
        for words in _spellings(entry["words"]):
            meanings.setdefault(words, Meaning()).host = True
    for zone, phrases in data["zones"].items():
        for words in _spellings(phrases):
            meaning = meanings.setdefault(words, Meaning())
            meaning.zone = zone
            meaning.lobe = "lobe" in words or "lobar" in words
    for zone, entry in data["lobes"].items():
        for words in _spellings(entry["words"]):
            meaning = meanings.setdefault(words, Meaning())
            meaning.zone, meaning.side = zone, entry["side"]
    for side, phrases in data["sides"].items():
        for words in _spellings(phrases):
            meanings.setdefault(words, Meaning()).side = side
    for cue, phrases in _load("cues.yaml").items():
        for words in _spellings(phrases):
            meanings.setdefault(words, Meaning()).cues |= {cue}
    narrower = frozenset(_spellings(data["narrower"], plurals=True))
    misplaced = {
        name: tuple(entry["misplaced"])
        for name, entry in data["devices"].items()
        if "misplaced" in entry
    }
    return Lexicon(findings, _indexed(meanings), narrower, misplaced)


def _side_within(words: Sequence[str]) -> Side | None:
    """Return the side in a finding's own words, if they name one side of the patient."""
    sides = {_SIDES[word] for word in words if word in _SIDES}
    return sides.pop() if len(sides) == 1 and _CHAMBERS.isdisjoint(words) else None


def _indexed(meanings: dict[tuple[str, ...], Meaning]) -> dict[str, PhraseNode]:
    """Arrange phrases as a tree of words."""
    root = PhraseNode()
    for words, meaning in meanings.items():
        opening = root
        for word in words:
            if opening.longer is _NOTHING_LONGER:
                opening.longer = {}
            opening = opening.longer.setdefault(word, PhraseNode())
        opening.alone = meaning
    return root.longer


_FRACTURE: Final = "fracture"


def may_be_same_fracture(one: str, other: str) -> bool:
    """True if one finding is a fracture of a bone and the other that of an unnamed bone.

    >>> may_be_same_fracture("rib_fracture", "fracture")
    True
    """
    named = one if other == _FRACTURE else other
    return _FRACTURE in (one, other) and named.endswith(f"_{_FRACTURE}")


def misplaced_devices(finding: str) -> tuple[str, ...]:
    """Return the devices that a finding is in the wrong place; none for any other finding.

    >>> misplaced_devices("bronchial_tube")
    ('endotracheal_tube', 'enteric_tube')
    """
    return lexicon().misplaced.get(finding, ())


def is_narrower(phrase: str) -> bool:
    """True if a phrase names only some of what its finding in the lexicon covers.

    >>> is_narrower("empyema"), is_narrower("pleural effusion")
    (True, False)
    """
    return split_words(phrase) in lexicon().narrower


def means_alone(phrase: str) -> bool:
    """True if a phrase means a finding by itself, not only with a part of the body.

    >>> means_alone("effusion"), means_alone("blunting")
    (True, False)
    """
    opening: PhraseNode | None = None
    longer = lexicon().phrases
    for word in split_words(phrase):
        opening = longer.get(word)
        if opening is None:
            return False
        longer = opening.longer
    return opening is not None and opening.alone is not None and opening.alone.finding is not None


def finding_info(finding: str) -> LexiconFinding:
    """Return the lexicon's entry for a finding's id.

    Raises
    ------
    KeyError
        If the lexicon has no such finding.

    >>> finding_info("pleural_effusion").family
    'pleural_fluid'
    """
    return lexicon().findings[finding]


def finding_name(finding: str) -> str:
    """Return the displayed name of a finding in the lexicon; an unknown finding keeps its id."""
    known = lexicon().findings.get(finding)
    return known.name if known else finding.replace("_", " ")


def finding_region(finding: str) -> str:
    """Return the region of a finding in the lexicon, such as ``pleura``; ``whole`` if unknown."""
    known = lexicon().findings.get(finding)
    return known.region if known else "whole"


def _load(name: str) -> dict[str, Any]:
    content: dict[str, Any] = read_package_table(_FOLDER / name)
    return content


def _spellings(phrases: Iterable[str], *, plurals: bool = False) -> Iterator[tuple[str, ...]]:
    """Yield each phrase as words: as given, with US spelling, with a plural last word."""
    for phrase in (one for given in phrases for one in _expanded(given)):
        given = split_words(phrase)
        for words in {given, _american(given)}:
            yield words
            if plurals and (plural := _plural(words[-1])):
                yield (*words[:-1], plural)


def _expanded(phrase: str) -> Iterator[str]:
    """Expand the alternatives of a phrase: "{on|in} {the|} film" is four phrases."""
    match = _CHOICE.search(phrase)
    if match is None:
        yield " ".join(phrase.split())
        return
    for choice in match[1].split("|"):
        yield from _expanded(phrase[: match.start()] + choice + phrase[match.end() :])


def _american(words: Sequence[str]) -> tuple[str, ...]:
    changed = " ".join(words)
    for british, american in _BRITISH:
        changed = changed.replace(british, american)
    return tuple(changed.split(" "))


def _plural(word: str) -> str | None:
    if not word.isalpha() or word.endswith(("s", "x", "ed", "ing", "ic", "al", "ous")):
        return None
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


# The terms of a sentence, in order: its words with a meaning.

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

    ``cues`` are its kinds of cues, ``finding`` is the finding that it means here. ``side`` is the
    patient's side that it gives here, unless it is a direction (``way``), what it names is normal
    (``clear``), or it is where a device enters (``entry``). ``is_site`` marks the part of the body
    of a finding.
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
        """True if the phrase is a cue of one of these kinds."""
        return not self.cues.isdisjoint(cues)

    @property
    def names_anatomy(self) -> bool:
        """True if the phrase names a part of the body in which a finding can be."""
        return self.meaning.host or self.meaning.zone is not None or bool(self.meaning.site_of)


class TermSummary(NamedTuple):
    """Kinds of terms in a sentence.

    ``near``: words that mean a finding only with a part of the body. ``matters``: some term
    concerns findings, sides or earlier statements.
    """

    finding: bool
    near: bool
    side: bool
    zone: bool
    matters: bool
    cues: set[str]


def summarize_terms(terms: Iterable[Term]) -> TermSummary:
    """Return the kinds of terms among some terms."""
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
    return TermSummary(finding, near, side, zone, matter, cues)


def find_terms(
    words: list[str], start: int, end: int, side_letters: Mapping[int, bool]
) -> list[Term]:
    """Find the phrases of the lexicon in some words; the longest counts at each place.

    ``side_letters`` maps the positions of a single "R" or "L" to True if it is in upper case.
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
def _openings() -> dict[str, PhraseNode]:
    """Return the possible starts of a term by first word: a phrase, a mark or a side's letter."""
    others = {word: PhraseNode() for word in (*PUNCTUATION, *_LETTERS)}
    return others | lexicon().phrases


def _names_place(words: list[str], i: int, end: int) -> bool:
    """True if a finding or a part of the body is at token ``i``: "r apical ptx"."""
    opening = lexicon().phrases.get(words[i]) if i < end else None
    meaning = opening.alone if opening else None
    return meaning is not None and bool(meaning.finding or meaning.zone or meaning.host)


def _is_side_letter(words: list[str], i: int, end: int, upper: bool) -> bool:
    """True if a letter R or L means a side: in upper case, or before a place's name."""
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
