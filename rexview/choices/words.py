"""Where the words of options stand in a text, and whether they are denied there."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property
from typing import Final, NamedTuple

from rexview.choices.near_words import may_be_short, spelled_out
from rexview.choices.options import Options

SHORT: Final = frozenset(("yes", "no", "true", "false", "none", "normal", "abnormal"))
"""Options that mean themselves only where an answer begins, not anywhere in a sentence."""
_SIDES: Final = frozenset(("right", "left"))
"""Options that mean a side only behind "the" or "on": not "you are right", "what is left"."""
_DENIED_BEFORE: Final = re.compile(
    r"\b(?:not?|without|nor|neither|never|cannot|excludes?|rules? out|ruled out|absence of"
    r"|negative for|against|rather than|instead of|likely than|unlikely|unlike|if|whether"
    r"|possibl[ey]|maybe|perhaps|may|might|could|would|either|considered|versus|vs)\b|n['’ ]t\b",
    re.IGNORECASE,
)
_DENIED_AFTER: Final = re.compile(
    r"\b(?:not|unlikely|absent|excluded?|ruled out|cannot|less likely|incorrect|wrong|false"
    r"|likely than|resolved|possible|questionable|missing|would|versus|vs)\b|n['’ ]t\b|\?",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(f"{_DENIED_BEFORE.pattern}|{_DENIED_AFTER.pattern}", re.IGNORECASE)
_DENIED_LIKE_A_ROW: Final = re.compile(
    r"\s*(?:[:|→–—-]|->)\s*(?:no|none|not|absent|unlikely|excluded|negative|normal|low|false)\b"
    r"|\s*[|:]?\s*[✗✘❌☒]",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"[.;:!?\n]|\b(?:but|however|although|though|yet)\b", re.IGNORECASE)
_AFTER: Final = re.compile(
    r"[.,;:!?\n]|\s[–—-]\s|\b(?:but|however|although|though|yet)\b", re.IGNORECASE
)
"""Where a clause ends behind some words: "consolidation, not effusion" denies only the second."""
_CLAUSE_LENGTH: Final = 300
_SENTENCE: Final = re.compile(r"(?:[^.;\n]|\.(?=\d)){1,400}")
_RANGE_BEFORE: Final = re.compile(r"(\w+)(?:\s+to\s+|\s*/\s*)\Z")
_RANGE_AFTER: Final = re.compile(r"(?:\s+to\s+|\s*/\s*)(\w+)")
"""Between two grades: "moderate to severe"."""
_UNIT: Final = re.compile(r"\s*(?:cm|mm|%|°|degrees?|days?|weeks?|years?|hours?)")
_BOUNDS: Final = r"[<>≤≥]\s*|\b(?:than|over|under|above|below|beyond)\s+"
_BOUND: Final = re.compile(rf"(?:{_BOUNDS})\d", re.IGNORECASE)
NOT_SO_MUCH: Final = re.compile(rf"(?:\d[.,]|{_BOUNDS})\Z", re.IGNORECASE)
"""Before a number: the rest of another, or a bound."""
_IN_ALL: Final = re.compile(r"\b(?:total of|in total,?|altogether,?)\s+\Z", re.IGNORECASE)
_NEGATIVE: Final = frozenset(("no", "not", "none", "without", "cannot", "absent", "neither"))
_EMPTY: Final = frozenset(
    (
        "a",
        "an",
        "the",
        "of",
        "in",
        "on",
        "at",
        "to",
        "is",
        "are",
        "with",
        "and",
        "or",
        "for",
        "by",
        "it",
        "its",
        "there",
    )
)
_SHORTEST_TELLING: Final = 3
"""A word that tells options apart is longer."""
_SAYS_LITTLE: Final = frozenset(
    ("there", "seen", "present", "visible", "shown", "noted", "identified", "evidence", "than")
)
_PLACES: Final = frozenset(
    ("above", "below", "beyond", "behind", "before", "outside", "near", "within", "between")
)
_ENDINGS: Final = frozenset(("", "s", "es", "d", "ed", "a", "e", "al", "um", "ar", "ly", "y"))


class Named(NamedTuple):
    """Words of an option in the text; ``denied``: as not there, or as no more than possible."""

    option: int
    start: int
    end: int
    denied: bool


class Words:
    """The words of one text, in which those of its question's options are looked for."""

    def __init__(self, text: str, options: Options, question: str) -> None:
        self.text, self.options, self.question = text, options, question

    @cached_property
    def _found(self) -> tuple[list[Named], list[int]]:
        """All words of options from left to right, of words within others only the longer."""
        places, folded = [], []
        for match in re.finditer(r"\w+", self.text):
            for word in self._spelled_out(match[0]):
                places.append(match.span())
                folded.append(word)
        line, starts = " " + " ".join(folded) + " ", [0]
        for word in folded:
            starts.append(starts[-1] + len(word) + 1)
        found = []
        for number, words in enumerate(self.options.folded):
            at = line.find(f" {words} ") if words else -1
            while at >= 0:
                first = bisect_left(starts, at)
                last = bisect_left(starts, at + len(words) + 1) - 1
                found.append((places[first][0], -places[last][1], number))
                at = line.find(f" {words} ", at + len(words))
        longest: list[Named] = []
        for start, minus_end, number in sorted(found):
            before = longest[-1] if longest else None
            if not before or -minus_end > before.end or (start, -minus_end) == before[1:3]:
                longest.append(Named(number, start, -minus_end, False))
        return longest, [one.start for one in longest]

    def _spelled_out(self, word: str) -> tuple[str, ...]:
        """Return a word in lower case; initials and numbers as the options write them."""
        plain = word.casefold()
        if not may_be_short(word, plain):  # nearly all words
            return (plain,)
        stands_for = spelled_out(self.options.folded)
        return stands_for.get(word) or stands_for.get(plain) or (plain,)

    @cached_property
    def _has_bounds(self) -> bool:
        """Whether options are bounds themselves: "> 3 cm"."""
        return any(_BOUND.search(one) for one in self.options.plain)

    def _is_bound(self, text: str) -> bool:
        """Whether a text has a bound, and no option is one."""
        return bool(_BOUND.search(text)) and not self._has_bounds

    def begin_at(self, at: int) -> list[Named]:
        """Return the options whose words are the next words behind a place, if near."""
        named, starts = self._found
        index = bisect_left(starts, at)
        if index == len(named) or re.search(r"\w", self.text[at : named[index].start]):
            return []
        return [one for one in named[index : index + 4] if one.start == starts[index]]

    def everywhere(self) -> list[Named]:
        """Return all words of options in their order, denied or not."""
        return self._found[0]

    def lists_words(self) -> bool:
        """Whether lines begin with the words of several options."""
        first = {
            one.option
            for one in self._found[0]
            if not self.text[: one.start].rpartition("\n")[2].strip(" \t-•|")
        }
        return len(first) > 1

    def between(self, start: int, end: int) -> list[Named]:
        """Return the options named in a stretch of text, and whether they are denied in it."""
        named, starts = self._found
        index = bisect_left(starts, start)
        inside = []
        while index < len(named) and named[index].end <= end:
            one = named[index]
            index += 1
            if self._is_meant(one, start):
                inside.append(one._replace(denied=self.is_denied(one, start)))
        totals = [
            one for one in inside if _IN_ALL.search(self.text[max(0, one.start - 20) : one.start])
        ]
        return totals or inside

    def _is_meant(self, one: Named, first: int) -> bool:
        """Whether words that also mean something else stand for the option."""
        words = self.options.folded[one.option]
        before = self.text[max(first, one.start - 10) : one.start]
        if words in SHORT:
            return False
        if words in _SIDES:
            return not before.strip() or bool(re.search(r"\b(?:the|on|in)\s+$", before, re.I))
        if words.isdigit():
            behind = re.match(r"\s+(\w{4,})", self.text[one.end : one.end + 30])
            return bool(behind and behind[1].casefold()[:5] in self.question.casefold())
        if words[0].isdigit() and NOT_SO_MUCH.search(before) and not self._has_bounds:
            return False
        return not (words[-1].isdigit() and _UNIT.match(self.text, one.end))

    def is_denied(self, one: Named, first: int) -> bool:
        """Whether the clause around some words denies them or only thinks them possible."""
        before = self.text[max(first, one.start - _CLAUSE_LENGTH) : one.start]
        after = self.text[one.end : one.end + _CLAUSE_LENGTH]
        cut = [match.end() for match in _CLAUSE.finditer(before)]
        stop = _AFTER.search(after)
        ranges = (_RANGE_BEFORE.search(before[-40:]), _RANGE_AFTER.match(after))
        known = {word for words in self.options.folded for word in words.split()}
        return bool(
            _DENIED_BEFORE.search(before[cut[-1] if cut else 0 :])
            or _DENIED_AFTER.search(after[: stop.end() if stop else None])
            or _DENIED_LIKE_A_ROW.match(after)
            or any(one and one[1].casefold() in known for one in ranges)
        )

    def speaks_of_others(self, option: int) -> bool:
        """Whether the text has a word that only another option has, beside what it names in full.

        Not where it is denied, and no word that the question has.
        """
        own = set(self.options.folded[option].split())
        asked = set(re.findall(r"\w+", self.question.casefold()))
        known = {word for words in self.options.folded for word in words.split()} - own - asked
        telling = {word for word in known if len(word) > _SHORTEST_TELLING} - SHORT - _SAYS_LITTLE
        for match in re.finditer(r"\w+", self.text):
            if match[0].casefold() not in telling:
                continue
            one = Named(option, *match.span(), False)
            named = any(other.start <= one.start < other.end for other in self._found[0])
            if not named and not self.is_denied(one, 0):
                return True
        return False

    def in_other_order(self) -> Named | None:
        """Find the one option all of whose words stand in one sentence, in whatever order.

        A sentence with words of other options, with a denial or doubt, or with a place that the
        option does not name, says nothing.
        """
        sets = [frozenset(words.split()) - _EMPTY for words in self.options.folded]
        known = frozenset().union(*sets)
        found: list[Named] = []
        for match in _SENTENCE.finditer(self.text):
            words: dict[str, list[str]] = {}
            for written in re.findall(r"\w+", match[0]):
                for word in self._spelled_out(written):
                    words.setdefault(word[:4], []).append(word)
            said = {one for one in known if any(same(one, word) for word in words.get(one[:4], ()))}
            for number, wanted in enumerate(sets):
                if len(wanted) < 2 or wanted & _NEGATIVE or not wanted <= said:
                    continue
                elsewhere = any(place[:4] in words for place in _PLACES - wanted)
                unsure = _DENIED.search(match[0]) or self._is_bound(match[0])
                if elsewhere or said - wanted or unsure:
                    return None
                found.append(Named(number, match.start(), match.end(), False))
        if len({one.option for one in found}) != 1:
            return None
        start = found[0].start
        sentence = self.text[start : found[0].end]
        return found[0]._replace(
            start=start + len(sentence) - len(sentence.lstrip()),
            end=start + len(sentence.rstrip()),
        )


def same(one: str, other: str) -> bool:
    """Whether two words differ by no more than an ending: nodule and nodules, not nodular."""
    if one == other:
        return True
    common = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        common += 1
    return common >= 4 and one[common:] in _ENDINGS and other[common:] in _ENDINGS
