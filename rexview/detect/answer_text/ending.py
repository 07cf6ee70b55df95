"""How a text ends: complete, cut off, caught in a loop, empty, or a refusal.

Looks at the text alone, for answers whose server recorded nothing that tells. What is looked for is
positive evidence of a cut (half a word, an open bracket, "consistent with"); a missing full stop is
none. The last word is judged in English texts only. Time is linear in the length of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from rexview.detect.answer_text.last_word import ending_words, judge_last_word
from rexview.detect.answer_text.lists import open_list
from rexview.detect.answer_text.loops import find_loop
from rexview.detect.answer_text.refusal import find_refusal
from rexview.detect.answer_text.sentence_stops import open_sentence
from rexview.detect.answer_text.structure import open_structure
from rexview.language import language_of

EndingKind = Literal["complete", "truncated_suspected", "repetition", "empty", "blocked"]

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
_RULE: Final = re.compile(r"^\s*([-*_=])(?:\s*\1){2,}\s*$")
_LIST_MARK: Final = re.compile(
    r"^\s*(?:[-*+•–‣◦]|\(?\d{1,3}[.)]|\(?[a-z][.)]|[-*+•]\s*\[[ xX]?\]?)\s*(?:\*\*|__)?\s*$"
)
_ITEM: Final = re.compile(r"^\s*(?:[-*+•–‣◦]|\(?\d{1,3}[.)])\s+(?P<words>\S[^\n]{0,300})$")
_LONG_ITEM: Final = 4
"""Words of an item beside which one adjective alone looks cut."""
_NO_ITEM: Final = "it ends with the mark of a list item that never came"
_SMILEY: Final = re.compile(r"[:;]-?[)(D]$")
_ADDRESS: Final = re.compile(r"(?:https?://|www\.)\S{8,}$")
_EMPTY_PAIR: Final = re.compile(r"\[\]|\(\)|\{\}|<>")
_TIME: Final = re.compile(r"^\W*\d{1,3}:$")
_BARE_NUMBER: Final = re.compile(
    r"(?<!ratio )(?<!angle )(?<!index )(?<!score )\b(?:measur(?:es|ing|ed)|approximately|about"
    r"|(?:order|size|diameter|width|thickness|distance|depth) of|(?:CT|follow-?up) (?:at|in)"
    r"|(?:films?|radiographs?|x-?rays?|imaging) in)\s+(?:~\s*)?[1-9]\d{0,2}(?:\.\d+)?"
    r"(?:\s*[–x×-]\s*\d+(?:\.\d+)?)*$",
    re.IGNORECASE,
)
_HALF_COMMAND: Final = re.compile(r"\\[a-z]*$|\w\s*[<>]$")
"""The start of a formula, or a comparison with nothing."""
_DECIMAL: Final = re.compile(
    r"(?<![\d.,])0\.$|\b(?:about|approximately|around|roughly|measures|measuring)\s+\d{1,2}\.$"
)
_ABBREVIATED: Final = re.compile(r"\b(?:e\.g|i\.e|vs|cf|approx|Dr)\.$")
_LISTED: Final = 3
"""Semicolons on a line from which they end the items of a list."""
_INLINE_MARK: Final = re.compile(
    r"(?<!\bref)(?<!\brefs)(?<!\bfig)(?<!\bno)(?<!\bvol)(?<!\bca)(?<!\bapprox)(?<=[a-z)])"
    r"[.;]\s+\d{1,2}\.?$",
    re.IGNORECASE,
)
_INLINE_LETTER: Final = re.compile(r"[,;]\s*(?:and\s+|or\s+)?\(?[b-h2-9]\)$")
"""The mark of an item in a sentence: "(a) tuberculosis, (b)"."""
_LAST_WORD: Final = re.compile(r"[^\W\d_]+(?:['’./-][^\W\d_]+)*\.?$")
_LONGEST_WORD: Final = 80


@dataclass(frozen=True)
class TextEnding:
    """How a text ends, why that is said, and where it can be checked (offsets into the text)."""

    kind: EndingKind
    reason: str = ""
    start: int = 0
    end: int = 0


def text_ending(text: str | None) -> TextEnding:
    """Say from a text alone how it ends.

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
    blocked = find_refusal(body)
    ended = end < len(whole.rstrip())  # the template's own end mark follows
    cut = None if ended else _cut(body)
    if blocked and (cut is None or blocked[1] >= len(body.rstrip())):
        return TextEnding("blocked", "it is a refusal", start + blocked[0], start + blocked[1])
    if cut is None:
        return TextEnding("complete")
    reason, place = cut
    return TextEnding("truncated_suspected", reason, start + place, end)


