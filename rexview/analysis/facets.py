"""Counts beside every value of a filter, following the other conditions of the filter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from rexview.analysis.case_filter import (
    ANSWER_STATUSES,
    SOURCES,
    STUDIES,
    CaseFilter,
)
from rexview.analysis.selecting import (
    CASE_FACETS,
    ROW_FACETS,
    Mask,
    all_of,
    conditions,
    flagged_by,
)
from rexview.analysis.table import FAILURE_BITS, AnswerTable, Words
from rexview.vocab import (
    CATEGORY_NAMES,
    DIMENSION_NAMES,
    FAILURES,
    HEADLINE_FAILURES,
    QUESTION_TYPES,
)


@dataclass(frozen=True)
class FacetValue:
    """One value of a condition: ``count`` distinct cases have it, given all other conditions."""

    value: str
    name: str
    count: int
    chosen: bool


@dataclass(frozen=True)
class Facet:
    """One condition of the filter with its values. ``field`` names the filter's list."""

    field: str
    name: str
    values: tuple[FacetValue, ...]


@dataclass(frozen=True)
class SourceCounts:
    """Cases with one failure: by the detector only, by a reader only, by both, in any way.

    A case counts in several of the three when its answers differ; ``total`` counts it once.
    """

    failure: str
    detector: int
    reader: int
    both: int
    total: int


@dataclass(frozen=True)
class Facets:
    """All counts for one filter. ``total`` cases are left; ``n_cases`` are in the set."""

    total: int
    n_cases: int
    facets: tuple[Facet, ...]
    headlines: tuple[SourceCounts, ...]


_NAMES: Final = {
    "failures": "Failure",
    "sources": "Said by",
    "models": "Model",
    "statuses": "Answer",
    "weakest": "Weakest link",
    "question_types": "Question type",
    "categories": "Category",
    "difficulties": "Difficulty",
    "sites": "Site",
    "studies": "Study",
}


def facets(table: AnswerTable, case_filter: CaseFilter) -> Facets:
    """Count the cases of every value of every condition.

    Each condition's own choice is left out of its counts: they say what choosing a value instead
    would give.
    """
    masks = conditions(table, case_filter)
    everything = all_of(table, masks)
    found: list[Facet] = []

    def others(name: str) -> Mask:
        return all_of(table, masks, but=name) if name in masks else everything

    def add(field: str, counts: Mapping[str, int], name: str | None = None) -> None:
        chosen = getattr(case_filter, field)
        values = tuple(
            FacetValue(value, value_name(table, field, value), count, value in chosen)
            for value, count in counts.items()
        )
        found.append(Facet(field, name or _NAMES[field], values))

    unflagged = _except(table, masks, "failures", "sources")
    add("failures", _bit_counts(table, unflagged, flagged_by(table, case_filter.sources)))
    add("sources", _source_counts(table, unflagged, case_filter.failures or tuple(FAILURES)))
    for field, column in ROW_FACETS.items():
        add(field, _row_counts(table, others(field), table.row_words[column]))
    for field, column in CASE_FACETS.items():
        hit = table.any_of_case(others(field))
        add(field, _case_counts(table.case_words[column], hit))
    for name, (rows, words) in table.tag_words.items():
        hit = table.any_of_case(others(f"tags:{name}"))
        counts = _case_counts(words, hit[rows])
        add("tags", counts, words_name(name))
    return Facets(
        total=int(table.any_of_case(everything).sum()),
        n_cases=len(table.cases),
        facets=tuple(found),
        headlines=tuple(
            source_counts(table, _except(table, masks, "failures", "sources", "judged"), failure)
            for failure in HEADLINE_FAILURES
        ),
    )


