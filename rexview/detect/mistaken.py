"""Findings of an answer that stand where the report has others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rexview.detect.core.detector import AnswerInCase
from rexview.detect.phrases import whole_words, word_set
from rexview.detect.report_comparison import (
    SAID,
    FindingInText,
    findings_of_answer,
    findings_of_report,
    of_status,
    zones_meet,
)

MAJOR: Final = word_set("report", "major_family")
"""Families of which one finding may be taken for another."""
_REGIONS: Final = frozenset({"lung", "pleura", "abdomen"})
"""Regions in which one finding is taken for another."""
_USUAL_ZONES: Final = {"pleural_fluid": "lower", "free_air": "base"}
"""Where a finding lies when its text names no zone."""
GENERAL: Final = "opacity"
"""A finding so general that it says nothing of the type."""
OLD: Final = whole_words("report", "old")
"""Of what is long there: an answer may leave it out."""


def mistaken_findings(one: AnswerInCase) -> list[tuple[FindingInText, FindingInText]]:
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
        if wrong is not None and _may_matter(right):
            pairs.append((right, wrong))
    return pairs


def _typed(one: FindingInText) -> bool:
    known = one.info.family in MAJOR or one.info.family == "atelectasis"
    return known and one.info.region in _REGIONS and one.info.id != GENERAL


def _named(answered: Sequence[FindingInText], right: FindingInText) -> bool:
    """Whether the answer has a finding itself; a general word does not count beside its denial."""
    denied = any(one.info.id == right.info.id for one in of_status(answered, "negated"))
    return any(
        one.info.family == right.info.family and not (denied and one.info.id == GENERAL)
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


def _may_matter(finding: FindingInText) -> bool:
    """Whether a finding of a report is more than a thing of long ago."""
    return finding.section == "impression" or not OLD.search(finding.around())
