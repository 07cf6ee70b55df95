"""The engine that holds every answer in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import Final

import numpy as np
import polars as pl

from rexview.analysis.case.cards import CaseCard
from rexview.analysis.case.comments import CommentCount
from rexview.analysis.engine import (
    CaseProperty,
    DisputedAnswer,
    Facets,
    FailureTally,
    ModelTally,
    PairCases,
    Position,
    PropertyCounts,
    ReaderScore,
    Scanned,
    SetFacts,
    Tally,
    position_at,
)
from rexview.analysis.filter.case_filter import SOURCES, CaseFilter
from rexview.analysis.filter.wording import sentence_case
from rexview.analysis.memory.cards import case_cards
from rexview.analysis.memory.facets import facets
from rexview.analysis.memory.judged import judged_by_model
from rexview.analysis.memory.selection import (
    CASE_FACETS,
    Selection,
    flagged_by,
    select,
    without_flags,
)
from rexview.analysis.memory.table import (
    AnswerTable,
    answer_table,
    in_content_order,
    with_scan,
)
from rexview.detect import DISAGREEMENT_THRESHOLD, FAILURE_BITS, GAP_THRESHOLD
from rexview.detect.core.scan import Scan
from rexview.schema import Answer, Flag, ReaderFlag, ReviewSet
from rexview.stats import ContentOrder
from rexview.stats.agreement import PairTables, ScorePatterns, pair_tables, score_patterns
from rexview.stats.drift import score_days
from rexview.stats.failure_rates import PairTally, PatientTally, tally_pairs, tally_patients
from rexview.stats.summary import ScoreTallies, score_tallies
from rexview.stats.units import both_scored, units_of
from rexview.stats.values import Finals, single_scores, unfinished_work
from rexview.vocab import DIMENSIONS, HEADLINE_FAILURES

_PROPERTIES: Final = {
    "category": ("categories", "Question category"),
    "study": ("studies", "Normal or abnormal study"),
    "site": ("sites", "Site"),
    "difficulty": ("difficulties", "Difficulty"),
    "type": ("question_types", "Question type"),
}
"""Field of the filter and name on screen, by the word in the link."""
_TAG: Final = "tag:"
_SELECTIONS_KEPT: Final = 16
_FRAMES_KEPT: Final = 2


class MemoryEngine:
    """Answers from one table (:class:`rexview.analysis.engine.Engine` says what is asked).

    What the latest filters leave is kept.
    """

    def __init__(self, table: AnswerTable) -> None:
        self.table = table
        self._select = lru_cache(maxsize=_SELECTIONS_KEPT)(self._selected)
        self.tally = lru_cache(maxsize=_SELECTIONS_KEPT)(self._tally)
        self._finals = lru_cache(maxsize=_FRAMES_KEPT)(self._filtered_finals)
        self._scores = lru_cache(maxsize=_FRAMES_KEPT)(self._filtered_scores)

    def _selected(self, case_filter: CaseFilter) -> Selection:
        return select(self.table, case_filter)

    def selection(self, case_filter: CaseFilter) -> Selection:
        """Return what a filter leaves."""
        return self._select(case_filter)

    @cached_property
    def facts(self) -> SetFacts:
        """What is the same for every filter."""
        table = self.table
        return SetFacts(
            models=table.models,
            readers=table.scores.readers,
            n_cases=len(table.cases),
            n_images=table.n_images,
            n_readers=table.n_readers,
            properties=_properties(table),
            gap_threshold=table.gap_threshold,
            content_order=table.content_order,
            harm=table.harm,
        )

    def in_content_order(self, content_order: ContentOrder) -> MemoryEngine:
        """Return an engine on the same answers with Content in another order."""
        if content_order == self.table.content_order:
            return self
        return MemoryEngine(in_content_order(self.table, content_order))

    def with_scan(self, scan: Scan) -> MemoryEngine:
        """Return an engine on the same answers with what detectors have found by now."""
        if self.table.survey and scan is self.table.survey.scan:
            return self
        return MemoryEngine(with_scan(self.table, scan))

    def scanned(self, case_filter: CaseFilter) -> Scanned:
        """Count the answers that detectors have looked at, among those that may be left."""
        rows = self.selection(without_flags(case_filter)).row_mask & self.table.answered
        answers = int(np.count_nonzero(rows))
        return Scanned(answers, answers, 0)

    def facets(self, case_filter: CaseFilter) -> Facets:
        """Count the cases of every value of every condition."""
        return facets(self.table, self.facts, case_filter)

    def page(self, case_filter: CaseFilter, start: int, size: int) -> tuple[str, ...]:
        """Return the ids of some of the cases in the filter's order."""
        found = self.selection(case_filter)
        return tuple(found.ids(found.case_rows[start : start + size]))

    def position(self, case_filter: CaseFilter, case: str) -> Position:
        """Find a case in the filter's order, and its neighbours."""
        found = self.selection(case_filter)
        places = np.flatnonzero(found.case_rows == self.table.row_of_case.get(case, -1))
        place = int(places[0]) if len(places) else None
        return position_at(place, len(found), partial(self.page, case_filter))

    def cards(self, case_filter: CaseFilter, cases: Sequence[str]) -> tuple[CaseCard, ...]:
        """Return the cards of some cases of the set, in the order given."""
        return tuple(case_cards(self.selection(case_filter), cases))

    def flags(
        self, case: str, answers: Iterable[Answer], reader_flags: Sequence[ReaderFlag]
    ) -> tuple[Flag, ...]:
        """Return all flags on some answers to one case, with evidence."""
        survey = self.table.survey
        return tuple(survey.flags_of(case, answers, reader_flags)) if survey else ()

    def _tally(self, case_filter: CaseFilter) -> Tally:
        """Count cases and answers."""
        found = self.selection(case_filter)
        counted = ["n_readers", "content", "spread"]
        rows = self.table.rows.select("model", "status", "weakest", *counted).filter(
            pl.Series(found.row_mask & self.table.answered)
        )
        numbers = {
            model: counts
            for model, *counts in rows.group_by("model")
            .agg(pl.len(), pl.col(counted).count())
            .iter_rows()
        }
        by_status, by_weakest = (
            _counts(rows.drop_nulls(name), name) for name in ("status", "weakest")
        )
        by_model = tuple(
            ModelTally(
                model,
                numbers[model][0],
                by_status.get(model, {}),
                by_weakest.get(model, {}),
                *numbers[model][1:],
            )
            for model in self.table.models
            if model in numbers
        )
        unfinished = unfinished_work(self.table.scores.review_set)
        begun = unfinished.join(found.answers, on="case", how="semi")
        return Tally(len(found), len(begun), by_model)

    def property_counts(self, case_filter: CaseFilter, by: CaseProperty) -> PropertyCounts:
        """Count the cases by a property; of a tag that the filter names only the named values."""
        chosen = self.table.any_of_case(self.selection(case_filter).row_mask)
        if by.field != "tags":
            counts = dict(self.table.case_codes[CASE_FACETS[by.field]].counts(chosen))
            return PropertyCounts(counts, sum(counts.values()))
        tag = by.key.removeprefix(_TAG)
        rows, coded = self.table.tag_codes[tag]
        named = [value for value in case_filter.tags if value.partition(":")[0] == tag]
        left = chosen[rows] & coded.among(named or coded.values)
        counts = dict(coded.counts(left))
        shown = {value: n for value, n in counts.items() if not named or value in named}
        return PropertyCounts(shown, len(np.unique(rows[left])))

    def _filtered_finals(self, case_filter: CaseFilter) -> Finals:
        return self.table.finals.only(self.selection(case_filter).answers)

    def score_tallies(self, case_filter: CaseFilter) -> ScoreTallies:
        """Count the final scores."""
        return score_tallies(self._finals(case_filter))

    def final_scores(self, case_filter: CaseFilter, dimension: str) -> pl.DataFrame:
        """Return the final scores of one dimension, one an answer."""
        values: pl.DataFrame = self._finals(case_filter).by_answer(dimension)
        return values.with_columns(pl.col("case").cast(pl.Categorical()).to_physical())

    def _filtered_scores(self, case_filter: CaseFilter) -> pl.DataFrame:
        return self._scores_of(self.selection(case_filter).answers)

    def _scores_of(self, answers: pl.DataFrame) -> pl.DataFrame:
        given = single_scores(self.table.scores.review_set)
        return given.join(answers, on=["case", "model"], how="semi", maintain_order="left")

    def readers(self, case_filter: CaseFilter) -> tuple[str, ...]:
        """Return the ids of those who scored any of the answers."""
        met = set(self._scores(case_filter)["reader"].unique())
        return tuple(reader for reader in self.facts.readers if reader in met)

    def pair_tables(self, case_filter: CaseFilter) -> PairTables:
        """Count what every two readers both scored, by their scores."""
        return pair_tables(self._scores(case_filter), self.readers(case_filter))

    def pair_cases(self, case_filter: CaseFilter, pair: tuple[str, str]) -> dict[str, PairCases]:
        """Count the cases with something that two readers both scored, by dimension."""
        scores, apart = self._scores(case_filter), (pl.col("score") - pl.col("score_b")).abs()
        found = {}
        for dimension in DIMENSIONS:
            both = both_scored(units_of(scores, dimension), pair)
            by_scores = both.group_by("score", "score_b").agg(pl.col("case").n_unique())
            shared, same, close, differing = (
                both.filter(some)["case"].n_unique()
                for some in (pl.lit(True), apart == 0, apart <= 1, apart > 0)
            )
            cells = {(a, b): cases for a, b, cases in by_scores.iter_rows()}
            found[dimension] = PairCases(shared, same, close, differing, cells)
        return found

    def score_patterns(self, case_filter: CaseFilter) -> dict[str, ScorePatterns]:
        """Count the scores that answers got from all readers."""
        return score_patterns(self._scores(case_filter))

    def score_days(
        self, case_filter: CaseFilter, dimension: str, reader: str, other: str
    ) -> pl.DataFrame:
        """Count a reader's scores by day."""
        return score_days(self._scores(case_filter), dimension, reader, other)

    def disputed(
        self, case_filter: CaseFilter, start: int, size: int
    ) -> tuple[DisputedAnswer, ...]:
        """Return some of the answers, those on which readers are furthest apart first."""
        table = self.table
        rows = (
            table.rows.select("case", "model", "spread", "case_row")
            .filter(pl.Series(self.selection(case_filter).row_mask & table.answered))
            .sort("spread", descending=True, maintain_order=True)[start : start + size]
            .with_columns(pl.col("model").cast(pl.String))
        )
        given: dict[tuple[str, str], list[ReaderScore]] = {}
        for row in self._scores_of(rows).iter_rows(named=True):
            if row["score"] is not None:
                score = ReaderScore(
                    row["reader"], row["dimension"], row["score"], row["comment"] or ""
                )
                given.setdefault((row["case"], row["model"]), []).append(score)
        questions = table.cases["question"].gather(rows["case_row"])
        return tuple(
            DisputedAnswer(case, model, question, spread, tuple(given.get((case, model), ())))
            for (case, model, spread, _), question in zip(rows.rows(), questions, strict=True)
        )

    def failure_tallies(self, case_filter: CaseFilter) -> tuple[FailureTally, ...]:
        """Count failures for each model that has answers: the headline ones, and all others met."""
        table = self.table
        coded = table.row_codes["model"]
        rows = self.selection(case_filter).row_mask & table.answered
        codes = coded.codes[rows]
        present = np.bincount(codes, minlength=len(coded.values))
        bits = {source: flagged_by(table, (source,))[rows] for source in SOURCES}
        met = np.bitwise_or.reduce(
            [np.bitwise_or.reduce(flags, initial=np.uint32(0)) for flags in bits.values()]
        )
        bits["judged"] = table.judged[rows]
        found = []
        for failure, number in FAILURE_BITS.items():
            bit = np.uint32(number)
            if failure not in HEADLINE_FAILURES and not met & bit:
                continue
            counts = {
                name: np.bincount(codes[(flags & bit) != 0], minlength=len(coded.values)).tolist()
                for name, flags in bits.items()
            }
            found += [
                FailureTally(failure, model, **{name: n[place] for name, n in counts.items()})
                for place, model in enumerate(coded.values)
                if present[place]
            ]
        return tuple(found)

    def failure_findings(self, failure: str) -> tuple[str, ...]:
        """Return the findings that one failure is about anywhere in the set, sorted."""
        known = self.table.failure_findings
        if known.is_empty():
            return ()
        return tuple(known.filter(failure=failure)["finding"].unique().sort().to_list())

    def judged_tallies(
        self,
        case_filter: CaseFilter,
        failures: Sequence[str],
        sources: Sequence[str] = (),
        findings: Sequence[str] = (),
    ) -> dict[tuple[str, str], PatientTally]:
        """Count patients by their answers that can be judged for a failure and are flagged."""
        judged = judged_by_model(self.selection(case_filter), failures, sources, findings)
        return {
            about: tally_patients(part.flagged, part.patients) for about, part in judged.items()
        }

    def judged_pairs(
        self, case_filter: CaseFilter, failures: Sequence[str], sources: Sequence[str] = ()
    ) -> dict[tuple[str, str, str], PairTally]:
        """Count the cases in which two models can be judged."""
        judged = judged_by_model(self.selection(case_filter), failures, sources)
        models = [model.model for model in self.tally(case_filter).by_model]
        return tally_pairs(judged, models, failures)

    def patients(self, case_filter: CaseFilter) -> tuple[int, int]:
        """Count the cases with answers that are left, and the patients that they are of."""
        rows = self.selection(case_filter).row_mask & self.table.answered
        cases = np.unique(self.table.case_row[rows])
        return len(cases), len(np.unique(self.table.cluster[cases]))


