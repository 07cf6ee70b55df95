"""Metric values of reports, from tables and from JSON, each with its identity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rexview.reviewset.importers.core.recognise import Probe
from rexview.reviewset.importers.core.set_rows import SetRows
from rexview.reviewset.importers.core.source_files import SourceFile
from rexview.reviewset.importers.metrics import lists, tables


def recognises(probe: Probe) -> str | None:
    """Say why a file holds metric values."""
    return lists.recognised(probe) or tables.recognised(probe)


def read_metrics(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read metric values; of reports and models that are there or that other files give."""
    for file in files:
        if lists.recognised(Probe(file.path, file.label)):
            lists.read_metric_lists(file, rows, options)
        else:
            tables.read_metric_table(file, rows, options)
