"""The answer table, on which all filters, counts and charts work: one row for each newest answer.

Filters use small numbers only: the index of a word in a fixed list, or a bit. Columns of the files
(:mod:`.set_columns`), scores (:mod:`.score_index`) and flags (:mod:`.flagged`) are separate parts,
so that a table with other scores or flags shares the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.analysis.case.comments import CommentCount
from rexview.analysis.meetings import Decision, list_decisions
from rexview.analysis.query.filter.case_filter import COMMENT_STATES
from rexview.analysis.query.filter.conditions import (
    OPEN_DECISION,
    UNNAMED_READER,
    EditCondition,
    list_met_conditions,
)
from rexview.analysis.query.filter.judge_conditions import (
    JudgeCondition,
    MarkedCondition,
    WrittenCondition,
)
from rexview.analysis.query.memory.choice_outcomes import CaseOutcomes
from rexview.analysis.query.memory.failure_index import (
    HARM_COLUMNS,
    FailureIndex,
    SeverityRanks,
    rank_severity,
)
from rexview.analysis.query.memory.score_index import ScoreIndex, records_at_rows
from rexview.analysis.query.memory.set_columns import (
    WORD_BITS,
    CodedColumn,
    Codes,
    Mask,
    RowMaskIndex,
    SetColumns,
    cast_to_enum,
)
from rexview.analysis.written_failures import current_failures, list_counted_marks
from rexview.analysis.written_results import find_answer_numbers, find_results_by_name
from rexview.detect import (
    DISAGREEMENT_THRESHOLD,
    GAP_THRESHOLD,
    Survey,
    create_detectors,
    survey,
    survey_scan,
)
from rexview.detect.scan.scan import Scan, replace_scores
from rexview.frames import query_all_rows
from rexview.harm import HarmTable, load_harm
from rexview.metrics.identity import MetricId, metric_sort_key
from rexview.schema import FailureMark, ReviewSet
from rexview.stats import ContentOrder
from rexview.stats.judge_agreement import JudgeOpinions, collect_judge_opinions
from rexview.stats.multiple_choice import RaterChoices, collect_choices
from rexview.stats.preferences import group_compared_answers
from rexview.stats.report_metrics import ReportValues, collect_report_values
from rexview.vocab import EDIT_KINDS

# Text search in the questions, reports and answers of a set.
#
# No text is copied or converted to lower case: a pattern is matched on the columns at some
# gigabytes a second. The results of the latest words are cached.

_WORDS_KEPT: Final = 32


class TextSearch:
    """A search for words in the questions, reports and answers of an answer table."""

    def __init__(self, columns: SetColumns) -> None:
        self.columns = columns
        self._found = lru_cache(maxsize=_WORDS_KEPT)(self._packed)

    def having(self, word: str) -> Mask:
        """Return a mask of the rows with a word, in any case, in the answer or its case's texts."""
        return np.unpackbits(self._found(word), count=len(self.columns)).view(np.bool_)

    def _packed(self, word: str) -> npt.NDArray[np.uint8]:
        return np.packbits(self._look_for(word))

    def _look_for(self, word: str) -> Mask:
        pattern, review_set = f"(?i){re.escape(word)}", self.columns.review_set
        report = pl.col("report").struct
        places = (pl.col("question"), report.field("findings"), report.field("impression"))
        # words contain no spaces, so that no match spans two parts
        cases = _matches(review_set.cases, pattern, places)
        answers = _matches(review_set.answers, pattern, (pl.col("text"),))
        found = self.columns.of_rows(cases)
        found[: self.columns.n_answers] |= answers[self.columns.newest.row]
        return found


def _matches(frame: pl.DataFrame, pattern: str, texts: tuple[pl.Expr, ...]) -> Mask:
    """Return a mask of the rows with a match of a pattern in one of some texts."""
    met = pl.any_horizontal(text.str.contains(pattern).fill_null(False) for text in texts)
    return np.asarray(query_all_rows(frame, lambda rows: rows.select(met=met))["met"].to_numpy())


