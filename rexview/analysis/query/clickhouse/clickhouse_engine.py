"""The engine with tables in ClickHouse (:class:`rexview.analysis.query.engine.Engine`).

Unreviewed cases, about which people wrote nothing, are counted in ClickHouse by SQL
(:mod:`.selection`). Reviewed cases, and single cases that are opened, are loaded into the engine in
memory. Each case belongs to one of the two parts, so that every count is the sum of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Final

import polars as pl

from rexview.analysis.case.case_cards import CaseCard
from rexview.analysis.case.comments import CommentCount
from rexview.analysis.query.clickhouse.engine_parts import CaseOrdering, EngineParts
from rexview.analysis.query.clickhouse.evaluation_tallies import (
    ClickHouseChoiceTallies,
    ClickHouseJudgeTallies,
    ClickHouseReportTallies,
)
from rexview.analysis.query.clickhouse.facets import FacetCounts, FacetQuery, add_facet_counts
from rexview.analysis.query.clickhouse.loaded_set import CaseSubset, OpenClickHouseSet
from rexview.analysis.query.clickhouse.patient_tallies import FailureTallies
from rexview.analysis.query.engine import (
    CaseProperty,
    DisputedAnswer,
    Facets,
    FilterTally,
    ModelTally,
    Position,
    PropertyCounts,
    ReaderPairCases,
    ScanProgress,
    SetFacts,
)
from rexview.analysis.query.filter.case_filter import ANSWER_STATUSES, CaseFilter
from rexview.analysis.query.memory.selection import CASE_FACETS, without_flag_conditions
from rexview.detect import DISAGREEMENT_THRESHOLD, GAP_THRESHOLD
from rexview.detect.scan.batch import NOT_JUDGED, UNSCANNED
from rexview.schema import Answer, Flag, ReaderFlag, ReviewSet
from rexview.stats import ContentOrder
from rexview.stats.reader_agreement import PairTables, ScorePatterns
from rexview.stats.score_summaries import ScoreTallies as Counted

# Readers' scores: all of them are in memory.


class ClickHouseScoreTallies(EngineParts):
    """Counts of readers' scores; a mixin of the engine."""

    def score_tallies(self, case_filter: CaseFilter) -> Counted:
        """Count the final scores."""
        came = {
            model.model: n
            for model in self.tally(case_filter).by_model
            if (n := model.by_status.get("answered", 0))
        }
        return replace(self.reviewed.score_tallies(case_filter), answers=came)

    def final_scores(self, case_filter: CaseFilter, dimension: str) -> pl.DataFrame:
        """Return one final score of a dimension for each answer."""
        return self.reviewed.final_scores(case_filter, dimension)

    def readers(self, case_filter: CaseFilter) -> tuple[str, ...]:
        """Return the ids of the readers who scored any of the answers."""
        return self.reviewed.readers(case_filter)

    def pair_tables(self, case_filter: CaseFilter) -> PairTables:
        """Count what each two readers both scored, by their scores."""
        return self.reviewed.pair_tables(case_filter)

    def pair_cases(
        self, case_filter: CaseFilter, pair: tuple[str, str]
    ) -> Mapping[str, ReaderPairCases]:
        """Count the cases in which two readers both scored an answer or picture, by dimension."""
        return self.reviewed.pair_cases(case_filter, pair)

    def score_patterns(self, case_filter: CaseFilter) -> Mapping[str, ScorePatterns]:
        """Count the combinations of all readers' scores."""
        return self.reviewed.score_patterns(case_filter)

    def score_days(
        self, case_filter: CaseFilter, dimension: str, reader: str, other: str
    ) -> pl.DataFrame:
        """Count a reader's scores by day."""
        return self.reviewed.score_days(case_filter, dimension, reader, other)

    def disputed(
        self, case_filter: CaseFilter, start: int, size: int
    ) -> tuple[DisputedAnswer, ...]:
        """Return a page of answers, those on which readers are furthest apart first."""
        return self.reviewed.disputed(case_filter, start, size)


_RESULTS_KEPT: Final = 64
_TAG: Final = "tag:"


