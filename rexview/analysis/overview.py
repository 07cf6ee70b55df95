"""The numbers of the Overview. Each comes with the filter that opens the cases behind it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from rexview.analysis.filter.case_filter import SOURCES, WEAKEST, CaseFilter
from rexview.analysis.filter.linked_count import Count
from rexview.analysis.filter.refinement import ANY, narrowed
from rexview.analysis.memory.facets import value_name
from rexview.analysis.memory.selection import Selection, apply, flagged_by
from rexview.analysis.memory.table import FAILURE_BITS, AnswerTable
from rexview.analysis.scores.tables import answers_of, gap_classes, score_cells
from rexview.stats import NO_ANSWER
from rexview.stats.summary import gap_summaries
from rexview.stats.values import Finals
from rexview.vocab import DIMENSION_NAMES, HEADLINE_FAILURES, IMAGE_DIMENSIONS


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

    ``flagged`` counts answers, of those that can be judged (``judged``, itself of all answers); it
    splits into those that only the detector found, that only a reader marked, and both. ``hint``
    counts answers with no more than a detector's hint: they are not among the flagged.
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
    """Mean final score of one dimension (or Content) of one model.

    ``scored`` counts answers, for image dimensions the pictures that they gave; it opens the
    answers.
    """

    model: str
    dimension: str
    name: str
    mean: float
    scored: Count

    @property
    def of_pictures(self) -> bool:
        """Whether pictures are counted."""
        return self.dimension in IMAGE_DIMENSIONS


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
    finals = table.finals.only(answers_of(rows))
    gaps = tuple(_gaps(finals, models, case_filter, table.gap_threshold))
    return Overview(
        headline=_headline(selection, rows, models, case_filter),
        failures=tuple(_failures(selection, models, case_filter)),
        weakest=tuple(_weakest(table, rows, models, case_filter)),
        means=tuple(_means(finals, models, case_filter)),
        gaps=tuple(gap for gap, _ in gaps),
        gap_bins=tuple(bin_ for _, bins in gaps for bin_ in bins),
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
        scored=Count(scored, narrowed(base, content=ANY) or base, len(rows)),
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
    answers = np.bincount(codes, minlength=size)
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
                Count(of, replace(base, judged=(failure,), models=(model,)), int(answers[place])),
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


def _means(finals: Finals, models: dict[str, str], base: CaseFilter) -> Iterator[MeanScore]:
    cells = {
        (cell.summary.model, cell.summary.dimension): cell
        for cell in score_cells(finals, models, base, resamples=0)
    }
    for model in models:
        for dimension, name in DIMENSION_NAMES.items():
            cell = cells.get((model, dimension))
            if cell is not None and cell.summary.mean is not None:
                yield MeanScore(model, dimension, name, cell.summary.mean, cell.scored)


def _gaps(
    finals: Finals, models: dict[str, str], base: CaseFilter, threshold: float
) -> Iterator[tuple[MeanGap, tuple[GapBin, ...]]]:
    for found in gap_summaries(finals, list(models), threshold=threshold, resamples=0):
        if found.mean is None:
            continue
        opens = replace(base, models=(found.model,))
        known = Count(found.n, narrowed(opens, gap=ANY) or opens)
        bins = tuple(
            GapBin(
                found.model,
                middle,
                Count(n, narrowed(opens, gap=limits) or opens, found.n),
            )
            for middle, limits, n in gap_classes(found.counts)
        )
        yield MeanGap(found.model, found.mean, known), bins