def _readable_part(text: str) -> tuple[int | None, int]:
    """Return where the answer itself starts and ends; no start when reasoning is still open."""
    end = len(text.rstrip())
    for _ in range(_MOST_MARKS):
        end_mark = _SPECIAL.search(text, max(0, end - _LONGEST_WORD), end)
        if end_mark is None:
            break
        end = len(text[: end_mark.start()].rstrip())
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
    listed = open_list(body)
    if listed:
        return listed
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
    if _ends_in_digit(core) and _ends_in_mark(core):
        return _NO_ITEM, place
    if _ABBREVIATED.search(core):
        return "it ends with a word that something has to follow", place
    return None


def _without_stop(tail: str, line: str, core: str, place: int) -> tuple[str, int] | None:
    last, ending = core[-1], line.rstrip()
    if _SMILEY.search(ending) or _ADDRESS.search(core) or _EMPTY_PAIR.match(line, len(core) - 1):
        return None
    if ending[-1] in "({[<" or last in ",(/&+=<[{":
        return f"it ends with “{ending[-1] if ending[-1] in '({[<' else last}”", place
    if last == ";" and core.count(";") < _LISTED and not _closed_with_semicolons(tail):
        return "it ends with “;”", place
    if _INLINE_LETTER.search(ending):
        return _NO_ITEM, place
    if last == ":" and not _TIME.search(core):
        return "it ends with a colon and nothing after it", place
    if last in "-–—" and len(core) > 1 and core[-2].isalnum():
        return "it ends with a dash", place
    if _ends_in_digit(ending) and _ends_in_mark(ending):
        return _NO_ITEM, place
    if _half_item(tail, line):
        return "it ends in the middle of a list item", place
    if _HALF_COMMAND.search(ending) and "<" not in ending[:-1]:
        return "it ends in the middle of a formula", place
    if ending[-1] in '`"”»)]}>':
        return None
    if _BARE_NUMBER.search(core[-_LONGEST_WORD:]):
        return "it ends with a number that lacks its unit", place
    match = _LAST_WORD.search(core[-_LONGEST_WORD:])
    if match is None:
        return _open_sentence(tail, line, place)
    word = max(0, len(core) - _LONGEST_WORD) + match.start()
    return judge_last_word(tail, core, word, place) or _open_sentence(tail, line, place)


def _closed_with_semicolons(tail: str) -> bool:
    """Whether the lines before the last one end with a semicolon, too."""
    above = [line.rstrip() for line in tail.splitlines()[:-1] if line.strip()]
    listed = len(above) > 1 and all(line.endswith(";") for line in above[-2:])
    return listed or any(line.count(";") > 1 for line in above[-2:])


def _open_sentence(tail: str, line: str, place: int) -> tuple[str, int] | None:
    """Judge a last sentence without a full stop by the sentences before it; English ones."""
    start = None if language_of(tail) else open_sentence(tail, line)
    if start is None:
        return None
    return "it ends before the verb of a sentence", place + start


def _half_item(tail: str, line: str) -> bool:
    """Whether a list ends with an adjective alone, after items of several words each."""
    item = _ITEM.match(line)
    words = item["words"].split() if item else []
    if len(words) != 1 or words[0].lower() not in ending_words()["adjectives"]:
        return False
    before = [found["words"].split() for found in map(_ITEM.match, tail.splitlines()[:-1]) if found]
    return len(before) > 1 and all(len(one) >= _LONG_ITEM for one in before[-2:])


def _ends_in_mark(line: str) -> bool:
    """Whether a line ends with a number that opens an item: "... of air. 2."."""
    stop = max(line.rfind(sign, 0, -1) for sign in ".;")
    return stop >= 0 and _INLINE_MARK.match(line, stop) is not None


def _ends_in_digit(text: str) -> bool:
    return any(char.isdigit() for char in text[-3:])
