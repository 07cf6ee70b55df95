"""Find the options of a question in a text, by their labels and their words."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from rexview.text.choices.answer_cues import fold_words, strip_markup

_OWN_LABEL: Final = re.compile(r"\s*\(?([A-Za-z]|\d{1,2})[.):]\s+(?=\S)")
_BRACKETED: Final = re.compile(r"([^()]+)\(([^()]+)\)")
_CJK: Final = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
_TOKENS: Final = {
    kind: re.compile(
        rf"(?:(?:option|choice|ans|answer|letter)\s*:?\s+)?(?P<open>[(\[]+\s*)?(?:option\s+)?"
        rf"{label}(?!['’])(?![^\W{_CJK}])(?!-\w)(?P<close>\s*[)\]]+)?",
        re.IGNORECASE,
    )
    for kind, label in {
        "letter": "(?P<label>[A-Za-z])",
        "digit": r"(?:(?:number|no\.)\s*)?(?P<label>\d{1,2})",
    }.items()
}


@dataclass(frozen=True)
class Options:
    """The options of a question; each tuple has one entry per option.

    ``labels`` are in upper case. ``folded`` are the words in lower case, separated by one space.
    ``token`` matches a label with what may surround it. ``parts`` are the folded words before and
    inside the brackets at the end of an option. ``plain`` are the options without labels.
    """

    labels: tuple[str, ...]
    folded: tuple[str, ...]
    token: re.Pattern[str]
    parts: tuple[tuple[str, ...], ...]
    plain: tuple[str, ...]

    def labelled(self, label: str) -> int | None:
        """Return the option with a label, in any case."""
        return self.labels.index(label.upper()) if label.upper() in self.labels else None

    def by_part(self, words: str) -> int | None:
        """Return the only option with these folded words before or inside its brackets."""
        met = [place for place, parts in enumerate(self.parts) if words and words in parts]
        return met[0] if len(met) == 1 else None

    def counted(self, number: int) -> int | None:
        """Return the option by its position in the list, from 1."""
        return number - 1 if 1 <= number <= len(self.folded) else None


@lru_cache(maxsize=4_096)
def parse_options(options: tuple[str, ...]) -> Options:
    """Read the labels of options, or label them A, B, C; ``options`` must not be empty."""
    own = [_OWN_LABEL.match(option) for option in options]
    labels = tuple(match[1].upper() if match else "" for match in own)
    runs = (
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        [str(n) for n in range(1, 100)],
        [str(n) for n in range(99)],
    )
    if len(options) > 1 and any(list(labels) == list(run[: len(labels)]) for run in runs):
        options = tuple(
            option[match.end() :] for option, match in zip(options, own, strict=True) if match
        )
    else:
        labels = tuple(chr(ord("A") + n) for n in range(min(len(options), 26)))
    token = _TOKENS["digit" if labels[0].isdigit() else "letter"]
    words = tuple(strip_markup(option) for option in options)
    split = [_BRACKETED.fullmatch(one.strip()) for one in words]
    parts = tuple((fold_words(one[1]), fold_words(one[2])) if one else () for one in split)
    return Options(labels, tuple(fold_words(one) for one in words), token, parts, words)


# Other words for those of an option: numbers, initials, a spelling slip.

_NUMBERS: Final = (
    *("one first", "two second", "three third", "four fourth", "five fifth", "six sixth"),
    *("seven seventh", "eight eighth", "nine ninth", "ten tenth", "eleven eleventh"),
    "twelve twelfth",
)
_ENDS: Final = {1: "st", 2: "nd", 3: "rd"}
_DIGITS: Final = {
    word: digits
    for number, words in enumerate(_NUMBERS, 1)
    for word, digits in zip(
        words.split(), (str(number), f"{number}{_ENDS.get(number, 'th')}"), strict=True
    )
}
"""Number words and ordinals as the options may write them."""
_LINKS: Final = frozenset(("a", "an", "the", "of", "in", "on", "at", "to", "and", "or", "is"))
_NEGATIVE: Final = frozenset(("no", "not", "none", "without", "cannot", "absent", "neither"))
_OF_THE_CHEST: Final = frozenset(("pulmonary", "lung", "chest", "thoracic"))
"""Words that may describe any finding here."""
_NO_INITIALS: Final = frozenset(
    ("no", "or", "in", "on", "as", "is", "it", "at", "to", "an", "if", "am", "ap", "pa", "not")
)
"""Words and views that a text in capitals may contain."""
_LONGEST: Final = 60
"""Maximum length in characters of a reply that is compared with whole options."""
_FEWEST, _MOST = 2, 5
"""Minimum and maximum number of letters in initials."""


def may_be_short_form(word: str, folded: str) -> bool:
    """True if a word may abbreviate others: a number in words, or initials."""
    return folded in _DIGITS or (word.isupper() and _FEWEST <= len(word) <= _MOST)


@lru_cache(maxsize=4_096)
def expand_short_forms(options: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return short forms and the words of options that they mean: "third" for "3rd", "LLL".

    Initials are those of neighbouring words, with or without linking words. A word that an option
    contains means itself.
    """
    known = {word for words in options for word in words.split()}
    found: dict[str, tuple[str, ...]] = {
        word: (digits,) for word, digits in _DIGITS.items() if digits in known and word not in known
    }
    for words in options:
        every = words.split()
        for first in range(len(every)):
            for last in range(first + _FEWEST, len(every) + 1):
                run = tuple(every[first:last])
                for initials in _initials(run) - known:
                    if found.setdefault(initials.upper(), run) != run:
                        found[initials.upper()] = ()  # also initials of other words: ambiguous
    return {short: run for short, run in found.items() if run}


