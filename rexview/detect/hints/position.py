"""Tubes and lines that a report has out of place, and what an answer says of where they lie."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from rexview.detect.core.detector import AnswerInCase
from rexview.detect.findings import REPORT_SECTIONS, finding_info, misplaced_as
from rexview.detect.phrases import whole_words
from rexview.detect.report_comparison import (
    MOST_READ,
    FindingInText,
    ReportFindings,
    asks_about,
    families_related_to,
)
from rexview.schema import Evidence

_WRONG: Final = whole_words("position", "wrong")
_RIGHT_NOW: Final = whole_words("position", "right_now")
_DOUBT: Final = whole_words("position", "doubt")
_RIGHT: Final = whole_words("position", "right")
_MOVED: Final = whole_words("position", "moved")
_GASTRIC: Final = whole_words("position", "gastric")
_TUBES: Final = frozenset({"airway_tube", "enteric_tube"})
_TIP: Final = "artery_catheter_tip"
_IN_BRONCHUS: Final = "bronchial_tube"
"""A finding of its own."""
_SENTENCE: Final = re.compile(r"[^.!?\n]+(?:[.](?=\d)[^.!?\n]*)*")
_NEXT: Final = 60
"""Characters behind the sentence with a tube that may go on about it: "It is rather low"."""
_FAR: Final = 200
"""Characters behind a tube within which "it should be advanced" is about it."""


def tubes_left_in_place(
    one: AnswerInCase, answered: Sequence[FindingInText], report: ReportFindings
) -> Iterator[tuple[str, tuple[Evidence, ...]]]:
    """Yield tubes that a report has out of place where the answer has them with no word of that.

    An answer that does not speak of the tube, asked about or not, misses the tube itself.

    Yields
    ------
    str, tuple of Evidence
        The tube's name; where the report says so, and where the answer calls the place right.
    """
    in_bronchus = (
        found.info.family == _IN_BRONCHUS and found.mention.status != "negated"
        for found in answered
    )
    if len(one.text) > MOST_READ or any(in_bronchus) or _MOVED.search(_RIGHT.sub("", one.text)):
        return
    done: set[str] = set()
    for name, family, said in (*_in_bronchus(report), *_said_out_of_place(one, report)):
        if family in done:
            continue
        kin = _kin(family)
        here = [
            found
            for found in answered
            if found.info.family in kin and found.mention.status != "negated"
        ]
        if not (here or asks_about(one.case, kin)) or any(_doubts(found) for found in here):
            continue
        done.add(family)
        right = _called_right(one.text, kin, answered)
        yield name, (said, right) if right else (said,)


def _in_bronchus(report: ReportFindings) -> Iterator[tuple[str, str, Evidence]]:
    """Yield the tubes that a report has in a bronchus: name, family, and where it says so."""
    for found in report.present:
        if found.info.family == _IN_BRONCHUS:
            airway, gastric = (finding_info(name) for name in misplaced_as(found.info.id))
            first, last = found.mention.sentence
            tube = gastric if _GASTRIC.search(found.text, first, last) else airway
            yield tube.name, tube.family, found.evidence


def _said_out_of_place(
    one: AnswerInCase, report: ReportFindings
) -> Iterator[tuple[str, str, Evidence]]:
    """Yield the tubes that a report calls out of place: name, family, and where it says so."""
    for section in REPORT_SECTIONS:
        text = (getattr(one.case.report, section) or "")[:MOST_READ]
        for match in _WRONG.finditer(_RIGHT.sub(lambda one: " " * len(one[0]), text)):
            tube = _tube_of(text, match, section, report)
            if tube is not None:
                said = Evidence("report", match[0], section, *match.span())
                yield tube.info.name, tube.info.family, said


def _kin(family: str) -> frozenset[str]:
    """Return the families that an answer may mean one tube by; one in the airway is no other."""
    related = frozenset[str]() if family in _TUBES else families_related_to(family)
    return related | {family}


def _tube_of(
    text: str, match: re.Match[str], section: str, report: ReportFindings
) -> FindingInText | None:
    """Return the tube that words say is out of place: that of their sentence, or the last before.

    None where they do not say so of any: "previously malpositioned", "does not need repositioning".
    """
    sentence = next(
        part for part in _SENTENCE.finditer(text) if part.start() <= match.start() < part.end()
    )
    if _RIGHT_NOW.search(sentence[0]):
        return None
    tubes = [
        found
        for found in report.present
        if found.info.group == "device" and found.info.id != _TIP and found.section == section
        if match.start() - _FAR < found.mention.start < sentence.end()
    ]
    own = [found for found in tubes if found.mention.start >= sentence.start()] or tubes
    before = [found for found in own if found.mention.start < match.end()]
    tube = before[-1] if before else next(iter(own), None)
    return None if tube is None or tube.info.family == _IN_BRONCHUS else tube


def _doubts(found: FindingInText) -> bool:
    """Whether an answer says of a tube, or just behind it, what may mean that it lies wrong."""
    first, last = found.mention.sentence
    return _DOUBT.search(found.text, first, min(len(found.text), last + _NEXT)) is not None


def _called_right(
    text: str, kin: frozenset[str], answered: Sequence[FindingInText]
) -> Evidence | None:
    """Return where an answer calls the place of such a tube right, or that of all."""
    for match in _RIGHT.finditer(text):
        around = {
            found.info.family
            for found in answered
            if found.info.group == "device"
            and found.mention.sentence[0] <= match.start() < found.mention.sentence[1]
        }
        if not around or around & kin:
            return Evidence("answer", match[0], None, *match.span())
    return None
