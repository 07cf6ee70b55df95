"""Hint at invented, missed and wrongly named findings, by comparing an answer with its report.

They are hints, not flags: a report need not list everything, and rules read text imperfectly. Each
is shown as suggested and counted apart. Devices, postoperative states and incidental findings count
too. An answer is flagged only if it denies outright what the report affirms
(:mod:`rexview.detect.denials`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rexview.detect.claimed_findings import (
    GENERAL_FINDING,
    OLD_FINDING,
    find_claimed_findings,
    find_confused_findings,
    has_unsure_name,
    is_known_by_another_name,
    is_new,
    is_pneumothorax_collapse,
    is_reported_generally,
    is_reported_in_other_words,
    is_vague,
)
from rexview.detect.denials import (
    QUALIFIER,
    find_negation,
    find_normal_statement,
    find_outright_denial,
    match_cleared_lungs,
    match_normal_statement,
)
from rexview.detect.detector import AnswerInCase, make_flag
from rexview.detect.report_comparison import (
    MOST_READ,
    REPORTED_STATUSES,
    URGENT_FAMILIES,
    FindingInText,
    ReportFindings,
    are_related,
    asks_about,
    asks_for_side,
    expects_finding,
    families_related_to,
    has_report,
    is_named_in_question,
    read_answer_findings,
    read_answer_mentions,
    read_report_findings,
    regions_of_question,
)
from rexview.schema import Case, Evidence, Flag
from rexview.text.findings import (
    REPORT_SECTIONS,
    find_mentions,
    finding_info,
    may_be_same_fracture,
    misplaced_devices,
)
from rexview.text.findings.mention import PACEMAKERS, count_findings, count_leads
from rexview.text.phrases import list_alternatives, list_names, whole_words, word_set

# Answers that count fewer nodules than their report, or more pacing leads.

_NODULES: Final = "nodule"
_SIZE: Final = re.compile(r"(?<![\w.])(\d{1,2}(?:\.\d)?)\s*(mm|cm)\b", re.IGNORECASE)
_ALIKE: Final = 0.15
"""Sizes that differ by at most this share are of the same nodule."""


def find_missing_nodules(
    answered: Sequence[FindingInText], report: ReportFindings
) -> tuple[int, int, tuple[Evidence, ...]] | None:
    """Return the numbers of nodules in report and answer, if the report has more, and the words.

    The report's words are the sizes of the omitted nodules if these are known.
    """
    expected, given = _nodules(report.positive), _nodules(answered)
    if expected is None or given is None or expected[0] <= given[0]:
        return None
    missing = _unmatched(expected[1], given[1])
    words = missing if len(missing) == expected[0] - given[0] else (expected[1].evidence,)
    return expected[0], given[0], (*words, given[1].evidence)


def find_extra_leads(
    one: AnswerInCase, answered: Sequence[FindingInText], report: ReportFindings
) -> tuple[int, int, tuple[Evidence, ...]] | None:
    """Return the pacing leads in report and answer, if the answer has more, and the words."""
    pacemakers = [item for item in report.positive if item.info.id in PACEMAKERS]
    if not pacemakers or not any(item.info.id in PACEMAKERS for item in answered):
        return None
    expected, given = count_leads(pacemakers[0].text), count_leads(one.text)
    if expected is None or given is None or expected[0] >= given[0]:
        return None
    (n, places), (first, last) = expected, given[1]
    text = pacemakers[0].text
    return (
        n,
        given[0],
        (
            Evidence("answer", one.text[first:last], None, first, last),
            Evidence("report", text[slice(*places)], pacemakers[0].section, *places),
        ),
    )


def _nodules(found: Sequence[FindingInText]) -> tuple[int, FindingInText] | None:
    """Return the number of nodules that a text counts, and the mention with the number."""
    nodules = [
        item
        for item in found
        if item.info.family == _NODULES and item.mention.status in REPORTED_STATUSES
    ]
    sections = {item.section: item.text for item in nodules}
    best: tuple[int, FindingInText] | None = None
    for section, text in sections.items():
        own = [item.mention for item in nodules if item.section == section]
        count = count_findings(text, own)
        if count and (best is None or count[0] > best[0]):
            item = next(item for item in nodules if item.mention is count[1])
            best = count[0], item
    return best


def _unmatched(expected: FindingInText, given: FindingInText) -> tuple[Evidence, ...]:
    """Return the sizes of the report's nodules that are missing in the answer's sentence."""
    sizes = _sizes(given)
    left = []
    for match in _SIZE.finditer(expected.text, *expected.mention.sentence):
        size = _millimetres(match)
        near = min(sizes, key=lambda other: abs(other - size), default=None)
        if near is not None and abs(near - size) <= _ALIKE * size:
            sizes.remove(near)
        else:
            left.append(Evidence("report", match[0], expected.section, *match.span()))
    return tuple(left)


def _sizes(one: FindingInText) -> list[float]:
    return [_millimetres(match) for match in _SIZE.finditer(one.text, *one.mention.sentence)]


def _millimetres(match: re.Match[str]) -> float:
    return float(match[1]) * (10 if match[2].lower() == "cm" else 1)


# Tubes and lines that a report describes as misplaced, and the answer's words on their position.

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
"""Characters after a tube's sentence that may still be about it: "It is rather low"."""
_FAR: Final = 200
"""Characters after a tube within which "it should be advanced" is about it."""


