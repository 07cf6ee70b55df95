"""The numbers of the Readers page, and their captions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rexview.analysis.query.engine import Engine, ReaderPairCases
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.query.filter.conditions import (
    MAX_SCORE_DIFFERENCE,
    ReaderPair,
    ScoreCondition,
    format_days,
)
from rexview.analysis.query.filter.linked_count import (
    ANY_NUMBER,
    LinkedCount,
    add_required_values,
    make_linked_count,
)
from rexview.analysis.scores import interval_caption
from rexview.stats import MISSING_STATUSES
from rexview.stats.bootstrap import RESAMPLES
from rexview.stats.reader_agreement import (
    LOW_KAPPA_LIMIT,
    MIN_CLOSE_SHARE,
    NARROW_SD_LIMIT,
    SCORE_LEVELS,
    Alpha,
    PairAgreement,
    measure_alphas,
    measure_pair_agreements,
    unit_label,
    unit_noun,
)
from rexview.stats.reader_drift import DriftBlock, ScoreDrift, measure_drift
from rexview.vocab import DIMENSION_NAMES, IMAGE_DIMENSIONS
from rexview.words import counted, join_words, tr, trn

ReaderIds = tuple[str, str]
ANY_SCORE: Final = str(ScoreCondition())
"""The condition that any reader scored the answer."""


@dataclass(frozen=True)
class ConfusionCell:
    """One cell of a confusion map: numbers of answers or pictures, and of cases."""

    score_a: int
    score_b: int
    count: LinkedCount
    cases: int


@dataclass(frozen=True)
class DistanceShare:
    """The answers or pictures with one distance between both readers' scores, and their cases."""

    count: LinkedCount
    cases: int


@dataclass(frozen=True, eq=False)
class DimensionAgreement:
    """The agreement of a pair of readers on one dimension: numbers, map, and their filters.

    ``shared`` counts what both scored, in ``cases`` cases. ``same``, ``close`` and ``apart`` are
    the parts with equal scores, scores at most one point apart, and different scores. ``cells`` are
    the cells above 0, by score of reader a, then of reader b. ``unit`` is the plural name of the
    counted units.
    """

    numbers: PairAgreement
    shared: LinkedCount
    cases: int
    same: DistanceShare
    close: DistanceShare
    apart: DistanceShare
    cells: tuple[ConfusionCell, ...]

    @property
    def name(self) -> str:
        """Name of the dimension on screen."""
        return DIMENSION_NAMES[self.numbers.dimension]

    @property
    def unit(self) -> str:
        """Name of the counted units: answers or pictures."""
        return unit_label(self.numbers.dimension)


@dataclass(frozen=True, eq=False)
class ReaderTables:
    """All numbers of the Readers page for one filter.

    Attributes
    ----------
    readers : dict of str to str
        Name on screen of the readers who scored, by id, in the set's order.
    scored : LinkedCount
        Complete answers with a reader's score, of all answers.
    doubled : LinkedCount
        Scored answers with two readers on at least one dimension.
    lost : LinkedCount
        Missing or incomplete answers.
    unscored : int
        Complete answers without a score.
    unfinished : int
        Cases that a reader has started but not finished, counted for each reader; left out
        everywhere.
    pairs : tuple of pairs
        Pairs of readers who share scored units.
    overview : tuple of PairAgreement
        All pairs, without intervals, when there are several; else empty.
    alphas : tuple of Alpha
        Alphas, with more than two readers.
    pair : pair or None
        The selected pair.
    dimensions : tuple of DimensionAgreement
        The dimensions of the selected pair.
    """

    readers: Mapping[str, str]
    scored: LinkedCount
    doubled: LinkedCount
    lost: LinkedCount
    unscored: int
    unfinished: int
    pairs: tuple[ReaderIds, ...]
    overview: tuple[PairAgreement, ...]
    alphas: tuple[Alpha, ...]
    pair: ReaderIds | None
    dimensions: tuple[DimensionAgreement, ...]

    @property
    def compared(self) -> tuple[DimensionAgreement, ...]:
        """Dimensions on which the pair shares scored units."""
        return tuple(found for found in self.dimensions if found.numbers.n)

    def dimension(self, wanted: str | None) -> DimensionAgreement | None:
        """Return the wanted dimension if it is shared, else the first shared one."""
        named = [found for found in self.compared if found.numbers.dimension == wanted]
        return next(iter(named or self.compared), None)

    def pair_name(self, pair: ReaderIds) -> str:
        """Return the names of two readers."""
        return " and ".join(self.readers[reader] for reader in pair)


