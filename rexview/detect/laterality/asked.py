"""Answers that give a side only: the finding stands in the question, or the side in its options."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from rexview.detect.findings import (
    Mention,
    find_mentions,
    finding_info,
    report_text,
    sides_of_text,
)
from rexview.detect.laterality.text import one_side, sided_by_family, sides_named
from rexview.detect.phrases import whole_words
from rexview.detect.report_comparison import ASKS_SIDE
from rexview.geometry import OTHER_SIDE
from rexview.schema import Case

_LONGEST: Final = 2_000
"""Characters of a question or answer that are read."""
_OPTION: Final = re.compile(r"(?:^|(?<=\s))\(?([A-Ha-h1-8])[).:]\s+")
_CHOSEN: Final = re.compile(
    r"\W*(?:(?:the |my |correct |right |best |final )*(?:answer|option|choice)(?: is)?\W+)?"
    r"\(?([A-Ha-h1-8])(?:[).:,*_\]]|\s*[-–—=(\n]|\s*$)",
    re.IGNORECASE,
)
_AFFIRMS: Final = re.compile(r"\W*(?P<yes>yes|correct|affirmative)(?=\W|$)", re.IGNORECASE)
_FIRST: Final = re.compile(r"\s*\S[^\n]{0,160}?[.!;](?=\s)|[^\n]{1,160}(?=\n)")
"""The first sentence or line of a text."""
_ORGAN: Final = whole_words("question", "organ")
"""What the side of a question may be of, in place of a finding's."""
_OTHER_SIDE: Final = re.compile(
    r"\b(?:both|bilat\w*|other|opposite|contralat\w*|either|not (?:on|in) (?:that|this) \w+)\b",
    re.IGNORECASE,
)
_PLACED: Final = ("lung", "pleura")
"""Regions of what an answer has in the part of the chest that it was asked about."""
_FEWEST: Final = 2
"""Options; less of them are no choice."""


def side_in_reply(case: Case, text: str) -> list[Mention]:
    """Read the side that an answer gives the one finding of its question, without naming it.

    "On the right.", or "B" where the question lists "B) Right". Of several findings in the question
    the one is meant that the report puts on a side; where it names none and asks for a side or a
    lobe, that of the report. An answer that names both sides, and a question that names the side
    itself, give none.
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
        own = sided_by_family(find_mentions(said)) or _named(findings, said) or _alone(said)
        return [
            mention._replace(
                start=chosen.start(1), end=chosen.end(1), side_start=None, side_end=None
            )
            for mentions in own.values()
            for mention in mentions[:1]
        ]
    if not options and (len(findings) != 1 or ASKS_SIDE.search(stem)):
        findings = _of_report(case, findings, stem)
    right, left = sides_named(text)
    if not (right or left) and (affirmed := _AFFIRMS.match(text)):
        return _affirmed(case, asked, *affirmed.span("yes"))
    if right == left or len(findings) != 1 or any(mention.side for mention in asked):
        return []
    lead = len(_lead(findings))
    return [
        mention._replace(
            start=mention.side_start - lead,
            end=mention.side_end - lead,
            side_start=mention.side_start - lead,
            side_end=mention.side_end - lead,
        )
        for mentions in (_named(findings, text) or _alone(_lead(findings) + text)).values()
        for mention in mentions[:1]
        if mention.side_start is not None
        and mention.side_end is not None
        and mention.side_start >= lead > mention.start
    ]


def _affirmed(case: Case, asked: list[Mention], start: int, end: int) -> list[Mention]:
    """Read the side of a question to which an answer says "yes", from ``start`` to ``end`` of it.

    Of a question that names one finding on one side, which the report has on one side too.
    """
    sides = {mention.side for mention in asked}
    if len({mention.finding for mention in asked}) != 1 or not sides <= OTHER_SIDE.keys():
        return []
    reported = sided_by_family(find_mentions(report_text(case)))
    known = one_side(reported.get(finding_info(asked[0].finding).family, ()))
    if len(sides) != 1 or known not in OTHER_SIDE:
        return []
    return [
        asked[0]._replace(
            start=start,
            end=end,
            side_start=None,
            side_end=None,
            status="positive",
            superseded=False,
        )
    ]


def first_reply(case: Case, text: str, claims: Collection[str]) -> list[Mention]:
    """Read the side that the first sentence of an answer replies with, before it says more.

    ``claims`` are the families that the answer itself has on a side. "(1) - left lower zone. There
    is a plaque on the right, too."
    """
    question = case.question[:_LONGEST]
    if not (ASKS_SIDE.search(question) or find_mentions(question)):
        return []
    end = _FIRST.match(text)
    reply = text[: end.end()] if end else text
    if len(reply) == len(text) or any(
        mention.status in ("positive", "uncertain") for mention in find_mentions(reply)
    ):
        return []
    return [
        mention
        for mention in side_in_reply(case, reply)
        if finding_info(mention.finding).family not in claims
    ]


def on_asked_side(case: Case, text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Give what an answer has without a side the one side of the chest that it was asked about.

    "What do you see in the left base?", "A patchy opacity."; of a question that names a finding
    only that: "Is there a left effusion?", "Yes, a small effusion." An answer that names a side, or
    the other one, gives none.
    """
    question = case.question[:_LONGEST]
    if any(sides_named(text)) or not any(sides_named(question)) or _OTHER_SIDE.search(text):
        return []
    asked = [one for one in find_mentions(question) if finding_info(one.finding).sided]
    sides = {side for side, _, _ in sides_of_text(question)}
    if len(sides) != 1 or not sides <= OTHER_SIDE.keys():
        return []
    families = {finding_info(one.finding).family for one in asked}
    side = sides.pop()
    return [
        mention._replace(side=side)
        for mention in mentions
        if mention.side is None and mention.status in ("positive", "uncertain")
        if finding_info(mention.finding).sided
        if finding_info(mention.finding).family in families
        or (not families and finding_info(mention.finding).region in _PLACED)
    ]


def _of_report(case: Case, findings: set[str], stem: str) -> set[str]:
    """Return the one finding that a question may be about, by the report; none without one."""
    reported = sided_by_family(find_mentions(report_text(case)))
    if findings:
        families = {finding_info(finding).family: finding for finding in sorted(findings)}
        both = families.keys() & reported.keys()
        if both or len(families) > 1 or not ASKS_SIDE.search(stem):
            return {families[both.pop()]} if len(both) == 1 else findings
    if not ASKS_SIDE.search(stem) or _ORGAN.search(stem):
        return set()
    sides = {one_side(mentions) for mentions in reported.values()}
    if len(sides) != 1 or not sides <= OTHER_SIDE.keys():
        return set()
    return {next(iter(reported.values()))[0].finding}


def _named(findings: set[str], said: str) -> dict[str, list[Mention]]:
    """Read a side as that of the one finding that a question asks about."""
    if len(findings) != 1:
        return {}
    return sided_by_family(find_mentions(_lead(findings) + said))


def _alone(said: str) -> dict[str, list[Mention]]:
    """Give the one finding of a short text the one side that it names."""
    places = sides_of_text(said)
    there = [
        mention
        for mention in find_mentions(said)
        if mention.status in ("positive", "uncertain") and finding_info(mention.finding).sided
    ]
    if len({side for side, _, _ in places}) != 1 or len({one.finding for one in there}) != 1:
        return {}
    side, start, end = places[0]
    return sided_by_family([there[0]._replace(side=side, side_start=start, side_end=end)])


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
