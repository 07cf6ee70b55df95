"""Whether a clause says that a finding is there, is not, may be, might be, or was once."""

from __future__ import annotations

from typing import Final

from rexview.detect.findings.atoms import Atom
from rexview.detect.findings.mention import Status
from rexview.detect.findings.tokens import Tokens, words_of

_BARE: Final = frozenset(
    ("no", "none", "nil", "not", "negative", "absent", "false", "nowhere", "no longer", "out")
)
"""Say something of what stands before them only at the end of a clause ("effusion: none")."""
_PREDICATES: Final = frozenset(
    words_of("is are was were has have shows remains seen noted present")
)
_NOW: Final = frozenset(
    words_of("at now today currently presently seen visible identified noted present evident shown")
)
"""After a bare "none" that ends what is said of a finding: "effusion: none at present"."""
_ANEW: Final = frozenset(words_of("the a an its his her their this that there"))
"""After a comma or an "and": a new subject."""
_IF: Final = frozenset(("if_before", "if_after"))
_PRIOR: Final = frozenset(("prior_before", "prior_after"))
_MAYBE: Final = frozenset(("maybe_before", "maybe_after"))
_WALK: Final = 24
"""Atoms that a finding looks over, to either side."""
_EARLIER: Final = frozenset(
    words_of("prior previous previously earlier before last preceding comparison old yesterday")
)
_SINCE: Final = frozenset(words_of("from since than to with over until new"))
_DEGREES: Final = frozenset(
    words_of(
        "large significant small massive clearly entirely completely fully well changed as so "
        "only just simply merely new increased increasing decreased severe acute extensive "
        "tension"
    )
)
_IS_NOT: Final = frozenset(
    ("is not", "are not", "was not", "were not", "isn't", "aren't", "wasn't", "weren't", "not")
)


def status_of(
    tokens: Tokens, atoms: list[Atom], f: int, cues: set[str], *, asked: bool = False
) -> Status:
    """Read the status of the finding at ``atoms[f]`` from its clause.

    Parameters
    ----------
    tokens : Tokens
    atoms : list of Atom
        Of one clause, in order.
    f : int
    cues : set of str
        The kinds of cues in the clause.
    asked : bool
        The sentence is a question.
    """
    if asked or (cues & _IF and _supposed(tokens, atoms, f)):
        return "hypothetical"
    if "not_before" in cues and _denied_before(tokens, atoms, f):
        return "negated"
    if "not_after" in cues and _denied_after(tokens, atoms, f):
        return "negated"
    if cues & _PRIOR and _was(tokens, atoms, f):
        return "prior"
    return "uncertain" if cues & _MAYBE and _unsure(tokens, atoms, f) else "positive"


def _supposed(tokens: Tokens, atoms: list[Atom], f: int) -> bool:
    denied = False
    for k in range(f - 1, max(-1, f - _WALK), -1):
        atom = atoms[k]
        if atom.is_("if_before"):
            word = tokens.words[atom.i]
            if word == "indication" and atom.i and tokens.words[atom.i - 1] == "no":
                continue
            if word == "signs" and (k == 0 or not atoms[k - 1].is_("if_before")):
                continue
            return True
        denied = denied or atom.is_("not_before")
        if atom.mark in (";", ")") or (denied and atom.mark == "("):
            break
    comma = False
    for k in range(f + 1, min(len(atoms), f + _WALK)):
        atom = atoms[k]
        if atom.is_("if_after") and (not comma or tokens.words[atom.i] in ("were", "if")):
            return True
        comma = comma or atom.mark == ","
        if (atom.mark and atom.mark != ",") or atom.is_("and", "but"):
            break
    return False


def _denied_before(tokens: Tokens, atoms: list[Atom], f: int) -> bool:
    listed = joined = anew = False
    for k in range(f - 1, max(-1, f - _WALK), -1):
        atom = atoms[k]
        if atom.finding and not joined:
            return False
        joined = (joined and not atom.finding) or atom.mark == "," or atom.is_("and")
        if atom.is_("not_before"):
            if atom.is_("not_after") and k and atoms[k - 1].finding and not atoms[k - 1].mark:
                return tokens.words[atom.i] in ("no", "not", "without")
            return True
        if atom.mark in (";", ":", ")", "(", "—", "•", "\n"):
            return False
        if atom.is_("pseudo_not", "but", "normal"):
            return False
        subject = k and atoms[k - 1].finding and tokens.words[atom.j - 1] in _PREDICATES
        if anew and atom.is_("verb", "maybe_before", "maybe_after"):
            return False  # "lines without kinks may be hidden, and a late pneumothorax ..."
        if atom.is_("verb") and subject and any(item.finding for item in atoms[k + 1 : f]):
            return False
        if atom.mark == "," or atom.is_("and"):
            starts_anew = k + 1 < len(atoms) and (
                atoms[k + 1].is_("size") or tokens.words[atom.j] in ("the", "there", "a", "an")
            )
            word = tokens.words[atom.i]
            if starts_anew and not listed and word != "or" and not _or_follows(tokens, atoms, k):
                return False
            listed = listed or word == "or"
            anew = anew or (word == "and" and tokens.words[atom.j] in _ANEW)
    return False


