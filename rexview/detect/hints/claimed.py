"""What an answer says is there, but for rows of a table or a list that say that it is not."""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Final

from rexview.detect.core.detector import AnswerInCase
from rexview.detect.phrases import either, whole_words
from rexview.detect.report_comparison import FindingInText, findings_of_answer, of_status
from rexview.detect.thoughts import conclusion_of_thoughts

_ROW_DENIES: Final = re.compile(
    rf"[^|:.=–—\n]{{0,40}}(?:\s[|–—]\s*|\s*:\s*\**\s*|\s*=\s*|\s?\.{{3,}}\s*)"
    rf"(?:{either('report', 'row_denies')})(?![\w.])",
    re.IGNORECASE,
)
_LIKELIHOOD: Final = re.compile(rf"\b(?:{either('report', 'likelihood')})", re.IGNORECASE)
_ROW_UNLIKELY: Final = re.compile(
    rf"[^|:=\n]{{0,40}}[|:=]\W{{0,4}}(?:{either('report', 'unlikely')})(?=\s*\(|\W*(?:[|\n,}}]|$))",
    re.IGNORECASE,
)
_UNCLAIMED_BEFORE: Final = whole_words("report", "unclaimed_before")
_CLAIMED_YET: Final = whole_words("report", "claimed_yet")
_UNCLAIMED_AFTER: Final = whole_words("report", "unclaimed_after")
_TURN: Final = re.compile(
    r";|\b(?:but|however|although|though|yet)\b|\b(?:there|i) (?:is|are|see)\b", re.IGNORECASE
)
"""After it a sentence says something else."""
_CELL_DENIES: Final = re.compile(rf"\W*(?:{either('report', 'row_denies')})\W*", re.IGNORECASE)
_FIELD_DENIES: Final = re.compile(
    r'"(?:severity|status|present|presence|size|grade)"\s*:\s*"?'
    rf"(?:{either('report', 'row_denies')})\b",
    re.IGNORECASE,
)
_WEIGHED_IN: Final = whole_words("report", "weighed_in")
_UNTICKED: Final = re.compile(r"^\s*[-*]\s*\[ \]")


def claims_of(one: AnswerInCase, *, but: Set[str]) -> list[FindingInText]:
    """Return what an answer says is there, ``but`` for some families.

    Of an answer that thinks aloud, what its last part says.
    """
    likelihoods = _LIKELIHOOD.search(one.case.question) or _LIKELIHOOD.search(one.text)
    claims = [
        claim
        for claim in of_status(findings_of_answer(one), "positive")
        if claim.info.family not in but
        and not _denied_in_row(claim)
        and not _is_doubtful(claim)
        and not (likelihoods and _ROW_UNLIKELY.match(claim.text, claim.mention.end))
    ]
    if not claims:
        return []
    concluding = conclusion_of_thoughts(one.text)
    if concluding is None:
        return claims
    return [claim for claim in claims if claim.mention.start > concluding]


def _denied_in_row(claim: FindingInText) -> bool:
    """Whether the row, line or field of a finding says that it is not there: "Effusion | None"."""
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
    """Whether a text ends within a table that has columns for what speaks for and against."""
    header = before.rpartition("\n\n")[2].partition("\n")[0]
    return "|" in header and _WEIGHED_IN.search(header) is not None


def _is_doubtful(claim: FindingInText) -> bool:
    """Whether the sentence of a finding has words that deny or weigh it, or may.

    Sentences that deny in a way that is not read are rarer than plain ones, and a hint is to be
    right: "do not wait, insert a chest drain", "so is the tube" after what is gone.
    """
    before = _TURN.split(claim.before())[-1]
    _, last = claim.mention.sentence
    after = claim.text[claim.mention.end : last]
    return bool(
        _UNCLAIMED_BEFORE.search(_CLAIMED_YET.sub("", before)) or _UNCLAIMED_AFTER.search(after)
    )
