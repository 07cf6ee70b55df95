"""One sentence: its clauses, the findings in each, their sides and status."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rexview.detect.findings.atoms import Atom, cues_of
from rexview.detect.findings.lexicon import finding_info
from rexview.detect.findings.mention import Mention, Side, Status
from rexview.detect.findings.sides import attach
from rexview.detect.findings.status import status_of
from rexview.detect.findings.tokens import Tokens

_NEAR: Final = 12
_WITHIN: Final = frozenset(("in", "on", "at", "within", "over", "overlying", "along", "near"))
_LASTING: Final = frozenset(
    ("mastectomy", "pneumonectomy", "sternotomy", "arthroplasty", "surgical_clips", "granuloma")
)
"""Done or left long ago, and still to be seen."""
Place = tuple[Side, int, int]
"""A side and where it was read: offsets into the text."""


@dataclass(slots=True, eq=False)
class Draft:
    """A mention while the text is read."""

    finding: str
    status: Status
    start: int
    end: int
    sides: list[Place]
    zone: str | None
    sentence: tuple[int, int]
    section: str | None = None
    superseded: bool = False
    refers_back: bool = False
    image_side: bool = False
    definite: bool = False
    compared: bool = False
    asked: bool = False
    tentative: bool = False
    sided: bool = True

    def mentions(self) -> list[Mention]:
        """Make one mention for each side, or one without a side."""
        sides = self.sides
        if len(sides) > 1 and any(side == "bilateral" for side, _, _ in sides):
            sides = [side for side in sides if side[0] == "bilateral"][:1]
        seen: dict[str, Place] = {}
        for side in sides:
            seen.setdefault(side[0], side)
        places: list[tuple[Side | None, int | None, int | None]] = [*seen.values()]
        return [
            Mention(
                finding=self.finding,
                side=side,
                zone=_lobe(self.zone, side),
                status=self.status,
                start=self.start,
                end=self.end,
                side_start=first,
                side_end=last,
                sentence=self.sentence,
                section=self.section,
                superseded=self.superseded,
                refers_back=self.refers_back,
                image_side=self.image_side,
                definite=self.definite,
                compared=self.compared,
            )
            for side, first, last in places or [(None, None, None)]
        ]


def _lobe(zone: str | None, side: Side | None) -> str | None:
    if zone and zone.endswith(" lobe"):
        if side in ("right", "left"):
            return f"{side[0].upper()}{zone[0].upper()}L"
        return zone.removesuffix(" lobe")
    return zone


@dataclass(slots=True)
class Clause:
    """A part of a sentence that says one thing; ``drafts`` are its findings."""

    atoms: list[Atom]
    drafts: list[Draft] = field(default_factory=list)

    def places(self, tokens: Tokens) -> list[Place]:
        """Sides that the clause names, in order."""
        return [
            (atom.side, tokens.starts[atom.i], tokens.ends[atom.j - 1])
            for atom in self.atoms
            if atom.side is not None and not atom.way and not atom.clear
        ]

    def has(self, *cues: str) -> bool:
        """Whether a cue of one of these kinds stands in the clause."""
        return any(atom.is_(*cues) for atom in self.atoms)


def read_clauses(
    tokens: Tokens, atoms: list[Atom], span: tuple[int, int], *, asked: bool
) -> list[Clause]:
    """Split the atoms of a sentence into clauses and read the findings of each."""
    clauses = [Clause(part) for part in _split(tokens, atoms)]
    for clause in clauses:
        clause.drafts = _drafts(tokens, clause.atoms, span, asked=asked)
    return clauses


def _split(tokens: Tokens, atoms: list[Atom]) -> list[list[Atom]]:
    clauses: list[list[Atom]] = [[]]
    cues = cues_of(atoms)
    whole = not cues.isdisjoint(("verb", "not_before", "not_after"))
    if not whole and "but" not in cues and not any(atom.mark == ";" for atom in atoms):
        return [atoms] if atoms else []
    for k, atom in enumerate(atoms):
        if atom.mark == ";":
            clauses.append([])
            continue
        if atom.is_("but") and not atom.finding:
            if tokens.words[atom.i] != "there" or any(_says(item) for item in clauses[-1]):
                clauses.append([atom])
                continue
        elif (
            (atom.mark == "," or tokens.words[atom.i] in ("and", "plus", "&"))
            and _is_whole(clauses[-1])
            and _is_whole(_until_break(atoms, k + 1))
        ):
            clauses.append([])
            continue
        clauses[-1].append(atom)
    return [clause for clause in clauses if clause]


def _says(atom: Atom) -> bool:
    return atom.finding is not None or bool(atom.meaning.near) or atom.is_("normal")


def _is_whole(atoms: list[Atom]) -> bool:
    return any(a.is_("verb", "not_before", "not_after") for a in atoms) and any(map(_says, atoms))


def _until_break(atoms: list[Atom], k: int) -> list[Atom]:
    for last in range(k, min(len(atoms), k + 12)):
        if atoms[last].mark in (",", ";") or atoms[last].is_("but", "and"):
            return atoms[k:last]
    return atoms[k : k + 12]


def _drafts(
    tokens: Tokens, atoms: list[Atom], span: tuple[int, int], *, asked: bool
) -> list[Draft]:
    sites = _resolve(atoms) if any(atom.meaning.near for atom in atoms) else {}
    if not any(atom.finding for atom in atoms):
        return []
    owners = attach(tokens, atoms, sites)
    cues = cues_of(atoms)
    pointing = "this" in cues
    zoned = any(atom.meaning.zone for atom in atoms)
    drafts = []
    for f, atom in enumerate(atoms):
        if atom.finding is None:
            continue
        status = status_of(tokens, atoms, f, cues, asked=asked)
        if status == "prior" and atom.finding in _LASTING:
            status = "positive"
        back = pointing and any(a.is_("this") for a in atoms[max(0, f - 3) : f])
        for finding, site in sites.get(f, [(atom.finding, f)]):
            sided = finding_info(finding).sided
            sides = owners.get(site, []) if sided else []
            drafts.append(
                Draft(
                    finding,
                    status,
                    tokens.starts[atom.i],
                    tokens.ends[atom.j - 1],
                    [
                        (side.side, tokens.starts[side.i], tokens.ends[side.j - 1])
                        for side in sides
                        if side.side
                    ],
                    _zone(atoms, site, sides) if zoned else None,
                    span,
                    refers_back=back,
                    image_side=any(side.image_side for side in sides),
                    definite=_is_definite(tokens, atoms, f, sides),
                    asked=asked,
                    sided=sided,
                )
            )
    return drafts


def _is_definite(tokens: Tokens, atoms: list[Atom], f: int, sides: list[Atom]) -> bool:
    """Whether a finding is spoken of as known: "the (right basal) opacity"."""
    first = atoms[f].i
    own = [side.i for side in sides if side.i < first]
    if own and not any(min(own) < atom.i < first and atom.is_("verb", "but") for atom in atoms):
        first = min(own)
    words = tokens.words[max(0, first - 4) : first]
    return "the" in words[-3:] and not _WITHIN & set(words[: words.index("the")])


def _resolve(atoms: list[Atom]) -> dict[int, list[tuple[str, int]]]:
    """Let words that mean a finding only with a part of the body mean it where that part stands.

    Returns
    -------
    dict
        For such a word's index the findings it means and the index of the part each is of:
        "fractures of the left clavicle and the right third rib".
    """
    sites: dict[int, list[tuple[str, int]]] = {}
    for k, atom in enumerate(atoms):
        if not atom.meaning.near:
            continue
        chosen: dict[str, int] = {}
        first, last = max(0, k - 8), min(len(atoms), k + 9)
        for n in sorted(range(first, last), key=lambda n: abs(n - k)):
            other = atoms[n]
            gap = other.i - atom.j if other.i > atom.i else atom.i - other.j
            names = other.meaning.site_of
            if n == k or gap > _NEAR or not names or _parted(atoms, k, n):
                continue
            for name in atom.meaning.near:
                if name in names:
                    chosen.setdefault(name, n)
        if chosen:
            atom.finding = next(iter(chosen))
            for part in chosen.values():
                atoms[part].taken = True
            sites[k] = list(chosen.items())
    return sites


def _parted(atoms: list[Atom], k: int, n: int) -> bool:
    """Whether another finding, or a list's comma and verb, stands between a word and a part."""
    between = atoms[min(k, n) + 1 : max(k, n)]
    return any(atom.finding and not atom.meaning.near for atom in between)


def _zone(atoms: list[Atom], f: int, sides: list[Atom]) -> str | None:
    for side in sides:
        if side.meaning.zone:
            return side.meaning.zone
    if not any(atom.meaning.zone and atom.meaning.side is None for atom in atoms):
        return None
    own = [atoms.index(side) for side in sides]
    near = sorted(range(len(atoms)), key=lambda k: min(abs(k - place) for place in (*own, f)))
    for k in near[:8]:
        meaning = atoms[k].meaning
        if meaning.zone and meaning.side is None:
            return f"{meaning.zone} lobe" if meaning.lobe else meaning.zone
    return None
