"""Words that mean a finding only with a part of the body: "fracture" of which bone."""

from __future__ import annotations

from typing import Final

from rexview.detect.findings.terms import Term

_NEAR: Final = 14
"""Tokens that may stand between a word such as "fracture" and the part that it is of."""
_LIST: Final = 12
"""Terms behind a part of the body among which more such parts are listed."""
_FLUID: Final = "pleural_effusion"
_SIDE_ENOUGH: Final = frozenset(("pleural_effusion/2",))
"""What a side is enough for, without a part of the body."""


def parts_meant(terms: list[Term]) -> dict[int, list[tuple[str, int]]]:
    """Let words that mean a finding only with a part of the body mean it where that part stands.

    Returns
    -------
    dict
        For such a word's index the findings it means and the index of the part each is of:
        "fractures of the left clavicle and the right third rib".
    """
    sites: dict[int, list[tuple[str, int]]] = {}
    for k, term in enumerate(terms):
        if not term.meaning.near or _sizes_next(terms, k):
            continue
        chosen: dict[str, int] = {}
        first, last = max(0, k - 8), min(len(terms), k + 9)
        for n in _nearest(terms, k, range(first, last)):
            other = terms[n]
            gap = other.i - term.j if other.i > term.i else term.i - other.j
            names = other.meaning.site_of
            if n == k or gap > _NEAR or not names or _parted(terms, k, n):
                continue
            for name in term.meaning.near:
                if name in names:
                    chosen.setdefault(name.partition("/")[0], n)
        if not chosen and not _SIDE_ENOUGH.isdisjoint(term.meaning.near) and _is_all(terms, k):
            term.finding = _FLUID  # "the fluid is on the right"
            sites[k] = [(_FLUID, k)]
        if chosen:
            term.finding = next(iter(chosen))
            found = list(chosen.items())
            found += [
                (name, further)
                for name, part in chosen.items()
                for further in _further_parts(terms, k, part, name)
            ]
            for _, part in found:
                terms[part].is_site = True
            sites[k] = found
    return sites


def _sizes_next(terms: list[Term], k: int) -> bool:
    """Whether a size is that of what follows: "shift of the heart, a large effusion"."""
    if "size" not in terms[k].cues:
        return False
    for n in range(k + 1, len(terms)):
        if terms[n].i != terms[n - 1].j:
            return False
        if terms[n].finding:
            return True
        if terms[n].side is None and not terms[n].names_anatomy:
            return False
    return False


def _nearest(terms: list[Term], k: int, places: range) -> list[int]:
    """Return places by how near they are, those behind a mark later.

    Behind a "fracture of" those that follow come first.
    """
    marks = [n for n in places if terms[n].mark]
    far = {n for n in places if any(min(n, k) < mark < max(n, k) for mark in marks)}
    leads = k + 1 < len(terms) and "where" in terms[k + 1].cues and terms[k + 1].i == terms[k].j
    if not leads:
        return sorted(places, key=lambda n: (n in far, abs(n - k)))
    return sorted(places, key=lambda n: (n < k and terms[n].j != terms[k].i, n in far, abs(n - k)))


def _is_all(terms: list[Term], k: int) -> bool:
    """Whether a clause has a side and, but for the word at ``k``, nothing that is found."""
    return any(term.side in ("right", "left") for term in terms) and not any(
        term.finding for n, term in enumerate(terms) if n != k
    )


def _further_parts(terms: list[Term], k: int, part: int, name: str) -> list[int]:
    """Return more parts of one kind, each with a side: "of the right third rib and the left fifth".

    They stand behind the word at ``k`` and the first part, parted by no more than commas and "and".
    """
    found: list[int] = []
    if part < k:
        return found
    for n in range(part + 1, min(len(terms), part + _LIST)):
        term = terms[n]
        if term.finding or term.is_("verb", "but", "not_before", "normal"):
            break
        if any(name == one.partition("/")[0] for one in term.meaning.site_of) and any(
            one.side is not None for one in terms[n - 1 : n + 1]
        ):
            found.append(n)
    return found


def _parted(terms: list[Term], k: int, n: int) -> bool:
    """Whether another finding stands between a word and a part of the body."""
    between = terms[min(k, n) + 1 : max(k, n)]
    return any(term.finding and not term.meaning.near for term in between)
