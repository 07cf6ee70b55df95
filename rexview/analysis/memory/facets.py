"""Counts beside every value of a filter, following the other conditions of the filter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rexview.analysis.filter.case_filter import (
    ANSWER_STATUSES,
    COMMENTED,
    MENTIONS,
    SOURCES,
    STUDIES,
    CaseFilter,
)
from rexview.analysis.filter.finding_condition import Finding
from rexview.analysis.filter.pair_condition import ModelPair, ReaderPair
from rexview.analysis.filter.score_condition import Mark
from rexview.analysis.memory.categorical_codes import Words
from rexview.analysis.memory.finding_search import search_terms
from rexview.analysis.memory.selection import (
    CASE_FACETS,
    ROW_FACETS,
    Mask,
    all_of,
    bits_of,
    conditions,
    found_by,
)
from rexview.analysis.memory.table import AnswerTable, Bits
from rexview.stats import ALL_EQUAL
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
    ``judged`` of the ``cases`` have an answer that can be judged for the failure.
    """

    failure: str
    detector: int
    reader: int
    both: int
    total: int
    judged: int = 0
    cases: int = 0


@dataclass(frozen=True)
class Facets:
    """All counts for one filter. ``total`` cases are left; ``n_cases`` are in the set.

    ``mentions`` has a value for each way of searching for the findings that the search names; it is
    empty when the search names none.
    """

    total: int
    n_cases: int
    facets: tuple[Facet, ...]
    headlines: tuple[SourceCounts, ...]
    mentions: tuple[FacetValue, ...] = ()


_NO_BITS: Final = np.uint32(0)
_NAMES: Final = {
    "failures": "Failure",
    "sources": "Who says so",
    "models": "Model",
    "statuses": "Answer",
    "weakest": "Weakest link",
    "question_types": "Question type",
    "categories": "Category",
    "difficulties": "Difficulty",
    "sites": "Site",
    "studies": "Study",
    "comments": "Comments",
}


def facets(table: AnswerTable, case_filter: CaseFilter) -> Facets:
    """Count the cases of every value of every condition.

    Each condition's own choice is left out of its counts: they say what choosing a value instead
    would give.
    """
    masks = conditions(table, case_filter)
    everything = all_of(table, masks)
    cases = table.any_of_case(everything)
    found: list[Facet] = []

    def others(name: str) -> Mask:
        return all_of(table, masks, but=name) if name in masks else everything

    def others_of_case(name: str) -> Mask:
        return table.any_of_case(others(name)) if name in masks else cases

    def add(field: str, counts: Mapping[str, int], name: str | None = None) -> None:
        chosen = getattr(case_filter, field)
        values = tuple(
            FacetValue(value, value_name(table, field, value), count, value in chosen)
            for value, count in counts.items()
        )
        found.append(Facet(field, name or _NAMES[field], values))

    said = _Said(table, _except(table, masks, "failures", "sources"))
    add("failures", said.by_failure(case_filter.sources))
    add("sources", said.by_source(case_filter.failures))
    for field, column in ROW_FACETS.items():
        add(field, _row_counts(table, others(field), column))
    for field, column in CASE_FACETS.items():
        add(field, _case_counts(table.case_words[column], others_of_case(field)))
    for name, (rows, words) in table.tag_words.items():
        counts = _case_counts(words, others_of_case(f"tags:{name}")[rows])
        add("tags", counts, _tag_name(name))
    there = others_of_case("comments")
    add("comments", {word: int((has & there).sum()) for word, has in table.commented.items()})
    if "judged" in masks:
        said = _Said(table, _except(table, masks, "failures", "sources", "judged"))
    return Facets(
        total=int(np.count_nonzero(cases)),
        n_cases=len(table.cases),
        facets=tuple(found),
        headlines=tuple(said.counts(failure) for failure in HEADLINE_FAILURES),
        mentions=_mentions(table, case_filter, others("search")),
    )


def _mentions(table: AnswerTable, case_filter: CaseFilter, others: Mask) -> tuple[FacetValue, ...]:
    """Count the cases of each way of searching for a finding, given all other conditions."""
    search = case_filter.search
    if not search_terms(search).findings:
        return ()
    found = {word: others & found_by(table, search, word) for word in MENTIONS}
    return tuple(
        FacetValue(
            word,
            name,
            int(np.count_nonzero(table.any_of_case(found[word]))),
            word == case_filter.mention,
        )
        for word, name in MENTIONS.items()
    )


