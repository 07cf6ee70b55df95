"""Hints of invented, missed and wrongly named findings: the answer's text beside the report's.

They are hints and no flags: a report need not say all, and rules read only so well. Each is shown
as possible and counted apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rexview.detect.core.detector import AnswerInCase, flag
from rexview.detect.findings import REPORT_SECTIONS, may_be_same_fracture
from rexview.detect.phrases import either, whole_words, word_set
from rexview.detect.report_comparison import (
    SAID,
    FindingInText,
    asked_regions,
    findings_of_answer,
    findings_of_report,
    has_report,
    of_status,
    sides_meet,
    zones_meet,
)
from rexview.schema import Case, Evidence, Flag

MAJOR: Final = word_set("report", "major_family")
"""Families whose absence from an answer matters; chronic and incidental change is left out."""
_REGIONS: Final = frozenset({"lung", "pleura", "abdomen"})
"""Regions in which one finding is taken for another."""
_USUAL_ZONES: Final = {"pleural_fluid": "lower", "free_air": "base"}
"""Where a finding lies when its text names no zone."""
_GENERAL: Final = "opacity"
"""A finding so general that it says nothing of the type."""
_SHORTLY_AFTER: Final = r"\s+(?:[\w-]+\s+){0,2}$"
_QUALIFIED: Final = re.compile(
    rf"\b(?:{either('report', 'qualified')}){_SHORTLY_AFTER}", re.IGNORECASE
)
_FOCAL: Final = re.compile(rf"\b(?:{either('report', 'focal')}){_SHORTLY_AFTER}", re.IGNORECASE)
_OLD: Final = whole_words("report", "old")
_CLEAR: Final = re.compile(
    r"\b(?:(?:the|both|(?P<side>left|right))\s+)*lungs?"
    r"(?:\s+(?:fields?|bases?|and\s+(?:the\s+)?pleural\s+spaces?|and\s+pleura))*"
    r"\s+(?:is|are|remains?|appears?)\s+(?:fully\s+expanded\s+and\s+)?clear\b(?!\s+of\b)",
    re.IGNORECASE,
)
"""A sentence that clears the lungs, or one of them, of any opacity."""
_OTHERWISE: Final = re.compile(r"\b(?:otherwise|else|rest|remainder)\b[^.]*$", re.IGNORECASE)
_SHOWN: Final = 160
"""Characters of a report's sentence that are shown whole."""
_CLEARED: Final = frozenset({"airspace_opacity", "nodule", "cavity", "contusion"})


@dataclass(frozen=True)
class InventedFinding:
    """Hints at findings that the answer reports and the report negates. Kind: ``hint``."""

    failure: str = "hallucination"
    reads_scores: bool = False

    def can_judge(self, one: AnswerInCase) -> bool:
        """Say whether a report stands beside the answer."""
        return has_report(one)

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Hold the answer against its report."""
        report = findings_of_report(one.case)
        flags: list[Flag] = []
        done: set[str] = set()
        answered = of_status(findings_of_answer(one), "positive")
        for finding in sorted(
            answered, key=lambda item: (item.info.id == _GENERAL, not item.mention.side)
        ):
            family = finding.info.family
            if family in done or family in report.families:
                continue
            against = _negation(report.negated, finding)
            if against is None and "lungs" not in done:
                against = _cleared(one.case, finding)
                done |= {"lungs"} if against else set()
            if against is not None:
                done.add(family)
                message = (
                    f"Possible invented finding: the answer reports {finding.name}, the "
                    f"report says “{against.text}”."
                )
                flags.append(flag(self, one.answer, "hint", message, (finding.evidence, against)))
        return flags


@dataclass(frozen=True)
class MissedFinding:
    """Hints at findings of the report that the answer denies or never mentions. Kind: ``hint``.

    Only findings that matter (:data:`MAJOR`) in a region that the question asks about; not what the
    report calls old, unchanged or mild unless it stands in the impression.
    """

    failure: str = "omission"
    reads_scores: bool = False

    def can_judge(self, one: AnswerInCase) -> bool:
        """Say whether a report stands beside the answer, and more than a choice was asked for."""
        return one.case.question_type != "choice" and has_report(one)

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Hold the answer against its report."""
        report, answered = findings_of_report(one.case), findings_of_answer(one)
        regions = asked_regions(one.case)
        mistaken = {right.info.family for right, _ in one.once(_mistaken)}
        flags, done = [], set[str]()
        for finding in report.positive:
            family = finding.info.family
            if family in done or family not in MAJOR or family in report.denied:
                continue
            if regions is not None and finding.info.region not in regions:
                continue
            same = _same(answered, finding)
            denied = _denial(same, finding)
            if denied is None and (family in mistaken or _mentioned(answered, same, finding)):
                continue
            if not _matters(finding):
                continue
            done.add(family)
            how = "denies it" if denied else "does not mention it"
            message = f"Possible missed finding: the report has {finding.name}, the answer {how}."
            evidence = (finding.evidence, denied.evidence) if denied else (finding.evidence,)
            flags.append(flag(self, one.answer, "hint", message, evidence))
        return flags


