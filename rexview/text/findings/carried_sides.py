"""Attach sides that a sentence names apart from its findings: "same on the right", "tiny R"."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Final

from rexview.geometry import OTHER_SIDE
from rexview.text.findings.clauses import (
    Clause,
    MentionDraft,
    SentenceReading,
    SideSpan,
    is_left_over,
    is_size_and_side,
)
from rexview.text.findings.lexicon import Term
from rexview.text.findings.mention import Status
from rexview.text.findings.sentences import Sentence, Tokens
from rexview.text.findings.side_exclusions import SHIFTS

_AGAIN: Final = frozenset(
    ("same", "ditto", "likewise", "similar", "similarly", "another", "identical")
)
_ANEW: Final = frozenset(("a", "another", "new", "second", "similar", "smaller", "larger", "other"))
"""Before the "one" that is a second finding."""
_ONE: Final = "one"
_OF_IT: Final = frozenset((_ONE, "on", "in", "at"))
"""Omitted, "and a small one on the right" reads "and small right"."""
_EXCHANGED: Final = frozenset(("exchanged", "replaced", "swapped", "changed"))
_FINAL: Final = frozenset(("unchanged", "previous", "prior", "before", "no", "not"))
"""With one of these, "same" or "similar" compares with an earlier film."""
_EXCEPTING: Final = frozenset(("apart", "aside", "except", "other", "besides", "save"))
"""Introduces the exceptions on a side that is otherwise clear: "apart from a granuloma"."""
_NOTE: Final = 4
"""Minimum terms of a note with a second side; maximum tokens of that side."""
_BESIDE: Final = 4
"""Tokens around a clause in which a word such as "same" is searched for."""
_SAID_AGAIN: Final = 7
"""Maximum tokens of a clause that repeats the last statement."""


def _span(tokens: Tokens, first: int, term: Term) -> tuple[int, int]:
    """Return the offsets of a term in the text; its positions count from token ``first``."""
    return tokens.starts[first + term.i], tokens.ends[first + term.j - 1]


def assign_lone_side(
    tokens: Tokens, first: int, said: SentenceReading, found: list[MentionDraft]
) -> None:
    """Give findings the one side that their sentence names for none of them.

    A sentence gives the position of its finding, even in a clause of its own: "an opacity is
    present, and the affected base is the left". If one of its findings has a side, the side may
    belong to that one.
    """
    if any(draft.sides or draft.status in ("negated", "hypothetical") for draft in found):
        return
    bare = [draft for draft in found if draft.sided]
    if not bare or len({draft.finding for draft in bare}) > 1 or said.cues & {"tip", "correction"}:
        return
    places = [
        (term.side, *_span(tokens, first, term))
        for term in said.terms
        if term.side is not None and not (term.way or term.clear or term.entry or term.finding)
    ]
    if len({side for side, _, _ in places}) == 1 and places[0][0] != "midline":
        for draft in bare:
            draft.sides = places[:1]


def assign_excepted_side(
    tokens: Tokens, first: int, said: SentenceReading, clause: Clause, drafts: list[MentionDraft]
) -> None:
    """Give findings the side that is otherwise clear: "the right lung is clear except for"."""
    if tokens.words[first + clause.terms[0].i] not in _EXCEPTING:
        return
    places = [
        (term.side, *_span(tokens, first, term))
        for term in said.terms
        if term.side is not None and term.i < clause.terms[0].i
    ]
    if len({side for side, _, _ in places}) == 1 and places[0][0] in OTHER_SIDE:
        for draft in drafts:
            if draft.sided and not draft.sides and draft.finding not in SHIFTS:
                draft.sides = places[:1]


def add_second_side(
    tokens: Tokens, first: int, said: SentenceReading, found: list[MentionDraft]
) -> list[MentionDraft]:
    """Return the finding of a note again if the end of the note repeats it: "mod L eff, tiny R".

    Also for "and a small right one" and "and a smaller one on the right", and for a replacement.
    """
    terms = said.terms
    if instead := _instead(tokens, first, said, found[-1]):
        return instead
    told = [tokens.words[first + term.i] for term in terms]
    another = _ONE in told[-3:]
    if another:
        said_of_it = [term for term in terms[-3:] if tokens.words[first + term.i] not in _OF_IT]
        terms = [*terms[:-3], *said_of_it]
    if len(terms) < _NOTE or "than" in said.cues or ("more" in said.cues and not another):
        return []
    size, last = terms[-2], terms[-1]
    comma = terms[-3]
    sizes = ("size", "more") if another else ("size",)
    if last.side not in ("right", "left") or last.meaning.zone or not size.is_(*sizes):
        return []
    reach = _NOTE + len(_OF_IT) if another else _NOTE
    if (comma.mark != "," and "and" not in comma.cues) or last.i - comma.j > reach:
        return []
    place = (last.side, *_span(tokens, first, last))
    draft = found[-1]
    sides = {side for side, _, _ in draft.sides}
    if draft.status != "positive" or len(sides) != 1 or sides & {last.side, "bilateral"}:
        return []
    if draft.end > tokens.starts[first + comma.i]:
        return []
    return [replace(draft, sides=[place], compared=True)]


def _instead(
    tokens: Tokens, first: int, said: SentenceReading, gone: MentionDraft
) -> list[MentionDraft]:
    """Return what replaced a finding: "the right line was replaced by a left one"."""
    if gone.status != "negated" or len({side for side, _, _ in gone.sides}) != 1:
        return []
    for term in said.terms:
        i, j = first + term.i, first + term.j
        if term.side not in OTHER_SIDE or term.side == gone.sides[0][0]:
            continue
        if tokens.words[j : j + 1] == [_ONE] and not _EXCHANGED.isdisjoint(tokens.words[first:i]):
            place = (term.side, *_span(tokens, first, term))
            return [replace(gone, status="positive", sides=[place], compared=True)]
    return []


def repeats_finding(tokens: Tokens, sentence: Sentence, clause: Clause) -> bool:
    """True if a clause repeats a finding on another side: "same on the right", "a new one"."""
    if is_size_and_side(tokens.words, clause.terms) or is_left_over(tokens.words, clause.terms):
        return True
    i, j = clause.terms[0].i, clause.terms[-1].j
    if _is_the_one(tokens.words[max(sentence.i, i - 1) : i + _BESIDE]):
        return True
    words = tokens.words[max(sentence.i, i - _BESIDE) : j + _BESIDE]
    if j - i > _SAID_AGAIN or any(
        term.names_anatomy and term.side is None for term in clause.terms
    ):
        return False
    if not _AGAIN.isdisjoint(words) and _FINAL.isdisjoint(words):
        return True
    if clause.has("than"):
        return False
    sizes = {tokens.words[term.i] for term in clause.terms if "size" in term.cues}
    named = [word for word in words if word not in sizes]  # "a small one" becomes "a one"
    anew = any(
        (first in _ANEW or first in OTHER_SIDE) and then == "one" for first, then in pairwise(named)
    )
    return anew or (clause.has("persists") and words[:1] == ["the"])


def _is_the_one(words: list[str]) -> bool:
    """True if a clause starts with one of several: "the one at the left base", "the upper one"."""
    return "the" in words[:2] and _ONE in words[words.index("the") :][:3]


def repeat_findings(
    last: list[MentionDraft], places: list[SideSpan], clause: Clause
) -> list[MentionDraft]:
    """Return the last findings again, on another side, as a clause repeats them."""
    status: Status = "uncertain" if clause.has("maybe_before", "maybe_after") else "positive"
    return [
        replace(draft, status=status, sides=list(places), compared=True)
        for draft in last
        if draft.sides
        and draft.status != "hypothetical"
        and {side for side, _, _ in draft.sides}.isdisjoint(side for side, _, _ in places)
    ]
