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
    misplaced_devices,
)
from rexview.text.findings.mention import LexiconFinding, Mention
from rexview.text.findings.mention_finder import (
    REPORT_SECTIONS,
    asserted_mentions,
    convert_to_patient_sides,
    find_mentions,
    find_sides,
    report_mentions,
    report_text,
)

__all__ = [
    "REPORT_SECTIONS",
    "LexiconFinding",
    "Mention",
    "SideSpan",
    "asserted_mentions",
    "convert_to_patient_sides",
    "find_mentions",
    "find_sides",
    "finding_info",
    "finding_name",
    "finding_region",
    "is_narrower",
    "may_be_same_fracture",
    "means_alone",
    "misplaced_devices",
    "report_mentions",
    "report_text",
]