def memory_engine(
    review_set: ReviewSet,
    *,
    gap_threshold: float = GAP_THRESHOLD,
    disagreement_threshold: float = DISAGREEMENT_THRESHOLD,
    content_order: ContentOrder = "mean_first",
    before: MemoryEngine | None = None,
    comments: Mapping[str, CommentCount] | None = None,
) -> MemoryEngine:
    """Make the engine of an open review set, as :func:`answer_table` makes its table.

    ``before`` is one of the same files with other scores or reader flags.
    """
    return MemoryEngine(
        answer_table(
            review_set,
            gap_threshold=gap_threshold,
            disagreement_threshold=disagreement_threshold,
            content_order=content_order,
            before=before.table if before else None,
            comments=comments,
        )
    )


def _properties(table: AnswerTable) -> tuple[CaseProperty, ...]:
    found = [
        CaseProperty(key, name, field)
        for key, (field, name) in _PROPERTIES.items()
        if len(np.unique(table.case_codes[CASE_FACETS[field]].codes)) > 1
    ]
    found += [
        CaseProperty(f"{_TAG}{tag}", f"{sentence_case(tag)} (tag)", "tags")
        for tag, (rows, coded) in table.tag_codes.items()
        if len(coded.values) > 1 or len(np.unique(rows)) < len(table.cases)
    ]
    return tuple(found)


def _counts(rows: pl.DataFrame, column: str) -> dict[str, dict[str, int]]:
    """Count the words of a column for each model."""
    found: dict[str, dict[str, int]] = {}
    for model, word, n in rows.group_by("model", column).len().iter_rows():
        found.setdefault(model, {})[word] = n
    return found