def _initials(run: Sequence[str]) -> set[str]:
    """Return the initials of some words, with and without their linking words."""
    if run[0] in _LINKS or run[-1] in _LINKS:
        return set()
    every = {"".join(word[0] for word in run)}
    every.add("".join(word[0] for word in run if word not in _LINKS))
    return {one for one in every - _NO_INITIALS if one.isalpha() and _FEWEST <= len(one) <= _MOST}


def match_reply(reply: str, options: Sequence[str], question: str) -> int | None:
    """Return the one option that a short reply means, None for none or several.

    The reply is an option with spelling slips, or the last words of only one option, whose words
    before them only repeat the question. ``options`` are folded
    (:func:`rexview.text.choices.answer_cues.fold_words`).
    """
    if len(reply) > _LONGEST or re.search(r"[.;?\n]\s*\w", reply):
        return None
    said = re.findall(r"\w+", reply.casefold())
    if not said or _NEGATIVE.intersection(said):
        return None
    asked = _OF_THE_CHEST.union(re.findall(r"\w+", question.casefold()))
    met = [place for place, words in enumerate(options) if _is_slip(said, words.split())]
    if not met:
        met = [place for place, words in enumerate(options) if _is_end(said, words.split(), asked)]
        if sum(set(said) <= set(words.split()) for words in options) > 1:
            return None
    return met[0] if len(met) == 1 else None


def _is_slip(said: Sequence[str], words: Sequence[str]) -> bool:
    """True if the words are those of an option with at most one wrong letter in each."""
    return len(said) == len(words) and all(
        one == other or (min(len(one), len(other)) > 2 and _one_slip(one, other))
        for one, other in zip(said, words, strict=True)
    )


def _is_end(said: Sequence[str], words: Sequence[str], asked: frozenset[str]) -> bool:
    """True if the words are the last of an option, and its words before are in the question."""
    own, end = ([one for one in some if one not in _LINKS] for some in (words, said))
    left = own[: len(own) - len(end)]
    return bool(left and end) and own[len(left) :] == end and asked.issuperset(left)


def _one_slip(one: str, other: str) -> bool:
    """True if one letter was left out, added or changed, or two neighbours were swapped."""
    if not (one.isalpha() and other.isalpha()) or abs(len(one) - len(other)) > 1:
        return False
    pairs = enumerate(zip(one, other, strict=False))
    start = next((n for n, pair in pairs if len({*pair}) > 1), min(len(one), len(other)))
    if one[:start] != other[:start] or start == 0:  # a first letter often turns the meaning
        return False
    if len(one) == len(other):
        exchanged = one[start : start + 2] == other[start : start + 2][::-1]
        return one[start + 1 :] == other[start + 1 :] or (
            exchanged and one[start + 2 :] == other[start + 2 :]
        )
    longer, shorter = sorted((one, other), key=len, reverse=True)
    return longer[start + 1 :] == shorter[start:]


