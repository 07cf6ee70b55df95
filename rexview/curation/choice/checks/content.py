"""Check the content of a question against its report, as far as rules can.

A question with a sign of a fault fails. Otherwise it passes if the rules know the findings it
mentions. If they do not, the result is unknown, and a model or an expert has to decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal

from rexview.curation.choice.checks import Check, ChoiceQuestion, comparable_words
from rexview.curation.comparison_questions import asks_for_comparison
from rexview.schema import Report
from rexview.text.findings import (
    Mention,
    find_mentions,
    finding_info,
    finding_name,
    may_be_same_fracture,
    misplaced_devices,
)

# Claims of a question about the patient, compared with its report.

ClaimSupport = Literal["yes", "no", "silent", "unclear"]
"""Whether a report confirms a claim, contradicts it, does not mention it, or leaves it open."""
_LOBES: Final = frozenset(("RUL", "RML", "RLL", "LUL", "LLL", "lingula"))
_YES: Final = re.compile(r"\W*yes\b", re.IGNORECASE)
_NO: Final = re.compile(r"\W*no(?:\W|$)", re.IGNORECASE)
_YES_NO_QUESTION: Final = re.compile(
    r"(?:^|[.:,]\s*)(?:is|are|was|were|does|do|did|can|could|has|have)\b(?!.*\b(?:which|what|where)\b)",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_PRESUPPOSES: Final = re.compile(
    r"\bwhere\b|\b(?:which|what) (?:side|lung|lobe|zone|hemithorax|region|location|part|rib|area)\b"
    r"|\bhow (?:large|big|severe|extensive|many|wide|far|high)\b"
    r"|\b(?:location|side|severity|size|extent|distribution|degree|position|laterality|number)"
    r" of\b",
    re.IGNORECASE,
)
_INFERS: Final = re.compile(
    r"\b(?:cause[sd]?|diagnos[ei]s|diagnostic|differential|explain\w*|explanation|due to|etiology"
    r"|aetiology|suggest\w*|consistent|compatible|indicat\w*|likel\w*|probabl\w*|management"
    r"|next step|risk|complication|interpretation|represent\w*|reflect\w*|underlying|mechanism"
    r"|significance|implication|associated|concern\w*|consider\w*)\b",
    re.IGNORECASE,
)
_MEASURE: Final = re.compile(
    r"(\d+(?:\.\d+)?)\s*-?\s*(cm|mm|centimet\w+|millimet\w+|%|percent)\b|(\d+(?:\.\d+)?)\s*(%)"
)
_UNSPECIFIC: Final = frozenset(("opacity", "calcification", "lung_disease"))
"""Unspecific names, which a question may use although the report has a more specific one."""
_SIZES: Final = (
    frozenset(
        ("tiny", "trace", "minimal", "minimally", "small", "mild", "mildly", "slight", "slightly")
    ),
    frozenset(("moderate", "moderately", "medium")),
    frozenset(
        ("large", "massive", "severe", "severely", "marked", "markedly", "huge", "extensive")
    ),
)


@dataclass(frozen=True)
class QuestionClaim:
    """A finding that a question assumes to be there, or not to be (``present``)."""

    finding: str
    present: bool
    side: str | None = None
    zone: str | None = None
    size: int | None = None
    """0 small, 1 moderate, 2 large."""
    inferred: bool = False
    """True if the question asks for a conclusion, so that the report need not have its words."""

    @property
    def name(self) -> str:
        """Name of the finding with its side."""
        side = f"{self.side} " if self.side in ("right", "left") else ""
        return f"{side}{finding_name(self.finding)}"


@dataclass(frozen=True)
class ReportFacts:
    """The findings of a report."""

    report: Report

    @cached_property
    def text(self) -> str:
        """Findings and impression as one text."""
        return "\n".join(part for part in (self.report.findings, self.report.impression) if part)

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """All mentions that are not retracted."""
        return tuple(one for one in find_mentions(self.text) if not one.superseded)

    @cached_property
    def millimetres(self) -> frozenset[float]:
        """All lengths in the report."""
        return frozenset(length for unit, length in find_measures(self.text) if unit == "mm")

    def of(self, finding: str) -> list[Mention]:
        """Return the mentions of a finding and of those like it."""
        family = finding_info(finding).family
        return [
            one
            for one in self.mentions
            if finding_info(one.finding).family == family
            or may_be_same_fracture(one.finding, finding)
            or finding in misplaced_devices(one.finding)
        ]

    def say(self, claim: QuestionClaim) -> ClaimSupport:
        """Return whether the report confirms the claim of a question."""
        mentions = self.of(claim.finding)
        if not mentions:
            return "unclear" if claim.finding in _UNSPECIFIC else "silent"
        there = [one for one in mentions if one.status in ("positive", "uncertain")]
        denied = [one for one in mentions if one.status == "negated"]
        if not claim.present:
            if not there:
                return "yes" if denied else "unclear"
            sure = [
                one for one in there if one.status == "positive" and _may_be(one.side, claim.side)
            ]
            return "no" if sure and not denied else "unclear"
        if not there:
            return "no" if denied else "unclear"
        return self._of_those(claim, there)

    def _of_those(self, claim: QuestionClaim, there: list[Mention]) -> ClaimSupport:
        sides = {one.side for one in there if one.side}
        if (
            claim.side == "bilateral"
            and sides
            and not (sides >= {"left", "right"} or "bilateral" in sides)
        ):
            return "unclear" if None in {one.side for one in there} else "no"
        if claim.side in ("left", "right") and not any(
            _may_be(one.side, claim.side) for one in there
        ):
            return "no"
        near = [one for one in there if _may_be(one.side, claim.side)]
        lobes = {one.zone for one in near}
        if claim.zone in _LOBES and lobes <= _LOBES and claim.zone not in lobes:
            return "no"
        sizes = {_size(self.text[one.sentence[0] : one.sentence[1]]) for one in near}
        if claim.size is not None and None not in sizes and claim.size not in sizes:
            return "no"
        told = all(one.side or claim.side is None for one in near)
        sure = any(one.status == "positive" for one in near)
        return "yes" if told and sure else "unclear"


def find_question_claims(asked: ChoiceQuestion) -> list[QuestionClaim]:
    """Return the claims that a question presupposes, and those of its right option."""
    return [*_presupposed(asked), *find_option_claims(asked, asked.right or "")]


def _presupposed(asked: ChoiceQuestion) -> Iterator[QuestionClaim]:
    if _is_yes_no(asked):
        return
    asking = _SENTENCE.split(asked.question.strip())[-1]  # the text before it may be history
    presupposes = bool(_PRESUPPOSES.search(asking))
    for one in find_mentions(asking):
        if one.status == "positive" or (
            one.status == "hypothetical" and (one.definite or presupposes)
        ):
            yield _claim(one, present=True)


def find_option_claims(asked: ChoiceQuestion, option: str) -> list[QuestionClaim]:
    """Return the claims that an option would make as the right one."""
    inferred = asked.category == "differential_diagnosis" or bool(_INFERS.search(asked.question))
    if _is_yes_no(asked) and (_YES.match(option) or _NO.match(option)):
        if asked.asks_for_absence:
            return []  # "no" to a question with "not" may mean either
        present = bool(_YES.match(option))
        asked_of = find_mentions(asked.question)
        return [_claim(one, present=present) for one in asked_of if one.status == "hypothetical"]
    own = find_mentions(option)
    if own:
        found = []
        for one in own:
            if one.status not in ("positive", "negated"):
                continue
            present = (one.status == "positive") != asked.asks_for_absence
            if one.status == "negated" and asked.asks_for_absence:
                continue
            claim = _claim(one, present=present, size=_size(option))
            found.append(replace(claim, inferred=inferred))
        return found
    return list(_placed(asked, option))


def _placed(asked: ChoiceQuestion, option: str) -> Iterator[QuestionClaim]:
    """Return the claims of an option that only gives a place or size of the question's finding."""
    if asked.asks_for_absence or not _PRESUPPOSES.search(asked.question):
        return
    for one in _presupposed(asked):
        put_together = find_mentions(f"{option} {finding_name(one.finding)}.")
        family = finding_info(one.finding).family
        for mention in put_together:
            if finding_info(mention.finding).family == family and mention.status == "positive":
                claim = _claim(mention, present=True, size=_size(option))
                if (claim.side, claim.zone, claim.size) == (None, None, None):
                    continue  # "nowhere", or unknown words
                yield replace(claim, finding=one.finding, side=claim.side or one.side)


