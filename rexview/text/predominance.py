"""Find bilateral findings that predominate on one side in the answer, on the other in the report.

Both texts have both sides, so no side contradicts by itself. "Larger on the left" does, or
"moderate on the right and small on the left".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from rexview.geometry import OTHER_SIDE
from rexview.text.findings import Mention, SideSpan, finding_info
from rexview.text.findings.structured_parts import find_structured_parts
from rexview.text.phrases import list_alternatives, list_names
from rexview.text.side_contradictions import (
    Contradiction,
    has_side_words,
    join_sides,
    sided_by_family,
)

_WORDS: Final = {
    name: rf"(?<!\w)(?:{list_alternatives('more_on_one_side', name)})(?!\w)"
    for name in list_names("more_on_one_side")
}
_MORE: Final = _WORDS["more"]
_MOSTLY: Final = _WORDS["mostly"]
_LESS: Final = _WORDS["less"]
_SIDE_WORD: Final = r"(?:right|left|rt|lt|r[uml]?l?|l[ul]?l?|lingula)(?![\w'/])(?:[- ]sided)?"
_PLACE: Final = (
    r"(?:[- ](?:side|lung|base|hemithorax|one|pleural space|upper|mid|lower|lobe|zone))*+"
)
_SIDE: Final = rf"(?<![\w/])(?P<side>{_SIDE_WORD}){_PLACE}"
_OTHER: Final = rf"(?<![\w/])(?P<other>{_SIDE_WORD}){_PLACE}"
_PLACED: Final = "on|in|at|over|within|along|to|toward|towards|involving|affecting"
_ON: Final = rf"(?:(?:{_PLACED}) (?:the |its )?)"
_COMMA: Final = r"\s*+(?:,\s*+)?"
_THAN: Final = rf"(?:\s+\w+)?\s+than\s+(?:those |that |the one )?{_ON}?(?:the )?{_OTHER}"
_WORDS_ON: Final = r"(?:\s++(?!than\b)[\w'-]++){0,4}?\s++"
"""Up to four words between a side and its comparison with the other side."""
_NOT_BEFORE: Final = (
    rf"(?!{_COMMA}(?:than|compared (?:to|with)|from|since)\b"
    rf"[^.;,\n]{{0,25}}{_WORDS['before']})"
)
"""A comparison with an earlier film must not follow."""
_NOT_BOTH: Final = rf"(?!(?:\s+\w+){{0,2}}\s*(?:and|/|&)\s*(?:the )?{_SIDE_WORD})"
_FEW: Final = rf"(?:[\s,]++(?!than\b|and\b|{_SIDE_WORD})[\w'-]++){{0,3}}?[\s,]++"
_SOME: Final = r"(?: (?!than\b)\w++){0,4}? "
_WHEREAS: Final = r"[\s,;]++(?:\w++\s){0,3}?"
_IS: Final = "is|being|was|remains|appears|seems|looks"
_PATTERNS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), more)
    for pattern, more in (
        # "right greater than left", "R>L", "on the right more than on the left"
        (rf"{_SIDE}{_COMMA}>{{1,3}}\s*{_OTHER}", True),
        (rf"{_SIDE}(?:{_COMMA}|{_WORDS_ON})(?:{_MORE}|exceeding){_THAN}", True),
        (rf"{_SIDE}{_COMMA}<{{1,3}}\s*{_OTHER}", False),
        (rf"{_SIDE}(?:{_COMMA}|{_WORDS_ON}){_LESS}{_THAN}", False),
        # "larger on the left (than on the right)", "more marked at the right base"
        (rf"{_MORE}{_FEW}{_ON}{_SIDE}{_NOT_BEFORE}{_NOT_BOTH}", True),
        (rf"{_MOSTLY}[\s,]++(?:{_ON}|the )?{_SIDE}{_NOT_BEFORE}{_NOT_BOTH}", True),
        (rf"{_LESS}{_FEW}{_ON}{_SIDE}\s+than\s+{_ON}?(?:the )?{_OTHER}", False),
        (rf"to (?:a|the) lesser (?:extent|degree)[\s,]*+(?:also )?{_ON}?(?:the )?{_SIDE}", False),
        # "largest 2.4 cm in the right lower lobe"
        (
            rf"{_WORDS['most']}(?:(?!{_SIDE_WORD})[^.;|\n]|\.(?=\s?\d)){{0,60}}?"
            rf"\b{_ON}{_SIDE}{_NOT_BOTH}",
            True,
        ),
        # "left-predominant", "with right-sided predominance"
        (rf"{_SIDE}[- ](?:predominan\w+|dominan\w+|preponderance)", True),
        # "the right one is worse", "the one on the right is the larger"
        (
            rf"{_SIDE}(?<=one|ide|ung|ase|rax)(?: \w+){{0,3}}? (?:{_IS}|has|shows|holds?)"
            rf"(?: \w+){{0,4}}? {_MORE}{_NOT_BEFORE}",
            True,
        ),
        (
            rf"one (?:on|in|at) the {_SIDE}(?: \w+){{0,2}}? (?:{_IS})"
            rf"(?: \w+){{0,2}}? {_MORE}{_NOT_BEFORE}",
            True,
        ),
        (
            rf"(?:of (?:which|these|the two)|it is),? the {_SIDE}(?: (?:that|which))? (?:{_IS})"
            rf"(?: \w+){{0,2}}? {_MORE}{_NOT_BEFORE}",
            True,
        ),
        # "the left (being) the larger": of two
        (rf"the {_SIDE}(?: \w+){{0,2}}? (?:{_IS})(?: \w+)? the {_MORE}", True),
        # "worse on the left, better on the right"
        (
            rf"{_WORDS['grown']}{_SOME}{_ON}{_SIDE}{_WHEREAS}{_WORDS['shrunk']}{_SOME}{_ON}{_OTHER}",
            True,
        ),
        (
            rf"{_WORDS['shrunk']}{_SOME}{_ON}{_SIDE}{_WHEREAS}{_WORDS['grown']}{_SOME}{_ON}{_OTHER}",
            False,
        ),
        # "with relative sparing of the right lung"
        (rf"relative sparing of the {_SIDE}", False),
        (rf"{_SIDE}(?: \w+){{0,3}} relatively spared", False),
        # "it is the left lung that carries most of the disease"
        (
            rf"{_SIDE}(?: \w+){{0,3}} (?:carries|bears|holds|has|contains|shows|takes) "
            + _WORDS["bulk"],
            True,
        ),
        # "larger left than right", "more left than right"
        (rf"{_MORE}{_FEW}{_SIDE}(?: \w+){{0,3}} than (?:on |in |at )?(?:the )?{_OTHER}", True),
    )
)
_SIZES: Final = ("trace", "small", "moderate", "large")
_SIZE: Final = (
    "(?:" + "|".join(rf"(?P<{name}>{_WORDS[name]})" for name in _SIZES) + ")"
    r"(?! (?:interval )?(?:decrease|increase|improvement|reduction|worsening|change|progression))"
)
_ANY_SIZE: Final = re.compile(rf"(?<!from )(?<!was )(?<!previously )(?:{_SIZE})", re.IGNORECASE)
_SIZE_OR_SIDE: Final = re.compile(rf"{_SIZE}|{_SIDE}", re.IGNORECASE)
_BETWEEN: Final = 40
"""Characters between a size and its side."""
_BEHIND: Final = 60
"""Characters after a finding in which its size is given."""
_PREVIOUS: Final = 200
"""Characters back to the finding that a sentence without one compares."""
_JOINED: Final = re.compile(
    r"[\s,]*+(?:\w++[\s-]){0,4}(?:and|with|/|&)[\s-](?:\w++[\s-]){0,4}$", re.IGNORECASE
)
_STOP: Final = re.compile(r"[.;!?](?=\s)|\n")
_BREAK: Final = re.compile(r"[.;:|()\n]|,(?! now\b)|\b(?:and|with|but|while)\b", re.IGNORECASE)
_BREAK_BEHIND: Final = re.compile(
    rf"[.;:|()\n]|,(?! now\b)|\band (?!(?:remains|is|now|still|appears|{_SIZE})\b)"
    r"|\b(?:with|but|while)\b",
    re.IGNORECASE,
)
_STRAIGHT: Final = re.compile(
    r"(?:\s(?!and\b|with\b|in\b|of\b|but\b)[\w-]+){0,3}?\s", re.IGNORECASE
)
"""Between a comparison and the finding after it: "left greater than right effusions"."""
_EARLIER: Final = re.compile(
    rf"\s*(?:on|in|at|of) (?:the |her |his |an? )?{_WORDS['before']}", re.IGNORECASE
)
"""After a comparison with an earlier film."""
_OF_IMAGE: Final = re.compile(
    r"(?: side)? (?:of|in|on) the (?:image|picture|film|screen|display|radiograph)"
    r"| as (?:displayed|viewed|shown)",
    re.IGNORECASE,
)
"""After a side that may not be the patient's."""
_CROSSED: Final = re.compile(
    rf"(?:{_WORDS['most']}|{_MORE}|{_MOSTLY}){_FEW}{_ON}"
    r"(?P<one>right|left) (?P<first>upper|lower|mid)"
    r"(?: lobe| zone| lung)?[\s,]+and (?:the )?(?P<two>right|left) (?P<second>upper|lower|mid)\b",
    re.IGNORECASE,
)
_ABOVE: Final = "above: "
"""Prefix of a family with more above on one side, and more below on the other."""
_ANY_MORE: Final = re.compile(_MORE, re.IGNORECASE)
_SIDE_CELL: Final = re.compile(
    r"[\s*]*+(?:right|left|r|l)(?: (?:lung|side|hemithorax))?[\s*]*+", re.IGNORECASE
)
_MARKED: Final = re.compile(r"[*`]")
_ASSERTED: Final = ("positive", "uncertain")