def value_name(table: AnswerTable, field: str, value: str) -> str:
    """Return the name on screen of one value of a condition."""
    if field == "models":
        return table.models.get(value, value)
    if field in ("failures", "judged"):
        return FAILURES[value].name if value in FAILURES else value
    if field == "weakest":
        parts = value.split("_and_")
        return "All three" if len(parts) == 3 else " and ".join(DIMENSION_NAMES[p] for p in parts)
    if field == "tags":
        return words_name(value.partition(":")[2])
    names: dict[str, Mapping[str, str]] = {
        "sources": SOURCES,
        "statuses": ANSWER_STATUSES,
        "question_types": QUESTION_TYPES,
        "categories": CATEGORY_NAMES,
        "studies": STUDIES,
    }
    if field in ("difficulties", "categories") and value not in names.get(field, {}):
        return words_name(value)
    return names.get(field, {}).get(value, value)


def words_name(word: str) -> str:
    """Turn an id of words (``imaging_finding``) into words on screen (Imaging finding)."""
    text = word.replace("_", " ").strip()
    return text[:1].upper() + text[1:]


def unknown_values(table: AnswerTable, case_filter: CaseFilter) -> list[str]:
    """Say which values of a filter the set does not have, one sentence each."""
    known: dict[str, set[str]] = {"models": set(table.models)}
    known.update({f: set(table.case_words[column].values) for f, column in CASE_FACETS.items()})
    known["studies"] = set(STUDIES)
    known["question_types"] = set(QUESTION_TYPES)
    known["tags"] = {word for _, words in table.tag_words.values() for word in words.values}
    return [
        f"This set has no {'tag' if field == 'tags' else _NAMES[field].lower()} “{value}”."
        for field, values in known.items()
        for value in getattr(case_filter, field)
        if value not in values
    ]


def source_counts(table: AnswerTable, rows: Mask, failure: str) -> SourceCounts:
    """Count the cases of one failure among some rows, by who says so."""
    counts = _source_counts(table, rows, (failure,))
    bit = np.uint32(FAILURE_BITS[failure])
    total = int(table.any_of_case(rows & ((flagged_by(table, ()) & bit) != 0)).sum())
    return SourceCounts(failure, counts["detector"], counts["reader"], counts["both"], total)


def _except(table: AnswerTable, masks: Mapping[str, Mask], *names: str) -> Mask:
    return all_of(table, {name: mask for name, mask in masks.items() if name not in names})


def _source_counts(table: AnswerTable, rows: Mask, failures: Sequence[str]) -> dict[str, int]:
    wanted = np.uint32(sum(FAILURE_BITS[failure] for failure in failures))
    return {
        source: int(table.any_of_case(rows & ((flagged_by(table, [source]) & wanted) != 0)).sum())
        for source in SOURCES
    }


def _bit_counts(table: AnswerTable, rows: Mask, bits: npt.NDArray[np.uint32]) -> dict[str, int]:
    of_case = table.bits_of_case(np.where(rows, bits, np.uint32(0)))
    return {
        failure: int(np.count_nonzero(of_case & np.uint32(bit)))
        for failure, bit in FAILURE_BITS.items()
    }


def _row_counts(table: AnswerTable, rows: Mask, words: Words) -> dict[str, int]:
    """Count distinct cases for each word of the rows; at most 32 words are told apart by bits."""
    if len(words.values) > 31:
        pairs = np.unique(
            np.stack([table.case_row[rows], words.codes[rows]]).astype(np.int64), axis=1
        )
        counts = np.bincount(pairs[1], minlength=len(words.values) + 1)
        return {value: int(counts[place]) for place, value in enumerate(words.values)}
    bits = np.uint32(1) << words.codes.astype(np.uint32)
    of_case = table.bits_of_case(np.where(rows, bits, np.uint32(0)))
    return {
        value: int(np.count_nonzero(of_case & np.uint32(1 << place)))
        for place, value in enumerate(words.values)
    }


def _case_counts(words: Words, chosen: Mask) -> dict[str, int]:
    counts = np.bincount(words.codes[chosen], minlength=len(words.values) + 1)
    return {value: int(counts[place]) for place, value in enumerate(words.values)}
