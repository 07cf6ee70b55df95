"""Which side belongs to which finding of a clause.

Sides stand before a finding ("right basal and left apical opacity"), after it ("opacity in the left
base"), or with the subject ("the left base shows an opacity").
"""

from __future__ import annotations

from itertools import takewhile
from typing import Final

from rexview.detect.findings.atoms import Atom
from rexview.detect.findings.lexicon import finding_info
from rexview.detect.findings.side_words import SHIFTS
from rexview.detect.findings.tokens import Tokens, words_of

_REACH: Final = 5
_MAYBE_ADJECTIVES: Final = frozenset(
    words_of(
        "possible possibly probable probably likely suspected questionable equivocal potential "
        "presumed borderline indeterminate query ?"
    )
)
_WALK: Final = 16
_NONE: Final = frozenset(("none", "nil"))
"""Between the side of a finding and the side that has it not: "on the right, none on the left"."""
_ATTACHED: Final = frozenset(
    words_of(
        "adjacent associated underlying overlying compressive accompanying adjoining bibasilar "
        "passive overlapping subjacent concomitant concurrent neighbouring neighboring "
        "ipsilateral"
    )
)
_PARTS: Final = frozenset(
    words_of(
        "area areas region regions focus foci patch patches amount volume collection degree "
        "band bands pocket pockets appearance evidence type sided presence"
    )
)


def attach(
    tokens: Tokens, atoms: list[Atom], sites: dict[int, list[tuple[str, int]]]
) -> dict[int, list[Atom]]:
    """Give each finding of a clause its sides.

    Parameters
    ----------
    tokens : Tokens
    atoms : list of Atom
        Of one clause.
    sites : dict
        For findings that a word means with a part of the body: finding and index of each part.

    Returns
    -------
    dict
        Index of a finding's atom to the side atoms that belong to it (at most one of each side);
        findings without a side of their own are left out.
    """
    places = [k for k, atom in enumerate(atoms) if atom.finding]
    device = {k: finding_info(atoms[k].finding or "").group == "device" for k in places}
    before = {
        k: _before(tokens, atoms, k, k, device=device[k])
        for k in places
        if atoms[k].finding not in SHIFTS
    }
    for k, parts in sites.items():
        for _, part in parts:
            if atoms[k].finding not in SHIFTS:
                before[part] = _before(tokens, atoms, part, k, device=device[k])
    owned = {id(side) for sides in before.values() for side in sides}
    found: dict[int, list[Atom]] = {}
    for k in places:
        if atoms[k].finding in SHIFTS:
            ways = [a for a in atoms if a.side and a.way]
            if ways:
                for _, part in sites.get(k, [("", k)]):
                    found[part] = ways[-1:]
            continue
        for part in {part for _, part in sites.get(k, [("", k)])}:
            sides = before[part] or before[k]
            if not sides and any(_apposed(tokens, a) for a in _lead_in(atoms, k)):
                named = [place for place in places if place < k and place in found]
                sides = found[named[-1]] if named else []
                sides = sides or _subject(atoms, k, owned, device=device[k])
            sides = sides or _after(tokens, atoms, k, owned, device=device[k])
            if not sides:
                sides = _subject(atoms, k, owned, device=device[k])
            if sides:
                found[part] = sides
    return found


def _lead_in(atoms: list[Atom], k: int) -> list[Atom]:
    """Return the few atoms before a finding, back to a mark or another finding."""
    return list(takewhile(lambda a: not (a.mark or a.finding), reversed(atoms[max(0, k - 3) : k])))


def _apposed(tokens: Tokens, atom: Atom) -> bool:
    """Whether what follows is another name for what was said: "density that may be a scar"."""
    word = tokens.words[atom.i]
    return (atom.is_("maybe_before") and word not in _MAYBE_ADJECTIVES) or atom.is_("apposed")


def _usable(atom: Atom) -> bool:
    return atom.side is not None and not atom.way and not atom.clear


