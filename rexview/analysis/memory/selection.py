"""Applying a filter to the answer table, and putting the cases it leaves in order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.filter.conditions import NOT_KNOWN, Finding, ModelPair
from rexview.analysis.filter.finding_search import FindingTerm, is_finding_search, search_terms
from rexview.analysis.memory.coded_column import Mask
from rexview.analysis.memory.table import AnswerTable, Bits
from rexview.detect import FAILURE_BITS

ROW_FACETS: Final = {"models": "model", "statuses": "status", "weakest": "weakest"}
"""Column of the rows by name of the filter's list."""
CASE_FACETS: Final = {
    "question_types": "question_type",
    "categories": "category",
    "difficulties": "difficulty",
    "sites": "site",
    "studies": "study",
}
"""Column of the cases by name of the filter's list."""
_SORT_COLUMNS: Final = {"severity": "severity", "gap": "gap", "disagreement": "spread"}
_EPSILON: Final = 1e-4


@dataclass(frozen=True, eq=False)
class Selection:
    """What a filter leaves of a table.

    ``row_mask`` chooses the answers that meet it; ``case_rows`` are the rows of ``table.cases`` in
    the order that the filter asks for.
    """

    table: AnswerTable
    row_mask: Mask
    case_rows: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.case_rows)

    @cached_property
    def case_ids(self) -> list[str]:
        """Ids of the cases, in order."""
        return self.ids(self.case_rows)

    def ids(self, case_rows: npt.NDArray[np.int64]) -> list[str]:
        """Return the ids of some cases."""
        return self.table.cases["case"].gather(case_rows).to_list()

    @cached_property
    def rows(self) -> pl.DataFrame:
        """The rows that meet the filter, in file order."""
        return self.table.rows.filter(pl.Series(self.row_mask))

    @cached_property
    def answers(self) -> pl.DataFrame:
        """The answers among them: ``case``, ``model`` (String)."""
        known = self.table.rows.select("case", "model").filter(
            pl.Series(self.row_mask & self.table.answered)
        )
        return known.with_columns(pl.col("model").cast(pl.String))


def select(table: AnswerTable, case_filter: CaseFilter) -> Selection:
    """Find the cases that a filter leaves.

    A case stays when one of its answers meets all conditions. Values that the set does not have
    leave nothing; nothing is raised.
    """
    row_mask = all_of(table, conditions(table, case_filter))
    case_rows = np.flatnonzero(table.any_of_case(row_mask))
    return Selection(table, row_mask, _ordered(table, row_mask, case_rows, case_filter.sort))


def without_flags(case_filter: CaseFilter) -> CaseFilter:
    """Return a filter without what it asks about flags, or about findings in texts.

    What is left depends on no detector.
    """
    if is_finding_search(case_filter.search, case_filter.mention):
        case_filter = case_filter.without("search")
    return replace(case_filter, failures=(), sources=(), findings=(), judged=(), sort="order")


def conditions(table: AnswerTable, case_filter: CaseFilter) -> dict[str, Mask]:
    """Work out each condition of a filter on its own.

    Returns
    -------
    dict of str to array
        Which rows meet it, by the name of the filter's field (``tags:NAME`` for each tag name);
        conditions that do not limit are left out.
    """
    found: dict[str, Mask] = {}
    for name, column in ROW_FACETS.items():
        if chosen := getattr(case_filter, name):
            found[name] = table.row_codes[column].among(chosen)
    for name, column in CASE_FACETS.items():
        if chosen := getattr(case_filter, name):
            found[name] = table.case_codes[column].among(chosen)[table.case_row]
    for name, values in _by_tag_name(case_filter.tags).items():
        found[f"tags:{name}"] = _tagged(table, name, values)[table.case_row]
    if case_filter.failures:
        wanted = bits_of(case_filter.failures)
        found["failures"] = (flagged_by(table, case_filter.sources) & wanted) != 0
    if case_filter.sources:
        wanted = bits_of(case_filter.failures or tuple(FAILURE_BITS))
        found["sources"] = (flagged_by(table, case_filter.sources) & wanted) != 0
    if case_filter.findings:
        found["findings"] = about(
            table, case_filter.failures, case_filter.sources, case_filter.findings
        )
    if case_filter.reader_scores:
        found["reader_scores"] = table.scores.having(case_filter.reader_scores)
    if case_filter.reader_pairs:
        found["reader_pairs"] = table.scores.shared(case_filter.reader_pairs)
    if case_filter.model_pairs:
        found["model_pairs"] = _paired(table, case_filter.model_pairs)
    if case_filter.comments:
        of_case = np.logical_or.reduce([table.commented[word] for word in case_filter.comments])
        found["comments"] = of_case[table.case_row]
    if case_filter.judged:
        found["judged"] = (table.judged & bits_of(case_filter.judged)) != 0
    for name, limits in case_filter.ranges.items():
        numbers = table.numbers["spread" if name == "disagreement" else name]
        inside = ~np.isnan(numbers)
        if limits.low is not None:
            inside &= numbers >= limits.low - _EPSILON
        if limits.high is not None:
            inside &= numbers <= limits.high + _EPSILON
        found[name] = inside
    if case_filter.search:
        found["search"] = found_by(table, case_filter.search, case_filter.mention)
    return found


