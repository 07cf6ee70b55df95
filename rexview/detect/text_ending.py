"""How a text ends: complete, cut off, caught in a loop, empty, or a refusal.

Looks at the text alone, for answers whose server recorded nothing that tells. What is looked for is
positive evidence of a cut (half a word, an open bracket, "consistent with"); a missing full stop is
none. The last word is judged in English texts only. Time is linear in the length of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

import yaml

from rexview.detect.text_loops import find_loop
from rexview.detect.text_structure import open_structure

EndingKind = Literal["complete", "truncated_suspected", "repetition", "empty", "blocked"]

_WORDS_FILE: Final = Path(__file__).with_name("ending_words.yaml")
_TAIL: Final = 4_000
"""Characters of the end that the last sentence and word are looked for in."""
_SPECIAL: Final = re.compile(
    r"\s*(?:<\|?/?(?:eos|s|im_end|endoftext|eot_id|end_of_turn|end|assistant|pad)\|?>|\[/?INST\])\s*$",
    re.IGNORECASE,
)
"""Words of a chat template that mark the end of an answer."""
_MOST_MARKS: Final = 4
_THOUGHT: Final = re.compile(
    r"<(think|thinking|thought|reasoning|scratchpad)>|◁think▷|<unused94>(?:thought)?", re.IGNORECASE
)
_THOUGHT_END: Final = re.compile(
    r"</(?:think|thinking|thought|reasoning|scratchpad)>|◁/think▷|<unused95>", re.IGNORECASE
)
_CLOSERS: Final = "*_`\"'”’»)]}|>~ \t\r\n"
_FINAL_STOPS: Final = ".!?。！？…।؟"
_CANNOT: Final = (
    r"(?:can(?:no|['’])?t|can not|could not|couldn['’]t|am (?:not able|unable) to|"
    r"['’]m (?:not able|unable) to|won['’]t|will not|must decline to|decline to|not able to|"
    r"unable to|not (?:qualified|trained|designed|permitted|allowed|equipped) to)"
)
_REFUSED_ACT: Final = (
    r"(?:(?:really |directly |currently )?(?:help|assist|comply|comment|fulfil|fulfill|engage|"
    r"continue with|discuss|process|answer|respond|generate|create|diagnose|analy[sz]e|interpret|"
    r"read|view|access|see|look at|examine|evaluate|open|provide|offer|give)\b)"
)
_REFUSED_THING: Final = (
    r"(?:medical|diagnos\w+|interpretations?|analys[ei]s|advice|images?|pictures?|photos?|"
    r"radiographs?|x-?rays?|scans?|requests?|questions?|this|that|these|with|you|content|files?)"
)
_REFUSAL: Final = re.compile(
    rf"\bI(?:\s|['’]m\b|\s+am\b)?[^.!?\n]{{0,40}}?{_CANNOT}\s+{_REFUSED_ACT}"
    rf"[^.!?\n]{{0,60}}?\b{_REFUSED_THING}\b"
    r"|\b(?:response|request|content|answer|output|prompt|image)s? "
    r"(?:was|were|has been|have been|is) "
    r"(?:blocked|filtered|removed|withheld|refused|declined|flagged|stopped)\b"
    r"|\b(?:violat\w+|against|breach\w*) (?:our|the|my|its|openai['’]?s?|usage|safety)[\w ]{0,30}"
    r"(?:polic(?:y|ies)|guidelines?|terms)"
    r"|\bcontent[ _](?:filter(?:ed)?|policy|management policy)\b"
    r"|^\W*(?:blocked|refused|request blocked|content blocked|\[blocked\]|safety)\W*$"
    r"|\bI['’]?m sorry,? but I (?:can['’]?t|cannot)\b",
    re.IGNORECASE,
)
_CONTENT: Final = re.compile(
    r"\b(?:there (?:is|are)|(?:lungs?|heart|mediastinum|silhouette|film|bones?) (?:is|are|"
    r"appears?)|no (?:acute|focal|evidence|pleural|pneumothorax|consolidation|effusion)|"
    r"(?:most|more|less) likely|likely to be|suggest\w*|explanation|impression|findings?:|"
    r"i (?:can )?(?:see|observe|note)|normal|clear|enlarged|consistent with)\b",
    re.IGNORECASE,
)
_REFUSAL_SPAN: Final = 400
"""A refusal stands at the beginning; what follows it is then advice, not a reading."""
_LONGEST_REFUSAL: Final = 1_200
_SECTION: Final = re.compile(
    r"^\s*(?:#{1,6}\s+)[*_]{0,2}(?:\d+[.)]\s*)?(?:impressions?|conclusions?|findings|summary|"
    r"recommendations?|assessment|discussion|differential(?: diagnos[ei]s)?|interpretation|"
    r"diagnos[ei]s|analysis|evaluation|answer|final answer|limitations|next steps?)[*_]{0,2}\s*$",
    re.IGNORECASE,
)
_RULE: Final = re.compile(r"^\s*([-*_=])(?:\s*\1){2,}\s*$")
_LIST_MARK: Final = re.compile(
    r"^\s*(?:[-*+•–‣◦]|\(?\d{1,3}[.)]|\(?[a-z][.)]|[-*+•]\s*\[[ xX]?\]?)\s*(?:\*\*|__)?\s*$"
)
_NO_ITEM: Final = "it ends with the mark of a list item that never came"
_SMILEY: Final = re.compile(r"[:;]-?[)(D]$")
_TIME: Final = re.compile(r"^\W*\d{1,3}:$")
_DECIMAL: Final = re.compile(r"(?<![\d.,])0\.$")
_ABBREVIATED: Final = re.compile(r"\b(?:e\.g|i\.e|vs|cf|approx|Dr)\.$")
_LISTED: Final = 3
"""Semicolons on a line from which they end the items of a list."""
_INLINE_MARK: Final = re.compile(
    r"(?<!\bref)(?<!\brefs)(?<!\bfig)(?<!\bno)(?<!\bvol)(?<!\bca)(?<!\bapprox)(?<=[a-z)])"
    r"[.;]\s+\d{1,2}\.?$",
    re.IGNORECASE,
)
_LAST_WORD: Final = re.compile(r"[^\W\d_]+(?:['’./-][^\W\d_]+)*\.?$")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_VERB: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|be|been|shows?|demonstrates?|reveals?|suggests?|appears?|"
    r"seen|noted|there|measures?|lies|ends|indicates?|represents?|projects?|remains?|with)\b",
    re.IGNORECASE,
)
_ARTICLE_BEFORE: Final = re.compile(
    r"\b(?:there (?:is|are|was|were)|a|an|another|with|within|without|no|any|of|and|mild|very|"
    r"slightly|represents?|shows?|demonstrates?|suggests?|reflects?|indicates?|reveals?)\s+(?:[\w-]+ly\s+)?$",
    re.IGNORECASE,
)
_NEEDS_MORE: Final = re.compile(
    r"\b(?:there (?:is|are)|with|and|due|secondary|shows?|has|have|is|are|attributed|related|but|"
    r"adjacent|relative|compared|according|extends?|of|for|within|be|suggests?|without)\s+$",
    re.IGNORECASE,
)
_CONTRACTED: Final = re.compile(
    r"(?:\b(?:it|there|he|she|what|who|here)['’]s|['’](?:re|ve|ll)|n['’]t)$", re.IGNORECASE
)
_HALF_CLAUSE: Final = re.compile(
    r"\b(?:whereas|while|that|because|although|but|where)\s+the\s+(?:left|right)$", re.IGNORECASE
)
_NO: Final = re.compile(r"\b(?:no|without|any)\s+$", re.IGNORECASE)
_TO_WHAT: Final = re.compile(
    r"\b(?:refer\w*|attend\w*|allud\w*|belong\w*|want\w*|wish\w*|respond\w*|listen\w*|led|used)\s+$",
    re.IGNORECASE,
)
"""Before a "to" that may end a sentence: "what it refers to"."""
_PREDICATE: Final = re.compile(
    r"\b(?:is|are|was|were|be|remains?|appears?|seen|noted|than|or|not|likely|"
    r"mainly|more|less|both)\s+$",
    re.IGNORECASE,
)
_SENTENCE_START: Final = re.compile(r"(?<=[.!?;])\s+|\s\|\s|:\s")
_AFTER_STOP: Final = re.compile(r"[a-z)][.;]\s+$")
_SHORT: Final = 60
"""Characters; in a shorter text a last word on its own is not held against it."""
_LONGEST_WORD: Final = 80
_INFLECTIONS: Final = frozenset(("s", "es", "ed", "d", "ing", "ly", "er", "r", "st"))
_LETTER_NAMED: Final = re.compile(
    r"(?:\d\s*|\b(?:option|type|grade|class|stage|vitamin|hepatitis|answer|choice|point|zone|figure)"
    r"\s+|[:(=/|-]\s*)$",
    re.IGNORECASE,
)
"""Before a single letter that is a name or a unit."""
_WHOLE: Final = ("known", "short_forms", "continuing", "adjectives", "transitive", "degree")
_ENGLISH: Final = 0.4
"""Share of known words from which a text is taken for English."""


@dataclass(frozen=True)
class TextEnding:
    """How a text ends, why that is said, and where it can be checked (offsets into the text)."""

    kind: EndingKind
    reason: str = ""
    start: int = 0
    end: int = 0


def text_ending(text: str | None) -> TextEnding:
    """Say from a text alone how it ends.

    Parameters
    ----------
    text : str or None

    Returns
    -------
    TextEnding
        ``empty``: nothing to read. ``blocked``: a refusal or a filter's notice in place of an
        answer. ``repetition``: the end is a loop. ``truncated_suspected``: the end shows a cut.
        ``complete``: none of these. ``reason`` is half a sentence, empty for ``complete``.

    Examples
    --------
    >>> text_ending("There is a moderate right pleural eff").kind
    'truncated_suspected'
    >>> text_ending("Heart size normal. No acute osseous abnormality").kind
    'complete'
    """
    whole = text or ""
    start, end = _readable_part(whole)
    if start is None:
        return TextEnding("truncated_suspected", "the reasoning never ends", max(0, end - 80), end)
    body = whole[start:end]
    if not any(map(str.isalnum, body)):
        loop = find_loop(body)
        if loop:
            return TextEnding("repetition", "one sign is repeated", start + loop.start, end)
        return TextEnding("empty", "there is nothing to read", start, end)
    loop = find_loop(body)
    if loop:
        return TextEnding("repetition", loop.reason, start + loop.start, end)
    blocked = _refusal(body)
    if blocked:
        return TextEnding("blocked", "it is a refusal", start + blocked[0], start + blocked[1])
    if end < len(whole.rstrip()):  # the template's own end mark follows
        return TextEnding("complete")
    cut = _cut(body)
    if cut is None:
        return TextEnding("complete")
    reason, place = cut
    return TextEnding("truncated_suspected", reason, start + place, end)


def _readable_part(text: str) -> tuple[int | None, int]:
    """Return where the answer itself starts and ends; no start when reasoning is still open."""
    end = len(text.rstrip())
    for _ in range(_MOST_MARKS):
        mark = _SPECIAL.search(text, max(0, end - _LONGEST_WORD), end)
        if mark is None:
            break
        end = len(text[: mark.start()].rstrip())
    opened = _THOUGHT.match(text, len(text) - len(text.lstrip()))
    if not opened:
        return 0, end
    closed = _last_match(_THOUGHT_END, text, end)
    return (closed, end) if closed is not None else (None, end)


def _last_match(pattern: re.Pattern[str], text: str, end: int) -> int | None:
    found = None
    for match in pattern.finditer(text, 0, end):
        found = match.end()
    return found


def _refusal(body: str) -> tuple[int, int] | None:
    if len(body) > _LONGEST_REFUSAL:
        return None
    match = _REFUSAL.search(body[:_REFUSAL_SPAN])
    if match is None:
        return None
    rest = body[: match.start()] + " " + body[match.end() :]
    return None if _CONTENT.search(rest) else match.span()


def _cut(body: str) -> tuple[str, int] | None:
    """Return why a text looks cut, and where; None when it does not."""
    opened = open_structure(body)
    if opened:
        return opened
    base = max(0, len(body) - _TAIL)
    tail = body[base:]
    line_start = tail.rfind("\n") + 1
    line = tail[line_start:]
    place = base + line_start
    if _RULE.match(line):
        return None
    if _LIST_MARK.match(line) and (place > 0 or len(line.strip()) > 1):
        return _NO_ITEM, place
    if _SECTION.match(line) and place > 0:
        return "it ends with a heading and nothing below it", place
    core = line.rstrip(_CLOSERS)
    if not core:
        return None
    last = core[-1]
    if last in _FINAL_STOPS:
        return _after_stop(core, place)
    if line.rstrip()[-1] == "|":
        return None
    return _without_stop(tail, line, core, place)


def _after_stop(core: str, place: int) -> tuple[str, int] | None:
    """Judge a text that ends with a full stop: a decimal point or "e.g." is none."""
    if _DECIMAL.search(core):
        return "it ends in the middle of a number", place
    if _INLINE_MARK.search(core):
        return _NO_ITEM, place
    if _ABBREVIATED.search(core):
        return "it ends with a word that something has to follow", place
    return None


def _without_stop(tail: str, line: str, core: str, place: int) -> tuple[str, int] | None:
    last, ending = core[-1], line.rstrip()
    if _SMILEY.search(ending):
        return None
    if ending[-1] in "({[<" or last in ",(/&+=<[{":
        return f"it ends with “{ending[-1] if ending[-1] in '({[<' else last}”", place
    if last == ";" and core.count(";") < _LISTED:
        return "it ends with “;”", place
    if last == ":" and not _TIME.search(core):
        return "it ends with a colon and nothing after it", place
    if last in "-–—" and len(core) > 1 and core[-2].isalnum():
        return "it ends with a dash", place
    if _INLINE_MARK.search(ending):
        return _NO_ITEM, place
    match = _LAST_WORD.search(core[-_LONGEST_WORD:])
    if match is None or ending[-1] in '`"”»)]}>':
        return None
    return _last_word(tail, core, max(0, len(core) - _LONGEST_WORD) + match.start(), place)


def _last_word(tail: str, core: str, start: int, place: int) -> tuple[str, int] | None:
    """Judge the last word (from ``start``) of a line that ends without a full stop."""
    words = ending_words()
    given = [word.lower() for word in _WORD.findall(tail)]
    if not _english(given, words):
        return None
    raw, before = core[start:].rstrip("."), core[:start]
    word = raw.lower()
    sentence = _SENTENCE_START.split(before)[-1]
    alone = not _WORD.search(sentence)
    begun = bool(_AFTER_STOP.search(before)) and len(tail) > _SHORT
    if len(raw) == 1 and raw.isupper():
        return ("it ends in the middle of a word", place + start) if begun else None
    if raw.isupper() and not core.isupper():
        return None
    middle = "it ends in the middle of a sentence", place + start
    if not alone and (_CONTRACTED.search(core[-20:]) or _HALF_CLAUSE.search(core[-40:])):
        return middle
    if word in words["continuing"] and (begun or not alone):
        value = word in words["value_or_idiom"] and not _NEEDS_MORE.search(sentence)
        value = value or (word == "to" and bool(_TO_WHAT.search(sentence)))
        return None if value and not begun else middle
    if _NO.search(sentence) and word in words["attributive"] | words["adjectives"] | {"evidence"}:
        return middle
    if _VERB.search(sentence) and len(_WORD.findall(sentence)) >= 2:
        attributive = word in words["attributive"] and not _PREDICATE.search(sentence)
        noun = word in words["adjectives"] and _ARTICLE_BEFORE.search(sentence)
        if noun or attributive or word in words["degree"]:
            return middle
    if word in words["transitive"] and not alone:
        return middle
    named = len(raw) == 1 and _LETTER_NAMED.search(before)
    first = alone and not begun and not place and not before.strip()
    if not first and not named and _half_word(word, given, words):
        return "it ends in the middle of a word", place + start
    return None


def _half_word(word: str, given: list[str], words: dict[str, frozenset[str]]) -> bool:
    """Whether a word is only the start of a longer one that is known or used in the text."""
    piece = word.rsplit("-", 1)[-1] or word
    if "/" in word:
        return False
    if len(piece) > 1 and any(piece in words[name] for name in _WHOLE):
        return False
    others = given[:-1]
    if piece in others or word in others or "." in piece:
        return False
    if len(piece) == 1:
        return True
    longer = [known for known in _starts(piece) if known != piece]
    longer += [known for known in set(others) if known.startswith(piece)]
    if not longer:
        return False
    return min(longer, key=len)[len(piece) :] not in _INFLECTIONS


def _english(given: list[str], words: dict[str, frozenset[str]]) -> bool:
    if not given:
        return False
    recent = given[-200:]
    known = sum(word in words["known"] or word in words["continuing"] for word in recent)
    return known >= _ENGLISH * len(recent)


@cache
def ending_words() -> dict[str, frozenset[str]]:
    """Return the word lists of ``ending_words.yaml`` by name."""
    raw = yaml.safe_load(_WORDS_FILE.read_text(encoding="utf-8"))
    return {name: frozenset(text.split()) for name, text in raw.items()}


@cache
def _by_start() -> dict[str, tuple[str, ...]]:
    """Return the known words by their first two letters."""
    found: dict[str, list[str]] = {}
    words = ending_words()
    for word in sorted(words["known"] | words["attributive"] | words["continuing"]):
        found.setdefault(word[:2], []).append(word)
    return {start: tuple(group) for start, group in found.items()}


def _starts(piece: str) -> list[str]:
    return [word for word in _by_start().get(piece[:2], ()) if word.startswith(piece)]
