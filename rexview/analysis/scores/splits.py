"""Scores by a property of the case: question category, study, site, difficulty, type, a tag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rexview.analysis.engine import CaseProperty, Engine
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.groups import Group, Groups, property_values
from rexview.analysis.scores.tables import ScoreCell, score_cells
from rexview.stats.bootstrap import RESAMPLES

MOST_VALUES: Final = 24
"""As many values are laid out; of more, those with the most cases."""


@dataclass(frozen=True, eq=False)
class Split(Groups[ScoreCell]):
    """The scores for each value of a property; groups count cases.

    ``without`` cases have no value; ``overlap`` says that a case can have several values and then
    counts in each.
    """

    without: int
    overlap: bool


def split_scores(
    engine: Engine, case_filter: CaseFilter, by: CaseProperty, *, resamples: int = RESAMPLES
) -> Split:
    """Work out the scores for each value of a property, over the answers that a filter leaves.

    Of a tag that the filter names only the named values are laid out.
    """
    tally, counts = engine.tally(case_filter), engine.property_counts(case_filter, by)
    models = tally.names(engine.facts)
    values = list(property_values(counts, engine.facts, case_filter, by))
    largest = sorted(values, key=lambda found: -found[2].value)[:MOST_VALUES]
    groups = []
    for value, name, cases in values:
        if (value, name, cases) in largest:
            scores = engine.score_tallies(cases.opens)
            cells = tuple(score_cells(scores, models, cases.opens, resamples=resamples))
            groups.append(Group(value, name, cases, cells))
    return Split(
        by=by,
        models=models,
        groups=tuple(groups),
        left_out=len(values) - len(groups),
        without=tally.cases - counts.with_any,
        overlap=sum(cases.value for *_, cases in values) > counts.with_any,
    )
