"""Whether a finding of an answer is new to its report, in whatever words."""

from __future__ import annotations

import re
from typing import Final

from rexview.detect.core.detector import AnswerInCase
from rexview.detect.findings import (
    REPORT_SECTIONS,
    find_mentions,
    may_be_same_fracture,
    means_alone,
    report_text,
)
from rexview.detect.hints.names import has_unsure_name, is_of_pneumothorax, is_sign_only, is_vague
from rexview.detect.hints.other_words import ALL_DEVICES, place_unread
from rexview.detect.mistaken import GENERAL, mistaken_findings
from rexview.detect.phrases import either, whole_words, word_set
from rexview.detect.report_comparison import (
    SAID,
    FindingInText,
    ReportFindings,
    device_unread,
    findings_of_answer,
    left_unread,
    may_mean,
    of_status,
)

_SURE_WITH_PART: Final = frozenset({"cardiomegaly"})
"""Families told no less surely by a word and a part of the body: "the heart is enlarged"."""
_DISEASE: Final = "lung_abnormality"
"""The family of diseases, which a report names for what they look like."""
_OPENED_CHEST: Final = re.compile(rf"\b(?:{either('report', 'opened_chest')})", re.IGNORECASE)
_OPERATED_HEART: Final = word_set("report", "operated_heart_family")
_COMPARED_ONLY: Final = re.compile(rf"\b(?:{either('report', 'compared_only')})", re.IGNORECASE)
_MAY_BE: Final = re.compile(
    rf"\b(?:{either('report', 'may_be')})(?:\s+(?!with\b|and\b|or\b)[\w-]+){{0,3}}\W*$",
    re.IGNORECASE,
)
_BESIDE_FLUID: Final = whole_words("report", "beside_fluid")
_FEW: Final = 3
"""Findings; a report with fewer that only compares does not say what is there."""


def is_known_by_another_name(
    one: AnswerInCase, finding: FindingInText, report: ReportFindings
) -> bool:
    """Whether an answer says that what it sees is something that the report has.

    "A density behind the heart, probably a hernia". Nor is the lung beside a pneumothorax new.
    """
    if is_of_pneumothorax(finding, report.said):
        return True
    return any(
        other.info.family in report.families
        and other.mention.sentence == finding.mention.sentence
        and other.mention.start > finding.mention.end
        and _MAY_BE.search(one.text, finding.mention.end, other.mention.start)
        for other in of_status(findings_of_answer(one), *SAID)
    )


def is_new(one: AnswerInCase, report: ReportFindings, finding: FindingInText) -> bool:
    """Whether a report that says what there is does not speak of a finding, in whatever words.

    An impression alone, or a few words on what has changed, does not say what there is; words too
    vague to be a claim are not new, nor what stands in place of another finding.
    """
    if not (one.case.report.findings or "").strip() or is_vague(finding):
        return False
    if finding.info.family in report.mentioned or any(
        may_be_same_fracture(finding.info.id, other.info.id)
        for other in (*report.said, *report.negated)
    ):
        return False
    text = report_text(one.case)
    words = finding.text[finding.mention.start : finding.mention.end]
    sure = means_alone(words) or finding.info.family in _SURE_WITH_PART
    if not sure or has_unsure_name(finding) or is_sign_only(words):
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
        return not _OPERATED_HEART.isdisjoint(report.mentioned) or any(
            _OPENED_CHEST.search(other.text) for other in report.said
        )
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
