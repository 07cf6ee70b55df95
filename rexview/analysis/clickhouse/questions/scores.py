"""What the engine on ClickHouse answers of readers' scores: all of them are in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from rexview.analysis.clickhouse.parts import Parts
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.readers.records import DisputedAnswer, PairCases
from rexview.stats.agreement import PairTables, ScorePatterns
from rexview.stats.summary import ScoreTallies as Counted


class ScoreTallies(Parts):
    """Counts what readers scored; part of the engine."""

    def score_tallies(self, case_filter: CaseFilter) -> Counted:
        """Count the final scores."""
        came = {
            model.model: n
            for model in self.tally(case_filter).by_model
            if (n := model.by_status.get("answered", 0))
        }
        return replace(self.reviewed.score_tallies(case_filter), answers=came)

    def final_scores(self, case_filter: CaseFilter, dimension: str) -> pl.DataFrame:
        """Return the final scores of one dimension, one an answer."""
        return self.reviewed.final_scores(case_filter, dimension)

    def readers(self, case_filter: CaseFilter) -> tuple[str, ...]:
        """Return the ids of those who scored any of the answers."""
        return self.reviewed.readers(case_filter)

    def pair_tables(self, case_filter: CaseFilter) -> PairTables:
        """Count what every two readers both scored, by their scores."""
        return self.reviewed.pair_tables(case_filter)

    def pair_cases(self, case_filter: CaseFilter, pair: tuple[str, str]) -> Mapping[str, PairCases]:
        """Count the cases with something that two readers both scored, by dimension."""
        return self.reviewed.pair_cases(case_filter, pair)

    def score_patterns(self, case_filter: CaseFilter) -> Mapping[str, ScorePatterns]:
        """Count the scores that answers got from all readers."""
        return self.reviewed.score_patterns(case_filter)

    def score_days(
        self, case_filter: CaseFilter, dimension: str, reader: str, other: str
    ) -> pl.DataFrame:
        """Count a reader's scores by day."""
        return self.reviewed.score_days(case_filter, dimension, reader, other)

    def disputed(
        self, case_filter: CaseFilter, start: int, size: int
    ) -> tuple[DisputedAnswer, ...]:
        """Return some of the answers, those on which readers are furthest apart first."""
        return self.reviewed.disputed(case_filter, start, size)
