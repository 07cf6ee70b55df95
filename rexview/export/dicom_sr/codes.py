"""Codes for what boxes show and where (``codes.yaml``), and private ones for our own words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from highdicom.sr import CodedConcept

from rexview.detect.findings import Mention, find_mentions, finding_info
from rexview.export.dicom_sr.objects import SCHEME, long_string
from rexview.package_data import read_table

_LONGEST_LABEL: Final = 300


@dataclass(frozen=True)
class Coded:
    """What a label names, as codes; None where there is none."""

    finding: CodedConcept | None = None
    site: CodedConcept | None = None
    side: CodedConcept | None = None


def private(value: str, meaning: str) -> CodedConcept:
    """Return a code of our own."""
    return CodedConcept(long_string(value) or "none", SCHEME, long_string(meaning) or "none")


def coded(label: str, side: str | None) -> Coded:
    """Find codes for the label of a box.

    Parameters
    ----------
    label : str
        What the model wrote at the box. Several findings, a negated one or none give no codes.
    side : str, optional
        On which side of the patient the box lies.
    """
    beside = _concept(_table()["sides"].get(side))
    mentions = find_mentions(label[:_LONGEST_LABEL].replace("_", " "))
    if len({one.finding for one in mentions}) != 1 or mentions[0].status != "positive":
        return Coded(side=beside)
    mention = mentions[0]
    words = label[mention.start : mention.end].replace("_", " ").replace("-", " ").lower()
    found = next(
        (
            row
            for row in _table()["findings"]
            if row["finding"] == mention.finding and row["word"] in words
        ),
        None,
    )
    return Coded(_concept(found), _concept(_site(mention)), beside)


def _site(mention: Mention) -> dict[str, Any] | None:
    table = _table()
    region = finding_info(mention.finding).region
    by_zone = table["zones"].get(mention.zone) if region == "lung" else None
    found: dict[str, Any] | None = (
        by_zone or table["sites"].get(mention.finding) or table["regions"].get(region)
    )
    return found


def _concept(row: dict[str, Any] | None) -> CodedConcept | None:
    return CodedConcept(row["code"], row["scheme"], row["meaning"]) if row else None


@cache
def _table() -> dict[str, Any]:
    found: dict[str, Any] = read_table(Path(__file__).with_name("codes.yaml"))
    return found
