"""A question and its list of options, as many models repeat them before they answer."""

from __future__ import annotations

import re
from itertools import pairwise

from rexview.choices import cues
from rexview.choices.words import Named, Words

_SHORTEST_QUESTION = 10
_MARKED = re.compile(r"[✓✔✅☑✗✘❌☒→]")
_GOES_ON = re.compile(r"[^\S\n]*(?:[^\W_]|[✓✔✅☑✗✘❌☒:→]|[–—-]\s)")
"""Behind a list that does not end there: its last option is being spoken of."""


def without_next_question(text: str, question: str) -> str:
    """Blank what a model goes on with after its answer: another question, and what comes behind."""
    for match in cues.NEXT_QUESTION.finditer(text):
        answered = text[: match.start()].rstrip()
        asked = match["asked"].strip()
        if answered and asked and asked.casefold() not in question.casefold():
            return _blanked(text, text.index("\n", len(answered)), len(text))
    return text


def without_what_was_asked(text: str, question: str, words: Words) -> str:
    """Blank the question where it stands in a text, and the first list of all its options.

    A list in which something is said of an option, if only by a tick, is no repetition.
    """
    question = question.strip()
    at = text.find(question) if len(question) > _SHORTEST_QUESTION else -1
    if at >= 0:
        text = _blanked(text, at, at + len(question))
    named, size = words.everywhere(), len(words.options.folded)
    for first in range(len(named) - size + 1 if size > 1 else 0):
        if named[first].option != 0:
            continue
        run = named[first : first + size]
        start = _list_start(text, run, words.options.labels)
        if start is not None:
            return _blanked(text, start, run[-1].end)
    return text


def _list_start(text: str, run: list[Named], labels: tuple[str, ...]) -> int | None:
    """Return where a list begins whose entries have these words; None if it is no plain list."""
    if [one.option for one in run] != list(range(len(run))) or _GOES_ON.match(text, run[-1].end):
        return None
    for label, (before, after) in zip(labels[1:], pairwise(run), strict=False):
        gap = text[before.end : after.start]
        between = rf"[\s,;.|)]{{0,9}}(?:or|and)?[^\w]{{0,9}}{label}\W{{1,4}}"
        if len(gap) > 30 or _MARKED.search(gap) or not re.fullmatch(between, gap, re.IGNORECASE):
            return None
    before_first = max(0, run[0].start - 8)
    match = re.search(
        rf"[(\[]?\b{labels[0]}\W{{1,4}}\Z", text[before_first : run[0].start], re.IGNORECASE
    )
    return before_first + match.start() if match else None


def _blanked(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]