# Corrections of answers line by line: their severity, and the kind of error.

_UNKNOWN_SEVERITY = -1
"""Severity of a correction without one."""


class EditIndex:
    """The corrections of the newest answers of a set, each by the number of its answer.

    ``numbers`` has an answer's number for each correction. A checked answer that needs no
    correction has records that keep its lines.
    """

    def __init__(self, review_set: ReviewSet) -> None:
        edits = review_set.edits
        numbers = review_set.numbers_of(edits.select("case", "model"))
        edits = edits.filter(pl.Series(numbers >= 0))
        self.numbers = numbers[numbers >= 0]
        self._corrects = (edits["action"] != "keep").to_numpy()
        self._severity = edits["severity"].fill_null(_UNKNOWN_SEVERITY).to_numpy()
        self._kinds = CodedColumn.of(cast_to_enum(edits["kind"], list(EDIT_KINDS)))
        self._unnamed = edits["reader"].is_null().to_numpy()
        self._readers = CodedColumn.of(cast_to_enum(edits["reader"]))

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of error in the corrections, known ones first."""
        return self._kinds.values

    def meeting(self, conditions: Iterable[str], kinds: Sequence[str] = ()) -> Codes:
        """Return the numbers of the answers that meet all conditions, ascending.

        Parameters
        ----------
        conditions : iterable of str
            Texts of :class:`.EditCondition`.
        kinds : sequence of str
            The correction that is severe enough has one of these kinds of error.
        """
        parsed = [EditCondition.parse(word) for word in conditions]
        met = [self._answers(one, kinds) for one in parsed]
        if not met:
            met = [np.unique(self.numbers[self._corrects & self._of_kind(kinds)])]
        found = met[0]
        for other in met[1:]:
            found = np.intersect1d(found, other, assume_unique=True)
        return found

    def _answers(self, condition: EditCondition, kinds: Sequence[str]) -> Codes:
        given = self._readers.among([condition.reader]) if condition.reader else self._all
        given = self._unnamed if condition.reader == UNNAMED_READER else given
        severe = self._severity >= condition.severity
        if condition.what == "from":
            wanted = given & self._of_kind(kinds)
            if condition.severity or kinds:
                wanted &= self._corrects & (severe | (condition.severity == 0))
            return np.unique(self.numbers[wanted])
        too_severe = given & self._corrects & (severe | (self._severity == _UNKNOWN_SEVERITY))
        wanted = given & self._corrects & self._of_kind(kinds) if kinds else given
        return np.setdiff1d(self.numbers[wanted], self.numbers[too_severe])

    @property
    def _all(self) -> Mask:
        return np.ones(len(self.numbers), dtype=np.bool_)

    def _of_kind(self, kinds: Sequence[str]) -> Mask:
        return self._kinds.among(kinds) if kinds else self._all


@dataclass(frozen=True, eq=False)
class AnswerTable:
    """Answers and cases of an open review set, ready to be filtered.

    Attributes
    ----------
    columns : SetColumns
        Columns of the files; they define the rows.
    scores : ScoreIndex
        The readers' single scores, and the final ones.
    flagged : FailureIndex
        Flags of detectors and readers.
    texts : TextSearch
    comments : mapping of str to CommentCount
        Number of comments by id of each case that has any.
    gap_threshold : float
        The smallest gap that is flagged as an execution gap.
    """

    columns: SetColumns
    scores: ScoreIndex
    flagged: FailureIndex
    texts: TextSearch
    comments: Mapping[str, CommentCount]
    gap_threshold: float = GAP_THRESHOLD
    _of_all: dict[str, Codes] = field(default_factory=dict)

    @property
    def review_set(self) -> ReviewSet:
        """The set with what people wrote."""
        return self.scores.review_set

    @property
    def survey(self) -> Survey:
        """Flags of detectors and readers; a table with other scores is built from them."""
        return self.flagged.survey

    @property
    def content_order(self) -> ContentOrder:
        """How Content is computed (:data:`rexview.stats.CONTENT_ORDERS`)."""
        return self.scores.content_order

    @property
    def harm(self) -> HarmTable:
        """The harm of each failure: the set's own table, or the built-in one."""
        return self.flagged.harm_table

    @property
    def models(self) -> dict[str, str]:
        """Name on screen by model id, in the set's order."""
        return self.review_set.model_names

    @property
    def n_readers(self) -> int:
        """Number of people who scored or flagged."""
        given = self.review_set
        return pl.concat([given.scores["reader"], given.flags["reader"]]).drop_nulls().n_unique()

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def row_codes(self) -> Mapping[str, CodedColumn]:
        """Coded columns of the answers."""
        return {
            "model": self.columns.model,
            "status": self.columns.status,
            "weakest": self.scores.weakest,
        }

    @cached_property
    def commented(self) -> dict[str, Mask]:
        """Masks of the cases with comments and with open ones, by key of :data:`COMMENT_STATES`."""
        found = {word: np.zeros(self.columns.n_cases, dtype=np.bool_) for word in COMMENT_STATES}
        rows = self.review_set.case_rows(pl.Series(list(self.comments), dtype=pl.String()))
        for row, count in zip(rows.tolist(), self.comments.values(), strict=True):
            if row >= 0:
                found["commented"][row] = count.comments > 0
                found["unresolved"][row] = count.unresolved > 0
        return found

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        """Decisions of meetings."""
        return list_decisions(self.review_set)

    @cached_property
    def decided(self) -> dict[str, Mask]:
        """Masks of the cases with decisions, by text of :class:`.DecisionCondition`."""
        words = sorted(
            {word for one in self.decisions for word in list_met_conditions(one)} - {OPEN_DECISION}
        )
        words = [OPEN_DECISION, *words] if words else []
        found = {word: np.zeros(self.columns.n_cases, dtype=np.bool_) for word in words}
        rows = self.review_set.case_rows(
            pl.Series([one.case for one in self.decisions], dtype=pl.String())
        )
        for row, one in zip(rows.tolist(), self.decisions, strict=True):
            for word in list_met_conditions(one):
                found[word][row] |= row >= 0
        return found

    @cached_property
    def chosen(self) -> RaterChoices:
        """Each rater's choices on the questions with a known right option."""
        return collect_choices(self.review_set)

    @cached_property
    def edits(self) -> EditIndex:
        """Corrections of the answers' lines."""
        return EditIndex(self.review_set)

    @cached_property
    def opinions(self) -> JudgeOpinions:
        """Judges' opinions of the answers."""
        return collect_judge_opinions(self.review_set, self.columns.cluster)

    def said_by_judge(self, word: str) -> Codes:
        """Return the numbers of the answers that meet a :class:`.JudgeCondition`, given as text."""
        asked = JudgeCondition.parse(word)
        said = self.opinions.of(asked.judge, **{asked.column: asked.about})
        if asked.wanted is not None:
            said = said.filter(pl.col(asked.value_column) == asked.wanted)
        return said["number"].to_numpy()

    def said_of_written(self, word: str) -> Codes:
        """Return the numbers of the answers that meet a :class:`.WrittenCondition`, as text."""
        asked = WrittenCondition.parse(word)
        found = find_results_by_name(self.review_set, asked.failure, asked.version, asked.judge)
        said = found.answers(asked.said) if found else ()
        return np.array(find_answer_numbers(self.review_set, said), dtype=np.int64)

    @cached_property
    def written_failures(self) -> dict[str, str]:
        """Titles by name of the failures in words."""
        standing = current_failures(self.review_set)
        return {name: words.prompt.name for name, words in standing.items()}

    @cached_property
    def marks(self) -> tuple[FailureMark, ...]:
        """People's marks of failures in words."""
        return list_counted_marks(self.review_set)

    @cached_property
    def marked_titles(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """Titles of the failures in words that people marked, by case and model."""
        found: dict[tuple[str, str], dict[str, None]] = {}
        for mark in self.marks:
            title = self.written_failures[mark.failure]
            found.setdefault((mark.case, mark.model), {})[title] = None
        return {answer: tuple(titles) for answer, titles in found.items()}

    def marked_in_words(self, word: str) -> Codes:
        """Return the numbers of the answers that meet a :class:`.MarkedCondition`, as text."""
        asked = MarkedCondition.parse(word)
        marked = {
            (mark.case, mark.model)
            for mark in self.marks
            if mark.failure == asked.failure and mark.version.startswith(asked.version)
        }
        return np.array(find_answer_numbers(self.review_set, sorted(marked)), dtype=np.int64)

    @cached_property
    def compared(self) -> dict[str, Codes]:
        """Numbers of the answers that readers compared, by key of :data:`COMPARED`."""
        return group_compared_answers(self.review_set)

    @cached_property
    def metrics(self) -> ReportValues:
        """Metrics of the answers."""
        return collect_report_values(self.review_set, self.columns.cluster)

    @property
    def metric_ids(self) -> tuple[MetricId, ...]:
        """Metrics with a value on any answer, known ones first."""
        met = () if self.review_set.metrics.is_empty() else self.metrics.met()
        return tuple(sorted((MetricId(*one) for one in met), key=metric_sort_key))

    def values_of(self, metric: MetricId) -> tuple[Codes, Codes]:
        """Return the numbers of the answers with a value of a metric, and the values."""
        if metric not in self.metric_ids:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        values = self.metrics.of(metric)
        return values.number, values.value

    @cached_property
    def outcomes(self) -> CaseOutcomes:
        """Outcomes of the choice questions."""
        return CaseOutcomes(self.chosen, self.columns.n_cases, self.survey)

    @cached_property
    def severity(self) -> SeverityRanks:
        """Severity of each row."""
        return rank_severity(self.flagged.harm, self.flagged.lost, self.scores)

    @cached_property
    def _word_bits(self) -> dict[str, Codes]:
        return {}

    def word_bits(self, column: str, first: int) -> Codes:
        """Return a bit by row for the words of a column of the answers from ``first`` on."""
        coded = self.row_codes[column]
        if len(coded.values) > WORD_BITS:  # rare, and too large to cache
            return coded.bits(first)
        if column not in self._word_bits:
            self._word_bits[column] = coded.bits()
        return self._word_bits[column]

    def bits_of_cases(self, name: str, bits: Codes, rows: RowMaskIndex | None) -> Codes:
        """Combine the bits of some rows of each case, of all rows for None.

        Results for all rows are cached by ``name``.
        """
        if rows is not None:
            return rows.bits_of_case(bits)
        if name not in self._of_all:
            self._of_all[name] = self.columns.bits_of_case(bits)
        return self._of_all[name]

    @property
    def rows(self) -> pl.DataFrame:
        """All rows as records, cases in file order, with ``created`` and ``text``; not cached.

        Use it only for sets that are not large.
        """
        columns = self.columns
        given = columns.review_set.answers.select("created", "text")[columns.newest.row]
        given = given.with_columns(row=pl.int_range(pl.len(), dtype=pl.UInt32))
        found = self.records(np.arange(len(self))).join(
            given, on="row", how="left", maintain_order="left"
        )
        return found.sort("case_row", maintain_order=True)

    def records(self, rows: Codes) -> pl.DataFrame:
        """Return some rows with all their values but texts.

        Returns
        -------
        polars.DataFrame
            ``row``, ``case_row`` (row in ``ReviewSet.cases``), ``case``, ``model`` (Enum, null for
            a case without answers), ``status`` (Enum), the final scores
            (:data:`rexview.analysis.query.memory.score_index.FINAL_NUMBERS`, null where missing),
            ``n_readers``, ``weakest`` (Enum), ``detected``, ``reader_flagged``, ``hinted``,
            ``judged`` (bits of :data:`rexview.detect.FAILURE_BITS`: detectors' flags that are not
            rejected, flags that readers confirmed, detectors' hints that are not rejected, failures
            that can be judged), :data:`HARM_COLUMNS`, ``severity``.
        """
        columns, flagged = self.columns, self.flagged
        cases = columns.case_row[rows]
        said = {
            source: flagged.by((source,), rows) for source in ("detector", "reader", "both", "hint")
        }
        named = pl.DataFrame(
            {
                "row": rows.astype(np.uint32),
                "case_row": cases,
                "case": self.review_set.cases["id"].gather(cases),
                "model": columns.model.words(rows),
                "status": columns.status.words(rows),
                "detected": said["detector"] | said["both"],
                "reader_flagged": said["reader"] | said["both"],
                "hinted": said["hint"],
                "judged": flagged.judged[rows],
                "severity": self.severity.values[self.severity.ranks[rows]],
            }
        )
        harmless: dict[str, Any] = {"harm": 0, "harm_confirmed": False, "harm_hinted": 0}
        numbers = records_at_rows(self.scores.finals.drop("case", "model"), rows)
        harm = records_at_rows(flagged.harm, rows).with_columns(
            pl.col(name).fill_null(pl.lit(value, dtype=HARM_COLUMNS[name]))
            for name, value in harmless.items()
        )
        return pl.concat([named, numbers, harm], how="horizontal")


def build_answer_table(
    review_set: ReviewSet,
    *,
    gap_threshold: float = GAP_THRESHOLD,
    disagreement_threshold: float = DISAGREEMENT_THRESHOLD,
    content_order: ContentOrder = "mean_first",
    scan: Scan | None = None,
    before: AnswerTable | None = None,
    comments: Mapping[str, CommentCount] | None = None,
) -> AnswerTable:
    """Return the table of an open review set, with all flags of the detectors.

    ``scan`` has the detectors' latest results, perhaps with other scores; without one they run on
    everything first. ``before`` is the table of the same files with other scores or reader flags;
    with it, no text is read again. ``comments`` are counted by
    :func:`rexview.analysis.case.comments.count_comments_by_case`.
    """
    if scan is None:
        active = create_detectors(
            gap_threshold=gap_threshold,
            disagreement_threshold=disagreement_threshold,
            models=review_set.models,
        )
        found = survey(review_set, detectors=active, before=before.survey if before else None)
    else:
        found = survey_scan(replace_scores(scan, review_set))
    if before and before.columns.is_of(review_set):
        columns, texts, harm = before.columns, before.texts, before.harm
    else:
        columns = SetColumns.of(review_set)
        texts = TextSearch(columns)
        harm = load_harm(review_set.folder / review_set.info.harm if review_set.info.harm else None)
    return AnswerTable(
        columns=columns,
        scores=ScoreIndex(review_set, columns, content_order),
        flagged=FailureIndex.of(found, columns, harm),
        texts=texts,
        comments=comments or {},
        gap_threshold=gap_threshold,
    )


def replace_scan(table: AnswerTable, scan: Scan) -> AnswerTable:
    """Return the table of the same answers and scores with the results of another scan."""
    found = survey_scan(replace_scores(scan, table.review_set))
    flagged = FailureIndex.of(found, table.columns, table.harm)
    return replace(table, flagged=flagged, _of_all={})


def change_content_order(table: AnswerTable, content_order: ContentOrder) -> AnswerTable:
    """Return the table of the same answers with Content computed in another order.

    No detector uses Content, so none runs again.
    """
    if content_order == table.content_order:
        return table
    return replace(table, scores=replace(table.scores, content_order=content_order), _of_all={})
