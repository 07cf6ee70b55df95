"""Hints of invented, missed and wrongly named findings: the answer's text beside the report's.

They are hints and no flags: a report need not say all, and rules read only so well. Each is shown
as possible and counted apart. Devices, postoperative states and incidental findings count too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rexview.detect.core.detector import AnswerInCase, flag
from rexview.detect.findings import (
    REPORT_SECTIONS,
    find_mentions,
    finding_info,
    may_be_same_fracture,
    means_alone,
    report_text,
)
from rexview.detect.hints.asked_for import may_stay_unsaid
from rexview.detect.hints.claimed import claims_of
from rexview.detect.hints.other_words import (
    ALL_DEVICES,
    place_unread,
    said_generally,
    said_in_other_words,
)
from rexview.detect.hints.position import tubes_left_in_place
from rexview.detect.mistaken import GENERAL, OLD, mistaken_findings
from rexview.detect.normal_statements import lungs_cleared, normal_statement
from rexview.detect.phrases import either, whole_words, word_set
from rexview.detect.report_comparison import (
    SAID,
    FindingInText,
    ReportFindings,
    asks_for_side,
    device_unread,
    findings_of_answer,
    findings_of_report,
    has_report,
    left_unread,
    may_mean,
    mentions_of_answer,
    names_in_question,
    of_status,
    related,
    sides_meet,
    wants,
)
from rexview.schema import Case, Evidence, Flag

_TRIFLES: Final = word_set("report", "trifle_family")
"""Families that any answer may leave out."""
_COMPANIONS: Final = word_set("report", "companion_family")
_SURE_WITH_PART: Final = frozenset({"cardiomegaly"})
"""Families told no less surely by a word and a part of the body: "the heart is enlarged"."""
_DISEASE: Final = "lung_abnormality"
"""The family of diseases, which a report names for what they look like."""
_OPERATED_HEART: Final = word_set("report", "operated_heart_family")
_SHORTLY_AFTER: Final = r"\s+(?:[\w-]+\s+){0,2}$"
_QUALIFIED: Final = re.compile(
    rf"\b(?:{either('report', 'qualified')}){_SHORTLY_AFTER}", re.IGNORECASE
)
_FOCAL: Final = re.compile(rf"\b(?:{either('report', 'focal')}){_SHORTLY_AFTER}", re.IGNORECASE)
_VAGUE: Final = re.compile(rf"(?:{either('report', 'vague')})", re.IGNORECASE)
_SIGN_ONLY: Final = re.compile(rf"(?:{either('report', 'sign_only')})", re.IGNORECASE)
_UNSURE_NAME: Final = re.compile(rf"(?:{either('report', 'unsure_name')})", re.IGNORECASE)
_COMPARED_ONLY: Final = re.compile(rf"\b(?:{either('report', 'compared_only')})", re.IGNORECASE)
_MAY_BE: Final = re.compile(
    rf"\b(?:{either('report', 'may_be')})(?:\s+(?!with\b|and\b|or\b)[\w-]+){{0,3}}\W*$",
    re.IGNORECASE,
)
_BESIDE_FLUID: Final = whole_words("report", "beside_fluid")
_DEVICE_DENIED: Final = whole_words("report", "device_denied")
_FEW: Final = 3
"""Findings; a report with fewer that only compares does not say what is there."""
_SHOWN: Final = 160
"""Characters of a report's sentence that are shown whole."""


@dataclass(frozen=True)
class InventedFinding:
    """Hints at findings that the answer reports and the report does not have. Kind: ``hint``.

    The report negates them, or does not mention them in any words that may mean them.
    """

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
        for finding in sorted(
            claims_of(one, but=report.families),
            key=lambda item: (item.info.id == GENERAL, not item.mention.side),
        ):
            family = finding.info.family
            if family in done:
                continue
            against = _negation(report.negated, finding)
            if against is None:
                if any(related(finding, other) for other in report.said):
                    continue
                if _is_known_by_another_name(one, finding, report):
                    continue
                against = _cleared(one.case, finding)
            if against is None and not _is_new(one, report, finding):
                continue
            done.add(family)
            says = f"says “{against.text}”" if against else "does not mention it"
            message = (
                f"Possible invented finding: the answer reports {finding.name}, the report {says}."
            )
            evidence = (finding.evidence, against) if against else (finding.evidence,)
            flags.append(flag(self, one.answer, "hint", message, evidence))
        return flags


