"""Whether an answer speaks of a finding of its report in other words than the finding's own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rexview.detect.core.detector import AnswerInCase
from rexview.detect.findings import Mention, finding_info
from rexview.detect.mistaken import GENERAL
from rexview.detect.phrases import either, list_names, whole_words
from rexview.detect.report_comparison import (
    SAID,
    FindingInText,
    ReportFindings,
    device_unread,
    heads_device,
    may_mean,
    related,
    sides_meet,
)

ALL_DEVICES: Final = whole_words("report", "all_devices")
"""Said of devices in general."""
_FOCAL: Final = "nodule"
_TUBES: Final = frozenset({"airway_tube", "bronchial_tube", "enteric_tube"})
_PLEURAL: Final = frozenset({"pleural_fluid", "pneumothorax"})
_PLACES: Final = {
    region: re.compile(rf"\b(?:{either('place', region)})", re.IGNORECASE)
    for region in list_names("place")
}
_ONLY_TOLD: Final = re.compile(rf"\b(?:{either('place_only', 'told')})\b|\?|:\s*$", re.IGNORECASE)
_CLAUSE: Final = re.compile(r"[^.;,|\n]+(?:[.,]\d[^.;,|\n]*)*")


def said_generally(answered: Sequence[FindingInText], finding: FindingInText) -> bool:
    """Whether an opacity of a report may be what the answer has of lung or pleura on its side.

    Or a mass, be it on the other side: that is another failure.
    """
    return finding.info.id == GENERAL and any(
        other.info.region in ("lung", "pleura")
        and other.mention.status in SAID
        and (other.info.family == _FOCAL or sides_meet(other.mention.side, finding.mention.side))
        for other in answered
    )


def said_in_other_words(
    one: AnswerInCase,
    answered: Sequence[FindingInText],
    finding: FindingInText,
    report: ReportFindings,
) -> bool:
    """Whether an answer speaks of a finding in other words, or of all devices at once.

    What the answer says in the words of another finding of the report is meant for that one.
    """
    text = one.text
    if finding.info.group == "device" and (
        any(not heads_device(text, match, one.mentions) for match in ALL_DEVICES.finditer(text))
        or device_unread(text, one.mentions, finding.info.family)
    ):
        return True
    taken = {other.info.family for other in report.said}
    said = [
        item
        for item in answered
        if item.mention.status != "negated"
        and sides_meet(item.mention.side, finding.mention.side)
        and not (item.info.family in taken and _is_another(item, finding))
    ]
    if any(related(finding, item) for item in said) or may_mean(text, finding, answered):
        return True
    return finding.info.group != "device" and place_unread(
        one.text, one.mentions, finding.info.region
    )


def _is_another(item: FindingInText, finding: FindingInText) -> bool:
    """Whether what may be meant by another name is named for another finding of the report.

    So it is where that lies in another part of the chest, or is plainly another tube. Air and fluid
    in the pleura stand beside each other, too.
    """
    families = {item.info.family, finding.info.family}
    words = item.text[item.mention.start : item.mention.end].lower()
    if families <= _TUBES:
        return words not in ("tube", "tubes")
    if (item.info.group == "device") != (finding.info.group == "device"):
        return True
    both_devices = item.info.group == finding.info.group == "device"
    return families == _PLEURAL or (not both_devices and item.info.region != finding.info.region)


def place_unread(text: str, mentions: Sequence[Mention], region: str) -> bool:
    """Whether a text tells of a place in a region what was not read: it may mean any finding.

    "The mass erodes two ribs" may mean a destroyed bone. A place where nothing is, or the end of a
    line, tells of none.
    """
    places = _PLACES.get(region)
    if places is None:
        return False
    infos = [(item.start, finding_info(item.finding)) for item in mentions]
    read = [start for start, info in infos if info.region == region or info.group == "device"]
    return any(
        places.search(clause[0])
        and " " in clause[0].strip()
        and not _ONLY_TOLD.search(clause[0])
        and not any(clause.start() <= start < clause.end() for start in read)
        for clause in _CLAUSE.finditer(text)
    )
