"""What an answer says is there, but for rows of a table or a list that say that it is not."""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Final

from rexview.detect.core.detector import AnswerInCase
from rexview.detect.phrases import either
from rexview.detect.report_comparison import FindingInText, findings_of_answer, of_status
from rexview.detect.thoughts import conclusion_of_thoughts

_ROW_DENIES: Final = re.compile(
    rf"[^|:.=–—\n]{{0,40}}(?:\s[|–—]\s*|\s*:\s*\**\s*|\s*=\s*|\s?\.{{3,}}\s*)"
    rf"(?:{either('report', 'row_denies')})(?![\w.])",
    re.IGNORECASE,
)
_LIKELIHOOD: Final = re.compile(rf"\b(?:{either('report', 'likelihood')})", re.IGNORECASE)
_ROW_UNLIKELY: Final = re.compile(
    rf"[^|:=\n]{{0,40}}[|:=]\W{{0,4}}(?:{either('report', 'unlikely')})(?=\W*(?:[|\n,}}]|$))",
    re.IGNORECASE,
)
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
        and not (likelihoods and _ROW_UNLIKELY.match(claim.text, claim.mention.end))
    ]
    if not claims:
        return []
    concluding = conclusion_of_thoughts(one.text)
    if concluding is None:
        return claims
    return [claim for claim in claims if claim.mention.start > concluding]


def _denied_in_row(claim: FindingInText) -> bool:
    """Whether the row or line of a finding says that it is not there: "Effusion | None"."""
    start = claim.text.rfind("\n", 0, claim.mention.start) + 1
    row = claim.text[start : claim.mention.start]
    return bool(_UNTICKED.match(row)) or bool(_ROW_DENIES.match(claim.text, claim.mention.end))