# Positions of the words of options in a text, and whether they are denied there.

SHORT: Final = frozenset(("yes", "no", "true", "false", "none", "normal", "abnormal"))
"""Options that mean themselves only where an answer starts, not anywhere in a sentence."""
_SIDES: Final = frozenset(("right", "left"))
"""Options that mean a side only after "the" or "on": not "you are right", "what is left"."""
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
"""The end of a clause after some words: "consolidation, not effusion" denies only the second."""
_CLAUSE_LENGTH: Final = 300
_SENTENCE: Final = re.compile(r"(?:[^.;\n]|\.(?=\d)){1,400}")
_RANGE_BEFORE: Final = re.compile(r"(\w+)(?:\s+to\s+|\s*/\s*)\Z")
_RANGE_AFTER: Final = re.compile(r"(?:\s+to\s+|\s*/\s*)(\w+)")
"""Between two grades: "moderate to severe"."""
_UNIT: Final = re.compile(r"\s*(?:cm|mm|%|°|degrees?|days?|weeks?|years?|hours?)")
_BOUNDS: Final = r"[<>≤≥]\s*|\b(?:than|over|under|above|below|beyond)\s+"
_BOUND: Final = re.compile(rf"(?:{_BOUNDS})\d", re.IGNORECASE)
NUMBER_PREFIX: Final = re.compile(rf"(?:\d[.,]|{_BOUNDS})\Z", re.IGNORECASE)
"""Before a number: the start of a longer number, or a bound."""
_IN_ALL: Final = re.compile(r"\b(?:total of|in total,?|altogether,?)\s+\Z", re.IGNORECASE)
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
"""Only longer words distinguish options."""
_SAYS_LITTLE: Final = frozenset(
    ("there", "seen", "present", "visible", "shown", "noted", "identified", "evidence", "than")
)
_PLACES: Final = frozenset(
    ("above", "below", "beyond", "behind", "before", "outside", "near", "within", "between")
)
_ENDINGS: Final = frozenset(("", "s", "es", "d", "ed", "a", "e", "al", "um", "ar", "ly", "y"))


class OptionMention(NamedTuple):
    """An option's words in the text; ``denied``: as not there, or as merely possible."""

    option: int
    start: int
    end: int
    denied: bool