@dataclass(frozen=True)
class LinkedBlock:
    """A block of a reader's scores over time, with filters for its answers and shared answers."""

    block: DriftBlock
    count: LinkedCount
    shared: LinkedCount


@dataclass(frozen=True)
class ReaderDrift:
    """One reader's scores over time on one dimension."""

    reader: str
    name: str
    drift: ScoreDrift
    blocks: tuple[LinkedBlock, ...]


def build_reader_tables(
    engine: Engine,
    case_filter: CaseFilter | None = None,
    *,
    pair: Sequence[str] = (),
    resamples: int = RESAMPLES,
) -> ReaderTables:
    """Return the numbers of the Readers page for the answers that match a filter.

    ``pair`` is the selected pair of readers; if it is not valid, the pair that shares most is used.
    ``resamples`` is the number for each bootstrap interval, 0 for none.
    """
    base = case_filter or CaseFilter()
    tally, tables = engine.tally(base), engine.pair_tables(base)
    readers = {reader: engine.facts.readers[reader] for reader in engine.readers(base)}
    found = measure_pair_agreements(tables, list(readers), resamples=0)
    pairs = tuple(dict.fromkeys((row.reader_a, row.reader_b) for row in found))
    chosen = _select_pair(pair, found)
    cases = engine.pair_cases(base, chosen) if chosen else {}
    n_scored = sum(model.scored for model in tally.by_model)
    n_doubled = sum(model.with_spread for model in tally.by_model)
    return ReaderTables(
        readers=readers,
        scored=LinkedCount(
            n_scored, add_required_values(base, "reader_scores", ANY_SCORE), tally.answers
        ),
        doubled=make_linked_count(base, n_doubled, n_scored, disagreement=ANY_NUMBER),
        lost=make_linked_count(base, tally.lost, tally.answers, statuses=MISSING_STATUSES),
        unscored=tally.answers - tally.lost - n_scored,
        unfinished=tally.unfinished,
        pairs=pairs,
        overview=found if len(pairs) > 1 else (),
        alphas=measure_alphas(engine.score_patterns(base), resamples=resamples),
        pair=chosen,
        dimensions=tuple(
            _link_agreement(numbers, cases[numbers.dimension], base)
            for numbers in (
                measure_pair_agreements(tables, chosen, resamples=resamples) if chosen else ()
            )
        ),
    )


def count_shared(numbers: PairAgreement, base: CaseFilter) -> LinkedCount:
    """Return the number of units that both readers scored on one dimension, with its filter."""
    pair = ReaderPair(numbers.dimension, (numbers.reader_a, numbers.reader_b))
    return LinkedCount(numbers.n, add_required_values(base, "reader_pairs", str(pair)))


def measure_reader_drifts(
    engine: Engine,
    case_filter: CaseFilter,
    pair: ReaderIds,
    dimension: str,
    *,
    resamples: int = RESAMPLES,
) -> tuple[ReaderDrift, ReaderDrift]:
    """Return the scores of both readers of a pair over time, each compared with the other."""
    names = engine.facts.readers

    def of(reader: str, other: str) -> ReaderDrift:
        given = engine.score_days(case_filter, dimension, reader, other)
        found = measure_drift(given, dimension, reader, other, resamples=resamples)
        also = str(ScoreCondition.of(other, dimension))
        blocks = []
        for block in found.blocks:
            own = str(ScoreCondition.of(reader, dimension, days=(block.first, block.last)))
            count = LinkedCount(
                block.n, add_required_values(case_filter, "reader_scores", own), found.n
            )
            opens = add_required_values(case_filter, "reader_scores", own, also)
            blocks.append(LinkedBlock(block, count, LinkedCount(block.shared, opens, block.n)))
        return ReaderDrift(reader, names[reader], found, tuple(blocks))

    return of(*pair), of(*pair[::-1])


