"""Lines that lead others: headings without a mark, how far in a line stands, boxes to tick."""

from __future__ import annotations

import re
from typing import Final

from rexview.detect.findings.clauses import Clause
from rexview.detect.findings.sentences import Sentence
from rexview.detect.findings.tokens import Tokens

_LINE_START: Final = 40
"""Characters of a line among which it starts."""
_MARKUP: Final = 8
"""Characters of markup that may stand between the start of a line and its first word."""
_UNTICKED: Final = re.compile(r"[ \t]*(?:[-*+][ \t]*)?(?:\[[ \t]?\]|\([ \t]?\)|[☐□◻⬜])")
_BOXES: Final = " \t-*+[]()☐□◻⬜"
_BOX: Final = 6


def indent_of(tokens: Tokens, k: int) -> int:
    """Return how far in the line of token ``k`` stands, in characters."""
    text = tokens.text
    start = text.rfind("\n", 0, tokens.starts[k]) + 1
    return len(text[start : tokens.starts[k]]) - len(text[start : tokens.starts[k]].lstrip())


def leads_lines(tokens: Tokens, sentence: Sentence) -> int | None:
    """Return how far in a line stands that is a heading for lines further in; None for others."""
    text, end = tokens.text, tokens.ends[sentence.j - 1]
    stop = text.find("\n", end)
    line = text[text.rfind("\n", 0, end) + 1 : stop].strip()
    if stop > 0 and line.isupper() and not text[stop + 1 : stop + _LINE_START].isupper():
        return -1  # a line in capitals leads all that follow
    if stop < 0 or text[end:stop].strip(" \t:*_.") or not text[stop + 1 : stop + 2].isspace():
        return None
    after = text[stop + 1 : stop + _LINE_START]
    indent = indent_of(tokens, sentence.i)
    return indent if len(after) - len(after.lstrip(" \t")) > indent else None


def leads_line(tokens: Tokens, sentence: Sentence, clause: Clause) -> bool:
    """Whether a fragment opens a line as a heading would: "**Right pleural space.** No fluid."."""
    text, start = tokens.text, tokens.starts[sentence.i]
    opening = text[max(0, start - _MARKUP) : start].rsplit("\n", 1)
    first = start == 0 or (len(opening) == 2 and not opening[1].strip("*_# \t"))
    goes_on = sentence.j + 1 < len(tokens.words) and tokens.words[sentence.j + 1] != "\n"
    return first and goes_on and any(term.names_anatomy for term in clause.terms)


def stands_alone(tokens: Tokens, sentence: Sentence) -> bool:
    """Whether a sentence is all that its line has, above others."""
    text = tokens.text
    first, last = tokens.starts[sentence.i], tokens.ends[sentence.j - 1]
    before = text[text.rfind("\n", 0, first) + 1 : first]
    stop = text.find("\n", last)
    return stop >= 0 and not before.strip("*_#> \t") and not text[last:stop].strip("*_ \t")


def is_unticked(tokens: Tokens, sentence: Sentence) -> bool:
    """Whether a box before a sentence is empty: "[ ] Effusion"."""
    text, start = tokens.text, tokens.starts[sentence.i]
    line = text.rfind("\n", 0, start) + 1
    return _UNTICKED.match(text, line, start + _BOX) is not None and not text[line:start].strip(
        _BOXES
    )
