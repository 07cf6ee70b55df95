"""Application of a filter to the answer table, and the order of the matching cases.

A condition is either about answers, with a mask of rows, or about cases, with a mask of cases. The
two are combined only when rows are needed, because there are many more rows than cases. None means
a mask that is true everywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.query.filter.conditions import FLAG_OUTCOMES, ModelPair, group_outcomes
from rexview.analysis.query.filter.finding_search import (
    FindingTerm,
    is_finding_search,
    parse_search,
)
from rexview.analysis.query.memory.answer_table import AnswerTable
from rexview.analysis.query.memory.set_columns import Codes, Mask
from rexview.detect import FAILURE_BITS
from rexview.detect.self_contradiction import compare_repeats
from rexview.stats.self_contradiction import RepeatTally, count_repeats

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
REPEAT_EXPRESSIONS: Final[dict[str, pl.Expr]] = {
    "asked": pl.lit(True),
    "side": pl.col("side"),
    "choice": pl.col("choice"),
    "chosen": pl.col("usable") > 1,
    "unusable": pl.col("is_choice") & (pl.col("usable") < pl.col("times")),
}
"""Expressions on answers asked more than once, by value of the filter's ``repeats``."""
MISSING_DATE: Final = -(2**62)
"""Date of an answer without one."""
_SORT_NUMBERS: Final = {"gap": "gap", "disagreement": "spread"}


@dataclass(frozen=True, eq=False)
class ConditionMasks:
    """A mask for each condition of a filter, by the name of the filter's field.

    ``rows`` has masks of the table's rows, ``cases`` masks of cases (``tags:NAME`` for each tag
    name). Conditions that do not limit are left out.
    """

    rows: dict[str, Mask]
    cases: dict[str, Mask]

    def rows_but(self, names: Collection[str] = ()) -> Mask | None:
        """Return a mask of the rows that meet the conditions on answers, without some."""
        return _combine_masks(mask for name, mask in self.rows.items() if name not in names)

    def cases_but(self, names: Collection[str] = ()) -> Mask | None:
        """Return a mask of the cases that meet the conditions on cases, without some."""
        return _combine_masks(mask for name, mask in self.cases.items() if name not in names)


def _combine_masks(masks: Iterable[Mask]) -> Mask | None:
    total = None
    for mask in masks:
        total = mask if total is None else total & mask
    return total


@dataclass(frozen=True, eq=False)
class FilterSelection:
    """The rows and cases of a table that match a filter.

    ``rows_met`` and ``cases_met`` are masks for the conditions on answers and on cases; a row
    matches when both hold. ``case_rows`` are rows of ``ReviewSet.cases`` in the filter's order.
    """

    table: AnswerTable
    rows_met: Mask | None
    cases_met: Mask | None
    case_rows: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.case_rows)

    @cached_property
    def case_ids(self) -> list[str]:
        """Ids of the cases, in order."""
        return self.ids(self.case_rows)

    def ids(self, case_rows: Codes) -> list[str]:
        """Return the ids of some cases."""
        return self.table.review_set.cases["id"].gather(case_rows).to_list()

    @cached_property
    def row_mask(self) -> Mask:
        """Mask of the rows that match the filter."""
        columns = self.table.columns
        if self.cases_met is None:
            return np.ones(len(columns), np.bool_) if self.rows_met is None else self.rows_met
        rows = columns.of_rows(self.cases_met)
        return rows if self.rows_met is None else rows & self.rows_met

    @property
    def answers(self) -> slice | npt.NDArray[np.int64]:
        """Index of the matching answers, for arrays by answer number."""
        if self.rows_met is None and self.cases_met is None:
            return slice(None)
        return np.flatnonzero(self.answer_mask)

    @property
    def answer_mask(self) -> Mask:
        """Mask of the matching answers, by number."""
        return self.row_mask[: self.table.columns.n_answers]

    @property
    def case_mask(self) -> Mask:
        """Mask of the matching cases."""
        left = np.zeros(self.table.columns.n_cases, dtype=np.bool_)
        left[self.case_rows] = True
        return left

    @property
    def repeat_tallies(self) -> tuple[RepeatTally, ...]:
        """Counts of the matching answers that were requested more than once, by model."""
        columns, again = self.table.columns, compare_repeats(self.table.review_set)
        again = again.filter(self.answer_mask[again["number"].to_numpy()])
        number = again["number"].to_numpy()
        patients = columns.cluster[columns.newest.case[number]]
        return count_repeats(again, columns.newest.model[number], patients, columns.model.values)

    @property
    def rows(self) -> pl.DataFrame:
        """The matching rows, in file order: see :attr:`AnswerTable.rows`."""
        rows = self.table.rows
        return rows.filter(pl.Series(self.row_mask[rows["row"].to_numpy()]))