class ClickHouseEngine(
    FailureTallies,
    ClickHouseScoreTallies,
    ClickHouseChoiceTallies,
    ClickHouseReportTallies,
    ClickHouseJudgeTallies,
):
    """An engine on ClickHouse and on the reviewed cases in memory; the latest results are cached.

    Every query raises :class:`rexview.errors.EngineUnreachable` if ClickHouse does not answer.
    """

    def __init__(
        self,
        opened: OpenClickHouseSet,
        small: CaseSubset,
        written: ReviewSet,
        *,
        gap_threshold: float = GAP_THRESHOLD,
        disagreement_threshold: float = DISAGREEMENT_THRESHOLD,
        content_order: ContentOrder = "mean_first",
        comments: Mapping[str, CommentCount] | None = None,
    ) -> None:
        super().__init__(
            opened,
            small,
            written,
            gap_threshold=gap_threshold,
            disagreement_threshold=disagreement_threshold,
            content_order=content_order,
            comments=comments,
        )
        self.facets = lru_cache(maxsize=_RESULTS_KEPT)(self._facets)
        self.tally = lru_cache(maxsize=_RESULTS_KEPT)(self._tally)
        self.scanned = lru_cache(maxsize=_RESULTS_KEPT)(self._scanned)
        self.property_counts = lru_cache(maxsize=_RESULTS_KEPT)(self._property_counts)
        self.page = lru_cache(maxsize=_RESULTS_KEPT)(self._page)
        self.position = lru_cache(maxsize=_RESULTS_KEPT)(self._position)

    @cached_property
    def facts(self) -> SetFacts:
        """Facts of the set that no filter changes."""
        manifest, reviewed = self.opened.manifest, self.reviewed.facts
        return SetFacts(
            models=self.written.model_names,
            readers=reviewed.readers,
            n_cases=manifest.n_cases,
            n_images=manifest.n_images,
            n_readers=reviewed.n_readers,
            properties=tuple(CaseProperty(*one) for one in manifest.properties),
            gap_threshold=reviewed.gap_threshold,
            content_order=reviewed.content_order,
            harm=reviewed.harm,
            metrics=manifest.metrics,
            judges=tuple(judge for judge, _, _ in manifest.judges),
            meetings=reviewed.meetings,
            written_failures=reviewed.written_failures,
        )

    def in_content_order(self, content_order: ContentOrder) -> ClickHouseEngine:
        """Return an engine on the same answers that computes Content in another order."""
        if content_order == self._order:
            return self
        return ClickHouseEngine(
            self.opened,
            self.small,
            self.written,
            gap_threshold=self._gap,
            disagreement_threshold=self._apart,
            content_order=content_order,
            comments=self._comments,
        )

    def _facets(self, case_filter: CaseFilter) -> Facets:
        """Count the cases of every value of every condition."""
        query = FacetQuery(self.conditions(case_filter))
        counts = FacetCounts.of(self.ask(query.sql, query.conditions.parameters))
        return add_facet_counts(
            query, counts, self.reviewed.facets(case_filter), self.facts, self.raters
        )

    def _ordering(self, case_filter: CaseFilter) -> CaseOrdering:
        return CaseOrdering(
            self, self.conditions(case_filter), self.reviewed.selection(case_filter)
        )

    def _page(self, case_filter: CaseFilter, start: int, size: int) -> tuple[str, ...]:
        """Return the ids of some of the cases in the filter's order."""
        return self._ordering(case_filter).page(start, size)

    def _position(self, case_filter: CaseFilter, case: str) -> Position:
        """Find a case in the filter's order, and its neighbours."""
        return self._ordering(case_filter).position(case)

    def cards(self, case_filter: CaseFilter, cases: Sequence[str]) -> tuple[CaseCard, ...]:
        """Return the cards of some cases of the set, in the order given."""
        return self.of_cases(cases).cards(case_filter, cases) if cases else ()

    def flags(
        self, case: str, answers: Iterable[Answer], reader_flags: Sequence[ReaderFlag]
    ) -> tuple[Flag, ...]:
        """Return all flags on some answers to one case, with evidence."""
        return self.of_cases((case,)).flags(case, answers, reader_flags)

    def not_judged_of(self, case: str, answers: Sequence[Answer]) -> frozenset[str]:
        """Return the models on whose answers to a case a detector failed."""
        return self.of_cases((case,)).not_judged_of(case, answers)

    def not_yet_of(self, case: str, answers: Sequence[Answer]) -> frozenset[str]:
        """Return the models on whose answers to a case no detector has run yet."""
        return self.of_cases((case,)).not_yet_of(case, answers)

    def _scanned(self, case_filter: CaseFilter) -> ScanProgress:
        """Count the answers that detectors have run on, among those that may match."""
        states = ", ".join(f"countIf(x_looked = {state})" for state in (UNSCANNED, NOT_JUDGED))
        found = self.left(
            f"count() AS n, {states}",
            without_flag_conditions(case_filter),
            "ARRAY JOIN looked_at AS x_looked, met AS x_met, answered AS x_answered "
            "WHERE x_met AND x_answered",
        ).row(0)
        of_reviewed = self.reviewed.scanned(case_filter)
        answers, not_yet, failed = found
        return ScanProgress(
            answers + of_reviewed.answers,
            answers - not_yet + of_reviewed.looked,
            failed + of_reviewed.failed,
        )

    def not_judged(self, case_filter: CaseFilter, most: int) -> tuple[tuple[str, str], ...]:
        """Return case and model of the first answers on which a detector failed."""
        models = self.opened.manifest.models
        found = self.left(
            "case_row, id, x_model",
            without_flag_conditions(case_filter),
            "ARRAY JOIN looked_at AS x_looked, met AS x_met, model AS x_model, "
            f"answered AS x_answered WHERE x_met AND x_answered AND x_looked = {NOT_JUDGED} "
            f"ORDER BY case_row, x_model LIMIT {int(most)}",
        )
        rows = [(row, case, model) for row, case, model in found.rows()]
        at = dict(zip(self.written.cases["id"], self.small.case_rows.tolist(), strict=True))
        rows += [
            (at[case], case, models.index(model))
            for case, model in self.reviewed.not_judged(case_filter, most)
        ]
        return tuple((case, models[place]) for _, case, place in sorted(rows)[:most])

    def not_looked_at(self, case_filter: CaseFilter, first: Sequence[str]) -> Sequence[int]:
        """Return no case: a set is loaded only after detectors have run on all of it."""
        return ()

    def _tally(self, case_filter: CaseFilter) -> FilterTally:
        """Count cases and answers."""
        counts = self.left(
            "x_model, x_status, count() AS n",
            case_filter,
            "ARRAY JOIN model AS x_model, status AS x_status, met AS x_met, "
            "answered AS x_answered WHERE x_met AND x_answered GROUP BY x_model, x_status",
        )
        cases = self.left("count()", case_filter).item()
        reviewed = self.reviewed.tally(case_filter)
        return FilterTally(
            cases + reviewed.cases, reviewed.unfinished, tuple(self._by_model(counts, reviewed))
        )

    def _by_model(self, counts: pl.DataFrame, reviewed: FilterTally) -> Iterable[ModelTally]:
        """Yield the sums of both parts for each model that has answers."""
        statuses = list(ANSWER_STATUSES)
        in_memory = {one.model: one for one in reviewed.by_model}
        on_tables: dict[int, dict[str, int]] = {}
        for place, status, n in counts.rows():
            on_tables.setdefault(place, {})[statuses[status]] = n
        for place, model in enumerate(self.opened.manifest.models):
            more = in_memory.get(model, ModelTally(model, 0, {}, {}, 0, 0, 0))
            own = on_tables.get(place, {})
            by_status = {
                status: n
                for status in statuses
                if (n := own.get(status, 0) + more.by_status.get(status, 0))
            }
            if by_status:
                yield ModelTally(
                    model,
                    sum(by_status.values()),
                    by_status,
                    more.by_weakest,
                    more.scored,
                    more.with_content,
                    more.with_spread,
                )

    def _property_counts(self, case_filter: CaseFilter, by: CaseProperty) -> PropertyCounts:
        """Count the cases by a property; of a tag that the filter names, only its named values."""
        manifest, conditions = self.opened.manifest, self.conditions(case_filter)
        reviewed = self.reviewed.property_counts(case_filter, by)
        if by.field == "tags":
            tag = by.key.removeprefix(_TAG)
            named = [one for one in case_filter.tags if one.partition(":")[0] == tag]
            every = manifest.tags.get(tag, ())
            known = [one for one in every if one in named] if named else list(every)
            listed = f"arrayFilter(x -> has({conditions.words(known)}, x), tags)"
        else:
            known = list(manifest.words[CASE_FACETS[by.field]])
            listed = f"arrayFilter(x -> x != '', [toString({CASE_FACETS[by.field]})])"
        found = self.ask(
            f"SELECT sumMap(listed, arrayMap(x -> toUInt64(1), listed)), countIf(notEmpty(listed)) "
            f"FROM (SELECT {listed} AS listed FROM {conditions.from_left()})",
            conditions.parameters,
        ).row(0)
        counts = dict(zip(*found[0].values(), strict=True))
        in_memory = reviewed.by_value
        return PropertyCounts(
            {value: counts.get(value, 0) + in_memory.get(value, 0) for value in known},
            found[1] + reviewed.with_any,
        )