class Predominance(NamedTuple):
    """A bilateral finding, and the side with more of it, with the offsets of the words."""

    mention: Mention
    side: SideSpan


def find_predominances(text: str, mentions: Sequence[Mention]) -> dict[str, list[Predominance]]:
    """Return the findings of a text that predominate on one of both sides, by family.

    A finding with more above on one side and below on the other has a key of its own.
    """
    asserted = [one for one in mentions if one.status in _ASSERTED and not one.superseded]
    if not asserted or not any(has_side_words(text)):
        return {}
    both = {
        family
        for family, some in sided_by_family(asserted).items()
        if join_sides(some) == "bilateral"
    }
    found: dict[str, list[Predominance]] = {}
    plain = _MARKED.sub(" ", text)
    told = [(side, meant) for side in _compared(plain) for meant in _meant(plain, asserted, side)]
    told += [
        (side, meant)
        for side in _sizes_of_sides(plain)
        for meant in _meant(plain, asserted, side)[:1]
    ]
    told += _sizes_in_columns(plain, asserted)
    for side, mention in told:
        if _family(mention) in both or mention.side is None:
            found.setdefault(_family(mention), []).append(Predominance(mention, side))
    for side in _crossed(plain):
        for mention in (one for one in asserted if one.sentence[0] <= side[1] < one.sentence[1]):
            found.setdefault(_ABOVE + _family(mention), []).append(Predominance(mention, side))
    for family in both - found.keys():
        found[family] = list(_larger([one for one in asserted if _family(one) == family], plain))
    return {family: some for family, some in found.items() if some}


