"""Records of the cases that detectors look at one by one, a batch in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from rexview.schema import (
    Answer,
    Case,
    ReaderFlag,
    ReviewSet,
    Score,
    answer_from_row,
    case_from_row,
    reader_flag_from_row,
    score_from_row,
)

_BATCH: Final = 5_000


@dataclass(frozen=True)
class CaseRecord:
    """A case with its newest answers, and all scores and reader flags of the case."""

    case: Case
    answers: tuple[Answer, ...]
    scores: tuple[Score, ...]
    reader_flags: tuple[ReaderFlag, ...]

    def scores_of(self, model: str) -> list[Score]:
        """Scores of one model's answer, in file order."""
        return [score for score in self.scores if score.model == model]


def case_records(review_set: ReviewSet, wanted: pl.DataFrame) -> Iterator[CaseRecord]:
    """Make records of the cases that ``wanted`` names.

    Parameters
    ----------
    review_set : ReviewSet
    wanted : polars.DataFrame
        Column ``case``; each may stand there several times.

    Yields
    ------
    CaseRecord
        In the order of the cases; answers in the order of the set's models.
    """
    named = wanted.select("case").unique()
    order = {model.id: place for place, model in enumerate(review_set.models)}
    cases = review_set.cases.join(named, left_on="id", right_on="case", how="semi")
    cases = cases.sort("_row")
    answers = review_set.answers.filter("_newest").join(named, on="case", how="semi")
    for start in range(0, len(cases), _BATCH):
        batch = cases.slice(start, _BATCH)
        ids = batch.select(case="id")
        answer_rows = _by_case(answers, ids)
        score_rows = _by_case(review_set.scores, ids)
        flag_rows = _by_case(review_set.flags, ids)
        for row in batch.iter_rows(named=True):
            given = [answer_from_row(answer) for answer in answer_rows.get(row["id"], ())]
            yield CaseRecord(
                case_from_row(row),
                tuple(sorted(given, key=lambda answer: order[answer.model])),
                tuple(score_from_row(score) for score in score_rows.get(row["id"], ())),
                tuple(reader_flag_from_row(flag) for flag in flag_rows.get(row["id"], ())),
            )


def _by_case(table: pl.DataFrame, ids: pl.DataFrame) -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = {}
    chosen = table.join(ids, on="case", how="semi", maintain_order="left")
    for row in chosen.iter_rows(named=True):
        rows.setdefault(row["case"], []).append(row)
    return rows
