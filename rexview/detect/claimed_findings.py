"""Find the findings that an answer claims, and those that are new to its report."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import Final

from rexview.detect.detector import AnswerInCase
from rexview.detect.report_comparison import (
    REPORTED_STATUSES,
    FindingInText,
    ReportFindings,
    are_related,
    find_conclusion,
    has_unread_device,
    has_unread_words,
    heads_device,
    may_mean_finding,
    read_answer_findings,
    read_report_findings,
    select_status,
    sides_meet,
    zones_meet,
)
from rexview.text.findings import (
    REPORT_SECTIONS,
    Mention,
    find_mentions,
    finding_info,
    may_be_same_fracture,
    means_alone,
    report_text,
)
from rexview.text.phrases import list_alternatives, list_names, whole_words, word_set

# Names of findings that claim little, or may mean something else.

_VAGUE: Final = re.compile(rf"(?:{list_alternatives('report', 'vague')})", re.IGNORECASE)
_SIGN_ONLY: Final = re.compile(rf"(?:{list_alternatives('report', 'sign_only')})", re.IGNORECASE)
_UNSURE_NAME: Final = re.compile(
    rf"(?:{list_alternatives('report', 'unsure_name')})", re.IGNORECASE
)


def is_vague(finding: FindingInText) -> bool:
    """True if a finding is described in words too vague to be a claim."""
    mention = finding.mention
    return _VAGUE.fullmatch(finding.text[mention.start : mention.end]) is not None


def is_sign_only(words: str) -> bool:
    """True if the words name a sign with many possible causes."""
    return _SIGN_ONLY.fullmatch(words) is not None


def has_unsure_name(finding: FindingInText) -> bool:
    """True if the name of a finding may mean something else: "ICD" for a drain."""
    return (
        _UNSURE_NAME.fullmatch(finding.text[finding.mention.start : finding.mention.end])
        is not None
    )


def is_pneumothorax_collapse(finding: FindingInText, said: Sequence[FindingInText]) -> bool:
    """True if a collapse belongs to a pneumothorax, so that it needs no mention of its own."""
    words = finding.text[finding.mention.start : finding.mention.end].lower()
    return "collaps" in words and any(
        other.info.family == "pneumothorax" and sides_meet(other.mention.side, finding.mention.side)
        for other in said
    )


# Findings of an answer in the place where the report has others.

MAJOR_FAMILIES: Final = word_set("report", "major_family")
"""Families whose findings may be confused with one another."""
_REGIONS: Final = frozenset({"lung", "pleura", "abdomen"})
"""Regions in which findings are confused with one another."""
_USUAL_ZONES: Final = {"pleural_fluid": "lower", "free_air": "base"}
"""Zone of a finding whose text names none."""
GENERAL_FINDING: Final = "opacity"
"""A finding so general that it does not identify a type."""
OLD_FINDING: Final = whole_words("report", "old")
"""Words for old findings, which an answer may leave out."""


def find_confused_findings(one: AnswerInCase) -> list[tuple[FindingInText, FindingInText]]:
    """Pair the report's findings with other findings that the answer has in the same place."""
    report, answered = read_report_findings(one.case), read_answer_findings(one)
    others = [
        wrong
        for wrong in select_status(answered, "positive")
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
    known = one.info.family in MAJOR_FAMILIES or one.info.family == "atelectasis"
    return known and one.info.region in _REGIONS and one.info.id != GENERAL_FINDING


def _named(answered: Sequence[FindingInText], right: FindingInText) -> bool:
    """True if the answer has the finding itself; a general word does not count next to a denial."""
    denied = any(one.info.id == right.info.id for one in select_status(answered, "negated"))
    return any(
        one.info.family == right.info.family and not (denied and one.info.id == GENERAL_FINDING)
        for one in select_status(answered, *REPORTED_STATUSES)
    )


def _same_place(first: FindingInText, second: FindingInText) -> bool:
    """True if two findings are known to be on the same side and at the same height."""
    one, two = _zone(first), _zone(second)
    if one is None or two is None or first.mention.side != second.mention.side:
        return False
    return zones_meet(one, two) if first.mention.side in ("right", "left") else one == two


def _zone(finding: FindingInText) -> str | None:
    return finding.mention.zone or _USUAL_ZONES.get(finding.info.family)


def _may_matter(finding: FindingInText) -> bool:
    """True unless a finding of a report is only an old one."""
    return finding.section == "impression" or not OLD_FINDING.search(finding.around())


# Findings of the report that an answer mentions in other words.

ALL_DEVICES: Final = whole_words("report", "all_devices")
"""Words for devices in general."""
_FOCAL: Final = "nodule"
_TUBES: Final = frozenset({"airway_tube", "bronchial_tube", "enteric_tube"})
_PLEURAL: Final = frozenset({"pleural_fluid", "pneumothorax"})
_PLACES: Final = {
    region: re.compile(rf"\b(?:{list_alternatives('place', region)})", re.IGNORECASE)
    for region in list_names("place")
}
_ONLY_TOLD: Final = re.compile(
    rf"\b(?:{list_alternatives('place_only', 'told')})\b|\?|:\s*$", re.IGNORECASE
)
_CLAUSE: Final = re.compile(r"[^.;,|\n]+(?:[.,]\d[^.;,|\n]*)*")


def is_reported_generally(answered: Sequence[FindingInText], finding: FindingInText) -> bool:
    """True if a report's opacity may be what the answer reports in lung or pleura on that side.

    Also true for a mass, even on the other side: that is another failure.
    """
    return finding.info.id == GENERAL_FINDING and any(
        other.info.region in ("lung", "pleura")
        and other.mention.status in REPORTED_STATUSES
        and (other.info.family == _FOCAL or sides_meet(other.mention.side, finding.mention.side))
        for other in answered
    )


def is_reported_in_other_words(
    one: AnswerInCase,
    answered: Sequence[FindingInText],
    finding: FindingInText,
    report: ReportFindings,
) -> bool:
    """True if an answer mentions a finding in other words, or all devices at once.

    Words for another finding of the report are taken to mean that finding.
    """
    text = one.text
    if finding.info.group == "device" and (
        any(not heads_device(text, match, one.mentions) for match in ALL_DEVICES.finditer(text))
        or has_unread_device(text, one.mentions, finding.info.family)
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
    if any(are_related(finding, item) for item in said) or may_mean_finding(
        text, finding, answered
    ):
        return True
    return finding.info.group != "device" and has_unread_place(
        one.text, one.mentions, finding.info.region
    )


def _is_another(item: FindingInText, finding: FindingInText) -> bool:
    """True if a possible other name for a finding belongs to another finding of the report.

    That is so if it is in another part of the chest, or is clearly another tube. Air and fluid in
    the pleura also occur together.
    """
    families = {item.info.family, finding.info.family}
    words = item.text[item.mention.start : item.mention.end].lower()
    if families <= _TUBES:
        return words not in ("tube", "tubes")
    if (item.info.group == "device") != (finding.info.group == "device"):
        return True
    both_devices = item.info.group == finding.info.group == "device"
    return families == _PLEURAL or (not both_devices and item.info.region != finding.info.region)


def has_unread_place(text: str, mentions: Sequence[Mention], region: str) -> bool:
    """True if a clause names a place in a region, but no finding was read from it.

    It may mean any finding: "The mass erodes two ribs" may mean a destroyed bone. A place that is
    free of findings, or where a line ends, does not count.
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


# Findings of an answer that are new to its report, in any words.

_SURE_WITH_PART: Final = frozenset({"cardiomegaly"})
"""Families named equally surely by a word and a body part: "the heart is enlarged"."""
_DISEASE: Final = "lung_abnormality"
"""The family of diseases; a report may name only their appearance."""
_OPENED_CHEST: Final = re.compile(
    rf"\b(?:{list_alternatives('report', 'opened_chest')})", re.IGNORECASE
)
_OPERATED_HEART: Final = word_set("report", "operated_heart_family")
_COMPARED_ONLY: Final = re.compile(
    rf"\b(?:{list_alternatives('report', 'compared_only')})", re.IGNORECASE
)
_MAY_BE: Final = re.compile(
    rf"\b(?:{list_alternatives('report', 'may_be')})(?:\s+(?!with\b|and\b|or\b)[\w-]+){{0,3}}\W*$",
    re.IGNORECASE,
)
_BESIDE_FLUID: Final = whole_words("report", "beside_fluid")
_FEW: Final = 3
"""A report with fewer findings that only compares does not describe all that is there."""


def is_known_by_another_name(
    one: AnswerInCase, finding: FindingInText, report: ReportFindings
) -> bool:
    """True if an answer explains a finding as something that the report has.

    Example: "A density behind the heart, probably a hernia". The collapsed lung beside a
    pneumothorax is not new either.
    """
    if is_pneumothorax_collapse(finding, report.said):
        return True
    return any(
        other.info.family in report.families
        and other.mention.sentence == finding.mention.sentence
        and other.mention.start > finding.mention.end
        and _MAY_BE.search(one.text, finding.mention.end, other.mention.start)
        for other in select_status(read_answer_findings(one), *REPORTED_STATUSES)
    )


def is_new(one: AnswerInCase, report: ReportFindings, finding: FindingInText) -> bool:
    """True if a report that lists what is there does not mention a finding in any words.

    An impression alone, or a few words on changes, does not list what is there. Words too vague to
    be a claim are not new, nor is a finding in the place of another one.
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
    if finding.info.id == GENERAL_FINDING and any(
        other.info.region in ("lung", "pleura") for other in report.said
    ):
        return False  # the report may mean this finding by a more specific name
    if _goes_with_another(finding, report):
        return False
    if len(report.present) < _FEW and _COMPARED_ONLY.search(text):
        return False
    mistaken = (wrong.info.family for _, wrong in one.once(find_confused_findings))
    return finding.info.family not in mistaken and not may_mean_finding(text, finding)


def _goes_with_another(finding: FindingInText, report: ReportFindings) -> bool:
    """True if a finding accompanies one in the report.

    Examples: the appearance of a lung disease, metal with a device, sternal wires after heart
    surgery, and lung that collapses beside fluid.
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
    """True if a report may mention a finding in words that were not read."""
    region = "device" if finding.info.group == "device" else finding.info.region
    for section in REPORT_SECTIONS:
        text = getattr(one.case.report, section) or ""
        mentions = find_mentions(text)
        device = region == "device" and has_unread_device(text, mentions, finding.info.family)
        unread = has_unread_words(text, mentions, region)
        if device or unread or has_unread_place(text, mentions, region):
            return True
    return False


# Findings that an answer claims, without rows of a table or list that deny them.

_ROW_DENIES: Final = re.compile(
    rf"[^|:.=–—\n]{{0,40}}(?:\s[|–—]\s*|\s*:\s*\**\s*|\s*=\s*|\s?\.{{3,}}\s*)"
    rf"(?:{list_alternatives('report', 'row_denies')})(?![\w.])",
    re.IGNORECASE,
)
_LIKELIHOOD: Final = re.compile(
    rf"\b(?:{list_alternatives('report', 'likelihood')})", re.IGNORECASE
)
_ROW_UNLIKELY: Final = re.compile(
    rf"[^|:=\n]{{0,40}}[|:=]\W{{0,4}}(?:{list_alternatives('report', 'unlikely')})"
    r"(?=\s*\(|\W*(?:[|\n,}]|$))",
    re.IGNORECASE,
)
_UNCLAIMED_BEFORE: Final = whole_words("report", "unclaimed_before")
_CLAIMED_YET: Final = whole_words("report", "claimed_yet")
_UNCLAIMED_AFTER: Final = whole_words("report", "unclaimed_after")
_TURN: Final = re.compile(
    r";|\b(?:but|however|although|though|yet)\b|\b(?:there|i) (?:is|are|see)\b", re.IGNORECASE
)
"""A word that starts a new statement in a sentence."""
_CELL_DENIES: Final = re.compile(
    rf"\W*(?:{list_alternatives('report', 'row_denies')})\W*", re.IGNORECASE
)
_FIELD_DENIES: Final = re.compile(
    r'"(?:severity|status|present|presence|size|grade)"\s*:\s*"?'
    rf"(?:{list_alternatives('report', 'row_denies')})\b",
    re.IGNORECASE,
)
_WEIGHED_IN: Final = whole_words("report", "weighed_in")
_UNTICKED: Final = re.compile(r"^\s*[-*]\s*\[ \]")


def find_claimed_findings(one: AnswerInCase, *, but: Set[str]) -> list[FindingInText]:
    """Return the findings that an answer claims, except for the families in ``but``.

    If the answer thinks aloud, only its last part counts.
    """
    likelihoods = _LIKELIHOOD.search(one.case.question) or _LIKELIHOOD.search(one.text)
    claims = [
        claim
        for claim in select_status(read_answer_findings(one), "positive")
        if claim.info.family not in but
        and not _denied_in_row(claim)
        and not _is_doubtful(claim)
        and not (likelihoods and _ROW_UNLIKELY.match(claim.text, claim.mention.end))
    ]
    if not claims:
        return []
    concluding = find_conclusion(one.text)
    if concluding is None:
        return claims
    return [claim for claim in claims if claim.mention.start > concluding]


def _denied_in_row(claim: FindingInText) -> bool:
    """True if the row, line or field of a finding denies it: "Effusion | None"."""
    before, behind = claim.text[: claim.mention.start], claim.text[claim.mention.end :]
    row = before.rpartition("\n")[2]
    if _UNTICKED.match(row) or _ROW_DENIES.match(claim.text, claim.mention.end):
        return True
    if "|" in row:
        cells = behind.partition("\n")[0].split("|")
        return _weighs_diagnoses(before) or any(map(_CELL_DENIES.fullmatch, cells))
    in_object = "{" in before and "}" not in before.rpartition("{")[2]
    return in_object and _FIELD_DENIES.search(behind.partition("}")[0]) is not None


def _weighs_diagnoses(before: str) -> bool:
    """True if the text ends in a table with columns of arguments for and against."""
    header = before.rpartition("\n\n")[2].partition("\n")[0]
    return "|" in header and _WEIGHED_IN.search(header) is not None


def _is_doubtful(claim: FindingInText) -> bool:
    """True if the sentence of a finding has words that may deny or qualify it.

    Precision comes first for a hint: plain sentences are far more frequent than denials in unknown
    wording. Examples: "do not wait, insert a chest drain", "so is the tube" after something that is
    gone.
    """
    before = _TURN.split(claim.before())[-1]
    _, last = claim.mention.sentence
    after = claim.text[claim.mention.end : last]
    return bool(
        _UNCLAIMED_BEFORE.search(_CLAIMED_YET.sub("", before)) or _UNCLAIMED_AFTER.search(after)
    )
