"""The opinions of judges on the newest answers of a set, and what readers say of the same.

Definitions (docs: statistics):

- A **judge** is a model asked in one wording: the same model in another wording is another judge.
- Of several opinions of a judge on the same of an answer the newest counts. Those on an earlier
  text of the answer count nowhere, and are not here; nor are scores of an answer that never came,
  as with readers.
- For **readers** an answer shows a failure when one of them confirmed it, and does not when all who
  gave a verdict rejected it. Where nobody gave one, it does not when a reader finished scoring the
  answer who marks failures in this set at all: they had it on offer and left it
  (:data:`OFFERED`). Otherwise it is not known, and the answer is compared with nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rexview.schema import ReviewSet
from rexview.stats.failure_rates import clusters_of
from rexview.stats.final import came
from rexview.stats.values import single_scores
from rexview.vocab import FAILURES

OFFERED: Final = tuple(
    failure
    for failure in FAILURES
    if failure
    not in {
        *("boxes_missing", "box_misplaced", "box_unrelated", "failed_extraction"),
        *("wrong_explanation", "disagreement"),
    }
)
"""Failures that a reader can mark on every answer; of the others silence says nothing."""
_OPINION: Final = ("number", "judge", "prompt_id", "failure", "dimension")


@dataclass(frozen=True, order=True)
class Judge:
    """A judge: the id of a model, and of the wording in which it was asked."""

    model: str
    prompt_id: str

    @property
    def name(self) -> str:
        """The name on screen."""
        return f"{self.model} ({self.prompt_id})"


@dataclass(frozen=True, eq=False)
class Opinions:
    """What judges said of the newest answers of a set, by the answers' numbers.

    Attributes
    ----------
    rows : polars.DataFrame
        One row an opinion: ``number`` and ``patient`` (Int64), ``judge``, ``prompt_id``,
        ``failure`` with ``present``, or ``dimension`` with ``score``.
    judges : tuple of Judge
        As :func:`judges_of` returns them.
    stale : mapping of Judge to int
        Opinions on earlier texts of answers, by judge.
    wordings : mapping of Judge to int
        In how many texts of its wording each was asked: a wording may be changed under its name.
    """

    rows: pl.DataFrame
    judges: tuple[Judge, ...]
    stale: dict[Judge, int]
    wordings: dict[Judge, int]

    def of(self, judge: Judge, **about: str) -> pl.DataFrame:
        """Return the opinions of one judge on a ``failure`` or a ``dimension``."""
        named = {"judge": judge.model, "prompt_id": judge.prompt_id, **about}
        return self.rows.filter(**named)

    def subjects(self, judge: Judge, column: str) -> tuple[str, ...]:
        """Return the failures, or dimensions, that a judge spoke of."""
        return tuple(self.of(judge)[column].drop_nulls().unique())


def judges_of(review_set: ReviewSet) -> tuple[Judge, ...]:
    """Return who gave any opinion, also on earlier texts of answers: the newest judge first."""
    columns = ("judge", "prompt_id", "created")
    given = pl.concat([review_set.opinions[columns], review_set.stale_opinions[columns]])
    newest = given.group_by("judge", "prompt_id").agg(pl.col("created").max())
    ordered = newest.sort("judge", "prompt_id").sort(
        "created", descending=True, nulls_last=True, maintain_order=True
    )
    return tuple(Judge(model, prompt) for model, prompt, _ in ordered.iter_rows())


def opinions_in(review_set: ReviewSet, patients: NDArray[np.int64] | None = None) -> Opinions:
    """Gather the opinions on the newest answers.

    ``patients`` are those by row of the cases, where they are known already.
    """
    given = review_set.opinions
    if patients is None:
        patients = clusters_of(review_set.cases)["cluster"].to_numpy()
    numbers = review_set.numbers_of(given.select("case", "model"))
    known = given.with_columns(
        pl.col("failure", "dimension").cast(pl.String),
        pl.col("score").cast(pl.Int64),
        number=pl.Series(numbers, dtype=pl.Int64),
    ).filter(pl.col("number") >= 0, pl.any_horizontal(pl.col("present", "score").is_not_null()))
    whole = pl.Series(review_set.numbers_of(came(review_set.answers)), dtype=pl.Int64)
    known = known.filter(pl.col("dimension").is_null() | pl.col("number").is_in(whole.implode()))
    rows = (
        known.sort("created", nulls_last=False, maintain_order=True)
        .unique(_OPINION, keep="last", maintain_order=True)
        .sort("number", maintain_order=True)
    )
    of_case = review_set.newest.case[rows["number"].to_numpy()] if len(rows) else []
    texts = known.group_by("judge", "prompt_id").agg(pl.col("prompt_hash").drop_nulls().n_unique())
    stale = review_set.stale_opinions.group_by("judge", "prompt_id").len()
    return Opinions(
        rows.select(
            *("number", "judge", "prompt_id", "failure", "present", "dimension", "score"),
            pl.Series("patient", patients[of_case] if len(rows) else [], dtype=pl.Int64),
        ),
        judges_of(review_set),
        {Judge(model, prompt): n for model, prompt, n in stale.iter_rows()},
        {Judge(model, prompt): n for model, prompt, n in texts.iter_rows()},
    )


@dataclass(frozen=True, eq=False)
class ReadersSay:
    """What readers say of failures.

    ``spoken`` has ``number``, ``failure`` and ``by_readers`` (whether the answer shows it) of what
    any of them gave a verdict on; ``finished`` are the numbers of the answers that a reader
    finished scoring who marks failures.
    """

    spoken: pl.DataFrame
    finished: pl.Series

    def beside(self, opinions: pl.DataFrame) -> pl.DataFrame:
        """Add ``by_readers`` (null: not known) and ``silent`` (known from silence alone)."""
        found = opinions.join(
            self.spoken, on=["number", "failure"], how="left", maintain_order="left"
        )
        silent = (
            pl.col("by_readers").is_null()
            & pl.col("number").is_in(self.finished.implode())
            & pl.col("failure").is_in(OFFERED)
        )
        left = pl.when(silent).then(pl.lit(value=False)).otherwise("by_readers")
        return found.with_columns(silent=silent, by_readers=left)


def readers_say(review_set: ReviewSet, verdicts: pl.DataFrame) -> ReadersSay:
    """Gather what readers say.

    ``verdicts`` are the newest of each reader: ``answer`` by its number, ``failure``, ``reader``
    and ``verdict``.
    """
    spoken = verdicts.group_by(number=pl.col("answer").cast(pl.Int64), failure="failure").agg(
        by_readers=(pl.col("verdict") == "confirmed").any()
    )
    scores = single_scores(review_set).filter(
        pl.col("score").is_not_null(),
        pl.col("reader").is_in(verdicts["reader"].unique().implode()),
    )
    answers = scores.select("case", "model").unique()
    numbers = pl.Series("number", review_set.numbers_of(answers), dtype=pl.Int64)
    return ReadersSay(spoken, numbers)
