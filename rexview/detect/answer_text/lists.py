"""Lists that are not at their end: fewer items than announced, half a line, a heading alone."""

from __future__ import annotations

import re
from typing import Final

from rexview.detect.phrases import either, whole_words

_ITEM: Final = re.compile(
    r"^\s*(?P<mark>[-*+•–‣◦]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)]|[QA]?\d{1,3}:)\s+(?P<words>\S.*)$"
)
_KEYED: Final = re.compile(r"^\s*(?:[-*+•–‣◦]\s+)?[*_]{0,2}[^:|\s*_][^:|]{0,50}:(?=\s|\*|$)")
_KEY: Final = re.compile(r"^\s*(?:[-*+•–‣◦]\s+)?[*_]{0,2}[A-Za-z][\w /&'’()-]{0,40}$")
_MOST_KEY_WORDS: Final = 3
_STATEMENT: Final = re.compile(
    r"^(?:no|not|none|without|otherwise|all|old|new|mild|small|large|acute|chronic|left|right|possible|probable"
    r"|likely|suspected|see|end)\b|\b(?:normal|clear|absent|present|unremarkable|intact|unchanged|stable|disease)$"
)
"""Says something by itself."""
_HASHED: Final = re.compile(r"^\s{0,3}(#{1,6})\s+\S")
_THE_END: Final = re.compile(r"\b(?:end|fin|thank|signed|done)\b|[.!?]\s*$", re.IGNORECASE)
_TITLED: Final = re.compile(r":[*_]*\s+\S")
"""A heading with its text in its own line."""
_BOLD_LINE: Final = re.compile(r"^\s{0,3}(\*\*|__)[^*_]+\1:?\s*$")
_HEADING: Final = re.compile(
    rf"^\s*[*_]{{0,2}}(?:\d{{1,2}}[.)]\s*)?(?:{either('text_end', 'heading')})[*_]{{0,2}}$",
    re.IGNORECASE,
)
_NUMBERS: Final = {
    **{str(value): value for value in range(2, 11)},
    **{
        word: value
        for value, word in enumerate(
            ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), 2
        )
    },
}
_ANNOUNCED: Final = re.compile(
    rf"\b(?P<number>{'|'.join(_NUMBERS)})\s+(?:[\w-]+\s+){{0,3}}?"
    rf"(?:{either('text_end', 'counted')})\b[^.:\n]{{0,80}}:[*_]{{0,2}}[ \t]*(?=\n|\(?[1ai][.)])",
    re.IGNORECASE,
)
_COUNTED: Final = re.compile(
    rf"\b(?P<number>{'|'.join(_NUMBERS)})\s+(?:[\w-]+\s+){{0,3}}?"
    rf"(?:{either('text_end', 'counted')})\b[^.:\n]{{0,60}}[.:]",
    re.IGNORECASE,
)
_ORDINALS: Final = (
    "first(?:ly)?",
    "second(?:ly)?",
    "third(?:ly)?",
    "fourth(?:ly)?",
    "fifth(?:ly)?",
)
_ONE: Final = (
    r"(?:[*_]*[,:]|[*_]* (?:is|was|would|may|one|possibility|option|reason|cause|thing|finding)\b)"
)
_OTHERS: Final = re.compile(
    r"\b(?:other|others|another|next|last(?:ly)?|final(?:ly)?|then|also|remaining|rest|latter)\b",
    re.IGNORECASE,
)
"""Speaks of what follows without counting it."""
_INLINE_ITEM: Final = re.compile(r"(?:^|[\s,;])\(?(?:\d|[a-j]|[ivx]{1,3})\)\s")
_CLOSED: Final = re.compile(r"[.!?][\"”’)\]*_`]*$")
_ASKING: Final = re.compile(
    r"^(?:what|which|who|whose|when|where|why|how|is|are|was|were|do|does|did|can|could|has|have|should|will)\b",
    re.IGNORECASE,
)
_SENTENCE: Final = whole_words("text_end", "finite")
_STEP: Final = re.compile(
    r"^\W*(?:step|part|question|point|section|zone|stage)\s+\d{1,2}\b", re.IGNORECASE
)
_AT_DASH: Final = re.compile(r"[\w).][*_]{0,3}\s[–—-]\s*[*_]*$")
_PAST_DASH: Final = re.compile(r"[\w).][*_]{0,3}\s[–—-]\s+[*_]*\w")
_ENOUGH: Final = 3
"""Lines of one shape, or closed items, from which another shape stands out."""
_WINDOW: Final = 3_000
_LINES: Final = 60


def open_list(text: str) -> tuple[str, int] | None:
    r"""Say which list a text that ends without a full stop leaves open.

    Returns
    -------
    tuple of str and int, or None
        Half a sentence that says why the text looks cut, and where that shows.

    >>> open_list("Three findings:\n1. Effusion\n2. Scar")
    ('it ends before all that was announced has come', 0)
    """
    base = max(0, len(text) - _WINDOW)
    window = text[base:]
    *above, line = window.splitlines()[-_LINES:] or [""]
    place = len(text) - len(line)
    if _CLOSED.search(line.rstrip()):
        return _too_few(window, base)
    if _lone_heading(above, line):
        return "it ends with a heading and nothing below it", place
    if _half_line(above, line):
        return "it ends in the middle of a line of a list", place
    if _open_step(above, line):
        return "it ends with a step that is not closed, unlike those before", place
    if _ends_at_dash(above, line):
        return "it ends with a dash and nothing after it, unlike the items before", place
    if _open_item(above, line):
        return "it ends with an item that is not closed, unlike those before", place
    return _too_few(window, base)