def _family(mention: Mention) -> str:
    return finding_info(mention.finding).family


def _compared(text: str) -> Iterator[SideSpan]:
    """Find the comparisons of both sides: the side with more, and its offsets."""
    taken: list[tuple[int, int]] = []
    for pattern, more in _PATTERNS:
        for match in pattern.finditer(text):
            side = _side_of(match["side"])
            other = match.groupdict().get("other")
            if other is not None and _side_of(other) == side:
                continue
            if _EARLIER.match(text, match.end()) or _OF_IMAGE.match(text, match.end()):
                continue
            if any(match.start() < last and first < match.end() for first, last in taken):
                continue
            taken.append(match.span())
            yield side if more else OTHER_SIDE[side], match.start(), match.end()


def _side_of(word: str) -> Literal["right", "left"]:
    return "right" if word[0].lower() == "r" else "left"


def _meant(text: str, mentions: Sequence[Mention], told: SideSpan) -> list[Mention]:
    """Return the findings that a comparison is about.

    That is the finding right after it. Otherwise it is the last one before it, with those joined to
    it and its possible meanings, or the finding of the sentence before.
    """
    _, start, end = told
    within = [one for one in mentions if one.sentence[0] <= start < one.sentence[1]]
    after = [one for one in within if one.start >= end]
    straight = [one for one in after if _STRAIGHT.fullmatch(text, end, one.start)]
    if straight:
        return straight[:1]
    before = sorted((one for one in within if one.end <= end), key=lambda one: one.end)
    meant: list[Mention] = []
    for mention in reversed(before):
        if (
            not meant
            or mention.end == meant[-1].end
            or all(one.status == "uncertain" for one in meant)
            or _JOINED.match(text, mention.end, meant[-1].start)
        ):
            meant.append(mention)
    if meant or after:
        return meant or after[:1]
    earlier = [one for one in mentions if one.end <= start and start - one.end <= _PREVIOUS]
    return [one for one in earlier if one.sentence == earlier[-1].sentence]