def _claim(one: Mention, *, present: bool, size: int | None = None) -> QuestionClaim:
    return QuestionClaim(one.finding, present, one.side, one.zone, size)


def _is_yes_no(asked: ChoiceQuestion) -> bool:
    return bool(_YES_NO_QUESTION.search(asked.question))


def _may_be(said: str | None, claimed: str | None) -> bool:
    return said is None or claimed is None or said == claimed or "bilateral" in (said, claimed)


def _size(text: str) -> int | None:
    words = set(comparable_words(text))
    met = [at for at, sizes in enumerate(_SIZES) if sizes & words]
    return met[0] if len(met) == 1 else None


def find_measures(text: str) -> list[tuple[str, float]]:
    """Return the lengths (in mm) and percentages of a text.

    >>> find_measures("a 1.2 cm nodule, 30%")
    [('mm', 12.0), ('%', 30.0)]
    """
    found = []
    for number, unit, share, _ in _MEASURE.findall(text):
        value = float(number or share)
        if unit.startswith(("cm", "centi")):
            found.append(("mm", round(value * 10, 3)))
        else:
            found.append(("mm" if unit.startswith("m") else "%", value))
    return found


CONTENT: Final[dict[str, str]] = {
    "several_valid": "Only one option is right",
    "needs_comparison": "It needs no earlier study",
    "invented": "The report says what it rests on",
    "contradicts_report": "The right option fits the report",
    "clinically_doubtful": "It makes sense to a clinician",
}
"""The checks of content, each with the statement that is true if a question passes."""
DEFECTS: Final = {"contradicts_report": "wrong_answer"}
"""Defects of checks, where the names differ."""
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
"""Words for a part of a side, which the facts of a report do not contain."""


