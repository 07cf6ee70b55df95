"""The numbers of the Overview. Each comes with the filter that opens the cases behind it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import polars as pl

from rexview.analysis.case_filter import SOURCES, WEAKEST, CaseFilter, Range
from rexview.analysis.facets import value_name
from rexview.analysis.selecting import Selection, apply, flagged_by
from rexview.analysis.table import FAILURE_BITS, AnswerTable
from rexview.stats import NO_ANSWER
from rexview.vocab import DIMENSION_NAMES, HEADLINE_FAILURES

_GAP_STEP: Final = 0.5


@dataclass(frozen=True)
class Count:
    """A number and the filter that opens its cases; ``of`` is the n that it is a part of."""

    value: int
    opens: CaseFilter
    of: int | None = None

    @property
    def share(self) -> float | None:
        """The number as a share of ``of``, 0 to 1; None without one."""
        return self.value / self.of if self.of else None


@dataclass(frozen=True)
class Headline:
    """How much there is.

    Of all answers, ``no_answer`` counts those that never came, ``scored`` those with Content.
    """

    cases: Count
    answers: Count
    no_answer: Count
    scored: Count
    n_models: int
    n_readers: int
    n_images: int


@dataclass(frozen=True)
class FailureCount:
    """How often one model shows one failure.

    ``flagged`` counts answers, of those that can be judged; it splits into those that only the
    detector found, that only a reader marked, and both. ``hint`` counts answers with no more than a
    detector's hint: they are not among the flagged.
    """

    failure: str
    model: str
    flagged: Count
    judged: Count
    detector: Count
    reader: Count
    both: Count
    hint: Count


@dataclass(frozen=True)
class WeakestShare:
    """How many of a model's answers have Content set by one part, or by several at once."""

    model: str
    part: str
    name: str
    answers: Count


@dataclass(frozen=True)
class MeanScore:
    """Mean final score of one dimension (or Content) of one model, with its n answers."""

    model: str
    dimension: str
    name: str
    mean: float
    answers: Count


@dataclass(frozen=True)
class GapBin:
    """How many answers of a model have a gap (process minus execution) around ``gap``."""

    model: str
    gap: float
    answers: Count


@dataclass(frozen=True)
class MeanGap:
    """Mean gap of a model over the answers that have one."""

    model: str
    mean: float
    answers: Count


@dataclass(frozen=True)
class Overview:
    """All numbers of the Overview for one filter; models in the set's order.

    ``failures`` has the headline failures always, the others where anybody or any rule met them.
    """

    headline: Headline
    failures: tuple[FailureCount, ...]
    weakest: tuple[WeakestShare, ...]
    means: tuple[MeanScore, ...]
    gaps: tuple[MeanGap, ...]
    gap_bins: tuple[GapBin, ...]
    models: dict[str, str]


def overview(table: AnswerTable, case_filter: CaseFilter | None = None) -> Overview:
    """Work out the numbers of the Overview for the answers that a filter leaves."""
    case_filter = case_filter or CaseFilter()
    selection = apply(table, case_filter)
    rows = selection.rows.filter(pl.col("model").is_not_null())
    present = set(rows["model"].unique().to_list())
    models = {model: name for model, name in table.models.items() if model in present}
    return Overview(
        headline=_headline(selection, rows, models, case_filter),
        failures=tuple(_failures(selection, models, case_filter)),
        weakest=tuple(_weakest(table, rows, models, case_filter)),
        means=tuple(_means(rows, models, case_filter)),
        gaps=tuple(_gaps(rows, models, case_filter)),
        gap_bins=tuple(_gap_bins(rows, models, case_filter)),
        models=models,
    )


def _headline(
    selection: Selection, rows: pl.DataFrame, models: dict[str, str], base: CaseFilter
) -> Headline:
    lost = rows.select(pl.col("status").is_in(list(NO_ANSWER)).sum()).item()
    scored = rows.select(pl.col("content").count()).item()
    table = selection.table
    return Headline(
        cases=Count(len(selection), base, len(table.cases)),
        answers=Count(len(rows), base),
        no_answer=Count(lost, replace(base, statuses=NO_ANSWER), len(rows)),
        scored=Count(scored, _with_number(base, "content"), len(rows)),
        n_models=len(models),
        n_readers=table.n_readers,
        n_images=table.n_images,
    )


