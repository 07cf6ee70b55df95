"""Hints of invented, missed and wrongly named findings: the answer's text beside the report's.

They are hints and no flags: a report need not say all, and rules read only so well. Each is shown
as suggested and counted apart. Devices, postoperative states and incidental findings count too.
Only an answer that denies outright what the report affirms is flagged
(:mod:`rexview.detect.hints.contradiction`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rexview.detect.core.detector import AnswerInCase, flag
from rexview.detect.findings import (
    finding_info,
    may_be_same_fracture,
)
from rexview.detect.hints.against import QUALIFIED, cleared, negation
from rexview.detect.hints.asked_for import may_stay_unsaid
from rexview.detect.hints.claimed import claims_of
from rexview.detect.hints.contradiction import contradiction
from rexview.detect.hints.names import has_unsure_name, is_of_pneumothorax, is_vague
from rexview.detect.hints.new_finding import is_known_by_another_name, is_new
from rexview.detect.hints.numbers import fewer_nodules, more_leads
from rexview.detect.hints.other_words import (
    said_generally,
    said_in_other_words,
)
from rexview.detect.hints.position import tubes_left_in_place
from rexview.detect.mistaken import GENERAL, OLD, mistaken_findings
from rexview.detect.normal_statements import lungs_cleared, normal_statement
from rexview.detect.phrases import word_set
from rexview.detect.report_comparison import (
    SAID,
    FindingInText,
    ReportFindings,
    asks_for_side,
    findings_of_answer,
    findings_of_report,
    has_report,
    mentions_of_answer,
    names_in_question,
    related,
    wants,
)
from rexview.schema import Evidence, Flag

_TRIFLES: Final = word_set("report", "trifle_family")
"""Families that any answer may leave out."""
_COMPANIONS: Final = word_set("report", "companion_family")
_DISEASE: Final = "lung_abnormality"
"""The family of diseases, which a report names for what they look like."""


@dataclass(frozen=True)
class InventedFinding:
    """Hints at findings that the answer reports and the report does not have. Kind: ``hint``.

    The report negates them, or does not mention them in any words that may mean them.
    """

    failure: str = "hallucination"

    def can_judge(self, one: AnswerInCase) -> bool:
        """Say whether a report stands beside the answer."""
        return has_report(one)

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Hold the answer against its report."""
        report = findings_of_report(one.case)
        flags: list[Flag] = []
        done: set[str] = set()
        for finding in sorted(
            claims_of(one, but=report.families),
            key=lambda item: (item.info.id == GENERAL, not item.mention.side),
        ):
            family = finding.info.family
            if family in done:
                continue
            against = negation(report.negated, finding)
            if finding.info.id == GENERAL and is_known_by_another_name(one, finding, report):
                continue
            if against is None:
                if any(related(finding, other) for other in report.said):
                    continue
                if is_known_by_another_name(one, finding, report):
                    continue
                against = cleared(one.case, finding)
            if against is None and not is_new(one, report, finding):
                continue
            done.add(family)
            says = f"says “{against.text}”" if against else "does not mention it"
            message = (
                f"Possible invented finding: the answer reports {finding.name}, the report {says}."
            )
            evidence = (finding.evidence, against) if against else (finding.evidence,)
            flags.append(flag(self, one.answer, "hint", message, evidence))
        if counts := more_leads(one, findings_of_answer(one), report):
            expected, given, places = counts
            message = f"Possible invented finding: the answer counts {given} pacing leads, "
            flags.append(flag(self, one.answer, "hint", f"{message}the report {expected}.", places))
        return flags


