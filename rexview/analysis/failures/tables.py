"""How often each model fails, and on what. Each number comes with the filter that opens it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Final

import numpy as np
import polars as pl

from rexview.analysis.failures.captions import COUNTED, SMALL
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.filter.finding_condition import NOT_KNOWN, Finding, region_name, region_of
from rexview.analysis.filter.linked_count import Count
from rexview.analysis.filter.refinement import narrowed
from rexview.analysis.memory.facets import value_name
from rexview.analysis.memory.selection import Mask, about, apply, flagged_by
from rexview.analysis.memory.table import FAILURE_BITS, AnswerTable
from rexview.analysis.scores.splits import SplitBy, split_choices, value_masks
from rexview.schema import ReviewSet
from rexview.stats.bootstrap import RESAMPLES
from rexview.stats.failure_rates import (
    JUDGED,
    FailureTest,
    Rate,
    clusters_of,
    failure_rates,
    failure_tests,
    rate,
)
from rexview.vocab import HEADLINE_FAILURES

BY_FINDING: Final = SplitBy("finding", "Finding", "findings")
BY_REGION: Final = SplitBy("region", "Region", "findings")
_NOT_KNOWN_NAME: Final = "Not known"
MOST_RESAMPLED: Final = 6
"""Of more models the differences have no intervals: there are hundreds of pairs."""
MOST_GROUPS: Final = 24
"""As many groups are laid out; of more, those with the most failures."""


@dataclass(frozen=True)
class FailureRow:
    """One failure of one model.

    ``flagged`` of ``judged`` answers fail, of ``answers`` in all; ``hinted`` have no more than a
    rule's hint and are not counted.
    """

    failure: str
    model: str
    flagged: Count
    judged: Count
    answers: int
    hinted: Count
    rate: Rate


@dataclass(frozen=True, eq=False)
class FailureTables:
    """The rates of all failures for one filter; models in the set's order.

    ``counted`` is whose word counts (:data:`COUNTED`); ``clustered`` says that cases share a
    patient or study. The headline failures are here always, others where anybody met them.
    """

    models: Mapping[str, str]
    counted: str
    cases: Count
    clustered: bool
    rows: tuple[FailureRow, ...]
    compare_models: Callable[[], tuple[FailureTest, ...]]

    @cached_property
    def tests(self) -> tuple[FailureTest, ...]:
        """The tests between models: of many models they take a while, so only when asked for."""
        return self.compare_models()

    @property
    def failures(self) -> tuple[str, ...]:
        """The failures in their order."""
        return tuple(dict.fromkeys(row.failure for row in self.rows))

    def of(self, failure: str) -> tuple[FailureRow, ...]:
        """Return the rows of one failure."""
        return tuple(row for row in self.rows if row.failure == failure)


@dataclass(frozen=True)
class GroupCell:
    """One model in one group: ``flagged`` of ``flagged.of`` answers that can be judged."""

    model: str
    flagged: Count
    judged: Count
    rate: Rate

    @property
    def is_small(self) -> bool:
        """Whether so few answers can be judged that a share says little."""
        return self.rate.n < SMALL


@dataclass(frozen=True)
class Group:
    """The answers of one finding, region or value of a property; ``flagged`` over all models."""

    value: str
    name: str
    flagged: Count
    cells: tuple[GroupCell, ...]


@dataclass(frozen=True, eq=False)
class FailureGroups:
    """One failure by finding, region or a property of the case: most failures first.

    ``left_out`` groups with the fewest failures are not laid out.
    """

    failure: str
    by: SplitBy
    kind: str
    models: Mapping[str, str]
    groups: tuple[Group, ...]
    left_out: int


def base_of(case_filter: CaseFilter) -> CaseFilter:
    """Return a filter without what it says about failures: rates are about all of them."""
    return replace(case_filter, failures=(), sources=(), judged=(), findings=())


def failure_tables(
    review_set: ReviewSet,
    table: AnswerTable,
    case_filter: CaseFilter | None = None,
    *,
    counted: str = "any",
    resamples: int = RESAMPLES,
) -> FailureTables:
    """Work out the rates of all failures over the answers that a filter leaves.

    Parameters
    ----------
    review_set : ReviewSet
    table : AnswerTable
        Of the same review set.
    case_filter : CaseFilter, optional
        What it says about failures is left out.
    counted : str
        A word of :data:`COUNTED`.
    resamples : int
        Of the bootstrap; 0 for no intervals.
    """
    base = base_of(case_filter or CaseFilter())
    selection = apply(table, base)
    mask = selection.row_mask & table.rows["model"].is_not_null().to_numpy()
    rows = table.rows.filter(pl.Series(mask))
    answers = dict(rows.select(pl.col("model").cast(pl.String)).group_by("model").len().iter_rows())
    models = {model: name for model, name in table.models.items() if model in answers}
    sources = COUNTED[counted][1]
    met = np.bitwise_or.reduce(
        (flagged_by(table, ()) | table.said["hint"])[mask], initial=np.uint32(0)
    )
    failures = [
        name for name, bit in FAILURE_BITS.items() if name in HEADLINE_FAILURES or met & bit
    ]
    judged = _judged(table, mask, failures, sources)
    clusters = clusters_of(review_set.cases)
    hinted = _by_model(table, mask, table.said["hint"])
    found = failure_rates(judged, clusters, list(models), failures, resamples=resamples)
    out = []
    for row in found:
        opens = replace(base, failures=(row.failure,), sources=sources, models=(row.model,))
        can = replace(base, judged=(row.failure,), models=(row.model,))
        hints = replace(opens, sources=("hint",))
        out.append(
            FailureRow(
                row.failure,
                row.model,
                Count(row.rate.flagged, opens, row.rate.n),
                Count(row.rate.n, can, answers[row.model]),
                answers[row.model],
                Count(hinted[row.failure].get(row.model, 0), hints),
                row.rate,
            )
        )
    cases = clusters.join(rows.select("case").unique(), on="case", how="semi")
    return FailureTables(
        models=models,
        counted=counted,
        cases=Count(len(selection), base, len(table.cases)),
        clustered=cases["cluster"].n_unique() < len(cases),
        rows=tuple(out),
        compare_models=partial(
            failure_tests,
            judged,
            clusters,
            list(models),
            failures,
            resamples=resamples if len(models) <= MOST_RESAMPLED else 0,
        ),
    )


def group_choices(table: AnswerTable) -> tuple[SplitBy, ...]:
    """Return what failures can be laid out by, in the order of a list."""
    return (BY_FINDING, BY_REGION, *split_choices(table))


def failure_groups(
    review_set: ReviewSet,
    table: AnswerTable,
    case_filter: CaseFilter,
    failure: str,
    by: SplitBy,
    *,
    counted: str = "any",
    resamples: int = RESAMPLES,
) -> FailureGroups:
    """Lay one failure out by finding, by region or by a property of the case.

    Parameters as for :func:`failure_tables`; ``by`` is one of :func:`group_choices`.
    """
    base = base_of(case_filter)
    sources = COUNTED[counted][1]
    chosen = apply(table, base).row_mask & table.rows["model"].is_not_null().to_numpy()
    bit = np.uint32(FAILURE_BITS[failure])
    judged = chosen & ((table.judged & bit) != 0)
    flagged = judged & ((flagged_by(table, sources) & bit) != 0)
    places = table.rows.select(pl.col("model").cast(pl.String), "case")
    present = set(places.filter(pl.Series(chosen))["model"].to_list())
    models = {model: name for model, name in table.models.items() if model in present}
    clusters = clusters_of(review_set.cases)
    patient = places.join(clusters, on="case", how="left", maintain_order="left")["cluster"]
    of_model = {model: (places["model"] == model).fill_null(False).to_numpy() for model in models}
    found: list[Group] = []
    for value, name, fails, can, opens in _groups(table, base, failure, by, sources):
        total = int(np.count_nonzero(flagged & fails))
        if not total:
            continue
        cells = []
        for model, own in of_model.items():
            rows = judged & can & own
            worked_out = rate(
                (flagged & fails)[rows].tolist(), patient.to_numpy()[rows], resamples=resamples
            )
            mine = replace(opens, models=(model,))
            n = Count(
                worked_out.n, replace(mine, failures=(), sources=(), findings=(), judged=(failure,))
            )
            cells.append(
                GroupCell(model, Count(worked_out.flagged, mine, worked_out.n), n, worked_out)
            )
        found.append(Group(value, name, Count(total, opens), tuple(cells)))
    found.sort(key=lambda group: -group.flagged.value)
    kind = by.key if by in (BY_FINDING, BY_REGION) else "property"
    return FailureGroups(
        failure, by, kind, models, tuple(found[:MOST_GROUPS]), max(0, len(found) - MOST_GROUPS)
    )


def _groups(
    table: AnswerTable,
    base: CaseFilter,
    failure: str,
    by: SplitBy,
    sources: Sequence[str],
) -> Iterator[tuple[str, str, Mask, Mask, CaseFilter]]:
    """Yield each group: value, name, rows that fail in it, rows that belong to it, its filter."""
    everywhere = np.ones(len(table.rows), dtype=np.bool_)
    opens = replace(base, failures=(failure,), sources=tuple(sources))
    if by.field != "findings":
        for value, cases in value_masks(table, by, base):
            rows = cases[table.case_row]
            narrow = narrowed(opens, **{by.field: value}) or opens
            yield value, value_name(table, by.field, value), rows, rows, narrow
        return
    known = table.failure_findings
    met = [] if known.is_empty() else known.filter(failure=failure)["finding"].unique().to_list()
    words = [Finding(name) for name in sorted(met)]
    if by == BY_REGION:
        regions = sorted({region for name in met if (region := region_of(name))})
        words = [Finding(region, is_region=True) for region in regions]
    for word in (*words, Finding(NOT_KNOWN)):
        rows = about(table, (failure,), sources, (str(word),))
        name = region_name(word.id) if word.is_region else word.name
        name = _NOT_KNOWN_NAME if word.id == NOT_KNOWN else name
        yield str(word), name, rows, everywhere, replace(opens, findings=(str(word),))


def _judged(
    table: AnswerTable, mask: Mask, failures: Sequence[str], sources: Sequence[str]
) -> pl.DataFrame:
    """Return the answers that can be judged, columns :data:`rexview.stats.failure_rates.JUDGED`."""
    said = flagged_by(table, sources)
    names = table.rows.select("case", pl.col("model").cast(pl.String))
    parts = [JUDGED.to_frame()]
    for failure in failures:
        bit = np.uint32(FAILURE_BITS[failure])
        rows = mask & ((table.judged & bit) != 0)
        parts.append(
            names.filter(pl.Series(rows))
            .with_columns(
                pl.lit(failure).alias("failure"), pl.Series("flagged", (said[rows] & bit) != 0)
            )
            .select(list(JUDGED))
        )
    return pl.concat(parts)


def _by_model(table: AnswerTable, mask: Mask, bits: np.ndarray) -> dict[str, dict[str, int]]:
    """Count the answers of each model that have a failure's bit."""
    words = table.row_words["model"]
    codes = words.codes[mask]
    return {
        failure: dict(
            zip(
                words.values,
                np.bincount(
                    codes[(bits[mask] & np.uint32(bit)) != 0], minlength=len(words.values) + 1
                ).tolist(),
                strict=False,
            )
        )
        for failure, bit in FAILURE_BITS.items()
    }