def content_checks(asked: ChoiceQuestion) -> list[Check]:
    """Compare a question with its report; return a result for each check of :data:`CONTENT`."""
    facts = ReportFacts(asked.report)
    return [
        _several_valid(asked, facts),
        _needs_comparison(asked),
        _invented(asked, facts),
        _contradicts(asked, facts),
        Check("clinically_doubtful", None, None, "Only a model or an expert can tell."),
    ]


def _several_valid(asked: ChoiceQuestion, facts: ReportFacts) -> Check:
    check = "several_valid"
    if not facts.text:
        return Check(check, None, None, _NO_REPORT)
    right = find_option_claims(asked, asked.right or "")
    if not right:
        return Check(check, None, None, _UNKNOWN)
    if any(facts.say(claim) == "no" for claim in right):
        return Check(check, None, None, "The right option is at odds with the report.")
    for option in asked.wrong:
        claims = find_option_claims(asked, option)
        if not claims or not all(facts.say(claim) == "yes" for claim in claims):
            continue
        reason = f"By what rules read of the report, “{option}” is right, too."
        fault = _why_untold(asked, option, claims, right)
        if fault is not None:
            return Check(check, None, None, f"{reason} {fault}")
        return Check(check, False, check, reason)
    return Check(check, True)


def _why_untold(
    asked: ChoiceQuestion, option: str, claims: list[QuestionClaim], right: list[QuestionClaim]
) -> str | None:
    """Return why an option that the report confirms too may still be wrong; None if it cannot."""
    if _ONE_OF_SEVERAL.search(asked.question) or any(claim.inferred for claim in claims):
        return "Whether it is as right, rules cannot tell."
    if _PLACE.search(option):
        return "Whether it is in that part of the side, rules cannot tell."
    if find_mentions(asked.question) and {one.side for one in claims} != {
        one.side for one in right
    }:
        return None  # the question asks where something is, and it is on both sides
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


def _invented(asked: ChoiceQuestion, facts: ReportFacts) -> Check:
    check = "invented"
    if not facts.text:
        return Check(check, None, None, _NO_REPORT)
    claims = find_question_claims(asked)
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


def _contradicts(asked: ChoiceQuestion, facts: ReportFacts) -> Check:
    check, defect = "contradicts_report", DEFECTS["contradicts_report"]
    if not facts.text:
        return Check(check, None, None, _NO_REPORT)
    claims = find_question_claims(asked)
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
    """Return the measurements of the right option if the question asks for one.

    Other figures are thresholds, or advice ("withdraw it by 2 cm").
    """
    return find_measures(asked.right or "") if _MEASURES.search(asked.question) else []
