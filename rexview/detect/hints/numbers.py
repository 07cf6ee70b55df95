"""Where an answer counts fewer nodules than its report, or more pacing leads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rexview.detect.core.detector import AnswerInCase
from rexview.detect.findings.counts import PACEMAKERS, leads, number_of
from rexview.detect.report_comparison import SAID, FindingInText, ReportFindings
from rexview.schema import Evidence

_NODULES: Final = "nodule"
_SIZE: Final = re.compile(r"(?<![\w.])(\d{1,2}(?:\.\d)?)\s*(mm|cm)\b", re.IGNORECASE)
_ALIKE: Final = 0.15
"""Sizes that differ by no more than this share are of one nodule."""


def fewer_nodules(
    answered: Sequence[FindingInText], report: ReportFindings
) -> tuple[int, int, tuple[Evidence, ...]] | None:
    """Return how many nodules report and answer count, where the report has more, and the words.

    The words of the report are the size of the nodule that is left out where that is known.
    """
    expected, given = _nodules(report.positive), _nodules(answered)
    if expected is None or given is None or expected[0] <= given[0]:
        return None
    missing = _unmatched(expected[1], given[1])
    words = missing if len(missing) == expected[0] - given[0] else (expected[1].evidence,)
    return expected[0], given[0], (*words, given[1].evidence)


def more_leads(
    one: AnswerInCase, answered: Sequence[FindingInText], report: ReportFindings
) -> tuple[int, int, tuple[Evidence, ...]] | None:
    """Return how many pacing leads report and answer have, where the answer has more."""
    pacemakers = [item for item in report.positive if item.info.id in PACEMAKERS]
    if not pacemakers or not any(item.info.id in PACEMAKERS for item in answered):
        return None
    expected, given = leads(pacemakers[0].text), leads(one.text)
    if expected is None or given is None or expected[0] >= given[0]:
        return None
    (n, places), (first, last) = expected, given[1]
    text = pacemakers[0].text
    return (
        n,
        given[0],
        (
            Evidence("answer", one.text[first:last], None, first, last),
            Evidence("report", text[slice(*places)], pacemakers[0].section, *places),
        ),
    )


def _nodules(found: Sequence[FindingInText]) -> tuple[int, FindingInText] | None:
    """Return the number of nodules that a text counts, and the mention with the number."""
    nodules = [
        item for item in found if item.info.family == _NODULES and item.mention.status in SAID
    ]
    sections = {item.section: item.text for item in nodules}
    best: tuple[int, FindingInText] | None = None
    for section, text in sections.items():
        own = [item.mention for item in nodules if item.section == section]
        count = number_of(text, own)
        if count and (best is None or count[0] > best[0]):
            item = next(item for item in nodules if item.mention is count[1])
            best = count[0], item
    return best


def _unmatched(expected: FindingInText, given: FindingInText) -> tuple[Evidence, ...]:
    """Return the sizes beside the report's nodules that the answer's sentence does not have."""
    sizes = _sizes(given)
    left = []
    for match in _SIZE.finditer(expected.text, *expected.mention.sentence):
        size = _millimetres(match)
        near = min(sizes, key=lambda other: abs(other - size), default=None)
        if near is not None and abs(near - size) <= _ALIKE * size:
            sizes.remove(near)
        else:
            left.append(Evidence("report", match[0], expected.section, *match.span()))
    return tuple(left)


def _sizes(one: FindingInText) -> list[float]:
    return [_millimetres(match) for match in _SIZE.finditer(one.text, *one.mention.sentence)]


def _millimetres(match: re.Match[str]) -> float:
    return float(match[1]) * (10 if match[2].lower() == "cm" else 1)
