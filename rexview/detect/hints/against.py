"""What a report says against a finding: that it is not there, or that its place is normal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rexview.detect.findings import REPORT_SECTIONS
from rexview.detect.mistaken import GENERAL, OLD
from rexview.detect.normal_statements import lungs_cleared, normal_statement
from rexview.detect.phrases import either, whole_words
from rexview.detect.report_comparison import FindingInText
from rexview.schema import Case, Evidence

_SHORTLY_AFTER: Final = r"\s+(?:[\w-]+\s+){0,2}$"
QUALIFIED: Final = re.compile(
    rf"\b(?:{either('report', 'qualified')}){_SHORTLY_AFTER}", re.IGNORECASE
)
_FOCAL: Final = re.compile(rf"\b(?:{either('report', 'focal')}){_SHORTLY_AFTER}", re.IGNORECASE)
_DEVICE_DENIED: Final = whole_words("report", "device_denied")
_SHOWN: Final = 160
"""Characters of a report's sentence that are shown whole."""


def negation(negated: Sequence[FindingInText], finding: FindingInText) -> Evidence | None:
    """Return where the report negates a finding without reservation, on its side or on both."""
    for one in negated:
        any_fracture = one.info.id == "fracture" and finding.info.id.endswith("_fracture")
        if one.info.id != finding.info.id and not any_fracture:
            continue
        covers = one.mention.side in (None, "bilateral", finding.mention.side)
        if one.info.group == "device" and not _DEVICE_DENIED.search(one.around()):
            continue  # "NG tube in the stomach, tip not seen"
        partly = QUALIFIED.search(one.before()) or (
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


def cleared(case: Case, finding: FindingInText) -> Evidence | None:
    """Return where the report calls normal, or clear, what the answer sees a change of."""
    for section in REPORT_SECTIONS:
        text = getattr(case.report, section) or ""
        clear = lungs_cleared(text, finding.info, finding.mention.side)
        if clear is not None:
            match, side = clear
            return Evidence("report", match[0], section, *match.span(), side=side)
        normal = normal_statement(text, finding.info, old=OLD.search(finding.around()) is not None)
        if normal is not None:
            return Evidence("report", normal[0], section, *normal.span())
    return None