def apply_filter(table: AnswerTable, case_filter: CaseFilter) -> FilterSelection:
    """Return the cases and answers that match a filter.

    A case matches when one of its answers meets all conditions. Values that the set does not have
    match nothing and raise no error.
    """
    met = build_conditions(table, case_filter)
    rows, cases = met.rows_but(), met.cases_but()
    left = _combine_masks(
        mask
        for mask in (cases, rows if rows is None else table.columns.any_of_case(rows))
        if mask is not None
    )
    case_rows = np.arange(table.columns.n_cases) if left is None else np.flatnonzero(left)
    ordered = _sort_cases(table, rows, case_rows, case_filter)
    return FilterSelection(table, rows, cases, ordered.astype(np.int32))


def without_flag_conditions(case_filter: CaseFilter) -> CaseFilter:
    """Return a filter without its conditions on flags and on findings in texts.

    The remaining conditions depend on no detector.
    """
    if is_finding_search(case_filter.search, case_filter.mention):
        case_filter = case_filter.without("search")
    outcomes = tuple(word for word in case_filter.outcomes if word not in FLAG_OUTCOMES)
    case_filter = replace(case_filter, failures=(), sources=(), findings=(), judged=(), passing=())
    return replace(case_filter, outcomes=outcomes, sort="order")


def build_conditions(table: AnswerTable, case_filter: CaseFilter) -> ConditionMasks:
    """Return a mask for each condition of a filter."""
    rows: dict[str, Mask] = {}
    cases: dict[str, Mask] = {}
    flagged, scores = table.flagged, table.scores
    for name, column in ROW_FACETS.items():
        if chosen := getattr(case_filter, name):
            rows[name] = table.row_codes[column].among(chosen)
    for name, column in CASE_FACETS.items():
        if chosen := getattr(case_filter, name):
            cases[name] = table.columns.case_codes[column].among(chosen)
    for name, values in group_tags(case_filter.tags).items():
        cases[f"tags:{name}"] = _tagged_mask(table, name, values)
    if case_filter.failures:
        rows["failures"] = flagged.meeting(case_filter.failures, case_filter.sources)
    if case_filter.sources:
        failures = case_filter.failures or FAILURE_BITS
        rows["sources"] = flagged.meeting(failures, case_filter.sources)
    if case_filter.findings:
        rows["findings"] = flagged.about_findings(
            case_filter.failures, case_filter.sources, case_filter.findings
        )
    if case_filter.reader_scores:
        rows["reader_scores"] = scores.having(case_filter.reader_scores)
    if case_filter.reader_pairs:
        rows["reader_pairs"] = scores.shared(case_filter.reader_pairs)
    if case_filter.model_pairs:
        rows["model_pairs"] = _paired_mask(table, case_filter.model_pairs)
    if case_filter.repeats:
        rows["repeats"] = _repeated_mask(table, case_filter.repeats)
    for group, outcomes in group_outcomes(case_filter.outcomes).items():
        cases[outcome_condition_name(group)] = table.outcomes.meeting(outcomes)
    for name in ("edits", "edit_kinds"):
        if getattr(case_filter, name):
            met = table.edits.meeting(case_filter.edits, case_filter.edit_kinds)
            rows[name] = _answers_mask(table, met)
    if case_filter.compared:
        said = [table.compared[word] for word in case_filter.compared]
        rows["compared"] = _answers_mask(table, np.concatenate(said))
    if case_filter.opinions:
        rows["opinions"] = np.logical_and.reduce(
            [_answers_mask(table, table.said_by_judge(word)) for word in case_filter.opinions]
        )
    if case_filter.written:
        rows["written"] = np.logical_and.reduce(
            [_answers_mask(table, table.said_of_written(word)) for word in case_filter.written]
        )
    if case_filter.marked:
        marked = [table.marked_in_words(word) for word in case_filter.marked]
        rows["marked"] = _answers_mask(table, np.concatenate(marked))
    if case_filter.comments:
        cases["comments"] = np.logical_or.reduce(
            [table.commented[word] for word in case_filter.comments]
        )
    if case_filter.decisions:
        nowhere = np.zeros(table.columns.n_cases, dtype=np.bool_)
        decided = [table.decided.get(word, nowhere) for word in case_filter.decisions]
        cases["decisions"] = np.logical_or.reduce(decided)
    if case_filter.judged:
        judged = np.uint32(sum(FAILURE_BITS[failure] for failure in case_filter.judged))
        rows["judged"] = (flagged.judged & judged) != 0
    if case_filter.passing:
        cases["passing"] = _passing(table, case_filter)
    for name, limits in case_filter.ranges.items():
        rows[name] = scores.within("spread" if name == "disagreement" else name, limits)
    if case_filter.search:
        rows["search"] = find_by_search(table, case_filter.search, case_filter.mention)
    return ConditionMasks(rows, cases)


