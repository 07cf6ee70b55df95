"""The finding-level agreement of a report with its reference."""

from rexview.metrics.finding_agreement.agreement import FindingAgreement, Lone, Pair, compare
from rexview.metrics.finding_agreement.rules import Request
from rexview.metrics.finding_agreement.stated import Part, Span, Stated, stated_in, weigher

__all__ = [
    "FindingAgreement",
    "Lone",
    "Pair",
    "Part",
    "Request",
    "Span",
    "Stated",
    "compare",
    "stated_in",
    "weigher",
]
