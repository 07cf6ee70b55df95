"""The numbers of the Readers page. Each comes with the filter that opens the answers behind it.

What they are worth (kappa, intervals, alpha) is worked out in :mod:`rexview.stats`; here it is
asked for the answers that a filter leaves, and joined with links. What is counted are answers, and
pictures for the image dimensions; Browse counts cases, so the number of cases is kept beside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rexview.analysis.engine import Engine
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.filter.conditions import MOST_APART, ReaderPair, ScoreCondition
from rexview.analysis.filter.linked_count import ANY, Count, count_within, with_all
from rexview.analysis.readers.records import PairCases
from rexview.stats import NO_ANSWER
from rexview.stats.agreement import Alpha, PairAgreement, alphas, pair_agreements
from rexview.stats.bootstrap import RESAMPLES
from rexview.stats.drift import Block, Drift, drift
from rexview.stats.units import LEVELS, unit_name
from rexview.vocab import DIMENSION_NAMES

Pair = tuple[str, str]
ANY_SCORE: Final = str(ScoreCondition())
"""The condition of answers that anybody scored."""


@dataclass(frozen=True)
class Cell:
    """One cell of a confusion map: so many answers or pictures, in so many cases."""

    score_a: int
    score_b: int
    count: Count
    cases: int


@dataclass(frozen=True)
class Part:
    """Some of what both readers scored, by how far apart they are, in so many cases."""

    count: Count
    cases: int


@dataclass(frozen=True, eq=False)
class DimensionAgreement:
    """One dimension of a pair of readers: the numbers, the map, and what opens them.

    ``shared`` counts what both scored, in ``cases`` cases; ``same``, ``close`` and ``apart`` what
    of it has the same score, scores at most one point apart, and different scores. ``cells`` are
    those that are met, by score of reader a, then of reader b. ``unit`` is the word for what is
    counted, plural.
    """

    numbers: PairAgreement
    shared: Count
    cases: int
    same: Part
    close: Part
    apart: Part
    cells: tuple[Cell, ...]

    @property
    def name(self) -> str:
        """Name of the dimension on screen."""
        return DIMENSION_NAMES[self.numbers.dimension]

    @property
    def unit(self) -> str:
        """What is counted: answers or pictures."""
        return unit_name(self.numbers.dimension)


@dataclass(frozen=True, eq=False)
class ReaderTables:
    """All numbers of the Readers page for one filter.

    Attributes
    ----------
    readers : dict of str to str
        Name on screen of those who scored, by id, in the set's order.
    scored : Count
        Answers that came and that anybody scored, of all answers.
    doubled : Count
        Those of them with two readers on one dimension at least.
    lost : Count
        Answers that did not come in full.
    unscored : int
        Answers that came and that nobody scored.
    unfinished : int
        Cases that a reader has begun and not finished, once for each reader: left out everywhere.
    pairs : tuple of pairs
        Every two readers who share anything.
    overview : tuple of PairAgreement
        All pairs, without intervals, when there are several; else empty.
    alphas : tuple of Alpha
        With more than two readers.
    pair : pair or None
        The pair that is looked at.
    dimensions : tuple of DimensionAgreement
        Of that pair.
    """

    readers: Mapping[str, str]
    scored: Count
    doubled: Count
    lost: Count
    unscored: int
    unfinished: int
    pairs: tuple[Pair, ...]
    overview: tuple[PairAgreement, ...]
    alphas: tuple[Alpha, ...]
    pair: Pair | None
    dimensions: tuple[DimensionAgreement, ...]

    @property
    def compared(self) -> tuple[DimensionAgreement, ...]:
        """The dimensions on which the pair shares anything."""
        return tuple(found for found in self.dimensions if found.numbers.n)

    def dimension(self, wanted: str | None) -> DimensionAgreement | None:
        """Return the dimension that is asked for, else the first that is shared."""
        named = [found for found in self.compared if found.numbers.dimension == wanted]
        return next(iter(named or self.compared), None)

    def pair_name(self, pair: Pair) -> str:
        """Return the names of two readers."""
        return " and ".join(self.readers[reader] for reader in pair)


@dataclass(frozen=True)
class OpenBlock:
    """A block of a reader's scores over time, and what opens its answers and the shared ones."""

    block: Block
    count: Count
    shared: Count


@dataclass(frozen=True)
class ReaderDrift:
    """One reader's scores over time on one dimension."""

    reader: str
    name: str
    drift: Drift
    blocks: tuple[OpenBlock, ...]