def _sizes_of_sides(text: str) -> Iterator[SideSpan]:
    """Find the larger of two sizes that each have a side: "moderate left and small right"."""
    found = list(_SIZE_OR_SIDE.finditer(text))
    for four in zip(found, found[1:], found[2:], found[3:], strict=False):
        if _STOP.search(text, four[0].end(), four[-1].start()):
            continue
        pairs = [four[:2], four[2:]]
        if any(
            bool(one["side"]) == bool(other["side"]) or other.start() - one.end() > _BETWEEN
            for one, other in pairs
        ):
            continue
        sides = [_side_of(next(m["side"] for m in pair if m["side"])) for pair in pairs]
        ranks = [next(_rank(m) for m in pair if not m["side"]) for pair in pairs]
        if sides[0] != sides[1] and ranks[0] != ranks[1]:
            more = ranks.index(max(ranks))
            yield sides[more], pairs[more][0].start(), pairs[more][1].end()


def _crossed(text: str) -> Iterator[SideSpan]:
    """Find the side with more above, if the other has more below.

    Example: "Densest in the left upper and the right lower lobes".
    """
    for match in _CROSSED.finditer(text):
        sides = [_side_of(match[name]) for name in ("one", "two")]
        heights = [match[name].lower() for name in ("first", "second")]
        if sides[0] != sides[1] and "upper" in heights and heights[0] != heights[1]:
            yield sides[heights.index("upper")], match.start(), match.end()


def _sizes_in_columns(text: str, mentions: Sequence[Mention]) -> Iterator[tuple[SideSpan, Mention]]:
    """Find the larger size in the rows of a table with a column for each side."""
    for row in (one for part in find_structured_parts(text) for one in part.records if one.row):
        told = {
            _side_of(text[slice(*key)].lstrip(" *")): cell.span
            for key, cell in row.fields or ()
            if key is not None and _SIDE_CELL.fullmatch(text, *key)
        }
        sizes = {s: size for s, span in told.items() if (size := _ANY_SIZE.search(text, *span))}
        more = {s: size for s, span in told.items() if (size := _ANY_MORE.search(text, *span))}
        ranks = {side: _rank(size) for side, size in sizes.items()}
        if len(more) == 1:
            sizes, most = more, next(iter(more))
        elif len(set(ranks.values())) == len(OTHER_SIDE):
            most = max(ranks, key=lambda side: ranks[side])
        else:
            continue
        for mention in mentions:
            if row.span[0] <= mention.start < row.span[1]:
                yield (most, *sizes[most].span()), mention


def _rank(match: re.Match[str]) -> int:
    return next(rank for rank, name in enumerate(_SIZES) if match[name])


def _larger(mentions: Sequence[Mention], text: str) -> Iterator[Predominance]:
    """Find the larger of two mentions that each have a size: "small right effusion".

    In the order of the text, so that findings and impression may differ.
    """
    told: dict[str, tuple[int, Predominance]] = {}
    for mention in mentions:
        size = _size_of(mention, text) if mention.side in OTHER_SIDE else None
        if size is None or mention.side is None:
            continue
        said = (_rank(size), Predominance(mention, (mention.side, *size.span())))
        if mention.side in told and told[mention.side][0] != said[0]:
            told = {}
        told[mention.side] = said
        if len(told) == len(OTHER_SIDE):
            (rank, one), (other_rank, other) = told.values()
            if rank != other_rank:
                yield one if rank > other_rank else other


def _size_of(mention: Mention, text: str) -> re.Match[str] | None:
    """Return the size of a finding: before it, or after it up to a mark."""
    first = max(mention.sentence[0], mention.start - _BETWEEN)
    breaks = [match.end() for match in _BREAK.finditer(text, first, mention.start)]
    before = _ANY_SIZE.search(text, breaks[-1] if breaks else first, mention.end)
    if before is not None:
        return before
    last = min(mention.sentence[1], mention.end + _BEHIND)
    stop = _BREAK_BEHIND.search(text, mention.end, last)
    return _ANY_SIZE.search(text, mention.end, stop.start() if stop else last)


def compare_predominances(
    answer: Mapping[str, Sequence[Predominance]], report: Mapping[str, Sequence[Predominance]]
) -> list[Contradiction]:
    """Find the findings that predominate on opposite sides in answer and report.

    A finding about which the report contradicts itself is left out. An answer that contradicts
    itself is wrong in one place, unless it describes two findings of the same family.
    """
    found = []
    for family, claims in answer.items():
        known = report.get(family, ())
        if len({one.side[0] for one in known}) != 1:
            continue
        wrong = [one for one in claims if one.side[0] != known[0].side[0]]
        if wrong and (
            len(wrong) == len(claims) or len({one.mention.finding for one in claims}) == 1
        ):
            more = (wrong[-1].side, known[0].side)
            item = Contradiction("predominance", wrong[-1].mention, known[0].mention, more=more)
            found.append(item)
    return found