@dataclass(frozen=True)
class MissedFinding:
    """Findings of the report that the answer denies or never mentions.

    Kind ``contradiction`` where it denies outright what the report is sure of, whatever was asked.
    Else ``hint``: only those in a region that the question asks about, and what nobody may leave
    out (:data:`URGENT`). Evidence in the answer says that it denies the finding.
    """

    failure: str = "omission"

    def can_judge(self, one: AnswerInCase) -> bool:
        """Say whether a report stands beside the answer, and more than a choice was asked for."""
        return one.case.question_type != "choice" and has_report(one)

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Hold the answer against its report."""
        report, answered = findings_of_report(one.case), findings_of_answer(one)
        only_side = not answered and asks_for_side(one.case)  # "Left.", as was asked
        mistaken = {right.info.family for right, _ in one.once(mistaken_findings)}
        spoken = {finding_info(mention.finding).family for mention in mentions_of_answer(one)}
        flags, done = [], set[str]()
        for finding in report.present:
            family = finding.info.family
            if family in done or family in mistaken:
                continue
            same = _same(answered, finding)
            outright = contradiction(one, same, finding)
            if outright is None and (only_side or not wants(one.case, finding)):
                continue
            denied = outright or _denial(same, finding)
            if denied is None and (same or family in spoken):
                continue
            if negation(report.negated, finding) is not None or is_vague(finding):
                continue
            if family in _TRIFLES or is_of_pneumothorax(finding, report.present):
                continue
            if has_unsure_name(finding) or _explains_another(finding, report):
                continue
            if denied is None and not _has_kin(answered, finding):
                denied = _called_normal(one, finding)
            if denied is None and (
                names_in_question(one.case, finding)
                or may_stay_unsaid(one.case, finding, report)
                or said_generally(answered, finding)
                or _comes_with_another(answered, finding, report)
            ):
                continue
            if denied is None and said_in_other_words(one, answered, finding, report):
                continue
            done.add(family)
            if outright:
                message = f"The report has {finding.name}, the answer says “{outright.text}”."
                both = (finding.evidence, outright)
                flags.append(flag(self, one.answer, "contradiction", message, both))
                continue
            how = "denies it" if denied else "does not mention it"
            message = f"Possible missed finding: the report has {finding.name}, the answer {how}."
            evidence = (finding.evidence, denied) if denied else (finding.evidence,)
            flags.append(flag(self, one.answer, "hint", message, evidence))
        if only_side:
            return flags
        if "nodule" not in done and (counts := fewer_nodules(answered, report)):
            expected, given, places = counts
            message = f"Possible missed finding: the report counts {expected} nodules, "
            flags.append(flag(self, one.answer, "hint", f"{message}the answer {given}.", places))
        for tube, where in tubes_left_in_place(one, answered, report):
            how = "calls its place correct" if len(where) > 1 else "does not say so"
            message = f"Possible missed finding: the report has the {tube} out of place, "
            flags.append(flag(self, one.answer, "hint", f"{message}the answer {how}.", where))
        return flags


@dataclass(frozen=True)
class WrongAbnormality:
    """Hints at findings that stand where the report has another one. Kind: ``hint``."""

    failure: str = "wrong_type"

    def can_judge(self, one: AnswerInCase) -> bool:
        """Say whether a report stands beside the answer, and more than a choice was asked for."""
        return one.case.question_type != "choice" and has_report(one)

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Hold the answer against its report."""
        flags, done = [], set[str]()
        for right, wrong in one.once(mistaken_findings):
            if right.info.family not in done:
                done.add(right.info.family)
                message = (
                    f"Possibly the wrong abnormality: the answer reports {wrong.name} where the "
                    f"report has {right.name}."
                )
                evidence = (wrong.evidence, right.evidence)
                flags.append(flag(self, one.answer, "hint", message, evidence))
        return flags


def _explains_another(finding: FindingInText, report: ReportFindings) -> bool:
    """Whether a report names a disease as the cause of what it sees: "nodes, consider sarcoid"."""
    return finding.info.family == _DISEASE and any(
        other.info.family != _DISEASE
        and other.section == finding.section
        and other.mention.sentence == finding.mention.sentence
        for other in report.present
    )


def _comes_with_another(
    answered: Sequence[FindingInText], finding: FindingInText, report: ReportFindings
) -> bool:
    """Whether a sign stands in one sentence of the report with a finding that the answer names.

    "A cavity with surrounding consolidation", "goitre with tracheal deviation".
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
    """Whether an answer has on a finding's side what may be that finding by another name."""
    return any(
        related(finding, other)
        and other.mention.status in SAID
        and other.mention.side is not None
        and other.mention.side == finding.mention.side
        for other in answered
    )


def _called_normal(one: AnswerInCase, finding: FindingInText) -> Evidence | None:
    """Return where an answer that does not name a finding calls its place normal."""
    match = normal_statement(one.text, finding.info, old=OLD.search(finding.around()) is not None)
    if match is None:
        clear = lungs_cleared(one.text, finding.info, finding.mention.side)
        if clear is None:
            return None
        match = clear[0]
    return Evidence("answer", match[0], None, *match.span())


def _same(answered: Sequence[FindingInText], finding: FindingInText) -> list[FindingInText]:
    """Return what an answer says of a finding; a fracture may be that of a bone not named."""
    info = finding.info
    if "fracture" not in info.id:
        return [one for one in answered if one.info.family == info.family]
    return [
        one
        for one in answered
        if one.info.family == info.family or may_be_same_fracture(one.info.id, info.id)
    ]


def _denial(same: Sequence[FindingInText], finding: FindingInText) -> Evidence | None:
    """Return where the answer negates a finding that it nowhere reports.

    ``same`` is all that it says of it.
    """
    if any(one.mention.status != "negated" for one in same):
        return None
    sides = (None, "bilateral", finding.mention.side)
    for one in same:
        known = one.info.id in (finding.info.id, "fracture")
        plain = known and not QUALIFIED.search(one.before().removesuffix("acute "))
        if plain and one.mention.side in sides:
            return one.evidence
    return None