def outcome_condition_name(group: tuple[str, str]) -> str:
    """Return the condition's name for a group of outcomes, which exclude each other."""
    return f"outcomes:{':'.join(group)}"


def _repeated_mask(table: AnswerTable, words: Iterable[str]) -> Mask:
    """Return a mask of the rows asked more than once that meet one of some values."""
    met = compare_repeats(table.review_set).filter(
        pl.any_horizontal(REPEAT_EXPRESSIONS[word] for word in words)
    )
    return _answers_mask(table, met["number"].to_numpy())


def _answers_mask(table: AnswerTable, numbers: Codes) -> Mask:
    """Return a mask of the rows of some answers."""
    found = np.zeros(len(table), dtype=np.bool_)
    found[numbers] = True
    return found


def _sort_cases(
    table: AnswerTable, rows: Mask | None, case_rows: npt.NDArray[np.int64], wanted: CaseFilter
) -> npt.NDArray[np.int64]:
    """Sort cases by the largest number of their matching rows; cases without one come last."""
    if wanted.sort == "order" or len(case_rows) < 2:
        return case_rows
    largest = _sort_numbers(table, rows, wanted)
    if largest is None:
        return case_rows
    smallest_first = largest[case_rows]
    # descending with stable ties, without negation: ranks are unsigned
    backwards = np.argsort(smallest_first[::-1], kind="stable")[::-1]
    return case_rows[len(case_rows) - 1 - backwards]


def list_sort_numbers(found: FilterSelection, wanted: CaseFilter) -> npt.NDArray[np.float64]:
    """Return the sort number of each matching case, the largest first.

    Cases with equal numbers have the order of the files. A case without a number has the smallest.
    """
    table = found.table
    numbers = None if wanted.sort == "order" else _sort_numbers(table, found.rows_met, wanted)
    if numbers is None:
        return np.full(len(found), MISSING_DATE if wanted.sort == "newest" else 0.0)
    of_cases = numbers[found.case_rows]
    if wanted.sort == "severity":
        of_cases = table.severity.values[of_cases]
    return np.asarray(of_cases, dtype=np.float64)


def _sort_numbers(table: AnswerTable, rows: Mask | None, wanted: CaseFilter) -> Codes | None:
    """Return the largest number of each case's matching rows; None if all are equal."""
    sort, columns = wanted.sort, table.columns
    if sort == "severity":
        return _largest_by_case(table, table.severity.ranks, rows)
    if sort == "newest":
        answers = columns.review_set.answers["created"]
        if answers.null_count() == len(answers):
            return None
        dates = columns.of_answers(answers.to_physical().cast(pl.Int64).fill_null(MISSING_DATE))
        return _largest_by_case(table, columns.with_the_others(dates, MISSING_DATE), rows)
    if order := wanted.metric_order:
        scored, numbers = table.values_of(order.metric)
        numbers = numbers if order.largest_first else -numbers
    else:
        numbers, scored = table.scores.number(_SORT_NUMBERS[sort]), table.scores.scored
    counts = ~np.isnan(numbers) & (True if rows is None else rows[scored])
    largest = np.full(columns.n_cases, -np.inf)
    np.maximum.at(largest, columns.case_row[scored[counts]], numbers[counts])
    return largest


