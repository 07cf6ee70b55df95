"""Two findings of one kind, one on each side, whose sides an answer exchanges.

Both texts have the kind on both sides, so that no side contradicts. What tells the two apart does:
a line in the jugular and one in the subclavian vein, an old and a new fracture, a lobe above and
one below.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from rexview.detect.findings import Mention
from rexview.detect.laterality.text import Contradiction, Sided, one_side
from rexview.detect.phrases import list_names, whole_words
from rexview.geometry import OTHER_SIDE

_TRAITS: Final = {name: whole_words("told_apart", name) for name in list_names("told_apart")}
_HEIGHTS: Final = ("upper", "middle", "lower")
_BREAK: Final = re.compile(r"[.,;|\n()]|\band\b|\bwith\b(?! (?:its |the )?tip)", re.IGNORECASE)
_LENGTH: Final = re.compile(
    r"(?<![\d.,x×])(?P<number>\d{1,3}(?:[.,]\d{1,2})?)(?:\s?(?:[x×]|by)\s?\d{1,3}(?:[.,]\d{1,2})?)?[\s-]?"
    r"(?P<unit>mm|cm|millimet\w+|centimet\w+)\b(?!\s+(?:above|below|from|proximal|distal))",
    re.IGNORECASE,
)
_ALIKE: Final = 1.2
"""Times that one length may be another and still be the same, rounded."""
_REACH: Final = 60
"""Characters before and after a finding and its side in which words tell it from another."""
_FEWEST: Final = 2
"""Traits that have to have changed their sides."""

TextOf = Callable[[Mention], str]
"""Gives the text that a mention stands in."""


def exchanged(answer: Sided, reference: Sided, text: str, report_of: TextOf) -> list[Contradiction]:
    """Find the kinds of findings that the answer has on both sides, the other way round."""
    found = []
    for family, claims in answer.items():
        reported = reference.get(family, ())
        if one_side(reported) != "bilateral":
            continue
        ours, theirs = (
            [one for one in some if one.side in OTHER_SIDE] for some in (claims, reported)
        )
        each = _on_each(ours) and _on_each(theirs)
        pairs = _exchanged(ours, theirs, text, report_of) if each else []
        pairs = pairs or _moved(claims, reported, text, report_of)
        if pairs:
            found.append(Contradiction("report", *pairs[0]))
    return found


def _exchanged(
    claims: Sequence[Mention], reported: Sequence[Mention], text: str, report_of: TextOf
) -> list[tuple[Mention, Mention]]:
    """Return what tells two findings of a kind apart and has another side in the other text."""
    claimed = _traits(claims, lambda _: text)
    known = _traits(reported, report_of)
    both = claimed.keys() & known.keys()
    changed = [name for name in sorted(both) if claimed[name].side != known[name].side]
    lengths = _with_lengths(claims, reported, text, report_of)
    if len(lengths) >= _FEWEST:
        return lengths
    if len(changed) < len(both):
        return []
    if len(changed) >= _FEWEST and len({known[name].side for name in both}) > 1:
        return [(claimed[name], known[name]) for name in changed]
    return lengths


def _moved(
    claims: Sequence[Mention], reported: Sequence[Mention], text: str, report_of: TextOf
) -> list[tuple[Mention, Mention]]:
    """Return what the answer has on a side, and the report only on the other.

    Two of a kind are told apart by the height at which they lie, or by their age: "nodules in the
    left upper and right lower lobe", "... and one in the left lower zone".
    """
    for apart in (_heights, _ages):
        ours = [(claim, apart(text, claim)) for claim in claims]
        theirs = [(mention, apart(report_of(mention), mention)) for mention in reported]
        for claim, wanted in ours:
            if claim.side not in OTHER_SIDE or len(wanted) != 1:
                continue
            other = OTHER_SIDE[claim.side]
            if any(_may_be(mention, some, claim.side, wanted) for mention, some in theirs):
                continue
            if any(_may_be(mention, some, other, wanted) for mention, some in ours):
                continue
            there = [one for one, some in theirs if one.side == other and some == wanted]
            if there:
                return [(claim, there[0])]
    return []


def _heights(text: str, mention: Mention) -> frozenset[str]:
    """Return the heights at which a finding lies, as far as its words tell."""
    around = _around(text, mention)
    told = frozenset(name for name in _HEIGHTS if _TRAITS[name].search(around))
    if told or mention.zone is None or mention.side not in OTHER_SIDE:
        return told
    lobe = mention.zone if mention.zone[0] == mention.side[0].upper() else ""
    return frozenset(name for name in _HEIGHTS if lobe and _TRAITS[name].search(lobe))


def _ages(text: str, mention: Mention) -> frozenset[str]:
    """Return whether a finding is new or was there before, as far as its words tell."""
    around = _around(text, mention)
    names = (("new", "new"), ("old", "old"), ("unchanged", "old"))
    return frozenset(age for name, age in names if _TRAITS[name].search(around))


def _may_be(mention: Mention, told: frozenset[str], side: str, wanted: frozenset[str]) -> bool:
    """Whether a finding may be the one that is looked for on a side, as far as its words tell."""
    return mention.side in (side, "bilateral") and (not told or not told.isdisjoint(wanted))


def _with_lengths(
    claims: Sequence[Mention], reported: Sequence[Mention], text: str, report_of: TextOf
) -> list[tuple[Mention, Mention]]:
    """Return what has, in two texts, one length on different sides; empty where one has not.

    A length that both texts have on a side must not be on the other, too.
    """
    ours = _lengths(claims, lambda _: text)
    theirs = _lengths(reported, report_of)
    pairs = []
    for length, claim in ours:
        same = [mention for other, mention in theirs if _alike(length, other)]
        if any(mention.side == claim.side for mention in same):
            return []
        again = [mention for other, mention in ours if _alike(length, other)]
        if same and all(mention.side == claim.side for mention in again):
            pairs.append((claim, same[0]))
    return pairs


def _lengths(mentions: Sequence[Mention], text_of: TextOf) -> list[tuple[float, Mention]]:
    """Return the lengths that are told of some mentions, in millimetres."""
    found = []
    for mention in mentions:
        text = text_of(mention)
        alone = [one.sentence for one in mentions].count(mention.sentence) == 1
        around = text[slice(*mention.sentence)] if alone else _around(text, mention)
        for match in _LENGTH.finditer(around):
            number = float(match["number"].replace(",", "."))
            found.append((number * (10 if match["unit"][0].lower() == "c" else 1), mention))
    return found


def _alike(one: float, other: float) -> bool:
    return max(one, other) <= min(one, other) * _ALIKE


def _on_each(mentions: Sequence[Mention]) -> bool:
    """Whether some mentions are each of one side, and together of both."""
    return {mention.side for mention in mentions} == set(OTHER_SIDE)


def _traits(mentions: Sequence[Mention], text_of: TextOf) -> dict[str, Mention]:
    """Return what is said of the mentions of one side only, each with one of these."""
    sides: dict[str, dict[str | None, Mention]] = {}
    for mention in mentions:
        around = _around(text_of(mention), mention)
        names = [name for name, words in _TRAITS.items() if words.search(around)]
        for name in (*names, mention.finding):
            sides.setdefault(name, {}).setdefault(mention.side, mention)
    return {name: next(iter(by.values())) for name, by in sides.items() if len(by) == 1}


def _around(text: str, mention: Mention) -> str:
    """Return the words around a finding's side, and around the finding where no mark parts them."""
    if mention.side_start is None or mention.side_end is None:
        return _up_to_marks(text, mention.start, mention.end)
    side = _up_to_marks(text, mention.side_start, mention.side_end)
    ends = sorted((mention.start, mention.end, mention.side_start, mention.side_end))
    if _BREAK.search(text, ends[1], ends[2]) or ends[2] - ends[1] > _REACH:
        return side
    return f"{side} {_up_to_marks(text, mention.start, mention.end)}"


def _up_to_marks(text: str, first: int, last: int) -> str:
    """Return a stretch of a text with the words around it, up to the next mark."""
    before = text[max(0, first - _REACH) : first]
    breaks = list(_BREAK.finditer(before))
    after = text[last : last + _REACH]
    stop = _BREAK.search(after)
    start = before[breaks[-1].end() :] if breaks else before
    return start + text[first:last] + (after[: stop.start()] if stop else after)
