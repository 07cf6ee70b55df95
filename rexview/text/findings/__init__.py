"""Read findings in text: what is there, on which side, and how surely.

>>> from rexview.text.findings import find_mentions
>>> [(m.finding, m.side, m.status) for m in find_mentions("Right effusion. No pneumothorax.")]
[('pleural_effusion', 'right', 'positive'), ('pneumothorax', None, 'negated')]
"""

from rexview.text.findings.clauses import SideSpan
from rexview.text.findings.lexicon import (
    finding_info,
    finding_name,
    finding_region,
    is_narrower,
    may_be_same_fracture,
    means_alone,
    misplaced_as,
)
from rexview.text.findings.mention import Finding, Mention
from rexview.text.findings.reading import (
    REPORT_SECTIONS,
    as_displayed,
    asserted_mentions,
    find_mentions,
    report_mentions,
    report_text,
    sides_of_text,
)

__all__ = [
    "REPORT_SECTIONS",
    "Finding",
    "Mention",
    "SideSpan",
    "as_displayed",
    "asserted_mentions",
    "find_mentions",
    "finding_info",
    "finding_name",
    "finding_region",
    "is_narrower",
    "may_be_same_fracture",
    "means_alone",
    "misplaced_as",
    "report_mentions",
    "report_text",
    "sides_of_text",
]