def _lone_heading(above: list[str], line: str) -> bool:
    """Whether the last line is a heading, known or like another one that has text below it."""
    filled = [one for one in above if one.strip()]
    if not filled:
        return False
    if _HEADING.match(line) and not _KEYED.match(filled[-1]):
        return True
    if _HASHED.match(filled[-1]) or _BOLD_LINE.match(filled[-1]):
        return False
    if _HASHED.match(line):
        states = _STATEMENT.search(line.strip(" #*_").lower())
        return not (_THE_END.search(line) or _TITLED.search(line) or states)
    return bool(_BOLD_LINE.match(line)) and any(map(_BOLD_LINE.match, filled[:-1]))


def _half_line(above: list[str], line: str) -> bool:
    """Whether names with values ("Heart: normal") end with a name alone."""
    parts = [part.strip() for part in line.split(";")]
    if len(parts) > _ENOUGH - 1 and all(":" in part for part in parts[:-1]) and parts[-1]:
        return _is_key(parts[-1])
    item = _ITEM.match(line)
    least = _ENOUGH if item else _ENOUGH + 1
    before = above[-least:]
    if len(before) < least or not all(map(_KEYED.match, before)) or not _KEY.match(line):
        return False
    if bool(item) != bool(_ITEM.match(before[-1])):
        return False
    return _is_key(item["words"] if item else line)


def _is_key(words: str) -> bool:
    return (
        ":" not in words
        and len(words.split()) <= _MOST_KEY_WORDS
        and not _STATEMENT.search(words.lower())
    )


def _open_item(above: list[str], line: str) -> bool:
    """Whether the items before are sentences or questions that end, and the last one does not."""
    item = _ITEM.match(line)
    if item is None:
        return False
    before: list[str] = []
    for one in reversed(above):
        found = _ITEM.match(one)
        if found is None or found["mark"][-1] != item["mark"][-1]:
            break
        before.append(found["words"].rstrip())
    words = item["words"]
    if before and _ASKING.match(words) and before[0].endswith("?"):
        return True
    if ":" in words or "http" in words or not all(map(_CLOSED.search, before)):
        return False
    if _SENTENCE.search(words) or words.split()[0] in ("The", "A", "This"):
        return len(before) >= _ENOUGH - 1
    sentences = sum(_SENTENCE.search(one) is not None for one in before)
    return len(before) >= _ENOUGH and sentences * 2 >= len(before)


def _open_step(above: list[str], line: str) -> bool:
    """Whether numbered steps are closed sentences, and the last one is not: "Step 5 - Putting"."""
    if not _STEP.match(line):
        return False
    steps = [one.rstrip() for one in above if _STEP.match(one)]
    return len(steps) >= _ENOUGH - 1 and all(map(_CLOSED.search, steps))


def _ends_at_dash(above: list[str], line: str) -> bool:
    """Whether a line ends with a dash after which the lines like it have something to say."""
    if not _AT_DASH.search(line):
        return False
    filled = [one for one in above if one.strip()]
    return bool(filled) and _PAST_DASH.search(filled[-1]) is not None


def _too_few_ordinals(window: str, base: int) -> tuple[str, int] | None:
    """Find an announced number of things of which "the first" has come and not all others."""
    announced = next(reversed([*_COUNTED.finditer(window)]), None)
    if announced is None:
        return None
    rest = window[announced.end() :]
    come = [
        n
        for n, word in enumerate(_ORDINALS, 1)
        if re.search(rf"\b(?:the )?{word}\b{_ONE}", rest, re.I)
    ]
    wanted = _NUMBERS[announced["number"].lower()]
    if not come or come[0] != 1 or len(come) >= wanted or len(come) != come[-1]:
        return None
    if _OTHERS.search(rest):
        return None
    return "it ends before all that was announced has come", base + announced.start()


def _too_few(window: str, base: int) -> tuple[str, int] | None:
    """Find a list that was announced with a number and runs to the end with fewer items."""
    announced = next(reversed([*_ANNOUNCED.finditer(window)]), None)
    if announced is None:
        return _too_few_ordinals(window, base)
    rest = window[announced.end() :]
    lines = [one for one in rest.splitlines() if one.strip()]
    if rest.startswith("\n"):
        items = [found for found in map(_ITEM.match, lines) if found]
        top = [one for one in items if one.start("mark") == items[0].start("mark")]
        whole = lines and all(_ITEM.match(one) or one[:1].isspace() for one in lines)
        count = len(top) if whole else 0
    else:
        count = len(_INLINE_ITEM.findall(" " + rest)) if len(lines) == 1 else 0
    if not 0 < count < _NUMBERS[announced["number"].lower()]:
        return None
    return "it ends before all that was announced has come", base + announced.start()
