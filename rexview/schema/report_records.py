"""Records about answers and reports beside scores: corrections, metric values, written failures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class WrittenFailure:
    """The words of a failure as they stand in the reviews; ``failure`` is its name in links.

    ``value`` has the fields of the kind ``written_failure``, ``by`` names whoever wrote it last.
    """

    failure: str
    value: Mapping[str, Any]
    by: str
    at: datetime


@dataclass(frozen=True)
class Mark:
    """A person says that an answer has a failure in words, in one version of these.

    ``version`` is the digest of the words. ``stale``: the answer was changed since it was read, or
    has left the set; the mark counts nowhere then.
    """

    case: str
    model: str
    reader: str
    failure: str
    version: str
    comment: str | None
    created: datetime | None
    stale: bool = False


@dataclass(frozen=True)
class Edit:
    """A correction of one line of a report, by a person or a judge (``reader``).

    ``line`` counts from 1 as :func:`rexview.metrics.report_lines.report_lines` does; an insertion
    stands behind it, 0 is before the first. ``action`` is a word of
    :data:`rexview.vocab.EDIT_ACTIONS`, ``severity`` 0 to 4, ``kind`` a word of
    :data:`rexview.vocab.EDIT_KINDS` or another one that was given. ``origin`` is ``app`` for what
    was written in the app, else ``file``.
    """

    case: str
    model: str
    action: str
    reader: str | None = None
    line: int | None = None
    original: str | None = None
    edited: str | None = None
    severity: int | None = None
    kind: str | None = None
    significance: str | None = None
    comment: str | None = None
    created: datetime | None = None
    origin: str = "file"


@dataclass(frozen=True)
class MetricValue:
    """One metric of one report; ``implementation``, ``version`` and ``scope`` are its identity."""

    case: str
    model: str
    metric: str
    value: float | None = None
    implementation: str | None = None
    version: str | None = None
    scope: str | None = None
    n: int | None = None


@dataclass(frozen=True)
class CorrectedReference:
    """A corrected report that is kept beside the given one."""

    case: str
    reader: str
    findings: str | None = None
    impression: str | None = None
    comment: str | None = None
    created: datetime | None = None
    origin: str = "file"


def edit_from_row(row: Mapping[str, Any]) -> Edit:
    """Make an Edit from one row (a dict) with columns :data:`rexview.frames.EDITS`."""
    return Edit(**_values(Edit, row))


def metric_value_from_row(row: Mapping[str, Any]) -> MetricValue:
    """Make a MetricValue from one row (a dict) with columns :data:`rexview.frames.METRICS`."""
    return MetricValue(**_values(MetricValue, row))


def corrected_reference_from_row(row: Mapping[str, Any]) -> CorrectedReference:
    """Make a CorrectedReference from one row with columns :data:`rexview.frames.REFERENCES`."""
    return CorrectedReference(**_values(CorrectedReference, row))


def _values(kind: type, row: Mapping[str, Any]) -> dict[str, Any]:
    given = {**row, "origin": row.get("_origin") or "file"}
    return {spec.name: given[spec.name] for spec in fields(kind)}
