"""Choice questions: an option that puts a finding on the wrong side is chosen.

The chosen option is a claim of the answer. It is held against the correct option and the report.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import polars as pl

from rexview.detect.core.detector import newest
from rexview.detect.findings import Mention, find_mentions, finding_info
from rexview.detect.findings.asserted import as_displayed
from rexview.detect.laterality.text import one_side, stated
from rexview.geometry import OTHER_SIDE
from rexview.schema import Answer, Case, Evidence, ReviewSet

_INVERTED: Final = re.compile(
    r"\b(?:not?|cannot|neither|without|except|absent|missing|excluded|ruled out|lacks?|false|least"
    r"|incorrect|untrue|wrong|normal|clear|free|spared|unaffected)\b|n['’]t\b",
    re.IGNORECASE,
)
"""In a question that asks for what is not there, a choice claims nothing that is."""
_LONGEST: Final = 2_000
"""Characters of a question or option that are read."""
_REACH: Final = 160
"""Characters between a finding of the report and its side up to which they are shown as one."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """A finding that an option puts on a side; offsets are of the side's words in the option."""

    mention: Mention
    span: tuple[int, int]


def choices_with_sides(review_set: ReviewSet, side_words: str) -> pl.DataFrame:
    """Return ``case``, ``model``, ``look`` of the answers whose chosen option can be judged.

    ``side_words`` is a regular expression for words that name a side.
    """
    report = pl.concat_str(
        [pl.col("report").struct.field(part).fill_null("") for part in ("findings", "impression")],
        separator="\n",
    )
    cases = review_set.cases.filter(pl.col("question_type") == "choice").select(
        "options", "correct", "question", "category", case="id", report=report
    )
    chosen = newest(review_set).select("case", "model", "choice").filter(pl.col("choice") >= 0)
    answers = chosen.join(cases, on="case", maintain_order="left").with_columns(
        chosen=_option("choice"),
        reference=pl.when(pl.col("correct").is_null()).then("report").otherwise(_option("correct")),
    )
    names_side = pl.all_horizontal(pl.col("chosen", "reference").str.contains(side_words))
    inverted = pl.struct("question", "category").map_elements(
        lambda asked: _asks_for_absence(asked["question"] or "", asked["category"]),
        return_dtype=pl.Boolean,
    )
    return (
        answers.filter(names_side.fill_null(False))
        .filter(~inverted)
        .select("case", "model", look=pl.col("choice").ne_missing(pl.col("correct")))
    )


def _option(number: str) -> pl.Expr:
    """Return the text of the option whose number stands in a column."""
    place = pl.col(number)
    valid = (place >= 0) & (place < pl.col("options").list.len())
    return pl.when(valid).then(pl.col("options").list.get(place, null_on_oob=True))


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
    choice, options = answer.choice, case.options
    if case.question_type != "choice" or choice is None or not 0 <= choice < len(options):
        return []
    correct = case.correct
    if choice == correct or _asks_for_absence(case.question, case.category):
        return []
    right = options[correct] if correct is not None and 0 <= correct < len(options) else None
    chosen = _claims(case, options[choice])
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
        message = f"Answer: option {_letter(choice)}, {claimed} {name}"
        evidence = [_option_evidence("option", options[choice], choice, claims[0])]
        if right is not None and correct is not None:
            message += f"; correct: option {_letter(correct)}, {other}"
            evidence.append(_option_evidence("correct_option", right, correct, expected[family][0]))
        if reported:
            message += f"; report: {other}"
            evidence.append(_report_evidence(case, *reported[0]))
        found.append((f"{message}.", tuple(evidence)))
    return found


def _asks_for_absence(question: str, category: str | None) -> bool:
    """Say whether the right option of a question is what is *not* there."""
    return category == "negation_assessment" or bool(_INVERTED.search(question[:_LONGEST]))


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
    for family, own in stated(as_displayed(case, mentions)).items():
        claims[family] = [
            _Claim(mention, (mention.side_start - lead, mention.side_end - lead))
            for mention in own
            if mention.side_start is not None
            and mention.side_end is not None
            and mention.side_start >= lead
        ]
    return {family: own for family, own in claims.items() if own}


@lru_cache(maxsize=256)
def _asked_finding(question: str) -> str | None:
    """Return the one finding that a question speaks of; None when there are several or none."""
    findings = {mention.finding for mention in find_mentions(question)}
    return findings.pop() if len(findings) == 1 else None


def _reported(case: Case, family: str) -> Sequence[tuple[str, Mention]]:
    """Return where the report gives a finding a side, each with its section."""
    return [
        (part, mention)
        for part in ("findings", "impression")
        for mention in stated(find_mentions(getattr(case.report, part))).get(family, ())
    ]


def _letter(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else str(number + 1)


def _option_evidence(where: str, option: str, number: int, claim: _Claim) -> Evidence:
    """Show the words of an option that give the side; ``field`` is its number from 0."""
    start, end = claim.span
    return Evidence(where, option[start:end], str(number), start, end, side=claim.mention.side)


def _report_evidence(case: Case, part: str, mention: Mention) -> Evidence:
    text = getattr(case.report, part) or ""
    start, end = mention.start, mention.end
    if mention.side_start is not None and mention.side_end is not None:
        first, last = min(start, mention.side_start), max(end, mention.side_end)
        if last - first <= _REACH and "\n" not in text[first:last]:
            start, end = first, last
    return Evidence("report", text[start:end], part, start, end, side=mention.side)
