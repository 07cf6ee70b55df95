"""Findings in text: what a report or an answer says is there, on which side, and how surely.

>>> from rexview.detect.findings import find_mentions
>>> [(m.finding, m.side, m.status) for m in find_mentions("Right effusion. No pneumothorax.")]
[('pleural_effusion', 'right', 'positive'), ('pneumothorax', None, 'negated')]
"""

from rexview.detect.findings.lexicon import finding_info, is_narrower, may_be_same_fracture
from rexview.detect.findings.mention import Finding, Mention, Side, Status
from rexview.detect.findings.reading import find_mentions

__all__ = [
    "Finding",
    "Mention",
    "Side",
    "Status",
    "find_mentions",
    "finding_info",
    "is_narrower",
    "may_be_same_fracture",
]