def reader_tables(
    engine: Engine,
    case_filter: CaseFilter | None = None,
    *,
    pair: Sequence[str] = (),
    resamples: int = RESAMPLES,
) -> ReaderTables:
    """Work out the Readers page for the answers that a filter leaves.

    ``pair`` are the two readers to look at, those who share most when they are no pair;
    ``resamples`` are those of each bootstrap interval, 0 for none.
    """
    base = case_filter or CaseFilter()
    tally, tables = engine.tally(base), engine.pair_tables(base)
    readers = {reader: engine.facts.readers[reader] for reader in engine.readers(base)}
    found = pair_agreements(tables, list(readers), resamples=0)
    pairs = tuple(dict.fromkeys((row.reader_a, row.reader_b) for row in found))
    chosen = _chosen(pair, found)
    cases = engine.pair_cases(base, chosen) if chosen else {}
    n_scored = sum(model.scored for model in tally.by_model)
    n_doubled = sum(model.with_spread for model in tally.by_model)
    return ReaderTables(
        readers=readers,
        scored=Count(n_scored, with_all(base, "reader_scores", ANY_SCORE), tally.answers),
        doubled=count_within(base, n_doubled, n_scored, disagreement=ANY),
        lost=count_within(base, tally.lost, tally.answers, statuses=NO_ANSWER),
        unscored=tally.answers - tally.lost - n_scored,
        unfinished=tally.unfinished,
        pairs=pairs,
        overview=found if len(pairs) > 1 else (),
        alphas=alphas(engine.score_patterns(base), resamples=resamples),
        pair=chosen,
        dimensions=tuple(
            _with_links(numbers, cases[numbers.dimension], base)
            for numbers in (pair_agreements(tables, chosen, resamples=resamples) if chosen else ())
        ),
    )


def shared_count(numbers: PairAgreement, base: CaseFilter) -> Count:
    """Count what a pair of readers both scored on one dimension, with what opens it."""
    pair = ReaderPair(numbers.dimension, (numbers.reader_a, numbers.reader_b))
    return Count(numbers.n, with_all(base, "reader_pairs", str(pair)))


def reader_drifts(
    engine: Engine,
    case_filter: CaseFilter,
    pair: Pair,
    dimension: str,
    *,
    resamples: int = RESAMPLES,
) -> tuple[ReaderDrift, ReaderDrift]:
    """Lay out the scores of both readers of a pair over time, each beside the other."""
    names = engine.facts.readers

    def of(reader: str, other: str) -> ReaderDrift:
        given = engine.score_days(case_filter, dimension, reader, other)
        found = drift(given, dimension, reader, other, resamples=resamples)
        also = str(ScoreCondition.of(other, dimension))
        blocks = []
        for block in found.blocks:
            own = str(ScoreCondition.of(reader, dimension, days=(block.first, block.last)))
            count = Count(block.n, with_all(case_filter, "reader_scores", own), found.n)
            opens = with_all(case_filter, "reader_scores", own, also)
            blocks.append(OpenBlock(block, count, Count(block.shared, opens, block.n)))
        return ReaderDrift(reader, names[reader], found, tuple(blocks))

    return of(*pair), of(*pair[::-1])


def _with_links(numbers: PairAgreement, cases: PairCases, base: CaseFilter) -> DimensionAgreement:
    """Join the numbers of a pair of readers on one dimension with what opens them."""
    dimension, pair = numbers.dimension, (numbers.reader_a, numbers.reader_b)
    points = np.abs(np.subtract.outer(LEVELS, LEVELS))

    def part(low: int, high: int, n_cases: int) -> Part:
        """Count what both scored so many points apart."""
        n = int(numbers.table[(points >= low) & (points <= high)].sum())
        wanted = str(ReaderPair(dimension, pair, low, high))
        return Part(Count(n, with_all(base, "reader_pairs", wanted), numbers.n), n_cases)

    def cell(scores: tuple[int, int]) -> Cell:
        conditions = (
            str(ScoreCondition.of(reader, dimension, score))
            for reader, score in zip(pair, scores, strict=True)
        )
        n = int(numbers.table[tuple(map(LEVELS.index, scores))])
        opens = with_all(base, "reader_scores", *conditions)
        return Cell(*scores, Count(n, opens, numbers.n), cases.by_scores[scores])

    return DimensionAgreement(
        numbers,
        shared_count(numbers, base),
        cases.shared,
        same=part(0, 0, cases.same),
        close=part(0, 1, cases.close),
        apart=part(1, MOST_APART, cases.apart),
        cells=tuple(map(cell, sorted(cases.by_scores))),
    )


def _chosen(wanted: Sequence[str], found: Sequence[PairAgreement]) -> Pair | None:
    """Return the pair that is asked for, else the one that shares most."""
    shared: dict[Pair, int] = {}
    for row in found:
        pair = (row.reader_a, row.reader_b)
        shared[pair] = shared.get(pair, 0) + row.n
    named = [pair for pair in shared if len(wanted) == 2 and set(pair) == set(wanted)]
    return next(iter(named), max(shared, key=lambda pair: shared[pair], default=None))