def _or_follows(tokens: Tokens, atoms: list[Atom], k: int) -> bool:
    """Whether the list that goes on at ``k`` ends with an "or", so that one "no" governs it all."""
    for later in atoms[k : k + _WALK]:
        if later.is_("and") and tokens.words[later.i] in ("or", "nor"):
            return True
        if later.is_("verb", "but"):
            return False
    return False


def _denied_after(tokens: Tokens, atoms: list[Atom], f: int) -> bool:
    comma = anew = False
    first = _end_of_list(atoms, f)
    for k in range(first, min(len(atoms), first + _WALK)):
        atom = atoms[k]
        if anew and (atom.place or atom.is_("own")):
            return False  # "opacity in the base, and the hemidiaphragm cannot be followed"
        if atom.is_("not_after"):
            phrase = " ".join(tokens.words[atom.i : atom.j])
            if _EARLIER & set(tokens.words[atom.j : atom.j + 4]):
                return False
            after = tokens.words[atom.j] if atom.j < len(tokens.words) else ""
            if phrase == "none" and after in _NOW and not any(a.side for a in atoms[k:]):
                return True
            if phrase in _BARE:
                last = not after or not after.isalnum() or atoms[k - 1].mark in (":", "=", "–", "—")
                return last and not (comma and phrase == "not")
            return not (phrase in _IS_NOT and after in _DEGREES)
        if atom.is_("pseudo_not", "but", "maybe_after", "not_before", "normal"):
            return False
        if atom.mark == "," or atom.is_("and"):
            after = tokens.words[atom.j] if atom.j < len(tokens.words) else ""
            anew = anew or after in _ANEW
        if atom.mark == ",":
            comma = True
            if atom.j < len(tokens.words) and tokens.words[atom.j] in ("which", "that", "now"):
                continue
        if atom.finding and comma:
            return False
        if atom.finding and not any(item.is_("and") for item in atoms[f + 1 : k]):
            return False
    return False


def _end_of_list(atoms: list[Atom], f: int) -> int:
    """Return where what is said of a finding starts: at the colon of "effusion, oedema: none"."""
    for k in range(f + 1, min(len(atoms), f + _WALK)):
        atom = atoms[k]
        if atom.mark == ":" and k > f + 1:
            return k
        if not (atom.finding or atom.mark == "," or atom.is_("and")):
            break
    return f + 1


def _was(tokens: Tokens, atoms: list[Atom], f: int) -> bool:
    if any(atom.is_("persists") for atom in atoms):
        return False
    for k in range(f - 1, max(-1, f - _WALK), -1):
        atom = atoms[k]
        if atom.is_("prior_before"):
            return not _SINCE & set(tokens.words[max(0, atom.i - 2) : atom.i])
        if atom.mark in (";", ")"):
            break
        if atom.finding and not any(item.is_("and") for item in atoms[k + 1 : f]):
            break
    for k in range(f + 1, min(len(atoms), f + _WALK)):
        atom = atoms[k]
        if atom.is_("prior_after"):
            if "not" in tokens.words[max(0, atom.i - 4) : atom.i]:
                return False
            return not _SINCE & set(tokens.words[max(0, atom.i - 2) : atom.i])
        if atom.finding or atom.mark in (";", "("):
            break
    return False


def _unsure(tokens: Tokens, atoms: list[Atom], f: int) -> bool:
    for k in range(f - 1, max(-1, f - _WALK), -1):
        atom = atoms[k]
        if atom.is_("maybe_before"):
            return True
        if atom.mark in (";", ")", ",") or atom.is_("but"):
            break
    for k in range(f + 1, min(len(atoms), f + _WALK)):
        atom = atoms[k]
        if atom.is_("maybe_after"):
            return True
        if atom.mark in (";", ",") or atom.is_("but"):
            break
        if atom.finding and not atoms[k - 1].is_("and"):
            break
    return False
