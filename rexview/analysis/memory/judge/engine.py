"""What the memory engine answers of judges: :class:`.JudgeQuestions`."""

from __future__ import annotations

from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl

from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.judge.engine import JudgeAgreement
from rexview.analysis.memory.selection import Selection
from rexview.analysis.memory.table import AnswerTable
from rexview.schema import ReviewSet
from rexview.stats.failure_rates import PatientTally, tally_patients
from rexview.stats.judges.agreement import failure_agreements, score_agreements
from rexview.stats.judges.opinions import Judge, readers_say
from rexview.stats.summary import Tally, tally

_Compared = dict[Judge, tuple[pl.DataFrame, JudgeAgreement]]
_COMPARED: Final[WeakKeyDictionary[ReviewSet, _Compared]] = WeakKeyDictionary()
"""With the verdicts compared: an engine is made for each order and for each step of a scan."""


class JudgeTallies:
    """Counts what judges say of answers that a filter leaves; part of the engine, which selects."""

    table: AnswerTable

    def selection(self, case_filter: CaseFilter) -> Selection:
        """Return what a filter leaves."""
        raise NotImplementedError

    def judge_agreement(self, judge: Judge) -> JudgeAgreement:
        """Compare a judge with the readers, over all answers of the set; worked out once."""
        known = _COMPARED.setdefault(self.table.review_set, {})
        verdicts = self.table.survey.verdicts
        before = known.get(judge)
        if before is None or not before[0].equals(verdicts):
            known[judge] = before = verdicts, self._compared(judge, verdicts)
        return before[1]

    def _compared(self, judge: Judge, verdicts: pl.DataFrame) -> JudgeAgreement:
        opinions, review_set = self.table.opinions, self.table.review_set
        failures = failure_agreements(opinions, readers_say(review_set, verdicts), (judge,))
        scores = score_agreements(opinions, review_set, (judge,))
        return JudgeAgreement(
            judge,
            {one.failure: one for one in failures},
            {one.dimension: one for one in scores},
            opinions.stale.get(judge, 0),
            opinions.wordings.get(judge, 0),
        )

    def judge_failures(
        self, case_filter: CaseFilter, judge: Judge
    ) -> dict[tuple[str, str], PatientTally]:
        """Count patients by the answers that the judge sees a failure in."""
        return {
            about: tally_patients(
                part["present"].cast(pl.Int64).to_numpy(), part["patient"].to_numpy()
            )
            for about, part in self.said_by_judge(case_filter, judge, "failure")
        }

    def judge_scores(self, case_filter: CaseFilter, judge: Judge) -> dict[tuple[str, str], Tally]:
        """Count the judge's scores."""
        return {
            about: tally(part["score"].to_numpy())
            for about, part in self.said_by_judge(case_filter, judge, "dimension")
        }

    def said_by_judge(
        self, case_filter: CaseFilter, judge: Judge, column: str
    ) -> list[tuple[tuple[str, str], pl.DataFrame]]:
        """Return what a judge said of the answers left, by a column and the model."""
        said = self.table.opinions.of(judge).filter(pl.col(column).is_not_null())
        number = said["number"].to_numpy()
        left = self.selection(case_filter).answer_mask[number]
        model = self.table.columns.model
        places = pl.Series("_model", self.table.columns.newest.model[number].astype(np.int64))
        parts = (
            said.with_columns(places)
            .filter(pl.Series(left))
            .partition_by(column, "_model", as_dict=True, maintain_order=True)
        )
        return [((what, model.values[place]), part) for (what, place), part in parts.items()]