def _failures(
    selection: Selection, models: dict[str, str], base: CaseFilter
) -> Iterator[FailureCount]:
    table = selection.table
    words = table.row_words["model"]
    base = replace(base, failures=(), sources=(), judged=())
    rows = apply(table, base).row_mask
    size = len(words.values) + 1
    codes = words.codes[rows]
    said = {source: flagged_by(table, [source])[rows] for source in SOURCES}
    judged_bits = table.judged[rows]
    met = {source: np.bitwise_or.reduce(bits, initial=0) for source, bits in said.items()}
    for failure, number in FAILURE_BITS.items():
        bit = np.uint32(number)
        if failure not in HEADLINE_FAILURES and not any(bits & bit for bits in met.values()):
            continue

        def per_model(bits: np.ndarray, bit: np.uint32 = bit) -> np.ndarray:
            return np.bincount(codes[(bits & bit) != 0], minlength=size)

        judged = per_model(judged_bits)
        none = np.zeros(size, dtype=np.int64)
        parts = {
            source: per_model(bits) if met[source] & bit else none for source, bits in said.items()
        }
        flagged = sum(
            (part for source, part in parts.items() if source != "hint"),
            start=np.zeros(size, dtype=np.int64),
        )
        for place, model in enumerate(words.values):
            if model not in models:
                continue
            opens = replace(base, failures=(failure,), models=(model,))
            of = int(judged[place])
            by_source = {
                source: Count(int(counts[place]), replace(opens, sources=(source,)), of)
                for source, counts in parts.items()
            }
            yield FailureCount(
                failure,
                model,
                Count(int(flagged[place]), opens, of),
                Count(of, replace(base, judged=(failure,), models=(model,))),
                **by_source,
            )


def _weakest(
    table: AnswerTable, rows: pl.DataFrame, models: dict[str, str], base: CaseFilter
) -> Iterator[WeakestShare]:
    known = rows.filter(pl.col("weakest").is_not_null())
    counts = {
        (model, part): n for model, part, n in known.group_by("model", "weakest").len().iter_rows()
    }
    totals = dict(known.group_by("model").len().iter_rows())
    met = [part for part in WEAKEST if any((model, part) in counts for model in models)]
    for model in models:
        for part in met:
            if model in totals:
                opens = replace(base, models=(model,), weakest=(part,))
                count = Count(counts.get((model, part), 0), opens, totals[model])
                yield WeakestShare(model, part, value_name(table, "weakest", part), count)


def _means(rows: pl.DataFrame, models: dict[str, str], base: CaseFilter) -> Iterator[MeanScore]:
    columns = list(DIMENSION_NAMES)
    grouped = rows.group_by("model").agg(
        *(pl.col(column).mean().alias(f"{column}:mean") for column in columns),
        *(pl.col(column).count().alias(f"{column}:n") for column in columns),
    )
    found = {row["model"]: row for row in grouped.iter_rows(named=True)}
    for model in models:
        for column in columns:
            n = found[model][f"{column}:n"]
            if n:
                opens = _with_number(replace(base, models=(model,)), column)
                mean = found[model][f"{column}:mean"]
                yield MeanScore(model, column, DIMENSION_NAMES[column], mean, Count(n, opens))


def _gaps(rows: pl.DataFrame, models: dict[str, str], base: CaseFilter) -> Iterator[MeanGap]:
    known = rows.filter(pl.col("gap").is_not_null())
    grouped = known.group_by("model").agg(pl.col("gap").mean(), pl.len().alias("n"))
    found = {model: (mean, n) for model, mean, n in grouped.iter_rows()}
    for model in models:
        if model in found:
            mean, n = found[model]
            opens = _with_number(replace(base, models=(model,)), "gap")
            yield MeanGap(model, mean, Count(n, opens))


def _gap_bins(rows: pl.DataFrame, models: dict[str, str], base: CaseFilter) -> Iterator[GapBin]:
    known = rows.filter(pl.col("gap").is_not_null())
    steps = (known["gap"] / _GAP_STEP + 0.5).floor()
    exact = bool(((known["gap"] / _GAP_STEP - steps).abs() < 1e-6).all())
    binned = known.select("model", steps.cast(pl.Int64).alias("step"))
    counts = binned.group_by("model", "step").len()
    totals = dict(binned.group_by("model").len().iter_rows())
    found = {(model, step): n for model, step, n in counts.iter_rows()}
    for model in models:
        for step in sorted(step for other, step in found if other == model):
            gap = step * _GAP_STEP
            limits = Range(gap, gap) if exact else Range(gap - 0.25, gap + 0.249)
            opens = replace(base, models=(model,), gap=limits)
            yield GapBin(model, gap, Count(found[model, step], opens, totals[model]))


def _with_number(base: CaseFilter, name: str) -> CaseFilter:
    """Ask that a number is known, unless the filter limits it already."""
    if getattr(base, name) is not None:
        return base
    changes: dict[str, Range] = {name: Range()}
    return replace(base, **changes)  # type: ignore[arg-type]
