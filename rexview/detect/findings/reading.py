"""Reading a text: its sentences one after the other, and what they say of one another."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from rexview.detect.findings.atoms import Atom, scan
from rexview.detect.findings.layout import Sentence, sentences
from rexview.detect.findings.lexicon import finding_info
from rexview.detect.findings.mention import Mention, Side, Status
from rexview.detect.findings.sides import attach, clean_sides
from rexview.detect.findings.status import status_of
from rexview.detect.findings.tokens import Tokens

_NEAR: Final = 9
_REMEMBERED: Final = 4_000
"""Characters of the longest text whose reading is kept: a report is met once for each model."""


@dataclass(slots=True, eq=False)
class Draft:
    """A mention while the text is read; ``sides`` are (side, start, end)."""

    finding: str
    status: Status
    start: int
    end: int
    sides: list[tuple[Side, int, int]]
    zone: str | None
    sentence: tuple[int, int]
    section: str | None = None
    superseded: bool = False
    refers_back: bool = False
    image_side: bool = False


@dataclass(slots=True)
class Scene:
    """What headings and earlier sentences say of the next one."""

    section: str | None = None
    section_status: Status | None = None
    topic: tuple[Side, int, int] | None = None
    topic_line: int = -1
    label: tuple[Side, int, int] | None = None
    last: list[Draft] = field(default_factory=list)


def find_mentions(text: str | None) -> tuple[Mention, ...]:
    """Find every mention of a finding or device.

    Parameters
    ----------
    text : str or None
        A report or an answer: prose, markdown, tables, JSON; English. Any other text is read
        without harm and gives what English words it has.

    Returns
    -------
    tuple of Mention
        In order of place. A finding that one phrase gives two sides ("left lower and right upper
        lobe opacity") stands there once for each.

    Examples
    --------
    >>> mention, = find_mentions("Opacity. It lies in the left base.")
    >>> mention.finding, mention.side, mention.zone
    ('opacity', 'left', 'base')
    """
    if not text or not isinstance(text, str):
        return ()
    return _remembered(text) if len(text) <= _REMEMBERED else _read(text)


@lru_cache(maxsize=512)
def _remembered(text: str) -> tuple[Mention, ...]:
    return _read(text)


def _read(text: str) -> tuple[Mention, ...]:
    tokens = Tokens(text, 0, len(text))
    drafts: list[Draft] = []
    scene = Scene()
    for sentence in sentences(tokens, 0, len(tokens.words)):
        drafts += _read_sentence(tokens, sentence, scene)
    return tuple(mention for draft in drafts for mention in _mentions(draft))


def _mentions(draft: Draft) -> list[Mention]:
    sides = draft.sides
    if any(side == "bilateral" for side, _, _ in sides):
        sides = [side for side in sides if side[0] == "bilateral"][:1]
    seen: dict[str, tuple[Side, int, int]] = {}
    for side in sides:
        seen.setdefault(side[0], side)
    places: list[tuple[Side | None, int | None, int | None]] = [*seen.values()]
    return [
        Mention(
            draft.finding, side, _lobe(draft.zone, side), draft.status, draft.start, draft.end,
            first, last, draft.sentence, draft.section, draft.superseded, draft.refers_back,
            draft.image_side,
        )
        for side, first, last in places or [(None, None, None)]
    ]  # fmt: skip


def _lobe(zone: str | None, side: Side | None) -> str | None:
    if zone and zone.endswith(" lobe"):
        short = zone[0].upper()
        if side in ("right", "left"):
            return f"{side[0].upper()}{short}L"
        return zone.removesuffix(" lobe")
    return zone


def _read_sentence(tokens: Tokens, sentence: Sentence, scene: Scene) -> list[Draft]:
    atoms = scan(tokens, sentence.i, sentence.j)
    if not atoms:
        return []
    clean_sides(tokens, atoms)
    drafts: list[Draft] = []
    for clause in _clauses(tokens, atoms):
        drafts += _read_clause(tokens, clause, sentence)
    return drafts


def _clauses(tokens: Tokens, atoms: list[Atom]) -> list[list[Atom]]:
    clauses: list[list[Atom]] = [[]]
    for k, atom in enumerate(atoms):
        if atom.mark == ";" or (atom.is_("but") and not atom.finding):
            clauses.append([] if atom.mark else [atom])
            continue
        if (atom.mark == "," or atom.is_("and")) and _is_whole(clauses[-1]) and _is_whole(
            _until_break(atoms, k + 1)
        ):  # fmt: skip
            clauses.append([])
            continue
        clauses[-1].append(atom)
    return [clause for clause in clauses if clause]


def _is_whole(atoms: list[Atom]) -> bool:
    return any(a.is_("verb", "not_before", "not_after") for a in atoms) and any(
        a.finding or a.is_("normal") for a in atoms
    )


def _until_break(atoms: list[Atom], k: int) -> list[Atom]:
    for last in range(k, len(atoms)):
        if atoms[last].mark in (",", ";") or atoms[last].is_("but", "and"):
            return atoms[k:last]
    return atoms[k:]


def _read_clause(tokens: Tokens, atoms: list[Atom], sentence: Sentence) -> list[Draft]:
    _resolve(atoms)
    owners = attach(tokens, atoms)
    span = (tokens.starts[sentence.i], tokens.ends[sentence.j - 1])
    drafts = []
    for f, atom in enumerate(atoms):
        if atom.finding is None:
            continue
        sides = owners.get(f, []) if finding_info(atom.finding).sided else []
        drafts.append(
            Draft(
                atom.finding,
                status_of(tokens, atoms, f, asked=sentence.asked),
                tokens.starts[atom.i],
                tokens.ends[atom.j - 1],
                [
                    (side.side, tokens.starts[side.i], tokens.ends[side.j - 1])
                    for side in sides
                    if side.side
                ],
                _zone(atoms, f),
                span,
                refers_back=f > 0 and any(a.is_("this") for a in atoms[max(0, f - 3) : f]),
                image_side=any(side.image_side for side in sides),
            )
        )
    return drafts


def _resolve(atoms: list[Atom]) -> None:
    """Let words that mean a finding only with a part of the body mean it where that part stands."""
    for k, atom in enumerate(atoms):
        if not atom.meaning.near:
            continue
        for other in atoms[max(0, k - 6) : k + 7]:
            gap = other.i - atom.j if other.i > atom.i else atom.i - other.j
            chosen = [name for name in atom.meaning.near if name in other.meaning.site_of]
            if chosen and gap <= _NEAR:
                atom.finding = chosen[0]
                break


def _zone(atoms: list[Atom], f: int) -> str | None:
    for reach in range(1, 7):
        for k in (f - reach, f + reach):
            if 0 <= k < len(atoms) and atoms[k].meaning.zone:
                meaning = atoms[k].meaning
                return f"{meaning.zone} lobe" if meaning.lobe else meaning.zone
    return None
