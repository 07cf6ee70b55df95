"""Choice questions: an option that puts a finding on the wrong side is chosen.

The chosen option is a claim of the answer. It is held against the correct option and the report.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rexview.choices.cues import asks_for_absence
from rexview.detect.findings import (
    REPORT_SECTIONS,
    Mention,
    as_displayed,
    find_mentions,
    finding_info,
    misplaced_as,
    report_text,
)
from rexview.detect.laterality.text import one_side, sided_by_family, sides_named, stretch
from rexview.geometry import OTHER_SIDE
from rexview.schema import Answer, Case, Evidence
from rexview.vocab import option_letter

_LONGEST: Final = 2_000
"""Characters of a question or option that are read."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """A finding that an option puts on a side; offsets are of the side's words in the option."""

    mention: Mention
    span: tuple[int, int]


def can_judge_choice(case: Case, answer: Answer) -> bool:
    """Say whether the chosen option and the reference, option or report, both name a side."""
    chosen = _option(case, answer.choice)
    if case.question_type != "choice" or chosen is None or not any(sides_named(chosen)):
        return False
    reference = report_text(case) if case.correct is None else _option(case, case.correct) or ""
    names_side = any(sides_named(reference))
    return names_side and not _asks_for_absence(case.question, case.category)


def _option(case: Case, number: int | None) -> str | None:
    """Return the text of an option by its number; None when the case has none of that number."""
    known = number is not None and 0 <= number < len(case.options)
    return case.options[number] if known and number is not None else None


def wrong_side_chosen(case: Case, answer: Answer) -> list[tuple[str, tuple[Evidence, ...]]]:
    """Find the findings that the chosen option has on one side, and the reference on the other.

    The reference is the correct option; where the question has none, the report. An option says
    which finding it means itself or leaves that to the question. There is no error where the
    correct option gives the finding no side or both, and none where the report contradicts the
    correct option: then the reference is in doubt.

    Returns
    -------
    list of tuple
        A sentence and the evidence for each.
    """
    choice, correct = answer.choice, case.correct
    option, right = _option(case, choice), _option(case, correct)
    if case.question_type != "choice" or choice is None or option is None or choice == correct:
        return []
    if _asks_for_absence(case.question, case.category):
        return []
    chosen = _claims(case, option)
    expected = _claims(case, right) if right is not None else {}
    found = []
    for family, claims in chosen.items():
        claimed = one_side([claim.mention for claim in claims])
        if claimed not in OTHER_SIDE:
            continue
        other = OTHER_SIDE[claimed]
        reported = _reported(case, family)
        report_side = one_side([mention for _, mention in reported])
        known = one_side([claim.mention for claim in expected.get(family, ())])
        against = known if right is not None else report_side
        if against != other or (right is not None and report_side not in (None, other)):
            continue
        name = finding_info(claims[0].mention.finding).name
        message = f"Answer: option {option_letter(choice)}, {claimed} {name}"
        evidence = [_option_evidence("option", option, choice, claims[0])]
        if right is not None and correct is not None:
            message += f"; correct: option {option_letter(correct)}, {other}"
            evidence.append(_option_evidence("correct_option", right, correct, expected[family][0]))
        if reported:
            message += f"; report: {other}"
            evidence.append(_report_evidence(case, *reported[0]))
        found.append((f"{message}.", tuple(evidence)))
    return found


def _asks_for_absence(question: str, category: str | None) -> bool:
    """Say whether the right option of a question is what is *not* there."""
    return category == "negation_assessment" or asks_for_absence(question)


def _claims(case: Case, option: str) -> dict[str, list[_Claim]]:
    """Read the sides that an option gives findings, by family.

    "On the right, large" speaks of the one finding that the question asks about.
    """
    option = option[:_LONGEST]
    mentions = find_mentions(option)
    lead = 0
    if not mentions:
        asked = _asked_finding(case.question[:_LONGEST])
        if asked is None:
            return {}
        before = f"{finding_info(asked).name}: "
        lead = len(before)
        mentions = find_mentions(before + option)
    claims: dict[str, list[_Claim]] = {}
    for family, sided in sided_by_family(as_displayed(case, mentions)).items():
        if lead and misplaced_as(sided[0].finding):
            continue  # "where does the tube end?" asks for no side of the tube
        claims[family] = [
            _Claim(mention, (mention.side_start - lead, mention.side_end - lead))
            for mention in sided
            if mention.side_start is not None
            and mention.side_end is not None
            and mention.side_start >= lead
        ]
    return {family: sided for family, sided in claims.items() if sided}


@lru_cache(maxsize=256)
def _asked_finding(question: str) -> str | None:
    """Return the one finding that a question speaks of; None when there are several or none."""
    findings = {mention.finding for mention in find_mentions(question)}
    return findings.pop() if len(findings) == 1 else None


def _reported(case: Case, family: str) -> list[tuple[str, Mention]]:
    """Return where the report gives a finding a side, each with its section."""
    return [
        (section, mention)
        for section in REPORT_SECTIONS
        for mention in sided_by_family(find_mentions(getattr(case.report, section))).get(family, ())
    ]


def _option_evidence(where: str, option: str, number: int, claim: _Claim) -> Evidence:
    """Show the words of an option that give the side; ``field`` is its number from 0."""
    start, end = claim.span
    return Evidence(where, option[start:end], str(number), start, end, side=claim.mention.side)


def _report_evidence(case: Case, section: str, mention: Mention) -> Evidence:
    text = getattr(case.report, section) or ""
    start, end = stretch(text, mention) or (mention.start, mention.end)
    return Evidence("report", text[start:end], section, start, end, side=mention.side)
