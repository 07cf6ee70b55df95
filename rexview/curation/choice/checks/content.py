"""Checks of what a question says against its report, as far as rules can tell.

A sign of a fault fails a question. Without one it passes where the rules know what it speaks of;
where they do not, they say that they cannot tell, and a model or an expert has to.
"""

from __future__ import annotations

import re
from typing import Final

from rexview.curation.choice.checks.claims import (
    Claim,
    Facts,
    claims_of,
    measures,
    option_claims,
)
from rexview.curation.choice.checks.question import Check, ChoiceQuestion
from rexview.curation.comparison import asks_for_comparison
from rexview.detect.findings import find_mentions

CONTENT: Final[dict[str, str]] = {
    "several_valid": "Only one option is right",
    "needs_comparison": "It needs no earlier study",
    "invented": "The report says what it rests on",
    "contradicts_report": "The right option fits the report",
    "clinically_doubtful": "It makes sense to a clinician",
}
"""The checks of content, with what is true of a question that passes."""
DEFECTS: Final = {"contradicts_report": "wrong_answer"}
"""The defect of a check, where that has another name."""
_NO_REPORT: Final = "There is no report to hold it against."
_UNKNOWN: Final = "The rules know no finding that it speaks of."
_ONE_OF_SEVERAL: Final = re.compile(
    r"\b(?:most|primary|main|principal|predominant|dominant|best|largest|likely|first|major)\b",
    re.IGNORECASE,
)
_MEASURES: Final = re.compile(
    r"\b(?:how (?:large|big|wide|far|long|high)|sizes?|measur\w+|diameters?|distances?|widths?"
    r"|dimensions?|lengths?|extent|ratio)\b",
    re.IGNORECASE,
)
_LIMITED: Final = re.compile(
    r"\b(?:left|right|bilateral|lobes?|zones?|bas(?:e|al|ilar)|ap(?:ex|ical)|upper|mid|lower"
    r"|retrocardiac|perihilar|hil\w+|mediastin\w+|pleura\w*|cardiac|heart|bon\w+|osseous|skelet\w+"
    r"|abdom\w+|device|tube|line|catheter|soft tissue)\b",
    re.IGNORECASE,
)
_PLACE: Final = re.compile(
    r"\b(?:lob(?:e|es|ar)|zones?|bas(?:e|es|al|ilar)|ap(?:ex|ices|ical)|upper|mid(?:dle)?|lower"
    r"|hil\w+|perihilar|costophrenic|fissures?|segments?|retrocardiac)\b",
    re.IGNORECASE,
)
"""Words for a part of a side, which the facts of a report do not keep."""


def content_checks(asked: ChoiceQuestion) -> list[Check]:
    """Hold a question against its report: a row for each check of :data:`CONTENT`."""
    facts = Facts(asked.report)
    return [
        _several_valid(asked, facts),
        _needs_comparison(asked),
        _invented(asked, facts),
        _contradicts(asked, facts),
        Check("clinically_doubtful", None, None, "Only a model or an expert can tell."),
    ]


def _several_valid(asked: ChoiceQuestion, facts: Facts) -> Check:
    check = "several_valid"
    if not facts.text:
        return Check(check, None, None, _NO_REPORT)
    right = option_claims(asked, asked.right or "")
    if not right:
        return Check(check, None, None, _UNKNOWN)
    if any(facts.say(claim) == "no" for claim in right):
        return Check(check, None, None, "The right option is at odds with the report.")
    for option in asked.wrong:
        claims = option_claims(asked, option)
        if not claims or not all(facts.say(claim) == "yes" for claim in claims):
            continue
        reason = f"By what rules read of the report, “{option}” is right, too."
        fault = _why_untold(asked, option, claims, right)
        if fault is not None:
            return Check(check, None, None, f"{reason} {fault}")
        return Check(check, False, check, reason)
    return Check(check, True)


def _why_untold(
    asked: ChoiceQuestion, option: str, claims: list[Claim], right: list[Claim]
) -> str | None:
    """Say why an option that the report says as well may still be wrong; None where it cannot."""
    if _ONE_OF_SEVERAL.search(asked.question) or any(claim.inferred for claim in claims):
        return "Whether it is as right, rules cannot tell."
    if _PLACE.search(option):
        return "Whether it is in that part of the side, rules cannot tell."
    if find_mentions(asked.question) and {one.side for one in claims} != {
        one.side for one in right
    }:
        return None  # it is asked where something is, and it is on both sides
    if _LIMITED.search(asked.question):
        return "Whether that is what is asked for, rules cannot tell."
    if {one.finding for one in claims} & {one.finding for one in right}:
        return "How it differs from the right option, rules cannot tell."
    return None


def _needs_comparison(asked: ChoiceQuestion) -> Check:
    check = "needs_comparison"
    if asked.has_prior:
        return Check(check, True)
    for text in (asked.question, asked.right or ""):
        if words := asks_for_comparison(text):
            return Check(check, False, check, f"“{words}”: there is no earlier study.")
    return Check(check, True)


def _invented(asked: ChoiceQuestion, facts: Facts) -> Check:
    check = "invented"
    if not facts.text:
        return Check(check, None, None, _NO_REPORT)
    claims = claims_of(asked)
    silent = [
        claim
        for claim in claims
        if claim.present and not claim.inferred and facts.say(claim) == "silent"
    ]
    if silent:
        return Check(check, False, check, f"The report does not speak of: {silent[0].name}.")
    lengths = [length for unit, length in _told_measures(asked) if unit == "mm"]
    if lengths and not facts.millimetres:
        return Check(check, False, check, "The report has no measurement.")
    vague = [claim for claim in claims if claim.present and not facts.of(claim.finding)]
    if vague:
        reason = f"Rules cannot tell whether the report means it: {vague[0].name}."
        return Check(check, None, None, reason)
    if not claims and not lengths:
        return Check(check, None, None, _UNKNOWN)
    return Check(check, True)


def _contradicts(asked: ChoiceQuestion, facts: Facts) -> Check:
    check, defect = "contradicts_report", DEFECTS["contradicts_report"]
    if not facts.text:
        return Check(check, None, None, _NO_REPORT)
    claims = claims_of(asked)
    for claim in claims:
        if facts.say(claim) == "no":
            there = "there" if claim.present else "not there"
            reason = (
                f"The question takes it to be {there}: {claim.name}. The report says otherwise."
            )
            return Check(check, False, defect, reason)
    lengths = [length for unit, length in _told_measures(asked) if unit == "mm"]
    if facts.millimetres and any(length not in facts.millimetres for length in lengths):
        return Check(check, False, defect, "The report has another measurement.")
    if not claims and not lengths:
        return Check(check, None, None, _UNKNOWN)
    return Check(check, True)


def _told_measures(asked: ChoiceQuestion) -> list[tuple[str, float]]:
    """Return what the right option measures, where that is what is asked for.

    Other figures are thresholds, or advice ("withdraw it by 2 cm").
    """
    return measures(asked.right or "") if _MEASURES.search(asked.question) else []
