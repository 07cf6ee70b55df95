"""The agreement of readers as the ReXecution paper prints it. None of it is a result here."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

AGREEMENT_SOURCE: Final = "ReXecution (Pacific Symposium on Biocomputing 2026), table 3"
_FILE: Final = (
    Path(__file__).resolve().parents[3] / "assets" / "published" / "rexecution_agreement.csv"
)


@dataclass(frozen=True)
class PublishedAgreement:
    """One dimension of two readers as printed: ``n`` answers (images for image dimensions)."""

    dimension: str
    n: int
    qwk: float
    mad: float
    reader1_mean: float
    reader1_sd: float
    reader2_mean: float
    reader2_sd: float


@cache
def published_agreement() -> tuple[PublishedAgreement, ...]:
    """Return the printed rows in the order of the file."""
    with _FILE.open(encoding="utf-8", newline="") as file:
        return tuple(
            PublishedAgreement(
                row["dimension"],
                int(row["n"]),
                *(
                    float(row[name])
                    for name in (
                        *("qwk", "mad", "reader1_mean", "reader1_sd"),
                        *("reader2_mean", "reader2_sd"),
                    )
                ),
            )
            for row in csv.DictReader(file)
        )
