"""Sides in lists of notes: which one closes what is said of a finding.

"Collapse right base, left drain": a comma may part two findings, or two sides of one.
"""

from __future__ import annotations

from rexview.detect.findings.terms import Term


def usable(term: Term) -> bool:
    """Whether a term gives a side that a finding may have."""
    return term.side is not None and not term.way and not term.clear


def closes_finding(terms: list[Term], k: int) -> bool:
    """Whether a side up to ``k`` is told of a finding before: "collapse right base, left drain"."""
    sided = False
    while k >= 0 and not terms[k].finding:
        aside = sided and terms[k].mark == ","
        if not (terms[k].side or terms[k].names_anatomy or aside):
            return False
        sided = sided or terms[k].side is not None
        k -= 1
    return k >= 0 and sided


def closes_with_side(terms: list[Term], k: int) -> bool:
    """Whether a comma leads to a side and nothing else: "effusion and thick pleura, left"."""
    if terms[k].mark != "," or k + 1 >= len(terms) or not usable(terms[k + 1]):
        return False
    rest = next((n for n in range(k + 2, len(terms)) if not terms[n].names_anatomy), len(terms))
    return rest == len(terms) or bool(terms[rest].mark)


def is_told_behind(terms: list[Term], k: int) -> bool:
    """Whether a side closes what is said of a finding: "a drain, right, and basal opacity"."""
    return (
        k > 1
        and terms[k - 1].mark == ","
        and terms[k - 2].finding is not None
        and k + 2 < len(terms)
        and "and" in terms[k + 1].cues
        and terms[k + 2].side is None
    )


def listed_next(terms: list[Term], k: int) -> int:
    """Return the finding that only a comma parts from that at ``k``, in a list of notes; else 0."""
    for n in range(k + 1, len(terms)):
        if terms[n].is_("and", "with", "maybe_before", "apposed"):
            return 0
        if terms[n].finding:
            return n if any(term.mark == "," for term in terms[k + 1 : n]) else 0
    return 0