@dataclass(frozen=True)
class WrongAbnormality:
    """Hints at findings that stand where the report has another one. Kind: ``hint``."""

    failure: str = "wrong_type"
    reads_scores: bool = False

    def can_judge(self, one: AnswerInCase) -> bool:
        """Say whether a report stands beside the answer, and more than a choice was asked for."""
        return one.case.question_type != "choice" and has_report(one)

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Hold the answer against its report."""
        flags, done = [], set[str]()
        for right, wrong in one.once(_mistaken):
            if right.info.family not in done:
                done.add(right.info.family)
                message = (
                    f"Possibly the wrong abnormality: the answer reports {wrong.name} where the "
                    f"report has {right.name}."
                )
                evidence = (wrong.evidence, right.evidence)
                flags.append(flag(self, one.answer, "hint", message, evidence))
        return flags


def _negation(negated: Sequence[FindingInText], finding: FindingInText) -> Evidence | None:
    """Return where the report negates a finding without reservation, on its side or on both."""
    for one in negated:
        if one.info.id != finding.info.id:
            continue
        covers = one.mention.side in (None, "bilateral", finding.mention.side)
        partly = _QUALIFIED.search(one.before()) or (
            finding.info.id == _GENERAL and _FOCAL.search(one.before())
        )
        if covers and not partly:
            first, last = one.mention.sentence
            sentence = one.text[first:last].strip() if last - first <= _SHOWN else ""
            if not sentence or "\n" in sentence:
                return one.evidence
            start = one.text.index(sentence, first)
            end = start + len(sentence)
            words = sentence.rstrip(" .;,")
            return Evidence("report", words, one.section, start, end, side=one.mention.side)
    return None


def _cleared(case: Case, finding: FindingInText) -> Evidence | None:
    """Return where the report calls the lungs clear of what the answer sees there."""
    if finding.info.family not in _CLEARED or finding.info.region != "lung":
        return None
    for section in REPORT_SECTIONS:
        text = getattr(case.report, section) or ""
        for match in _CLEAR.finditer(text):
            side = (match["side"] or "").lower() or None
            if _OTHERWISE.search(text[max(0, match.start() - 25) : match.start()]):
                continue
            if side is None or side == finding.mention.side:
                return Evidence("report", match[0], section, *match.span(), side=side)
    return None


def _matters(finding: FindingInText) -> bool:
    return finding.section == "impression" or not _OLD.search(finding.around())


def _mentioned(
    answered: Sequence[FindingInText], same: Sequence[FindingInText], finding: FindingInText
) -> bool:
    """Whether the answer speaks of a finding, or of the place in words as general as the report."""
    if any(one.mention.status != "negated" for one in same):
        return True
    for one in answered if finding.info.region == "lung" else ():
        if one.mention.status == "negated" or one.info.region != "lung":
            continue
        general = _GENERAL in (finding.info.id, one.info.id)
        if general and sides_meet(one.mention.side, finding.mention.side):
            return True
    return False


def _same(answered: Sequence[FindingInText], finding: FindingInText) -> list[FindingInText]:
    """Return what an answer says of a finding; a fracture may be that of a bone not named."""
    info = finding.info
    if "fracture" not in info.id:
        return [one for one in answered if one.info.family == info.family]
    return [
        one
        for one in answered
        if one.info.family == info.family or may_be_same_fracture(one.info.id, info.id)
    ]


def _denial(same: Sequence[FindingInText], finding: FindingInText) -> FindingInText | None:
    """Return where the answer negates a finding that it nowhere reports.

    ``same`` is all that it says of it.
    """
    if any(one.mention.status != "negated" for one in same):
        return None
    sides = (None, "bilateral", finding.mention.side)
    for one in same:
        known = one.info.id in (finding.info.id, "fracture")
        plain = known and not _QUALIFIED.search(one.before().removesuffix("acute "))
        if plain and one.mention.side in sides:
            return one
    return None


def _mistaken(one: AnswerInCase) -> list[tuple[FindingInText, FindingInText]]:
    """Pair findings of the report with other findings that the answer has in the same place."""
    report, answered = findings_of_report(one.case), findings_of_answer(one)
    others = [
        wrong
        for wrong in of_status(answered, "positive")
        if _typed(wrong) and wrong.info.family not in report.families
    ]
    pairs = []
    for right in report.positive if others else ():
        if not _typed(right) or _named(answered, right):
            continue
        wrong = next((wrong for wrong in others if _same_place(right, wrong)), None)
        if wrong is not None and _matters(right):
            pairs.append((right, wrong))
    return pairs


def _typed(one: FindingInText) -> bool:
    known = one.info.family in MAJOR or one.info.family == "atelectasis"
    return known and one.info.region in _REGIONS and one.info.id != _GENERAL


def _named(answered: Sequence[FindingInText], right: FindingInText) -> bool:
    """Whether the answer has a finding itself; a general word does not count beside its denial."""
    denied = any(one.info.id == right.info.id for one in of_status(answered, "negated"))
    return any(
        one.info.family == right.info.family and not (denied and one.info.id == _GENERAL)
        for one in of_status(answered, *SAID)
    )


def _same_place(first: FindingInText, second: FindingInText) -> bool:
    """Whether two findings are known to lie on one side and at one height."""
    one, two = _zone(first), _zone(second)
    if one is None or two is None or first.mention.side != second.mention.side:
        return False
    return zones_meet(one, two) if first.mention.side in ("right", "left") else one == two


def _zone(finding: FindingInText) -> str | None:
    return finding.mention.zone or _USUAL_ZONES.get(finding.info.family)