def _largest_by_case(table: AnswerTable, numbers: Codes, rows: Mask | None) -> Codes:
    """Return the largest of ``numbers`` among each case's matching rows."""
    if rows is not None:
        numbers = np.where(rows, numbers, np.iinfo(numbers.dtype).min)
    return table.columns.gather(np.maximum, numbers)


def group_tags(tags: Sequence[str]) -> dict[str, list[str]]:
    """Return the values of tags (``name:value``) by name."""
    names: dict[str, list[str]] = {}
    for tag in tags:
        names.setdefault(tag.partition(":")[0], []).append(tag)
    return names


def _tagged_mask(table: AnswerTable, name: str, values: Sequence[str]) -> Mask:
    """Return a mask of the cases with one of some values of one tag."""
    tagged = np.zeros(table.columns.n_cases, dtype=np.bool_)
    if name in table.columns.tag_codes:
        rows, coded = table.columns.tag_codes[name]
        tagged[rows[coded.among(values)]] = True
    return tagged


def _paired_mask(table: AnswerTable, words: Sequence[str]) -> Mask:
    """Return a mask of the rows of two models that both have a final score in the case."""
    total = np.ones(len(table), dtype=np.bool_)
    columns = table.columns
    for pair in map(ModelPair.parse, words):
        scored = table.scores.scored[~np.isnan(table.scores.number(pair.dimension))]
        by_model = [
            scored[columns.model.codes[scored] == columns.model.values.index(name)]
            if name in columns.model.values
            else scored[:0]
            for name in pair.models
        ]
        first, second = (columns.case_row[rows] for rows in by_model)
        cases = np.intersect1d(first, second)
        both = np.concatenate(by_model)
        met = np.zeros(len(table), dtype=np.bool_)
        met[both[np.isin(columns.case_row[both], cases)]] = True
        total &= met
    return total


def _passing(table: AnswerTable, case_filter: CaseFilter) -> Mask:
    """Say in which cases some models can be judged for the failures asked for, and have none."""
    columns, flagged = table.columns, table.flagged
    failures = case_filter.failures or tuple(FAILURE_BITS)
    judged = np.uint32(sum(FAILURE_BITS[failure] for failure in failures))
    passes = (flagged.judged & judged != 0) & ~flagged.meeting(failures, case_filter.sources)
    total = np.ones(columns.n_cases, dtype=np.bool_)
    for own in (table.row_codes["model"].among((model,)) for model in case_filter.passing):
        total &= columns.any_of_case(passes & own)
    return total


def find_by_search(table: AnswerTable, search: str, mention: str) -> Mask:
    """Return a mask of the rows that a search finds; ``mention`` is one of :data:`MENTIONS`."""
    if not is_finding_search(search, mention):
        return _words_mask(table, search.split())
    terms = parse_search(search)
    total = _words_mask(table, terms.words)
    for term in terms.findings:
        total &= _finding_mask(table, term, mention)
    return total


def _words_mask(table: AnswerTable, words: Sequence[str]) -> Mask:
    """Return a mask of the rows with every word in the question, report or answer's text."""
    total = np.ones(len(table), dtype=np.bool_)
    for word in words:
        total &= table.texts.having(word)
    return total


def _finding_mask(table: AnswerTable, term: FindingTerm, mention: str) -> Mask:
    """Return a mask of the rows with a finding in the answer or in its case's report."""
    texts = table.survey.scan.index.texts_with(lambda phrase: term.met_by(phrase, mention))
    reported = np.zeros(table.columns.n_cases, dtype=np.bool_)
    reported[-1 - texts[texts < 0]] = True
    rows = table.columns.of_rows(reported)
    rows[texts[texts >= 0]] = True
    return rows
