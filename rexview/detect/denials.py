"""Find the findings that a report or an answer denies, outright or by calling a place normal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rexview.detect.claimed_findings import GENERAL_FINDING, OLD_FINDING
from rexview.detect.detector import AnswerInCase
from rexview.detect.report_comparison import MOST_READ, FindingInText, sides_meet
from rexview.geometry import OTHER_SIDE
from rexview.schema import Case, Evidence
from rexview.text.findings import REPORT_SECTIONS, LexiconFinding, find_mentions, finding_info
from rexview.text.phrases import list_alternatives, list_names, whole_words, word_set

# Statements that call a part of the chest normal, and so deny its findings without naming them.

_ALL: Final = "all"
"""Calls everything normal: "NAD."."""
_SAID: Final = {
    name: (
        whole_words("normal", name)
        if name != _ALL
        else re.compile(list_alternatives("normal", name), re.I),
        word_set("normal_families", name) if name != _ALL else frozenset[str](),
    )
    for name in list_names("normal")
}
_ACUTE: Final = "acute_bone"
_BORDERLINE: Final = re.compile(
    r"\b(?:top|upper|borderline|not|limits? of|than|larger|bigger|beyond|above|exceeds)\b",
    re.IGNORECASE,
)
_CLEAR: Final = re.compile(
    r"\b(?:(?:the|both|(?P<side>left|right|[lr](?=\s)))\s+)*lungs?"
    r"(?:\s+(?:fields?|bases?|and\s+(?:the\s+)?pleural\s+spaces?|and\s+pleura))*"
    r"(?:\s*[:|]|\s*\.{2,}|\s+(?:is|are|remains?|appears?)(?:\s+fully\s+expanded\s+and)?)?"
    r"\s+(?:both\s+)?clear\b(?!\s+of\b)"
    r"|\bclear\s+(?:lungs|lung\s+fields|chest)\b",
    re.IGNORECASE,
)
"""A sentence that clears the lungs, or one of them, of any opacity."""
_OTHERWISE: Final = re.compile(r"\b(?:otherwise|else|rest|remainder)\b[^.]*$", re.IGNORECASE)
_BEFORE: Final = 25
_CLEARED: Final = frozenset(
    {"airspace_opacity", "atelectasis", "nodule", "cavity", "contusion", "edema"}
)
_SIDES: Final = {"r": "right", "l": "left"}


def match_normal_statement(
    text: str, finding: LexiconFinding, *, old: bool
) -> re.Match[str] | None:
    """Return the statement that calls normal what a finding would change; None without one.

    ``old`` marks an old finding: "no acute fracture" does not deny it.
    """
    for part, (statement, families) in _SAID.items():
        if part != _ALL and (finding.family not in families or (old and part == _ACUTE)):
            continue
        for match in statement.finditer(text):
            if not _BORDERLINE.search(match[0].replace("not enlarged", "")):
                return match
    return None


def match_cleared_lungs(
    text: str, finding: LexiconFinding, side: str | None
) -> tuple[re.Match[str], str | None] | None:
    """Return the statement that clears the lungs of a finding, and the side that it clears."""
    if finding.family not in _CLEARED or finding.region != "lung":
        return None
    for match in _CLEAR.finditer(text):
        if _OTHERWISE.search(text[max(0, match.start() - _BEFORE) : match.start()]):
            continue
        named = (match["side"] or "").lower() or None
        cleared = _SIDES.get(named, named) if named else None
        if cleared is None or cleared == side:
            return match, cleared
    return None


_SHORTLY_AFTER: Final = r"\s+(?:[\w-]+\s+){0,2}$"
QUALIFIER: Final = re.compile(
    rf"\b(?:{list_alternatives('report', 'qualified')}){_SHORTLY_AFTER}", re.IGNORECASE
)
_FOCAL: Final = re.compile(
    rf"\b(?:{list_alternatives('report', 'focal')}){_SHORTLY_AFTER}", re.IGNORECASE
)
_DEVICE_DENIED: Final = whole_words("report", "device_denied")
_SHOWN: Final = 160
"""Longest sentence of a report that is shown whole, in characters."""


def find_negation(negated: Sequence[FindingInText], finding: FindingInText) -> Evidence | None:
    """Return where the report negates a finding without reservation, on its side or on both."""
    for one in negated:
        any_fracture = one.info.id == "fracture" and finding.info.id.endswith("_fracture")
        if one.info.id != finding.info.id and not any_fracture:
            continue
        covers = one.mention.side in (None, "bilateral", finding.mention.side)
        if one.info.group == "device" and not _DEVICE_DENIED.search(one.around()):
            continue  # "NG tube in the stomach, tip not seen"
        partly = QUALIFIER.search(one.before()) or (
            finding.info.id == GENERAL_FINDING and _FOCAL.search(one.before())
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


def find_normal_statement(case: Case, finding: FindingInText) -> Evidence | None:
    """Return where the report calls normal or clear what the answer reports as changed."""
    for section in REPORT_SECTIONS:
        text = getattr(case.report, section) or ""
        clear = match_cleared_lungs(text, finding.info, finding.mention.side)
        if clear is not None:
            match, side = clear
            return Evidence("report", match[0], section, *match.span(), side=side)
        normal = match_normal_statement(
            text, finding.info, old=OLD_FINDING.search(finding.around()) is not None
        )
        if normal is not None:
            return Evidence("report", normal[0], section, *normal.span())
    return None


# Outright contradictions: the answer denies what its report affirms (``No effusion.``).
#
# This is stricter than a hint at a missed finding, so it counts as a failure. The report is sure of
# the finding, and the answer has a plain "no" or "without" before it, or answers "No." to the
# question whether it is there.

_PLAIN_NO: Final = re.compile(
    rf"\b(?:{list_alternatives('report', 'denies_plainly')})\b(?P<between>[^.;:|\n]*)$",
    re.IGNORECASE,
)
_TURN: Final = whole_words("report", "turns")
_MILDER: Final = whole_words("report", "milder")
_NOT_SURE: Final = whole_words("report", "not_sure")
_WHETHER: Final = re.compile(
    rf"(?:^|[.!?\n]\s*)(?:{list_alternatives('question', 'whether')})\b[^.?!\n]*\?\s*$",
    re.IGNORECASE,
)
_SAYS_NO: Final = re.compile(r"\W*(?P<no>no)\b(?=\s*(?:$|[.!\n]))", re.IGNORECASE)


def find_outright_denial(
    one: AnswerInCase, same: Sequence[FindingInText], finding: FindingInText
) -> Evidence | None:
    """Return where an answer denies outright a finding that its report is sure of.

    ``same`` are all mentions of the finding in the answer.
    """
    if finding.mention.status != "positive" or finding.info.group == "device":
        return None
    if finding.info.id == GENERAL_FINDING or any(
        other.mention.status != "negated" for other in same
    ):
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
    """True if a denial includes the finding: it is not limited to a size, age or other side."""
    if QUALIFIER.search(denied.before()) or denied.mention.zone:
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
    """Return the "No." that answers a question about just this finding."""
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
