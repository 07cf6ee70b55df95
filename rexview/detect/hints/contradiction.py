"""Where an answer denies outright what its report affirms: ``No effusion.``, report: an effusion.

Stricter than a hint at a missed finding, so that it counts as a failure: the report is sure of the
finding, and the answer has a plain "no" or "without" before it, or says "No." to a question whether
it is there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rexview.detect.core.detector import AnswerInCase
from rexview.detect.findings import find_mentions, finding_info
from rexview.detect.hints.against import QUALIFIED
from rexview.detect.mistaken import GENERAL
from rexview.detect.phrases import either, whole_words
from rexview.detect.report_comparison import MOST_READ, FindingInText, sides_meet
from rexview.geometry import OTHER_SIDE
from rexview.schema import Evidence

_PLAIN_NO: Final = re.compile(
    rf"\b(?:{either('report', 'denies_plainly')})\b(?P<between>[^.;:|\n]*)$", re.IGNORECASE
)
_TURN: Final = whole_words("report", "turns")
_MILDER: Final = whole_words("report", "milder")
_NOT_SURE: Final = whole_words("report", "not_sure")
_WHETHER: Final = re.compile(
    rf"(?:^|[.!?\n]\s*)(?:{either('question', 'whether')})\b[^.?!\n]*\?\s*$", re.IGNORECASE
)
_SAYS_NO: Final = re.compile(r"\W*(?P<no>no)\b(?=\s*(?:$|[.!\n]))", re.IGNORECASE)


def contradiction(
    one: AnswerInCase, same: Sequence[FindingInText], finding: FindingInText
) -> Evidence | None:
    """Return where an answer denies outright a finding that its report is sure of.

    ``same`` is all that the answer says of the finding.
    """
    if finding.mention.status != "positive" or finding.info.group == "device":
        return None
    if finding.info.id == GENERAL or any(other.mention.status != "negated" for other in same):
        return None
    found = _outright(same, finding) if same else _no_to_question(one, finding)
    return None if found is None or _NOT_SURE.search(finding.around()) else found


def _outright(same: Sequence[FindingInText], finding: FindingInText) -> Evidence | None:
    for other in same:
        if other.info.id == finding.info.id and _covers(other, finding):
            denied = _denied_plainly(other)
            if denied is not None:
                return denied
    return None


def _covers(denied: FindingInText, finding: FindingInText) -> bool:
    """Whether what is denied includes the finding: no narrower size, age or side."""
    if QUALIFIED.search(denied.before()) or denied.mention.zone:
        return False
    if bool(_MILDER.search(_words(denied))) != bool(_MILDER.search(_words(finding))):
        return False
    if denied.mention.side is None and finding.mention.side in OTHER_SIDE:
        other = OTHER_SIDE[finding.mention.side]
        return re.search(rf"\b{other}\b", denied.around(), re.IGNORECASE) is None
    return denied.mention.side in (None, "bilateral", finding.mention.side)


def _words(finding: FindingInText) -> str:
    return finding.text[finding.mention.start : finding.mention.end]


def _denied_plainly(denied: FindingInText) -> Evidence | None:
    """Return the words from a plain "no" to the finding that it denies."""
    mention, before = denied.mention, denied.before()
    match = _PLAIN_NO.search(before)
    if match is None or _TURN.search(match["between"]):
        return None
    start = mention.start - (len(before) - match.start())
    words = denied.text[start : mention.end]
    return Evidence("answer", words, None, start, mention.end, side=mention.side)


def _no_to_question(one: AnswerInCase, finding: FindingInText) -> Evidence | None:
    """Return the "No." to a question that asks whether just this finding is there."""
    says = _SAYS_NO.match(one.text)
    question = one.case.question
    if says is None or len(question) > MOST_READ or not _WHETHER.search(question):
        return None
    asked = find_mentions(question)
    if {finding_info(item.finding).id for item in asked} != {finding.info.id}:
        return None
    if not all(sides_meet(item.side, finding.mention.side) for item in asked):
        return None
    return Evidence("answer", says["no"], None, *says.span("no"))