def _link_agreement(
    numbers: PairAgreement, cases: ReaderPairCases, base: CaseFilter
) -> DimensionAgreement:
    """Return the numbers of a pair of readers on one dimension, with their filters."""
    dimension, pair = numbers.dimension, (numbers.reader_a, numbers.reader_b)
    points = np.abs(np.subtract.outer(SCORE_LEVELS, SCORE_LEVELS))

    def part(low: int, high: int, n_cases: int) -> DistanceShare:
        """Count the units with scores ``low`` to ``high`` points apart."""
        n = int(numbers.table[(points >= low) & (points <= high)].sum())
        wanted = str(ReaderPair(dimension, pair, low, high))
        return DistanceShare(
            LinkedCount(n, add_required_values(base, "reader_pairs", wanted), numbers.n), n_cases
        )

    def cell(scores: tuple[int, int]) -> ConfusionCell:
        conditions = (
            str(ScoreCondition.of(reader, dimension, score))
            for reader, score in zip(pair, scores, strict=True)
        )
        n = int(numbers.table[tuple(map(SCORE_LEVELS.index, scores))])
        opens = add_required_values(base, "reader_scores", *conditions)
        return ConfusionCell(*scores, LinkedCount(n, opens, numbers.n), cases.by_scores[scores])

    return DimensionAgreement(
        numbers,
        count_shared(numbers, base),
        cases.shared,
        same=part(0, 0, cases.same),
        close=part(0, 1, cases.close),
        apart=part(1, MAX_SCORE_DIFFERENCE, cases.apart),
        cells=tuple(map(cell, sorted(cases.by_scores))),
    )


def _select_pair(wanted: Sequence[str], found: Sequence[PairAgreement]) -> ReaderIds | None:
    """Return the wanted pair if there is one, else the pair that shares most."""
    shared: dict[ReaderIds, int] = {}
    for row in found:
        pair = (row.reader_a, row.reader_b)
        shared[pair] = shared.get(pair, 0) + row.n
    named = [pair for pair in shared if len(wanted) == 2 and set(pair) == set(wanted)]
    return next(iter(named), max(shared, key=lambda pair: shared[pair], default=None))


# Captions of the tables and charts of the Readers page. All are plain text.

MAX_NAME_CHARACTERS: Final = 32
"""Most characters of a reader's name where space is short."""


def shorten_name(name: str) -> str:
    """Cut a long name."""
    return name if len(name) <= MAX_NAME_CHARACTERS else f"{name[: MAX_NAME_CHARACTERS - 1]}…"


def agreement_caption(tables: ReaderTables) -> str:
    """Return a caption on the numbers in the table of agreement, and on omissions."""
    parts = [
        tr("Only what both readers scored: answers, or pictures for the image dimensions.")
        if _pictures(tables.dimensions)
        else tr("Only what both readers scored: answers."),
        tr(
            "Kappa: Cohen's, quadratic weights over the fixed scale 1 to 5. MAD: "
            "mean absolute difference, points. SD: of the sample (n − 1)."
        ),
        interval_caption(),
    ]
    if len(tables.pairs) > 1:
        parts.append(
            tr(
                "An answer that three readers scored counts in each of their three "
                "pairs, and is compared two by two."
            )
        )
    parts.append(left_out_caption(tables))
    return " ".join(parts)


def left_out_caption(tables: ReaderTables) -> str:
    """Return a caption on the answers in no comparison, and the reasons."""
    alone = tables.scored.value - tables.doubled.value
    parts = [
        f"{counted(n, 'answer')} {why}"
        for n, why in (
            (alone, tr("without two readers on the same dimension")),
            (tables.unscored, tr("without any score")),
            (tables.lost.value, tr("counted as no full answer")),
        )
        if n
    ]
    return (
        tr("Left out: {listed}.").format(listed=join_words(parts))
        if parts
        else tr("No answer is left out.")
    )


def variance_captions(tables: ReaderTables) -> list[str]:
    """Return a note for each dimension whose kappa is low because scores hardly vary."""
    return [
        f"{found.name}: {numbers.within_one:.0%} of the scores are within one point, yet kappa is "
        f"{numbers.qwk:.2f}. The scores hardly vary (SD {numbers.sd_a:.2f} and "
        f"{numbers.sd_b:.2f}), so readers would agree often by chance: low variance lowers kappa. "
        "Read MAD beside it."
        for found in tables.compared
        if (numbers := found.numbers).lowered_by_variance
    ]


def variance_rule() -> str:
    """Return the rule for that note, as a caption."""
    return tr(
        "Shown where kappa is below {low_kappa:g} although at least {close:.0%} of the "
        "scores are within one point and a reader's SD is below {narrow_sd:g}."
    ).format(low_kappa=LOW_KAPPA_LIMIT, close=MIN_CLOSE_SHARE, narrow_sd=NARROW_SD_LIMIT)


