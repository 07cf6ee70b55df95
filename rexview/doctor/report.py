"""Findings as lines for people and as an object for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rexview.doctor.finding import STATES, Finding
from rexview.untrusted_input import printable


def lines_of(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield a line for each finding, with its remedy below, and one that counts them."""
    parts = max((len(one.part) for one in findings), default=0)
    for one in findings:
        yield printable(f"{one.state:5}  {one.part:{parts}}  {one.about}: {one.said}")
        if one.remedy:
            yield printable(f"{'':5}  {'':{parts}}  -> {one.remedy}")
    counts = Counter(one.state for one in findings)
    yield ", ".join(f"{counts[state]} {state}" for state in STATES)


def as_data(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return findings as values of JSON: whether nothing is wrong, and each of them."""
    return {
        "nothing_wrong": not any(one.state == "wrong" for one in findings),
        "findings": [asdict(one) for one in findings],
    }
