"""Scores by a property of the case: question category, study, site, difficulty, type, a tag."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.filter.linked_count import Count
from rexview.analysis.filter.refinement import narrowed
from rexview.analysis.memory.facets import value_name, words_name
from rexview.analysis.memory.selection import Mask, apply
from rexview.analysis.memory.table import AnswerTable
from rexview.analysis.scores.tables import ScoreCell, answers_of, score_cells
from rexview.schema import ReviewSet
from rexview.stats.bootstrap import RESAMPLES
from rexview.stats.values import finals

MOST_VALUES: Final = 24
"""As many values are laid out; of more, those with the most cases."""
_PROPERTIES: Final = {
    "category": ("categories", "category", "Question category"),
    "study": ("studies", "study", "Normal or abnormal study"),
    "site": ("sites", "site", "Site"),
    "difficulty": ("difficulties", "difficulty", "Difficulty"),
    "type": ("question_types", "question_type", "Question type"),
}
"""Field of the filter, column of the cases and name on screen, by the word in the link."""
_TAG: Final = "tag:"


@dataclass(frozen=True)
class SplitBy:
    """A property to split by: its word in the link, its name on screen, its filter's field."""

    key: str
    name: str
    field: str


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

    by: SplitBy
    models: dict[str, str]
    parts: tuple[SplitPart, ...]
    without: int
    left_out: int
    overlap: bool


def split_choices(table: AnswerTable) -> tuple[SplitBy, ...]:
    """Return the properties that tell cases of a set apart, in the order of a list."""
    found = []
    for key, (field, column, name) in _PROPERTIES.items():
        codes = table.case_words[column].codes
        if len(codes) and len(np.unique(codes)) > 1:
            found.append(SplitBy(key, name, field))
    for tag, (rows, words) in table.tag_words.items():
        if len(words.values) > 1 or len(np.unique(rows)) < len(table.cases):
            found.append(SplitBy(f"{_TAG}{tag}", f"{words_name(tag)} (tag)", "tags"))
    return tuple(found)


def split_scores(
    review_set: ReviewSet,
    table: AnswerTable,
    case_filter: CaseFilter,
    by: SplitBy,
    *,
    resamples: int = RESAMPLES,
) -> Split:
    """Work out the scores for each value of a property, over the answers that a filter leaves.

    Of a tag that the filter names only the named values are laid out.
    """
    selection = apply(table, case_filter)
    rows = selection.rows.filter(pl.col("model").is_not_null())
    case_row = rows["case_row"].to_numpy()
    left = finals(review_set, content_order=table.content_order)
    present = set(rows["model"].unique().to_list())
    models = {model: name for model, name in table.models.items() if model in present}
    chosen = table.any_of_case(selection.row_mask)
    masks = dict(value_masks(table, by, case_filter))
    sizes = {value: int(np.count_nonzero(mask & chosen)) for value, mask in masks.items()}
    met = [value for value, size in sizes.items() if size]
    largest = set(sorted(met, key=lambda value: -sizes[value])[:MOST_VALUES])
    total = np.zeros(len(table.cases), dtype=np.int64)
    for mask in masks.values():
        total += mask & chosen
    parts = []
    for value in met:
        if value not in largest:
            continue
        base = narrowed(case_filter, **{by.field: value}) or case_filter
        pairs = answers_of(rows.filter(pl.Series(masks[value][case_row])))
        cells = tuple(score_cells(left.only(pairs), models, base, resamples=resamples))
        name = value_name(table, by.field, value)
        parts.append(SplitPart(value, name, Count(sizes[value], base), cells))
    return Split(
        by=by,
        models=models,
        parts=tuple(parts),
        without=int(np.count_nonzero(chosen & (total == 0))),
        left_out=len(met) - len(parts),
        overlap=bool((total > 1).any()),
    )


def value_masks(
    table: AnswerTable, by: SplitBy, case_filter: CaseFilter
) -> Iterator[tuple[str, Mask]]:
    """Yield which cases have each value, in the order of the values."""
    if by.field != "tags":
        words = table.case_words[_PROPERTIES[by.key][1]]
        for place, value in enumerate(words.values):
            yield value, words.codes == place
        return
    rows, words = table.tag_words[by.key.removeprefix(_TAG)]
    name = f"{by.key.removeprefix(_TAG)}:"
    named = {tag for tag in case_filter.tags if tag.startswith(name)}
    for place, value in enumerate(words.values):
        if not named or value in named:
            mask = np.zeros(len(table.cases), dtype=np.bool_)
            mask[rows[words.codes == place]] = True
            yield value, mask
