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
from rexview.detect.laterality.text import Contradiction, Sided
from rexview.detect.phrases import list_names, whole_words
from rexview.geometry import OTHER_SIDE

_TRAITS: Final = {name: whole_words("told_apart", name) for name in list_names("told_apart")}
_BREAK: Final = re.compile(r"[.,;|\n()]|\band\b|\bwith\b", re.IGNORECASE)
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
        if not (_on_each(claims) and _on_each(reported)):
            continue
        claimed = _traits(claims, lambda _: text)
        known = _traits(reported, report_of)
        both = claimed.keys() & known.keys()
        changed = [name for name in sorted(both) if claimed[name].side != known[name].side]
        if len(changed) == len(both) >= _FEWEST and len({known[name].side for name in both}) > 1:
            found.append(Contradiction("report", claimed[changed[0]], known[changed[0]]))
    return found


def _on_each(mentions: Sequence[Mention]) -> bool:
    """Whether some mentions are each of one side, and together of both."""
    return {mention.side for mention in mentions} == set(OTHER_SIDE)


def _traits(mentions: Sequence[Mention], text_of: TextOf) -> dict[str, Mention]:
    """Return what is said of the mentions of one side only, each with one of these."""
    sides: dict[str, dict[str | None, Mention]] = {}
    for mention in mentions:
        around = _around(text_of(mention), mention)
        for name, words in _TRAITS.items():
            if words.search(around):
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