def find_overlooked_misplacements(
    one: AnswerInCase, answered: Sequence[FindingInText], report: ReportFindings
) -> Iterator[tuple[str, tuple[Evidence, ...]]]:
    """Yield misplaced tubes of the report that the answer has without a word on their position.

    If the answer mentions neither the tube nor was asked about it, the tube itself is missed.

    Yields
    ------
    str, tuple of Evidence
        The tube's name; where the report reports it, and where the answer calls the position right.
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
    """Yield the report's tubes in a bronchus: name, family, and the words for it."""
    for found in report.present:
        if found.info.family == _IN_BRONCHUS:
            airway, gastric = (finding_info(name) for name in misplaced_devices(found.info.id))
            first, last = found.mention.sentence
            tube = gastric if _GASTRIC.search(found.text, first, last) else airway
            yield tube.name, tube.family, found.evidence


def _said_out_of_place(
    one: AnswerInCase, report: ReportFindings
) -> Iterator[tuple[str, str, Evidence]]:
    """Yield the tubes that a report calls misplaced: name, family, and the words for it."""
    for section in REPORT_SECTIONS:
        text = (getattr(one.case.report, section) or "")[:MOST_READ]
        for match in _WRONG.finditer(_RIGHT.sub(lambda one: " " * len(one[0]), text)):
            tube = _tube_of(text, match, section, report)
            if tube is not None:
                said = Evidence("report", match[0], section, *match.span())
                yield tube.info.name, tube.info.family, said


def _kin(family: str) -> frozenset[str]:
    """Return the families by which an answer may mean a tube; airway tubes have no others."""
    related = frozenset[str]() if family in _TUBES else families_related_to(family)
    return related | {family}


def _tube_of(
    text: str, match: re.Match[str], section: str, report: ReportFindings
) -> FindingInText | None:
    """Return the tube that words call misplaced: the one in their sentence, or the last one before.

    None if they call none misplaced: "previously malpositioned", "does not need repositioning".
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
    """True if an answer questions a tube's position, in its sentence or just after it."""
    first, last = found.mention.sentence
    return _DOUBT.search(found.text, first, min(len(found.text), last + _NEXT)) is not None


def _called_right(
    text: str, kin: frozenset[str], answered: Sequence[FindingInText]
) -> Evidence | None:
    """Return where an answer calls the position of such a tube right, or that of all tubes."""
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


# What a question asks for: only that can be missed, and what no answer may leave out.
#
# A question may ask for everything, a disease or finding, a part of the chest, one side, devices,
# or only for acute findings. An answer can also deny wrongly what it need not mention.

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
    name: re.compile(rf"\b(?:{list_alternatives('asked_disease', name)})", re.IGNORECASE)
    for name in list_names("asked_disease")
}
_SIGNS: Final = {name: word_set("disease_signs", name) for name in list_names("disease_signs")}


def is_optional_finding(case: Case, finding: FindingInText, report: ReportFindings) -> bool:
    """True if an answer need not mention a finding of the report, because it was not asked for.

    Also true for a slight finding, such as wear of the spine, next to a graver one.
    """
    return _is_slight(case, finding, report) or not _is_asked_for(case, finding)


def _is_slight(case: Case, finding: FindingInText, report: ReportFindings) -> bool:
    if finding.info.family not in _SLIGHT or _SLIGHT_BUT.search(finding.around()):
        return False
    if finding.info.region in (regions_of_question(case) or ()):
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
    pressing = family in URGENT_FAMILIES and not OLD_FINDING.search(finding.around())
    if not pressing and (_FOREMOST.search(question) or _is_on_other_side(question, finding)):
        return False
    signs, regions = _asked_signs(question), regions_of_question(case)
    if pressing or (signs is None and regions is None and not asks_for_side(case)):
        return True
    if family in URGENT_FAMILIES and signs is None and finding.info.region not in (regions or ()):
        return False
    return signs is None or finding.info.group == "device" or family in signs