def about(
    table: AnswerTable, failures: Sequence[str], sources: Sequence[str], findings: Sequence[str]
) -> Mask:
    """Say which rows have one of some failures, said by one of some sources, about some finding.

    Empty ``failures`` or ``sources`` do not limit; ``findings`` are words of the filter.
    """
    known = table.failure_findings
    rows = np.zeros(len(table.rows), dtype=np.bool_)
    if NOT_KNOWN in findings:
        flagged = flagged_by(table, sources)
        for failure in failures or FAILURE_BITS:
            named = np.zeros(len(table.rows), dtype=np.bool_)
            if not known.is_empty():
                named[known.filter(failure=failure)["row"].to_numpy()] = True
            rows |= ((flagged & bits_of((failure,))) != 0) & ~named
    if known.is_empty():
        return rows
    wanted = [finding for word in findings for finding in Finding.parse(word).ids]
    detected, reader_flagged = pl.col("detected"), pl.col("reader_flagged")
    by_source = {
        "detector": detected & ~reader_flagged,
        "reader": reader_flagged & ~detected,
        "both": detected & reader_flagged,
        "hint": pl.col("hint"),
    }
    by_whom = [by_source[source] for source in sources] or [~pl.col("hint")]
    of_failure = pl.col("failure").is_in(list(failures or FAILURE_BITS))
    met = known.filter(of_failure, pl.col("finding").is_in(wanted), pl.any_horizontal(by_whom))
    rows[met["row"].to_numpy()] = True
    return rows


def all_of(table: AnswerTable, masks: dict[str, Mask], *, but: str | None = None) -> Mask:
    """Say which rows meet all conditions, or all but one."""
    total = np.ones(len(table.rows), dtype=np.bool_)
    for name, mask in masks.items():
        if name != but:
            total &= mask
    return total


def flagged_by(table: AnswerTable, sources: Sequence[str]) -> Bits:
    """Return the failures of each row that some sources say, as bits; all sources when none."""
    parts = [table.flags_by_source[source] for source in sources or ("any",)]
    return parts[0] if len(parts) == 1 else np.bitwise_or.reduce(parts)


def _ordered(
    table: AnswerTable, row_mask: Mask, case_rows: npt.NDArray[np.int64], sort: str
) -> npt.NDArray[np.int64]:
    """Put cases in order by the largest number among their chosen rows; missing ones last."""
    if sort == "order" or len(case_rows) < 2:
        return case_rows
    if sort == "newest":
        dates = table.rows["created"].to_physical()
        numbers = dates.cast(pl.Float64).fill_null(-np.inf).to_numpy()
    else:
        numbers = np.nan_to_num(table.numbers[_SORT_COLUMNS[sort]], nan=-np.inf)
    largest = np.maximum.reduceat(np.where(row_mask, numbers, -np.inf), table.starts)
    return case_rows[np.argsort(-largest[case_rows], kind="stable")]


def bits_of(failures: Sequence[str]) -> np.uint32:
    """Return the bits of some failures."""
    return np.uint32(sum(FAILURE_BITS[failure] for failure in failures))


def _by_tag_name(tags: Sequence[str]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for tag in tags:
        names.setdefault(tag.partition(":")[0], []).append(tag)
    return names


def _tagged(table: AnswerTable, name: str, values: Sequence[str]) -> Mask:
    """Say which cases have one of some values of one tag."""
    tagged = np.zeros(len(table.cases), dtype=np.bool_)
    if name in table.tag_codes:
        rows, coded = table.tag_codes[name]
        tagged[rows[coded.among(values)]] = True
    return tagged


def _paired(table: AnswerTable, words: Sequence[str]) -> Mask:
    """Say which rows are of two models that both have a final score in the case."""
    total = np.ones(len(table.rows), dtype=np.bool_)
    model = table.row_codes["model"]
    for pair in map(ModelPair.parse, words):
        scored = ~np.isnan(table.numbers[pair.dimension])
        first, second = (scored & model.among((name,)) for name in pair.models)
        cases = table.any_of_case(first) & table.any_of_case(second)
        total &= (first | second) & cases[table.case_row]
    return total


def found_by(table: AnswerTable, search: str, mention: str) -> Mask:
    """Say which rows a search finds; ``mention`` says how its findings have to be spoken of."""
    if not is_finding_search(search, mention):
        return _containing(table, search.split())
    terms = search_terms(search)
    total = _containing(table, terms.words)
    for term in terms.findings:
        total &= _with_finding(table, term, mention)
    return total


def _with_finding(table: AnswerTable, term: FindingTerm, mention: str) -> Mask:
    """Say which rows have a finding in the answer or in the report of its case."""
    rows = np.zeros(len(table.rows), dtype=np.bool_)
    if table.survey is None or not len(rows):
        return rows
    texts = table.survey.scan.index.texts_with(lambda phrase: term.met_by(phrase, mention))
    cases = np.zeros(len(table.cases), dtype=np.bool_)
    cases[-1 - texts[texts < 0]] = True
    rows[table.row_of_answer[texts[texts >= 0]]] = True
    return rows | cases[table.case_row]


def _containing(table: AnswerTable, words: Sequence[str]) -> Mask:
    """Say which rows have every word in the question, the report or the answer's text."""
    total = np.ones(len(table.rows), dtype=np.bool_)
    for word in words:
        pattern = f"(?i){re.escape(word)}"
        of_case = table.cases.select(
            pl.any_horizontal(pl.col("question", "report").str.contains(pattern))
        ).to_series()
        of_answer = table.rows["text"].str.contains(pattern).fill_null(False)
        total &= of_case.to_numpy()[table.case_row] | of_answer.to_numpy()
    return total
