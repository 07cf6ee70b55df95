"""Published figures of the ReXecution paper, for comparison. None of them is a result of rexview.

They are read from ``assets/published``; its README names the tables and the oddities of the source.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from rexview.analysis.query.filter.linked_count import LinkedCount
from rexview.analysis.scores import ScoreTables
from rexview.words import tr

_FOLDER: Final = Path(__file__).resolve().parents[3] / "assets" / "published"
_PAPER: Final = "ReXecution (Pacific Symposium on Biocomputing 2026)"
SOURCE: Final = tr("{paper}, tables 1 and 2, sections 4 and 5").format(paper=_PAPER)
AGREEMENT_SOURCE: Final = tr("{paper}, table 3").format(paper=_PAPER)
QUANTITIES: Final = {
    "content_equals_5": tr("Content is 5"),
    "language_equals_5": tr("Language is 5"),
    "process_below_3": tr("Process below 3"),
    "execution_below_3": tr("Execution below 3"),
    "image_content_equals_5": tr("Image Content is 5"),
    "image_style_equals_5": tr("Image Style is 5"),
    "process_minus_execution_mean": tr("Mean gap, Process minus Execution (points)"),
    "no_answer_token_limit": tr("No answer: token limit"),
    "answers_with_image": tr("Answers with an image"),
}
"""Names on screen of the quantities of ``rexecution_rates.csv``, in the order of the table."""
ODDITIES: Final = (
    tr(
        "The shares of perfect image scores fit 7 and 25 of 69 scored images, "
        "while the table counts 62 tasks: a task can carry several."
    ),
    tr("34.5% of MedGemma's Execution scores below 3 fits no count of 81 answers."),
    tr(
        "The paper does not print whether Content is the minimum of the readers' "
        "means or the mean of their minimums."
    ),
)


@dataclass(frozen=True)
class PublishedScore:
    """One published dimension of one model; ``p_adj`` is that of the dimension's comparison."""

    dimension: str
    model: str
    n: int
    mean: float
    sd: float
    p_adj: float | None


@dataclass(frozen=True)
class PublishedRate:
    """One published share (0 to 100) or, if that is None, a figure in points."""

    quantity: str
    model: str
    percent: float | None
    points: float | None
    note: str


@dataclass(frozen=True)
class PublishedAgreement:
    """One published dimension of two readers: ``n`` answers (images for image dimensions)."""

    dimension: str
    n: int
    qwk: float
    mad: float
    reader1_mean: float
    reader1_sd: float
    reader2_mean: float
    reader2_sd: float


@dataclass(frozen=True)
class MeasuredRate:
    """The same quantity of an own model: a count of n, or a number of points."""

    quantity: str
    model: str
    count: LinkedCount
    points: float | None = None


@cache
def published_scores() -> tuple[PublishedScore, ...]:
    """Return the published means, in the order of the file."""
    return tuple(
        PublishedScore(dimension, model, int(n), float(mean), float(sd), _number(p_adj))
        for dimension, model, n, mean, sd, p_adj in _rows(
            "scores", "dimension", "model", "n", "mean", "sd", "p_adj_between_models"
        )
    )


@cache
def published_rates() -> tuple[PublishedRate, ...]:
    """Return the published rates, in the order of the file."""
    found = []
    for quantity, model, percent, note in _rows("rates", "quantity", "model", "percent", "note"):
        points = None
        if note.endswith(" points"):
            points, note = float(note.removesuffix(" points")), ""
        found.append(PublishedRate(quantity, model, _number(percent), points, note))
    return tuple(found)


@cache
def published_agreement() -> tuple[PublishedAgreement, ...]:
    """Return the published agreement of two readers, in the order of the file."""
    means = ("reader1_mean", "reader1_sd", "reader2_mean", "reader2_sd")
    return tuple(
        PublishedAgreement(dimension, int(n), *map(float, numbers))
        for dimension, n, *numbers in _rows("agreement", "dimension", "n", "qwk", "mad", *means)
    )


def measured_rates(tables: ScoreTables) -> Iterator[MeasuredRate]:
    """Yield the quantities of the paper for the models of a review set, where they are known.

    The share of answers with an image is not included.
    """
    for quantity in QUANTITIES:
        name, _, wanted = quantity.rpartition("_")
        dimension = name.removesuffix("_equals").removesuffix("_below")
        for cell in tables.cells:
            if cell.dimension == dimension and wanted in ("5", "3") and cell.summary.n:
                count = cell.perfect if wanted == "5" else cell.low
                yield MeasuredRate(quantity, cell.model, count)
    for gap in tables.gaps:
        if gap.summary.mean is not None:
            yield MeasuredRate(
                "process_minus_execution_mean", gap.summary.model, gap.known, gap.summary.mean
            )
    for lost in tables.no_answers:
        if lost.lost.of:
            yield MeasuredRate("no_answer_token_limit", lost.model, lost.by_reason["token_limit"])


def _rows(name: str, *columns: str) -> Iterator[list[str]]:
    with (_FOLDER / f"rexecution_{name}.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield [row[column] for column in columns]


def _number(text: str) -> float | None:
    return float(text) if text else None