def value_name(table: AnswerTable, field: str, value: str) -> str:
    """Return the name on screen of one value of a condition."""
    if field == "models":
        return table.models.get(value, value)
    if field in ("failures", "judged"):
        return FAILURES[value].name if value in FAILURES else value
    if field == "weakest":
        if value == ALL_EQUAL:
            return "All equal"
        return " and ".join(DIMENSION_NAMES[part] for part in value.split("_and_"))
    if field == "tags":
        return words_name(value.partition(":")[2])
    if field == "findings":
        return Finding.parse(value).name
    if field == "marks":
        mark = Mark.parse(value)
        return mark.words(table.marks.readers.get(mark.reader, mark.reader))
    if field == "both":
        readers = ReaderPair.parse(value)
        return readers.words(*(table.marks.readers.get(one, one) for one in readers.readers))
    if field == "paired":
        models = ModelPair.parse(value)
        return models.words(*(table.models.get(one, one) for one in models.models))
    names: dict[str, Mapping[str, str]] = {
        "sources": SOURCES,
        "statuses": ANSWER_STATUSES,
        "question_types": QUESTION_TYPES,
        "categories": CATEGORY_NAMES,
        "studies": STUDIES,
        "comments": COMMENTED,
    }
    if field in ("difficulties", "categories") and value not in names.get(field, {}):
        return words_name(value)
    return names.get(field, {}).get(value, value)


def _tag_name(name: str) -> str:
    """Return the name on screen of a tag, told apart from the condition of the same name."""
    shown = words_name(name)
    return f"{shown} (tag)" if shown in _NAMES.values() else shown


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
    unknown = [
        f"This set has no {'tag' if field == 'tags' else _NAMES[field].lower()} “{value}”."
        for field, values in known.items()
        for value in getattr(case_filter, field)
        if value not in values
    ]
    models = [name for word in case_filter.paired for name in ModelPair.parse(word).models]
    unknown += [f"This set has no model “{name}”." for name in models if name not in table.models]
    readers = [Mark.parse(word).reader for word in case_filter.marks]
    readers += [name for word in case_filter.both for name in ReaderPair.parse(word).readers]
    unknown += [
        f"This set has no reader “{name}”."
        for name in readers
        if name and name not in table.marks.readers
    ]
    return list(dict.fromkeys(unknown))


class _Said:
    """The failures of the cases of some rows, by who says so."""

    def __init__(self, table: AnswerTable, rows: Mask) -> None:
        self._judged = table.bits_of_case(np.where(rows, table.judged, _NO_BITS))
        self._cases = int(np.count_nonzero(table.any_of_case(rows)))
        self._of_case = {
            source: table.bits_of_case(np.where(rows, bits, _NO_BITS))
            for source, bits in table.said.items()
        }

    def _count(self, sources: Sequence[str], failures: Sequence[str]) -> int:
        wanted = bits_of(failures)
        return int(np.count_nonzero(self._bits(sources) & wanted))

    def _bits(self, sources: Sequence[str]) -> Bits:
        parts = [self._of_case[source] for source in sources or ("any",)]
        return parts[0] if len(parts) == 1 else np.bitwise_or.reduce(parts)

    def by_failure(self, sources: Sequence[str]) -> dict[str, int]:
        return {failure: self._count(sources, (failure,)) for failure in FAILURES}

    def by_source(self, failures: Sequence[str]) -> dict[str, int]:
        return {source: self._count((source,), failures or tuple(FAILURES)) for source in SOURCES}

    def counts(self, failure: str) -> SourceCounts:
        parts = self.by_source((failure,))
        return SourceCounts(
            failure,
            parts["detector"],
            parts["reader"],
            parts["both"],
            self._count((), (failure,)),
            int(np.count_nonzero(self._judged & bits_of((failure,)))),
            self._cases,
        )


def _except(table: AnswerTable, masks: Mapping[str, Mask], *names: str) -> Mask:
    return all_of(table, {name: mask for name, mask in masks.items() if name not in names})


def _row_counts(table: AnswerTable, rows: Mask, column: str) -> dict[str, int]:
    """Count distinct cases for each word of a coded column of the rows."""
    words = table.row_words[column]
    if column not in table.word_bits:
        pairs = np.unique(
            np.stack([table.case_row[rows], words.codes[rows]]).astype(np.int64), axis=1
        )
        counts = np.bincount(pairs[1], minlength=len(words.values) + 1)
        return {value: int(counts[place]) for place, value in enumerate(words.values)}
    of_case = table.bits_of_case(np.where(rows, table.word_bits[column], _NO_BITS))
    return {
        value: int(np.count_nonzero(of_case & np.uint32(1 << place)))
        for place, value in enumerate(words.values)
    }


def _case_counts(words: Words, chosen: Mask) -> dict[str, int]:
    """Count the chosen entries of each word."""
    counts = np.bincount(words.codes[chosen], minlength=len(words.values) + 1)
    return {value: int(counts[place]) for place, value in enumerate(words.values)}
