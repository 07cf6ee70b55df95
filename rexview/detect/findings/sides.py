"""Which side belongs to which finding of a clause.

Sides stand before a finding ("right basal and left apical opacity"), after it ("opacity in the left
base"), or with the subject ("the left base shows an opacity"). A side that belongs to something
else (a chamber, a view, a direction, the picture) is taken out first.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Final

from rexview.detect.findings.atoms import Atom
from rexview.detect.findings.lexicon import Meaning, finding_info
from rexview.detect.findings.mention import Side
from rexview.detect.findings.tokens import Tokens, words_of

OTHER: Final[dict[str, Side]] = {"right": "left", "left": "right"}
_REACH: Final = 5
"""Unknown words that may stand between a side and its finding."""
_MAYBE_ADJECTIVES: Final = frozenset(
    words_of(
        "possible possibly probable probably likely suspected questionable equivocal potential "
        "presumed borderline indeterminate query ?"
    )
)
_WALK: Final = 16
"""Atoms that a finding looks over, to either side."""
_IMAGE_PARTS: Final = frozenset(
    words_of(
        "side half part portion hand lower upper mid middle corner quadrant third edge area "
        "region of in on the this provided given frontal chest pa ap aspect most hemithorax "
        "bottom top"
    )
)
_SHIFTS: Final = frozenset({"mediastinal_shift", "tracheal_deviation"})
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
_SPENT: Final = Meaning()
_DROPPING: Final = frozenset(
    (
        "anything but",
        "far from",
        "not",
        "rather than",
        "instead of",
        "as opposed to",
        "is not",
        "are not",
        "was not",
        "never",
    )
)


def clean_sides(tokens: Tokens, atoms: list[Atom], before: Side | None = None) -> None:
    """Take away, turn round or merge the sides of a sentence that are no finding's own.

    ``before`` is the last side of the sentences before, for "on the same side".
    """
    for k, atom in enumerate(atoms):
        if atom.is_("same", "opposite"):
            last = next((a.side for a in reversed(atoms[:k]) if a.side), before)
            if last in OTHER:
                atom.side = last if atom.is_("same") else OTHER[last]
        if atom.side is None:
            continue
        atom.clear = _is_clear(atoms, k)
        if atom.meaning.zone:
            if k and atoms[k - 1].meaning.side and atoms[k - 1].j == atom.i:
                atom.side = None  # "left middle lobe": what is said outright counts
            continue
        following = atoms[k + 1] if k + 1 < len(atoms) else None
        earlier = atoms[k - 1] if k else None
        if earlier and earlier.is_("compare", "called") and atom.i - earlier.j <= 2:
            if earlier.is_("compare") or any(a.side for a in atoms[k + 1 :]):
                atom.side = None
            continue
        if _is_image_side(tokens, atoms, k):
            atom.image_side = True
            atom.side = OTHER.get(atom.side, atom.side)
        elif following and following.i - atom.j == 0 and following.is_("own"):
            if not _place_follows(atoms, k + 1):
                atom.side = None
        elif tokens.words[atom.i].endswith(("ward", "wards")) or _is_way(tokens, atoms, k):
            atom.way = True
        elif following and following.i - atom.j <= 1 and following.is_("entry"):
            atom.entry = True
        elif tokens.words[atom.i] == "both" and not _both_of_something(atoms, k):
            atom.side = None
    _trust_patient(atoms)
    _merge_compared(tokens, atoms)
    _drop_denied(tokens, atoms)


def _is_clear(atoms: list[Atom], k: int) -> bool:
    """Whether what a side names is said to be normal: "the left lung and pleura are clear"."""
    if k and atoms[k - 1].is_("normal") and atoms[k].i - atoms[k - 1].j <= 3:
        return not any(atom.finding for atom in atoms[k + 1 : k + 3])
    for later in atoms[k + 1 : k + 7]:
        if later.is_("normal"):
            return True
        if later.finding or later.mark or later.meaning.near or later.side:
            return False
        if not (later.place or later.is_("verb", "and", "own", "where", "entry", "size")):
            return False
    return False


def _trust_patient(atoms: list[Atom]) -> None:
    """Where "the patient's left" is said, drop the sides of the picture."""
    if not any(atom.is_("picture") for atom in atoms):
        return
    sides = [(k, atom) for k, atom in enumerate(atoms) if atom.side in OTHER]
    sure = {
        k
        for k, atom in sides
        if any(
            earlier.is_("patient") for earlier in takewhile(lambda a: not a.side, atoms[:k][:-4:-1])
        )
    }
    if sure:
        for k, atom in sides:
            if k not in sure and not atom.meaning.zone:
                atom.side = None


def _place_follows(atoms: list[Atom], k: int) -> bool:
    """Whether "lateral" and the like only describe a place: "left lateral lung base"."""
    after = atoms[k + 1] if k + 1 < len(atoms) else None
    return (
        after is not None
        and after.i == atoms[k].j
        and not after.is_("picture", "own")
        and (after.place or after.finding is not None)
    )


def _is_image_side(tokens: Tokens, atoms: list[Atom], k: int) -> bool:
    atom = atoms[k]
    if k and atoms[k - 1].is_("picture") and atoms[k - 1].j == atom.i:
        return True
    linked = any(word in ("of", "in", "on") for word in tokens.words[atom.i : atom.j])
    for later in atoms[k + 1 : k + 6]:
        between = tokens.words[atom.j : later.i]
        if later.is_("picture"):
            own = all(word in _IMAGE_PARTS for word in between)
            return own and (linked or any(word in ("of", "in", "on") for word in between))
    return False


def _is_way(tokens: Tokens, atoms: list[Atom], k: int) -> bool:
    """Whether the side is where something moved: "shifted to the right"."""
    if not k or not atoms[k - 1].is_("way") or atoms[k].i - atoms[k - 1].j > 1:
        return False
    return any(
        earlier.is_("turned") or earlier.finding in _SHIFTS or earlier.meaning.near
        for earlier in atoms[max(0, k - 6) : k]
    )


def _both_of_something(atoms: list[Atom], k: int) -> bool:
    for later in atoms[k + 1 : k + 4]:
        if later.place or later.is_("where"):
            return True
        if later.finding is not None:
            after = atoms[k + 2 : k + 5]
            return not any(item.is_("and") for item in after)
    return k == len(atoms) - 1


def _merge_compared(tokens: Tokens, atoms: list[Atom]) -> None:
    """Read "right greater than left" as both sides, "larger on the left" as one of two."""
    for k, atom in enumerate(atoms):
        if not atom.is_("than"):
            continue
        before = next((a for a in reversed(atoms[max(0, k - 4) : k]) if a.side), None)
        after = next((a for a in atoms[k + 1 : k + 4] if a.side), None)
        near = before is not None and atom.i - before.j <= 6
        if not any(a.finding or a.meaning.near for a in atoms[:k]) and not any(
            a.finding for a in list(takewhile(lambda a: not a.mark, atoms[k + 1 : k + 6]))
        ):
            continue
        if near and before and after and after.i - atom.j <= 4:
            before.side = after.side = "bilateral"
    both = any(atom.side == "bilateral" for atom in atoms)
    for k, atom in enumerate(atoms):
        if atom.side in OTHER and any(
            other.is_("more") and abs(other.i - atom.i) <= 4 for other in atoms[max(0, k - 3) : k + 2]
        ):  # fmt: skip
            soft = any(
                tokens.words[other.i].startswith("predomin") for other in atoms[max(0, k - 3) : k + 2]
            )  # fmt: skip
            if both:
                atom.side = None
            elif not soft and any(
                tokens.words[other.i] in ("greater", "worse", "greatest", "worst", "more", "larger")
                and other.i < atom.i
                for other in atoms[max(0, k - 3) : k]
            ):
                atom.side = "bilateral"


def _drop_denied(tokens: Tokens, atoms: list[Atom]) -> None:
    """Drop the side of "on the right, not the left"; the "not" is then read."""
    sides = [atom for atom in atoms if atom.side in OTHER]
    if len({atom.side for atom in sides}) < 2:
        return
    for k, atom in enumerate(atoms):
        if not atom.is_("not_before", "not_after"):
            continue
        if " ".join(tokens.words[atom.i : atom.j]) not in _DROPPING:
            continue
        for later in atoms[k + 1 : k + 4]:
            if later.side in OTHER and later.i - atom.j <= 3:
                later.side = None
                atom.meaning = _SPENT
            if not later.is_("where"):
                break


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
        if atoms[k].finding not in _SHIFTS
    }
    for k, parts in sites.items():
        for _, part in parts:
            if atoms[k].finding not in _SHIFTS:
                before[part] = _before(tokens, atoms, part, k, device=device[k])
    owned = {id(side) for sides in before.values() for side in sides}
    found: dict[int, list[Atom]] = {}
    for k in places:
        if atoms[k].finding in _SHIFTS:
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
    near = list(takewhile(lambda a: not (a.mark or a.finding), reversed(atoms[max(0, k - 3) : k])))
    return near


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
            if (found and not passed_and) or _led_by_place(atoms, k, own):
                break
            if atom.entry and not device:
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
        elif atom.is_("maybe_before") and tokens.words[atom.i] not in _MAYBE_ADJECTIVES:
            break
        elif atom.is_("verb", "not_before", "but", "not_after", "normal"):
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
    for earlier in reversed(atoms[max(0, k - 3) : k]):
        if earlier.is_("where"):
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
        elif atom.is_("but", "normal", "not_before"):
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
