"""What a question asks for: only that can be left unsaid, and what nobody may leave out.

A question may ask for all that there is, for a disease or a finding, a part of the chest, one side,
devices, or only for what is acute. What an answer need not say of itself it may still deny wrongly.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from rexview.detect.findings import find_mentions, finding_info
from rexview.detect.mistaken import OLD
from rexview.detect.phrases import either, list_names, whole_words, word_set
from rexview.detect.report_comparison import (
    URGENT,
    FindingInText,
    ReportFindings,
    asked_regions,
    asks_for_side,
)
from rexview.schema import Case

_LONGEST: Final = 5_000
"""Characters of a question that are read."""
_SLIGHT: Final = word_set("report", "slight_family")
_SLIGHT_BUT: Final = whole_words("report", "not_slight")
_WEAR: Final = "degenerative"
_STANDING: Final = word_set("report", "standing_family")
_LASTING: Final = word_set("report", "lasting_family")
_ACUTE: Final = whole_words("question", "acute")
_FOREMOST: Final = whole_words("question", "foremost")
_BEYOND: Final = whole_words("question", "beyond")
_SIDES: Final = whole_words("question", "one_side")
_DISEASES: Final = {
    name: re.compile(rf"\b(?:{either('asked_disease', name)})", re.IGNORECASE)
    for name in list_names("asked_disease")
}
_SIGNS: Final = {name: word_set("disease_signs", name) for name in list_names("disease_signs")}


def may_stay_unsaid(case: Case, finding: FindingInText, report: ReportFindings) -> bool:
    """Whether an answer need not speak of a finding of the report: it is not what was asked for.

    Nor of a slight one, such as wear of the spine, beside a graver one.
    """
    return _is_slight(case, finding, report) or not _is_asked_for(case, finding)


def _is_slight(case: Case, finding: FindingInText, report: ReportFindings) -> bool:
    if finding.info.family not in _SLIGHT or _SLIGHT_BUT.search(finding.around()):
        return False
    if finding.info.region in (asked_regions(case) or ()):
        return False
    return finding.info.family == _WEAR or any(_is_graver(other) for other in report.present)


def _is_graver(other: FindingInText) -> bool:
    family = other.info.family
    return other.info.group != "device" and family not in _SLIGHT | _LASTING


def _is_asked_for(case: Case, finding: FindingInText) -> bool:
    if case.question_type == "report":
        return True
    question, family = case.question[:_LONGEST], finding.info.family
    if _BEYOND.search(question):
        return True
    if _ACUTE.search(question):
        return not _is_long_there(finding)
    pressing = family in URGENT and not OLD.search(finding.around())
    if not pressing and (_FOREMOST.search(question) or _is_on_other_side(question, finding)):
        return False
    signs, regions = _asked_signs(question), asked_regions(case)
    if pressing or (signs is None and regions is None and not asks_for_side(case)):
        return True
    if family in URGENT and signs is None and finding.info.region not in (regions or ()):
        return False
    return signs is None or finding.info.group == "device" or family in signs


def _is_long_there(finding: FindingInText) -> bool:
    """Whether a finding is nothing acute: a device, a thing that lasts or is said to be old."""
    return (
        finding.info.group == "device"
        or finding.info.family in _STANDING
        or finding.mention.status == "prior"
        or OLD.search(finding.around()) is not None
    )


def _is_on_other_side(question: str, finding: FindingInText) -> bool:
    sides = {match.lower() for match in _SIDES.findall(question)}
    return len(sides) == 1 and {finding.mention.side} | sides == {"left", "right"}


@lru_cache(maxsize=256)
def _asked_signs(question: str) -> frozenset[str] | None:
    """Return the families that a question names, with the signs of a disease; None for none."""
    infos = [finding_info(one.finding) for one in find_mentions(question)]
    families = {info.family for info in infos if info.group != "device"}
    for name, words in _DISEASES.items():
        if words.search(question):
            families |= _SIGNS[name]
    return frozenset(families) or None