@dataclass(frozen=True)
class MissedFinding:
    """Hints at findings of the report that the answer denies or never mentions. Kind: ``hint``.

    Only those in a region that the question asks about, and what nobody may leave out
    (:data:`URGENT`). Evidence in the answer says that it denies the finding.
    """

    failure: str = "omission"
    reads_scores: bool = False

    def can_judge(self, one: AnswerInCase) -> bool:
        """Say whether a report stands beside the answer, and more than a choice was asked for."""
        return one.case.question_type != "choice" and has_report(one)

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Hold the answer against its report."""
        report, answered = findings_of_report(one.case), findings_of_answer(one)
        if not answered and asks_for_side(one.case):
            return []  # "Left.", as was asked
        mistaken = {right.info.family for right, _ in one.once(mistaken_findings)}
        spoken = {finding_info(mention.finding).family for mention in mentions_of_answer(one)}
        flags, done = [], set[str]()
        for finding in report.present:
            family = finding.info.family
            if family in done or family in mistaken or not wants(one.case, finding):
                continue
            same = _same(answered, finding)
            denied = _denial(same, finding)
            if denied is None and (same or family in spoken):
                continue
            if _negation(report.negated, finding) is not None or _is_vague(finding):
                continue
            if family in _TRIFLES or _is_of_pneumothorax(finding, report.present):
                continue
            if _has_unsure_name(finding) or _explains_another(finding, report):
                continue
            denied = denied or _called_normal(one, finding)
            if denied is None and (
                names_in_question(one.case, finding)
                or may_stay_unsaid(one.case, finding, report)
                or said_generally(answered, finding)
                or _comes_with_another(answered, finding, report)
            ):
                continue
            if denied is None and said_in_other_words(one, answered, finding, report):
                continue
            done.add(family)
            how = "denies it" if denied else "does not mention it"
            message = f"Possible missed finding: the report has {finding.name}, the answer {how}."
            evidence = (finding.evidence, denied) if denied else (finding.evidence,)
            flags.append(flag(self, one.answer, "hint", message, evidence))
        for tube, where in tubes_left_in_place(one, answered, report):
            how = "calls its place right" if len(where) > 1 else "does not say so"
            message = f"Possible missed finding: the report has the {tube} out of place, "
            flags.append(flag(self, one.answer, "hint", f"{message}the answer {how}.", where))
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
        for right, wrong in one.once(mistaken_findings):
            if right.info.family not in done:
                done.add(right.info.family)
                message = (
                    f"Possibly the wrong abnormality: the answer reports {wrong.name} where the "
                    f"report has {right.name}."
                )
                evidence = (wrong.evidence, right.evidence)
                flags.append(flag(self, one.answer, "hint", message, evidence))
        return flags


def _is_known_by_another_name(
    one: AnswerInCase, finding: FindingInText, report: ReportFindings
) -> bool:
    """Whether an answer says that what it sees is something that the report has.

    "A density behind the heart, probably a hernia". Nor is the lung beside a pneumothorax new.
    """
    if _is_of_pneumothorax(finding, report.said):
        return True
    return any(
        other.info.family in report.families
        and other.mention.sentence == finding.mention.sentence
        and other.mention.start > finding.mention.end
        and _MAY_BE.search(one.text, finding.mention.end, other.mention.start)
        for other in of_status(findings_of_answer(one), *SAID)
    )


def _negation(negated: Sequence[FindingInText], finding: FindingInText) -> Evidence | None:
    """Return where the report negates a finding without reservation, on its side or on both."""
    for one in negated:
        any_fracture = one.info.id == "fracture" and finding.info.id.endswith("_fracture")
        if one.info.id != finding.info.id and not any_fracture:
            continue
        covers = one.mention.side in (None, "bilateral", finding.mention.side)
        if one.info.group == "device" and not _DEVICE_DENIED.search(one.around()):
            continue  # "NG tube in the stomach, tip not seen"
        partly = _QUALIFIED.search(one.before()) or (
            finding.info.id == GENERAL and _FOCAL.search(one.before())
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
    """Return where the report calls normal, or clear, what the answer sees a change of."""
    for section in REPORT_SECTIONS:
        text = getattr(case.report, section) or ""
        cleared = lungs_cleared(text, finding.info, finding.mention.side)
        if cleared is not None:
            match, side = cleared
            return Evidence("report", match[0], section, *match.span(), side=side)
        normal = normal_statement(text, finding.info, old=OLD.search(finding.around()) is not None)
        if normal is not None:
            return Evidence("report", normal[0], section, *normal.span())
    return None


def _is_new(one: AnswerInCase, report: ReportFindings, finding: FindingInText) -> bool:
    """Whether a report that says what there is does not speak of a finding, in whatever words.

    An impression alone, or a few words on what has changed, does not say what there is; words too
    vague to be a claim are not new, nor what stands in place of another finding.
    """
    if not (one.case.report.findings or "").strip() or _is_vague(finding):
        return False
    if finding.info.family in report.mentioned or any(
        may_be_same_fracture(finding.info.id, other.info.id)
        for other in (*report.said, *report.negated)
    ):
        return False
    text = report_text(one.case)
    words = finding.text[finding.mention.start : finding.mention.end]
    sure = means_alone(words) or finding.info.family in _SURE_WITH_PART
    if not sure or _UNSURE_NAME.fullmatch(words) or _SIGN_ONLY.fullmatch(words):
        return False
    if _in_report_unread(one, finding):
        return False
    if finding.info.group == "device" and ALL_DEVICES.search(text):
        return False
    if finding.info.id == GENERAL and any(
        other.info.region in ("lung", "pleura") for other in report.said
    ):
        return False  # what it is called may be meant
    if _goes_with_another(finding, report):
        return False
    if len(report.present) < _FEW and _COMPARED_ONLY.search(text):
        return False
    mistaken = (wrong.info.family for _, wrong in one.once(mistaken_findings))
    return finding.info.family not in mistaken and not may_mean(text, finding)


def _goes_with_another(finding: FindingInText, report: ReportFindings) -> bool:
    """Whether a finding comes with one that the report has.

    What a disease of the lung looks like, metal with a device, wires of the sternum with what an
    operation on the heart leaves, lung that gives way beside fluid.
    """
    if finding.info.region == "lung" and any(
        other.info.family == _DISEASE for other in report.said
    ):
        return True
    if finding.info.family == "sternotomy":
        return any(other.info.family in _OPERATED_HEART for other in report.said)
    if finding.info.family == "foreign_body":
        return any(other.info.group == "device" for other in report.said)
    return (
        finding.info.family == "atelectasis"
        and "pleural_fluid" in report.families
        and _BESIDE_FLUID.search(finding.before()) is not None
    )


def _in_report_unread(one: AnswerInCase, finding: FindingInText) -> bool:
    """Whether a report may speak of a finding in words that were not read."""
    region = "device" if finding.info.group == "device" else finding.info.region
    for section in REPORT_SECTIONS:
        text = getattr(one.case.report, section) or ""
        mentions = find_mentions(text)
        device = region == "device" and device_unread(text, mentions, finding.info.family)
        unread = left_unread(text, mentions, region)
        if device or unread or place_unread(text, mentions, region):
            return True
    return False


def _is_vague(finding: FindingInText) -> bool:
    mention = finding.mention
    return _VAGUE.fullmatch(finding.text[mention.start : mention.end]) is not None


def _is_of_pneumothorax(finding: FindingInText, said: Sequence[FindingInText]) -> bool:
    """Whether a collapse is that of the lung beside a pneumothorax, and goes without saying."""
    words = finding.text[finding.mention.start : finding.mention.end].lower()
    return "collaps" in words and any(
        other.info.family == "pneumothorax" and sides_meet(other.mention.side, finding.mention.side)
        for other in said
    )


def _has_unsure_name(finding: FindingInText) -> bool:
    """Whether a finding has a name that may stand for something else: "ICD" for a drain."""
    return (
        _UNSURE_NAME.fullmatch(finding.text[finding.mention.start : finding.mention.end])
        is not None
    )


def _explains_another(finding: FindingInText, report: ReportFindings) -> bool:
    """Whether a report names a disease as the cause of what it sees: "nodes, consider sarcoid"."""
    return finding.info.family == _DISEASE and any(
        other.info.family != _DISEASE
        and other.section == finding.section
        and other.mention.sentence == finding.mention.sentence
        for other in report.present
    )


def _comes_with_another(
    answered: Sequence[FindingInText], finding: FindingInText, report: ReportFindings
) -> bool:
    """Whether a sign stands in one sentence of the report with a finding that the answer names.

    "A cavity with surrounding consolidation", "goitre with tracheal deviation".
    """
    if finding.info.family not in _COMPANIONS:
        return False
    named = {one.info.family for one in answered if one.mention.status != "negated"}
    return any(
        other.section == finding.section
        and other.mention.sentence == finding.mention.sentence
        and other.info.group != "device"
        and other.info.family != finding.info.family
        and other.info.family in named
        for other in report.present
    )


def _called_normal(one: AnswerInCase, finding: FindingInText) -> Evidence | None:
    """Return where an answer that does not name a finding calls its place normal."""
    match = normal_statement(one.text, finding.info, old=OLD.search(finding.around()) is not None)
    if match is None:
        cleared = lungs_cleared(one.text, finding.info, finding.mention.side)
        if cleared is None:
            return None
        match = cleared[0]
    return Evidence("answer", match[0], None, *match.span())


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


def _denial(same: Sequence[FindingInText], finding: FindingInText) -> Evidence | None:
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
            return one.evidence
    return None