def confusion_caption(found: DimensionAgreement) -> str:
    """Return a caption on the counts of a confusion map."""
    numbers = found.numbers
    behind = counted(numbers.n, unit_noun(numbers.dimension))
    parts = [
        trn("{behind} in {n:,} case", "{behind} in {n:,} cases", found.cases).format(
            behind=behind, n=found.cases
        )
    ]
    parts.append(
        tr("kappa undefined")
        if numbers.qwk is None
        else tr("kappa {qwk:.2f}").format(qwk=numbers.qwk)
    )
    if numbers.exact is not None:
        parts.append(tr("same score {exact:.0%}").format(exact=numbers.exact))
    words = tr("{numbers}. Outlined: the same score from both.")
    return words.format(numbers=", ".join(parts))


def bubble_caption(found: DimensionAgreement, names: tuple[str, str]) -> str:
    """Return a caption on the meaning of a bubble."""
    return tr(
        "{name}: {counted}; the number in a bubble counts {unit}. On the line "
        "both gave the same score; above it {short} scored higher."
    ).format(
        name=found.name,
        counted=counted(found.numbers.n, unit_noun(found.numbers.dimension)),
        unit=found.unit,
        short=shorten_name(names[1]),
    )


def stricter_captions(tables: ReaderTables) -> list[str]:
    """Return captions on the stricter reader by dimension, if the interval excludes 0.

    The other dimensions are named together.
    """
    if tables.pair is None:
        return []
    names = tuple(tables.readers[reader] for reader in tables.pair)
    told, open_ = [], []
    for found in tables.compared:
        numbers = found.numbers
        around, difference = numbers.difference_interval, numbers.difference
        if difference is None or around.low is None or around.high is None:
            open_.append(found.name)
        elif around.low > 0 or around.high < 0:
            who = names[0] if difference < 0 else names[1]
            low, high = sorted((abs(around.low), abs(around.high)))
            told.append(
                tr(
                    "{name}: {who} is stricter, by {abs:.2f} points on average (95% CI "
                    "{low:.2f} to {high:.2f})."
                ).format(name=found.name, who=who, abs=abs(difference), low=low, high=high)
            )
        else:
            open_.append(found.name)
    if open_:
        told.append(
            tr("No difference is distinguishable from chance on {listed}.").format(
                listed=join_words(open_)
            )
        )
    return told


def stricter_caption(tables: ReaderTables) -> str:
    """Return a caption on the definition of the differences."""
    sizes = join_words([f"{found.name} {found.numbers.n:,}" for found in tables.compared])
    return tr(
        "Mean of the differences over what both scored, with 95% interval where there is "
        "one. n: {sizes}. {interval_caption} Nothing is tested, and nothing is adjusted "
        "for several dimensions."
    ).format(sizes=sizes, interval_caption=interval_caption())


def drift_caption(drifts: Sequence[ReaderDrift], *, difference: bool) -> str:
    """Return a caption on the definition of blocks, and on omissions."""
    parts = [
        tr(
            "Blocks of whole days (UTC) with at least 10 scores each, in the order "
            "of scoring; vertical lines are 95% intervals, horizontal ones the days "
            "of a block."
        )
    ]
    if difference:
        parts.append(
            tr(
                "Mean of a reader's score minus the other's over the answers in the block "
                "that both scored: where answers in a block were hard, both scores fall "
                "and the difference stays."
            )
        )
    undated = [
        f"{shorten_name(one.name)} {one.drift.undated:,}" for one in drifts if one.drift.undated
    ]
    if undated:
        parts.append(tr("Left out, without a date: {listed}.").format(listed=join_words(undated)))
    return " ".join(parts)


def no_drift_captions(drifts: Sequence[ReaderDrift]) -> Iterator[str]:
    """Yield the reason for each reader without scores over time."""
    for one in drifts:
        if one.drift.why:
            days = ""
            if len(one.blocks) == 1:
                block = one.blocks[0].block
                days = f" ({format_days(block.first, block.last)}, {counted(block.n, 'score')})"
            yield f"{one.name}: {one.drift.why.rstrip('.')}{days}."


def _pictures(dimensions: Sequence[DimensionAgreement]) -> bool:
    return any(found.numbers.dimension in IMAGE_DIMENSIONS for found in dimensions)
