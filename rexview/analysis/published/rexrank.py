"""Published figures of the two ReXrank papers, for comparison. None is a result of rexview.

They are read from ``assets/published``; its README names the tables and the oddities of the source.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from rexview.words import tr

_FOLDER: Final = Path(__file__).resolve().parents[3] / "assets" / "published"
METRICS: Final[dict[str, str]] = {
    "bleu_2": "BLEU-2",
    "bertscore": "BERTScore",
    "sembscore": "SembScore",
    "radgraph_f1": "RadGraph-F1",
    "inv_radcliq_v1": "1/RadCliQ-v1",
    "ratescore": "RaTEScore",
    "green": "GREEN",
    "inv_fineradscore": "1/FineRadScore",
}
"""Names on screen of the eight metrics; higher is better for all."""
SECTIONS: Final[dict[str, str]] = {
    "findings": tr("Findings"),
    "findings+impression": tr("Findings and impression"),
}
THRESHOLDS: Final = ("no_significant_error", "no_actionable_error")
"""Published error-free shares; the second is the stricter one."""
ERROR_RATES_SOURCE: Final = tr("ReXrank Challenge V1.0, section 4.3 (shares printed in the text)")


@dataclass(frozen=True)
class PublishedEdition:
    """One paper: its tables, one for each of ``datasets`` in order, and its number of decimals."""

    id: str
    name: str
    source: str
    decimals: int
    note: str


_EDITIONS: Final = (
    PublishedEdition(
        "rexrank_challenge_v1",
        "ReXrank Challenge V1.0",
        tr("ReXrank Challenge V1.0, tables 1 to 4, one for each data set"),
        3,
        tr("Means; no interval is printed."),
    ),
    PublishedEdition(
        "rexrank_2024",
        "ReXrank 2024",
        tr("ReXrank (arXiv 2411.15122), tables 1 to 4, one for each data set"),
        2,
        tr("Mean ± half the width of the 95% interval, as printed."),
    ),
)
EDITIONS: Final = {edition.id: edition for edition in _EDITIONS}
"""The papers by id, the newer one first."""
_LITERAL_NONE: Final = {
    ("rexrank_2024", "CheXpert Plus", "findings"): "138 of 200",
    ("rexrank_2024", "CheXpert Plus", "findings+impression"): "138 of 200",
    ("rexrank_2024", "MIMIC-CXR", "findings+impression"): "723 of 2,347",
}
"""Boards whose public file has the word "None" for a missing section, and the number of studies."""


@dataclass(frozen=True)
class PublishedMean:
    """One published cell; ``half_width`` is that of its 95 % interval, if it is published."""

    text: str
    mean: float
    half_width: str | None


@dataclass(frozen=True)
class PublishedBoard:
    """One table of a paper for one section.

    ``studies`` is None if the table does not have the number; ``cells`` are by model and metric,
    models in the order of the table.
    """

    edition: PublishedEdition
    dataset: str
    section: str
    studies: int | None
    cells: dict[tuple[str, str], PublishedMean]

    @property
    def models(self) -> tuple[str, ...]:
        """Models in the order of the table."""
        return tuple(dict.fromkeys(model for model, _ in self.cells))

    @property
    def oddity(self) -> str:
        """Known oddity of its data, as text; empty if there is none."""
        literal = _LITERAL_NONE.get((self.edition.id, self.dataset, self.section))
        if literal is None:
            return ""
        section = "findings" if self.dataset == "CheXpert Plus" else "impressions"
        return tr(
            "In the public file, {literal} {section} are the word “None” for a missing "
            "section; the paper does not state that they were left out, so means may "
            "include them. Here a missing section is no text and is not compared."
        ).format(literal=literal, section=section)


@dataclass(frozen=True)
class PublishedErrorFree:
    """Published error-free shares of one model, in percent; None if not published."""

    dataset: str
    studies: str
    model: str
    shares: dict[str, str | None]


@cache
def published_boards() -> tuple[PublishedBoard, ...]:
    """Return every published board: papers, data sets and sections in the order of the files."""
    return tuple(board for edition in _EDITIONS for board in _boards(edition))


def published_board(edition: str, dataset: str, section: str) -> PublishedBoard | None:
    """Return one board; None if the paper has no such table."""
    wanted = (edition, dataset, section)
    return next(
        (one for one in published_boards() if (one.edition.id, one.dataset, one.section) == wanted),
        None,
    )


@cache
def published_error_free() -> tuple[PublishedErrorFree, ...]:
    """Return the published error-free shares, in the order of the file."""
    return tuple(
        PublishedErrorFree(
            row["dataset"],
            row["studies"],
            row["model"],
            {name: row[f"{name}_pct"] or None for name in THRESHOLDS},
        )
        for row in _rows("rexrank_error_rates")
    )


def _boards(edition: PublishedEdition) -> Iterator[PublishedBoard]:
    found: dict[tuple[str, str], PublishedBoard] = {}
    for row in _rows(edition.id):
        about = (row["dataset"], row["section"])
        if about not in found:
            studies = int(row["n_studies"]) if row.get("n_studies") else None
            found[about] = PublishedBoard(edition, *about, studies, {})
        found[about].cells[row["model"], row["metric"]] = _cell(row, edition.decimals)
    yield from found.values()


def _cell(row: dict[str, str], decimals: int) -> PublishedMean:
    mean, width = float(row["mean"]), row.get("ci95_half_width")
    half_width = f"{float(width):.{decimals}f}" if width else None
    return PublishedMean(f"{mean:.{decimals}f}", mean, half_width)


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (_FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)
