"""Names of findings that claim little, or may stand for something else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rexview.detect.phrases import either
from rexview.detect.report_comparison import FindingInText, sides_meet

_VAGUE: Final = re.compile(rf"(?:{either('report', 'vague')})", re.IGNORECASE)
_SIGN_ONLY: Final = re.compile(rf"(?:{either('report', 'sign_only')})", re.IGNORECASE)
_UNSURE_NAME: Final = re.compile(rf"(?:{either('report', 'unsure_name')})", re.IGNORECASE)


def is_vague(finding: FindingInText) -> bool:
    """Whether a finding is told in words too vague to be a claim."""
    mention = finding.mention
    return _VAGUE.fullmatch(finding.text[mention.start : mention.end]) is not None


def is_sign_only(words: str) -> bool:
    """Whether words name a sign that may be of many things."""
    return _SIGN_ONLY.fullmatch(words) is not None


def has_unsure_name(finding: FindingInText) -> bool:
    """Whether a finding has a name that may stand for something else: "ICD" for a drain."""
    return (
        _UNSURE_NAME.fullmatch(finding.text[finding.mention.start : finding.mention.end])
        is not None
    )


def is_of_pneumothorax(finding: FindingInText, said: Sequence[FindingInText]) -> bool:
    """Whether a collapse is that of the lung beside a pneumothorax, and goes without saying."""
    words = finding.text[finding.mention.start : finding.mention.end].lower()
    return "collaps" in words and any(
        other.info.family == "pneumothorax" and sides_meet(other.mention.side, finding.mention.side)
        for other in said
    )