def _before(tokens: Tokens, atoms: list[Atom], f: int, own: int, *, device: bool) -> list[Atom]:
    found: list[Atom] = []
    passed_and = shared = placed = False
    last = atoms[f].i
    k = f - 1
    while k >= max(0, f - _WALK):
        atom = atoms[k]
        if last - atom.j > _REACH:
            break
        if _usable(atom):
            foreign = atom.entry and not device
            if (found and not passed_and) or foreign or _led_by_place(atoms, k, own):
                break
            found.append(atom)
            passed_and = False
        elif found and atom.taken:
            break
        elif (
            atom.mark == ","
            and found
            and k
            and atoms[k - 1].j == atom.i
            and (_usable(atoms[k - 1]) or atoms[k - 1].place)
        ):
            passed_and = True
        elif atom.mark in ("(", ")", ":", ",") or atom.mark:
            break
        elif atom.is_("and"):
            if not found and not placed and not (k and atoms[k - 1].finding):
                break
            if found and not (k and (_usable(atoms[k - 1]) or atoms[k - 1].place)):
                break
            passed_and = True
        elif atom.finding:
            if found or not passed_and:
                break
            shared = True
        elif atom.is_("with"):
            if found or not _ATTACHED & set(tokens.words[atom.j : atoms[f].i]):
                break
            passed_and = True
        elif atom.is_("where"):
            word = tokens.words[atom.i]
            if found or word != "of" or not atom.i or tokens.words[atom.i - 1] not in _PARTS:
                break
        elif atom.is_("verb", "not_before", "but", "not_after", "normal") or (
            atom.is_("maybe_before") and tokens.words[atom.i] not in _MAYBE_ADJECTIVES
        ):
            break
        elif atom.place:
            placed = True
        last = atom.i
        k -= 1
    if shared and found:
        end = next(
            (
                k
                for k in range(f + 1, len(atoms))
                if atoms[k].mark or (atoms[k].finding and not atoms[k - 1].is_("and"))
            ),
            None,
        )
        return _after(tokens, atoms[:end], f, set(), device=device) or found
    return found


def _led_by_place(atoms: list[Atom], k: int, own: int) -> bool:
    """Whether a side belongs to a finding before it: "opacity in the [left] base and right ..."."""
    for back in range(k - 1, max(-1, k - 4), -1):
        earlier = atoms[back]
        if earlier.is_("where"):
            if back and atoms[back - 1].is_("and"):
                return False  # "resolution of oedema and of the right effusion"
            return any(
                atom.finding and n != own
                for n, atom in enumerate(atoms[max(0, k - _WALK) : k], max(0, k - _WALK))
            )
        if not earlier.place:
            break
    return False


def _after(
    tokens: Tokens, atoms: list[Atom], f: int, owned: set[int], *, device: bool
) -> list[Atom]:
    found: list[Atom] = []
    led = chained = joined = aside = False
    denied = any(atom.is_("not_before") for atom in atoms[:f])
    last = atoms[f].j
    for k in range(f + 1, min(len(atoms), f + _WALK)):
        atom = atoms[k]
        if atom.i - last > _REACH + 1:
            break
        if _usable(atom):
            if id(atom) in owned or (atom.entry and not device) or (found and not chained):
                break
            if led or chained or _ends_here(atoms, k):
                found.append(atom)
                chained = False
            else:
                break
        elif atom.is_("where"):
            led = True
        elif atom.mark in ("(", ":", ",", "—", "–", "=", "["):
            led = joined = True
            chained = bool(found) and atom.mark == ","
        elif atom.mark in (")", "]"):
            if found:
                break
        elif atom.mark:
            break
        elif atom.is_("and", "with"):
            chained = bool(found) and atom.is_("and")
            joined = True
        elif atom.finding:
            if found or not (joined or aside):
                break
        elif device and atom.is_("tip"):
            break
        elif atom.is_("not_before") and tokens.words[atom.i] == "without":
            aside = True
        elif atom.is_("but", "normal", "not_before") or (
            found and tokens.words[atom.i] in _NONE and not denied
        ):
            break
        last = atom.j
    return found


def _ends_here(atoms: list[Atom], k: int) -> bool:
    for later in atoms[k + 1 :]:
        if later.mark or later.is_("verb", "and", "but"):
            return True
        if later.finding:
            return False
    return True


def _subject(atoms: list[Atom], f: int, owned: set[int], *, device: bool) -> list[Atom]:
    found: list[Atom] = []
    chained = False
    for k in range(f - 1, max(-1, f - _WALK), -1):
        atom = atoms[k]
        if atom.is_("normal") and not found:
            return []
        if _usable(atom) and id(atom) not in owned and (device or not atom.entry):
            if found and not chained:
                break
            found.append(atom)
            chained = False
        elif found:
            if atom.is_("and") or (atom.mark == "," and _usable(atoms[k - 1])):
                chained = True
            elif not atom.place:
                break
    if found:
        return found
    for atom in atoms[f + 1 : f + _WALK]:
        if atom.finding or atom.is_("normal", "but") or (device and atom.is_("tip")):
            break
        if _usable(atom) and id(atom) not in owned and (device or not atom.entry):
            return [atom]
    return []
