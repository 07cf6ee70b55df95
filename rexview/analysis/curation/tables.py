"""Numbers of the curated set: the supplement's plots are drawn from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from rexview.analysis.curation.records import Curation
from rexview.curation.considered import Considered
from rexview.curation.coverage import Coverage, Targets, coverage
from rexview.vocab import CRITERIA, SCORE_MAX, SCORE_MIN
from rexview.words import counted, noun, tr

ENOUGH: Final = 16
"""Every question that the paper selected had this sum or more, and no risk flag (supplement)."""
SUMS: Final = range(SCORE_MIN * len(CRITERIA), SCORE_MAX * len(CRITERIA) + 1)


@dataclass(frozen=True)
class CuratedTables:
    """What the candidates of a set and the chosen ones among them are like.

    Attributes
    ----------
    sums : mapping of (int, bool) to int
        Candidates by the sum of the model's scores, and whether they were chosen.
    criteria : mapping of (str, int) to int
        Chosen questions by criterion and the model's score.
    unscored : int
        Chosen questions without all four scores by a model: in neither of the two.
    low, risky, unflagged : int
        Chosen questions with a sum below :data:`ENOUGH`, with a risk flag, and scored ones of
        which the model does not say whether they are a risk.
    misstated : int
        Candidates whose model added up wrongly.
    coverage : Coverage
    """

    sums: Mapping[tuple[int, bool], int]
    criteria: Mapping[tuple[str, int], int]
    unscored: int
    low: int
    risky: int
    unflagged: int
    misstated: int
    coverage: Coverage

    @property
    def scored(self) -> int:
        """How many chosen questions have a sum."""
        return self.coverage.chosen - self.unscored


def curated_tables(curation: Curation, targets: Targets | None = None) -> CuratedTables:
    """Count candidates and chosen questions; the newest scores of a model stand for all models."""
    every = [view.candidate for study in curation.studies for view in study.candidates]
    return tables_of(every, targets)


def tables_of(every: Iterable[Considered], targets: Targets | None = None) -> CuratedTables:
    """Count candidates; see :func:`curated_tables`."""
    every = list(every)
    sums: Counter[tuple[int, bool]] = Counter()
    criteria: Counter[tuple[str, int]] = Counter()
    counts: Counter[str] = Counter()
    for one in every:
        rating, is_chosen = one.model_rating, one.decision == "chosen"
        total = rating.total if rating else None
        counts["misstated"] += bool(rating and rating.misstated)
        if total is not None:
            sums[total, is_chosen] += 1
        if not is_chosen:
            continue
        counts["unscored"] += total is None
        counts["low"] += total is not None and total < ENOUGH
        counts["risky"] += bool(rating and rating.risk)
        counts["unflagged"] += rating is not None and rating.risk is None
        if rating is not None and total is not None:
            criteria.update((name, score) for name, score in rating.scores.items() if score)
    return CuratedTables(
        sums,
        criteria,
        counts["unscored"],
        counts["low"],
        counts["risky"],
        counts["unflagged"],
        counts["misstated"],
        coverage(every, targets),
    )


def sums_caption(tables: CuratedTables) -> str:
    """Hold the chosen questions against the paper's: 16 or more, no risk flag."""
    n = tables.scored
    said = [
        tr(
            "Of {counted} that a model scored, {low:,} {value} a sum below {enough} "
            "and {risky:,} a risk flag; in the paper none had."
        ).format(
            counted=counted(n, "chosen question"),
            low=tables.low,
            value="has" if tables.low == 1 else "have",
            enough=ENOUGH,
            risky=tables.risky,
        ),
        tr("Sums are added up here, not taken from the model."),
    ]
    if tables.unscored:
        said.append(
            tr("Left out: {counted} without all four.").format(
                counted=counted(tables.unscored, "chosen question")
            )
        )
    if tables.unflagged:
        said.append(
            tr("Of {unflagged:,} {noun} the model does not say whether it is a risk.").format(
                unflagged=tables.unflagged, noun=noun(tables.unflagged, "question")
            )
        )
    return " ".join(said)
