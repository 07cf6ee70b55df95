"""What is asked of judges' opinions: part of :class:`rexview.analysis.engine.Engine`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from rexview.analysis.filter.case_filter import CaseFilter
from rexview.stats.failure_rates import PatientTally
from rexview.stats.judges.agreement import FailureAgreement, ScoreAgreement
from rexview.stats.judges.opinions import Judge
from rexview.stats.summary import Tally


@dataclass(frozen=True)
class JudgeAgreement:
    """How far a judge agrees with the readers, over all answers of the set, whatever the filter.

    By failure, and by dimension, that it spoke of. ``stale`` of its opinions are on earlier texts
    of answers, and count nowhere. It was asked in ``wordings`` texts of the wording of that name.
    """

    judge: Judge
    failures: Mapping[str, FailureAgreement]
    scores: Mapping[str, ScoreAgreement]
    stale: int
    wordings: int


class JudgeQuestions(Protocol):
    """The questions about one judge, a model in one wording."""

    def judge_agreement(self, judge: Judge) -> JudgeAgreement:
        """Compare a judge with the readers, over all answers of the set."""

    def judge_failures(
        self, case_filter: CaseFilter, judge: Judge
    ) -> Mapping[tuple[str, str], PatientTally]:
        """Count patients by the answers that the judge spoke of and sees a failure in.

        By failure and model.
        """

    def judge_scores(
        self, case_filter: CaseFilter, judge: Judge
    ) -> Mapping[tuple[str, str], Tally]:
        """Count the judge's scores, by dimension and model."""
