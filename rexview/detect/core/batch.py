"""Some cases of a review set as detectors are given them: the rows, and the records made of these.

Only the columns named here are read, so that what is found depends on nothing else, and a batch
can be sent to another process without the set.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.detect.core.detector import AnswerInCase
from rexview.frames.answer_rows import AnswerRows
from rexview.frames.mapped import some_rows
from rexview.schema import (
    Case,
    ReviewSet,
    Score,
    answer_from_row,
    case_from_row,
    score_from_row,
)

Numbers = npt.NDArray[np.uint32]
"""Numbers of answers in ``ReviewSet.newest``."""

CASE_COLUMNS: Final = (
    *("question", "question_type", "category", "report", "images", "reference_boxes"),
    *("options", "correct", "question_boxes"),
)
"""Columns of a case that detectors may read."""
ANSWER_COLUMNS: Final = (
    *("text", "finish_reason", "finish_reason_raw", "input_tokens", "output_tokens"),
    *("max_output_tokens", "boxes", "images", "choice", "explanation", "error"),
)
"""Columns of an answer that detectors may read."""
_NOT_READ: Final = dict.fromkeys(("tags", "context"))
_CASES_AT_A_TIME: Final = 1_000


@dataclass(frozen=True, eq=False)
class Batch:
    """Some cases with all their newest answers.

    Attributes
    ----------
    cases : polars.DataFrame
        ``case_row`` (Int32, row in ``ReviewSet.cases``), ``id``, :data:`CASE_COLUMNS`.
    answers : polars.DataFrame
        ``number`` (UInt32), ``case_row``, ``model``, :data:`ANSWER_COLUMNS`; by number.
    scores : dict of (str, str) to list of Score
        By case and model, in file order.
    wanted : array of uint32, or None
        The answers to be looked at; None for all.
    """

    cases: pl.DataFrame
    answers: pl.DataFrame
    scores: dict[tuple[str, str], list[Score]]
    wanted: Numbers | None = None

    def __len__(self) -> int:
        return len(self.answers) if self.wanted is None else len(self.wanted)

    @property
    def numbers(self) -> Numbers:
        """The answers to be looked at."""
        return self.answers["number"].to_numpy() if self.wanted is None else self.wanted


LookedAt = tuple[int, Case, list[tuple[int, AnswerInCase]]]
"""A case's row, the case, and those of its answers that are to be looked at, by number."""


def batch_of(
    review_set: ReviewSet,
    case_rows: npt.NDArray[np.integer[Any]],
    wanted: Numbers | None = None,
    *,
    with_scores: bool = False,
) -> Batch:
    """Gather some cases; with ``wanted`` only these of their answers are to be looked at."""
    newest = review_set.newest
    rows = np.asarray(case_rows, dtype=np.int64)
    numbers = answers_of_cases(newest, rows)
    cases = some_rows(review_set.cases.select("id", *CASE_COLUMNS), rows).select(
        pl.Series("case_row", rows, dtype=pl.Int32()), pl.all()
    )
    of_answers = review_set.answers.select("model", *ANSWER_COLUMNS)
    answers = some_rows(of_answers, newest.row[numbers]).select(
        pl.Series("number", numbers, dtype=pl.UInt32()),
        pl.Series("case_row", newest.case[numbers], dtype=pl.Int32()),
        pl.all(),
    )
    scores: dict[tuple[str, str], list[Score]] = {}
    if with_scores:
        given = review_set.scores.join(
            cases, left_on="case", right_on="id", how="semi", maintain_order="left"
        )
        for row in given.iter_rows(named=True):
            scores.setdefault((row["case"], row["model"]), []).append(score_from_row(row))
    return Batch(cases, answers, scores, wanted)


def answers_in_cases(batch: Batch) -> Iterator[LookedAt]:
    """Make records of a batch, in its order; also of cases without answers."""
    wanted = None if batch.wanted is None else set(batch.wanted.tolist())
    rows: dict[int, list[tuple[int, dict[str, Any]]]] = {}
    for row in batch.answers.iter_rows(named=True):
        rows.setdefault(row["case_row"], []).append((row["number"], row))
    for row in batch.cases.iter_rows(named=True):
        case = case_from_row({**row, **_NOT_READ})
        given = [
            (number, answer_from_row({**answer, "case": case.id}))
            for number, answer in rows.get(row["case_row"], ())
        ]
        answers = [answer for _, answer in given]
        yield (
            row["case_row"],
            case,
            [
                (
                    number,
                    AnswerInCase(case, one, batch.scores.get((case.id, one.model), ()), answers),
                )
                for number, one in given
                if wanted is None or number in wanted
            ],
        )


def batches(review_set: ReviewSet) -> Iterator[Batch]:
    """Gather all cases, so many at a time as their records should be in memory."""
    for start in range(0, len(review_set.cases), _CASES_AT_A_TIME):
        stop = min(start + _CASES_AT_A_TIME, len(review_set.cases))
        yield batch_of(review_set, np.arange(start, stop))


def answers_of_cases(newest: AnswerRows, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the numbers of all answers to some cases, case by case."""
    counts = newest.starts[rows + 1] - newest.starts[rows]
    before = np.cumsum(counts) - counts
    first = np.repeat(newest.starts[rows] - before, counts)
    return first + np.arange(len(first))


def with_names(frame: pl.DataFrame, review_set: ReviewSet) -> pl.DataFrame:
    """Put ``case`` and ``model`` (String) in the place of the number ``answer``."""
    newest, numbers = review_set.newest, frame["answer"].to_numpy()
    rows = newest.row[numbers].astype(np.int64)
    named = review_set.answers.select("case", "model")[rows]
    whole: pl.DataFrame = named.hstack(frame.drop("answer"))
    return whole
