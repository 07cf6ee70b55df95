"""Answers that give a side only: the finding stands in the question, or the side in its options."""

from __future__ import annotations

import re
from typing import Final

from rexview.detect.findings import Mention, find_mentions, finding_info
from rexview.detect.laterality.text import sided_by_family, sides_named
from rexview.schema import Case

_LONGEST: Final = 2_000
"""Characters of a question or answer that are read."""
_OPTION: Final = re.compile(r"(?:^|(?<=\s))\(?([A-Ha-h1-8])[).:]\s+")
_CHOSEN: Final = re.compile(
    r"\W*(?:(?:the |my |correct |right |best |final )*(?:answer|option|choice)(?: is)?\W+)?"
    r"\(?([A-Ha-h1-8])(?:[).:,]|\s*$)",
    re.IGNORECASE,
)
_FEWEST: Final = 2
"""Options; less of them are no choice."""


def side_in_reply(case: Case, text: str) -> list[Mention]:
    """Read the side that an answer gives the one finding of its question, without naming it.

    "On the right.", or "B" where the question lists "B) Right". An answer that names both sides,
    and a question of several findings or of one whose side it names itself, give none.
    """
    question = case.question[:_LONGEST]
    if not text or len(text) > _LONGEST or not question or case.options:
        return []
    stem, options = _options(question)
    chosen = _CHOSEN.match(text)
    said = options.get(chosen[1].lower()) if chosen else None
    asked = [m for m in find_mentions(stem) if finding_info(m.finding).sided]
    findings = {mention.finding for mention in asked}
    if said is not None and chosen is not None:
        own = sided_by_family(find_mentions(said)) or _named(findings, said)
        return [
            mention._replace(
                start=chosen.start(1), end=chosen.end(1), side_start=None, side_end=None
            )
            for mentions in own.values()
            for mention in mentions[:1]
        ]
    right, left = sides_named(text)
    if right == left or any(mention.side for mention in asked):
        return []
    lead = len(_lead(findings)) if len(findings) == 1 else 0
    return [
        mention._replace(
            start=mention.side_start - lead,
            end=mention.side_end - lead,
            side_start=mention.side_start - lead,
            side_end=mention.side_end - lead,
        )
        for mentions in _named(findings, text).values()
        for mention in mentions[:1]
        if mention.side_start is not None
        and mention.side_end is not None
        and mention.side_start >= lead > mention.start
    ]


def _named(findings: set[str], said: str) -> dict[str, list[Mention]]:
    """Read a side as that of the one finding that a question asks about."""
    if len(findings) != 1:
        return {}
    return sided_by_family(find_mentions(_lead(findings) + said))


def _lead(findings: set[str]) -> str:
    return f"{finding_info(next(iter(findings))).name}: "


def _options(question: str) -> tuple[str, dict[str, str]]:
    """Part a question from the options that it lists, by their letters."""
    marks = list(_OPTION.finditer(question))
    if len(marks) < _FEWEST or marks[0][1].lower() not in ("a", "1"):
        return question, {}
    ends = [*(mark.start() for mark in marks[1:]), len(question)]
    options = {
        mark[1].lower(): question[mark.end() : end] for mark, end in zip(marks, ends, strict=True)
    }
    return question[: marks[0].start()], options
