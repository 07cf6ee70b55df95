"""Define findings and their mentions in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

Side = Literal["right", "left", "bilateral", "midline"]
Status = Literal["positive", "negated", "uncertain", "hypothetical", "prior"]
Group = Literal["finding", "device"]


@dataclass(frozen=True, slots=True)
class LexiconFinding:
    """An entry of the lexicon.

    Attributes
    ----------
    id, name : str
        ``pleural_effusion``; ``pleural effusion``.
    group : str
        ``finding`` or ``device``.
    family : str
        When two texts are compared, findings of one family are interchangeable.
    region : str
        ``lung``, ``pleura``, ``heart``, ``mediastinum``, ``airway``, ``bone``, ``soft_tissue``,
        ``abdomen`` or ``whole``.
    sided : bool
        True if the finding has a side of the patient; a side next to an unsided one (cardiomegaly)
        belongs to something else.
    """

    id: str
    name: str
    group: Group
    family: str
    region: str
    sided: bool


class Mention(NamedTuple):
    """A mention of a finding at one place of a text.

    Attributes
    ----------
    finding : str
        Id in the lexicon, see :func:`rexview.text.findings.finding_info`.
    side : str or None
        The patient's side that the text gives it.
    zone : str or None
        ``upper``, ``mid``, ``lower``, ``apex``, ``base``, ``hilum``, ``costophrenic``, ... or a
        lobe: ``RUL``, ``RML``, ``RLL``, ``LUL``, ``LLL``, ``lingula``.
    status : str
        ``positive``, ``negated``, ``uncertain``, ``hypothetical`` or ``prior``.
    start, end : int
        The finding's words: offsets into the text.
    side_start, side_end : int or None
        Where the side was read, possibly in another sentence, heading, cell or field.
    sentence : tuple of int
        Span of the sentence, list item, cell or field.
    section : str or None
        Heading above it, in lower case (``impression``).
    superseded : bool
        True if the text retracts it later ("correction: ...").
    refers_back : bool
        True if it points back to an earlier statement ("this left effusion").
    image_side : bool
        True if the text named a side of the image, which on a standard display is the other side of
        the patient; ``side`` is the patient's.
    definite : bool
        True if it is mentioned as known ("the right effusion").
    compared : bool
        True if its sentence compares it with another one ("the right effusion is larger", "also").
    structured : bool
        True if it is in an object or a table.
    """

    finding: str
    side: Side | None
    zone: str | None
    status: Status
    start: int
    end: int
    side_start: int | None
    side_end: int | None
    sentence: tuple[int, int]
    section: str | None = None
    superseded: bool = False
    refers_back: bool = False
    image_side: bool = False
    definite: bool = False
    compared: bool = False
    structured: bool = False


# Counts of a finding in a text: "four round nodules", "two leads", "dual-chamber".

_WORDS: Final = {
    "single": 1,
    "solitary": 1,
    "one": 1,
    "two": 2,
    "dual": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
}
_COUNT: Final = re.compile(
    rf"(?<![\w.,-])(?P<n>{'|'.join(_WORDS)}|[2-9])"
    r"(?P<between>(?:[\s-]+(?!(?:mm|cm|of|in|on|to|and|or|for|with|at|from)\b)[a-z][a-z-]*){0,3})\s+$",
    re.IGNORECASE,
)
_CHAMBERS: Final = re.compile(
    r"(?<![\w-])(?P<n>single|dual|two|three|triple)[\s-]+(?:chamber|lead)\b|"
    r"\b(?P<three>bi-?ventricular|cardiac resynchroni[sz]ation)\b",
    re.IGNORECASE,
)
_ITS_LEAD: Final = re.compile(r"\bits\s+lead\b", re.IGNORECASE)
_LEADS: Final = re.compile(
    rf"(?<![\w-])(?P<n>{'|'.join(word for word in _WORDS if word != 'one')})"
    r"(?:[\s-]+[a-z]+){0,2}\s+leads?\b",
    re.IGNORECASE,
)
"""One lead is often next to another: "one lead in the atrium, the other in the ventricle"."""
_BEFORE: Final = 60
"""Characters before a finding in which its number is searched for."""
_MOST_CHAMBERS: Final = 3
PACEMAKERS: Final = frozenset({"pacemaker", "pacing_lead"})
"""Findings whose leads are counted."""


def count_findings(text: str, mentions: Iterable[Mention]) -> tuple[int, Mention] | None:
    """Return how many of a finding a text counts, and the mention with the number.

    ``mentions`` are those of the finding. Numbers on both sides of the patient are added; otherwise
    the greatest counts. None if the text has no number.
    """
    found = [(n, one) for one in mentions if (n := _count_before(text, one)) is not None]
    if not found:
        return None
    greatest = max(found, key=lambda item: item[0])
    places = {one.start: (n, one.side) for n, one in found}
    if len(places) == len(found):  # otherwise one number is for both sides
        by_side: dict[str | None, int] = {}
        for n, side in places.values():
            by_side[side] = max(n, by_side.get(side, 0))
        if set(by_side) == {"right", "left"}:
            return sum(by_side.values()), greatest[1]
    return greatest


def _count_before(text: str, one: Mention) -> int | None:
    start = max(one.sentence[0], one.start - _BEFORE)
    words = text[one.start : one.end].lower()
    if words.startswith(("single ", "solitary ")):
        return 1
    match = _COUNT.search(text, start, one.start)
    if match is None:
        return None
    number = match["n"].lower()
    n = _WORDS.get(number) or int(number)
    return n if words.endswith("s") or n == 1 else None


def count_leads(text: str) -> tuple[int, tuple[int, int]] | None:
    """Return how many pacing leads a text mentions, and the offsets of the words; None for none.

    >>> (
    ...     count_leads("Dual-chamber pacemaker."),
    ...     count_leads("A pacemaker with its lead in the ventricle.")[0],
    ... )
    ((2, (0, 12)), 1)
    """
    match = _CHAMBERS.search(text)
    if match is not None:
        if match["three"]:
            return _MOST_CHAMBERS, match.span()
        words = {"triple": _MOST_CHAMBERS} | _WORDS
        return words[match["n"].lower()], match.span()
    match = _LEADS.search(text)
    if match is not None:
        return _WORDS[match["n"].lower()], match.span()
    match = _ITS_LEAD.search(text)
    return (1, match.span()) if match else None
