"""Scores by a property of the case: question category, study, site, difficulty, type, a tag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rexview.analysis.engine import CaseProperty, Engine
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.filter.linked_count import Count, refined
from rexview.analysis.filter.wording import value_name
from rexview.analysis.scores.tables import ScoreCell, score_cells
from rexview.stats.bootstrap import RESAMPLES

MOST_VALUES: Final = 24
"""As many values are laid out; of more, those with the most cases."""


@dataclass(frozen=True)
class SplitPart:
    """The scores of the cases with one value of the property."""

    value: str
    name: str
    cases: Count
    cells: tuple[ScoreCell, ...]


@dataclass(frozen=True, eq=False)
class Split:
    """The scores for each value of a property.

    ``without`` cases have no value; ``left_out`` values with the fewest cases are not laid out;
    ``overlap`` says that a case can have several values and then counts in each.
    """

    by: CaseProperty
    models: dict[str, str]
    parts: tuple[SplitPart, ...]
    without: int
    left_out: int
    overlap: bool


def split_scores(
    engine: Engine, case_filter: CaseFilter, by: CaseProperty, *, resamples: int = RESAMPLES
) -> Split:
    """Work out the scores for each value of a property, over the answers that a filter leaves.

    Of a tag that the filter names only the named values are laid out.
    """
    tally, counts = engine.tally(case_filter), engine.property_counts(case_filter, by)
    models = tally.names(engine.facts)
    sizes = {value: n for value, n in counts.by_value.items() if n}
    largest = set(sorted(sizes, key=lambda value: -sizes[value])[:MOST_VALUES])
    parts = []
    for value in (value for value in sizes if value in largest):
        base = refined(case_filter, **{by.field: value}) or case_filter
        cells = tuple(score_cells(engine.score_tallies(base), models, base, resamples=resamples))
        name = value_name(engine.facts, by.field, value)
        parts.append(SplitPart(value, name, Count(sizes[value], base), cells))
    return Split(
        by=by,
        models=models,
        parts=tuple(parts),
        without=tally.cases - counts.with_any,
        left_out=len(sizes) - len(parts),
        overlap=sum(sizes.values()) > counts.with_any,
    )