class OptionSearch:
    """The words of one text, to search for those of its question's options."""

    def __init__(self, text: str, options: Options, question: str) -> None:
        self.text, self.options, self.question = text, options, question

    @cached_property
    def _found(self) -> tuple[list[OptionMention], list[int]]:
        """All words of options from left to right; only the longest of overlapping ones."""
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
        longest: list[OptionMention] = []
        for start, minus_end, number in sorted(found):
            before = longest[-1] if longest else None
            if not before or -minus_end > before.end or (start, -minus_end) == before[1:3]:
                longest.append(OptionMention(number, start, -minus_end, False))
        return longest, [one.start for one in longest]

    def _spelled_out(self, word: str) -> tuple[str, ...]:
        """Return a word in lower case; initials and numbers as the options write them."""
        plain = word.casefold()
        if not may_be_short_form(word, plain):  # true for nearly all words
            return (plain,)
        stands_for = expand_short_forms(self.options.folded)
        return stands_for.get(word) or stands_for.get(plain) or (plain,)

    @cached_property
    def _has_bounds(self) -> bool:
        """True if options are bounds themselves: "> 3 cm"."""
        return any(_BOUND.search(one) for one in self.options.plain)

    def _is_bound(self, text: str) -> bool:
        """True if a text contains a bound, and no option is one."""
        return bool(_BOUND.search(text)) and not self._has_bounds

    def begin_at(self, at: int) -> list[OptionMention]:
        """Return the options whose words come next after an offset."""
        named, starts = self._found
        index = bisect_left(starts, at)
        if index == len(named) or re.search(r"\w", self.text[at : named[index].start]):
            return []
        return [one for one in named[index : index + 4] if one.start == starts[index]]

    def everywhere(self) -> list[OptionMention]:
        """Return all words of options in their order, denied or not."""
        return self._found[0]

    def lists_words(self) -> bool:
        """True if lines start with the words of several options."""
        first = {
            one.option
            for one in self._found[0]
            if not self.text[: one.start].rpartition("\n")[2].strip(" \t-•|")
        }
        return len(first) > 1

    def between(self, start: int, end: int) -> list[OptionMention]:
        """Return the options named in a stretch of text, and whether each is denied there."""
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

    def _is_meant(self, one: OptionMention, first: int) -> bool:
        """True if words with several meanings mean the option here."""
        words = self.options.folded[one.option]
        before = self.text[max(first, one.start - 10) : one.start]
        if words in SHORT:
            return False
        if words in _SIDES:
            return not before.strip() or bool(re.search(r"\b(?:the|on|in)\s+$", before, re.I))
        if words.isdigit():
            behind = re.match(r"\s+(\w{4,})", self.text[one.end : one.end + 30])
            return bool(behind and behind[1].casefold()[:5] in self.question.casefold())
        if words[0].isdigit() and NUMBER_PREFIX.search(before) and not self._has_bounds:
            return False
        return not (words[-1].isdigit() and _UNIT.match(self.text, one.end))

    def is_denied(self, one: OptionMention, first: int) -> bool:
        """True if the clause around some words denies them or only considers them possible."""
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
        """True if the text has a word that only another option has, outside options named in full.

        Denied words and words of the question do not count.
        """
        own = set(self.options.folded[option].split())
        asked = set(re.findall(r"\w+", self.question.casefold()))
        known = {word for words in self.options.folded for word in words.split()} - own - asked
        telling = {word for word in known if len(word) > _SHORTEST_TELLING} - SHORT - _SAYS_LITTLE
        for match in re.finditer(r"\w+", self.text):
            if match[0].casefold() not in telling:
                continue
            one = OptionMention(option, *match.span(), False)
            named = any(other.start <= one.start < other.end for other in self._found[0])
            if not named and not self.is_denied(one, 0):
                return True
        return False

    def in_other_order(self) -> OptionMention | None:
        """Find the only option whose words are all in one sentence, in any order.

        None if such a sentence contains words of other options, a denial or doubt, or a place that
        the option does not name.
        """
        sets = [frozenset(words.split()) - _EMPTY for words in self.options.folded]
        known = frozenset().union(*sets)
        found: list[OptionMention] = []
        for match in _SENTENCE.finditer(self.text):
            words: dict[str, list[str]] = {}
            for written in re.findall(r"\w+", match[0]):
                for word in self._spelled_out(written):
                    words.setdefault(word[:4], []).append(word)
            said = {
                one
                for one in known
                if any(have_same_stem(one, word) for word in words.get(one[:4], ()))
            }
            for number, wanted in enumerate(sets):
                if len(wanted) < 2 or wanted & _NEGATIVE or not wanted <= said:
                    continue
                elsewhere = any(place[:4] in words for place in _PLACES - wanted)
                unsure = _DENIED.search(match[0]) or self._is_bound(match[0])
                if elsewhere or said - wanted or unsure:
                    return None
                found.append(OptionMention(number, match.start(), match.end(), False))
        if len({one.option for one in found}) != 1:
            return None
        start = found[0].start
        sentence = self.text[start : found[0].end]
        return found[0]._replace(
            start=start + len(sentence) - len(sentence.lstrip()),
            end=start + len(sentence.rstrip()),
        )


def have_same_stem(one: str, other: str) -> bool:
    """True if two words differ only by an ending: nodule and nodules, not nodular."""
    if one == other:
        return True
    common = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        common += 1
    return common >= 4 and one[common:] in _ENDINGS and other[common:] in _ENDINGS


# The choice that was read from a text, its method and its offsets.

METHODS: Final[dict[str, str]] = {
    "letter": "a letter on its own, before the rest, or on the last line",
    "option": "the words of one option, and nothing else",
    "stated": "a sentence that names the answer",
    "field": "the answer's field of a JSON object",
    "probability": "the option that is given by far the highest probability",
    "mentioned": "the only option that the text speaks of",
}
"""Methods by which a choice is read from a text: ids and their descriptions."""
