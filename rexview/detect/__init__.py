"""Failure detectors: deterministic, from files alone, every flag with its evidence.

A detector implements :class:`Detector` and stands in :data:`DETECTORS`; nothing else has to change.
"""

from rexview.detect.detector import Detector
from rexview.detect.flags import (
    DETECTORS,
    FLAG_TABLE,
    Survey,
    detectors,
    find_flags,
    flag_rows,
    flags_for,
    survey,
)
from rexview.detect.gap import GAP_THRESHOLD, ExecutionGap
from rexview.detect.labels import Claim, claim_of, finding_of
from rexview.detect.laterality import BoxLaterality
from rexview.detect.token_limit import TokenLimit

__all__ = [
    "DETECTORS",
    "FLAG_TABLE",
    "GAP_THRESHOLD",
    "BoxLaterality",
    "Claim",
    "Detector",
    "ExecutionGap",
    "Survey",
    "TokenLimit",
    "claim_of",
    "detectors",
    "find_flags",
    "finding_of",
    "flag_rows",
    "flags_for",
    "survey",
]