def _is_long_there(finding: FindingInText) -> bool:
    """True if a finding is not acute: a device, a lasting condition or one described as old."""
    return (
        finding.info.group == "device"
        or finding.info.family in _STANDING
        or finding.mention.status == "prior"
        or OLD_FINDING.search(finding.around()) is not None
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


_TRIFLES: Final = word_set("report", "trifle_family")
"""Families that any answer may leave out."""
_COMPANIONS: Final = word_set("report", "companion_family")
_DISEASE: Final = "lung_abnormality"
"""The family of diseases; a report may name only their appearance."""


@dataclass(frozen=True)
class InventedFinding:
    """Hints at findings that the answer reports and the report does not have. Kind: ``hint``.

    The report negates them, or does not mention them in any words that may mean them.
    """

    failure: str = "hallucination"

    def can_judge(self, one: AnswerInCase) -> bool:
        """True if there is a report to compare the answer with."""
        return has_report(one)

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Compare the answer with its report."""
        report = read_report_findings(one.case)
        flags: list[Flag] = []
        done: set[str] = set()
        for finding in sorted(
            find_claimed_findings(one, but=report.families),
            key=lambda item: (item.info.id == GENERAL_FINDING, not item.mention.side),
        ):
            family = finding.info.family
            if family in done:
                continue
            against = find_negation(report.negated, finding)
            if finding.info.id == GENERAL_FINDING and is_known_by_another_name(
                one, finding, report
            ):
                continue
            if against is None:
                if any(are_related(finding, other) for other in report.said):
                    continue
                if is_known_by_another_name(one, finding, report):
                    continue
                against = find_normal_statement(one.case, finding)
            if against is None and not is_new(one, report, finding):
                continue
            done.add(family)
            says = f"says “{against.text}”" if against else "does not mention it"
            message = (
                f"Possible invented finding: the answer reports {finding.name}, the report {says}."
            )
            evidence = (finding.evidence, against) if against else (finding.evidence,)
            flags.append(make_flag(self, one.answer, "hint", message, evidence))
        if counts := find_extra_leads(one, read_answer_findings(one), report):
            expected, given, places = counts
            message = f"Possible invented finding: the answer counts {given} pacing leads, "
            flags.append(
                make_flag(self, one.answer, "hint", f"{message}the report {expected}.", places)
            )
        return flags


@dataclass(frozen=True)
class MissedFinding:
    """Findings of the report that the answer denies or never mentions.

    The kind is ``contradiction`` if the answer denies outright what the report is sure of, whatever
    the question. Otherwise it is ``hint``, only for findings in a region that the question asks
    about, and for those that no answer may leave out (:data:`URGENT_FAMILIES`). Evidence in the
    answer shows its denial.
    """

    failure: str = "omission"

    def can_judge(self, one: AnswerInCase) -> bool:
        """True if there is a report to compare with, and the question wants more than a choice."""
        return one.case.question_type != "choice" and has_report(one)

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Compare the answer with its report."""
        report, answered = read_report_findings(one.case), read_answer_findings(one)
        only_side = not answered and asks_for_side(one.case)  # "Left.", as the question asked
        mistaken = {right.info.family for right, _ in one.once(find_confused_findings)}
        spoken = {finding_info(mention.finding).family for mention in read_answer_mentions(one)}
        flags, done = [], set[str]()
        for finding in report.present:
            family = finding.info.family
            if family in done or family in mistaken:
                continue
            same = _same(answered, finding)
            outright = find_outright_denial(one, same, finding)
            if outright is None and (only_side or not expects_finding(one.case, finding)):
                continue
            denied = outright or _denial(same, finding)
            if denied is None and (same or family in spoken):
                continue
            if find_negation(report.negated, finding) is not None or is_vague(finding):
                continue
            if family in _TRIFLES or is_pneumothorax_collapse(finding, report.present):
                continue
            if has_unsure_name(finding) or _explains_another(finding, report):
                continue
            if denied is None and not _has_kin(answered, finding):
                denied = _called_normal(one, finding)
            if denied is None and (
                is_named_in_question(one.case, finding)
                or is_optional_finding(one.case, finding, report)
                or is_reported_generally(answered, finding)
                or _comes_with_another(answered, finding, report)
            ):
                continue
            if denied is None and is_reported_in_other_words(one, answered, finding, report):
                continue
            done.add(family)
            if outright:
                message = f"The report has {finding.name}, the answer says “{outright.text}”."
                both = (finding.evidence, outright)
                flags.append(make_flag(self, one.answer, "contradiction", message, both))
                continue
            how = "denies it" if denied else "does not mention it"
            message = f"Possible missed finding: the report has {finding.name}, the answer {how}."
            evidence = (finding.evidence, denied) if denied else (finding.evidence,)
            flags.append(make_flag(self, one.answer, "hint", message, evidence))
        if only_side:
            return flags
        if "nodule" not in done and (counts := find_missing_nodules(answered, report)):
            expected, given, places = counts
            message = f"Possible missed finding: the report counts {expected} nodules, "
            flags.append(
                make_flag(self, one.answer, "hint", f"{message}the answer {given}.", places)
            )
        for tube, where in find_overlooked_misplacements(one, answered, report):
            how = "calls its place correct" if len(where) > 1 else "does not say so"
            message = f"Possible missed finding: the report has the {tube} out of place, "
            flags.append(make_flag(self, one.answer, "hint", f"{message}the answer {how}.", where))
        return flags


@dataclass(frozen=True)
class WrongAbnormality:
    """Hints at findings in the place where the report has another one. Kind: ``hint``."""

    failure: str = "wrong_type"

    def can_judge(self, one: AnswerInCase) -> bool:
        """True if there is a report to compare with, and the question wants more than a choice."""
        return one.case.question_type != "choice" and has_report(one)

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Compare the answer with its report."""
        flags, done = [], set[str]()
        for right, wrong in one.once(find_confused_findings):
            if right.info.family not in done:
                done.add(right.info.family)
                message = (
                    f"Possibly the wrong abnormality: the answer reports {wrong.name} where the "
                    f"report has {right.name}."
                )
                evidence = (wrong.evidence, right.evidence)
                flags.append(make_flag(self, one.answer, "hint", message, evidence))
        return flags


def _explains_another(finding: FindingInText, report: ReportFindings) -> bool:
    """True if a report names a disease as the cause of a finding: "nodes, consider sarcoid"."""
    return finding.info.family == _DISEASE and any(
        other.info.family != _DISEASE
        and other.section == finding.section
        and other.mention.sentence == finding.mention.sentence
        for other in report.present
    )


def _comes_with_another(
    answered: Sequence[FindingInText], finding: FindingInText, report: ReportFindings
) -> bool:
    """True if a sign is in one sentence of the report with a finding that the answer names.

    Examples: "A cavity with surrounding consolidation", "goitre with tracheal deviation".
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


def _has_kin(answered: Sequence[FindingInText], finding: FindingInText) -> bool:
    """True if an answer has, on a finding's side, what may be that finding by another name."""
    return any(
        are_related(finding, other)
        and other.mention.status in REPORTED_STATUSES
        and other.mention.side is not None
        and other.mention.side == finding.mention.side
        for other in answered
    )


def _called_normal(one: AnswerInCase, finding: FindingInText) -> Evidence | None:
    """Return where an answer that does not name a finding calls its place normal."""
    match = match_normal_statement(
        one.text, finding.info, old=OLD_FINDING.search(finding.around()) is not None
    )
    if match is None:
        clear = match_cleared_lungs(one.text, finding.info, finding.mention.side)
        if clear is None:
            return None
        match = clear[0]
    return Evidence("answer", match[0], None, *match.span())


def _same(answered: Sequence[FindingInText], finding: FindingInText) -> list[FindingInText]:
    """Return the answer's mentions of a finding; a fracture may be that of an unnamed bone."""
    info = finding.info
    if "fracture" not in info.id:
        return [one for one in answered if one.info.family == info.family]
    return [
        one
        for one in answered
        if one.info.family == info.family or may_be_same_fracture(one.info.id, info.id)
    ]


def _denial(same: Sequence[FindingInText], finding: FindingInText) -> Evidence | None:
    """Return where the answer negates a finding that it reports nowhere.

    ``same`` are all its mentions of the finding.
    """
    if any(one.mention.status != "negated" for one in same):
        return None
    sides = (None, "bilateral", finding.mention.side)
    for one in same:
        known = one.info.id in (finding.info.id, "fracture")
        plain = known and not QUALIFIER.search(one.before().removesuffix("acute "))
        if plain and one.mention.side in sides:
            return one.evidence
    return None
