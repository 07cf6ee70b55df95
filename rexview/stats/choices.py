"""Multiple choice: how many of a model's answers chose the right option.

Definitions (docs: statistics):

- **n** are the newest answers to choice questions whose right option is known; a question that was
  not put to a model is not counted against it.
- **failed** are those of which no choice among the options was given or could be read, also where
  no answer came. They are in n and are not correct.
- **accuracy** is correct of n; ``accuracy_read`` leaves the failed out.
- The interval of accuracy is that of every share here (:func:`rexview.stats.failure_rates.rate`):
  Wilson's, and where cases share a patient (else a study) a bootstrap of patients.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexview.schema import ReviewSet
from rexview.stats.bootstrap import RESAMPLES
from rexview.stats.failure_rates import clusters_of, rate, tally_patients
from rexview.words import tr

NO_ANSWERS: Final = tr("The model has no answer to a choice question whose right option is known.")
FINDING_CATEGORY: Final = ("finding_category", "category")
"""Names of the tag that says which kind of finding a choice question is about, the first counts."""


@dataclass(frozen=True)
class ChoiceAccuracy:
    """How often a model chose right, over all questions, a task, a finding category, or both.

    ``task`` and ``category`` are None where they do not part the questions. ``unmarked`` answers
    are to questions without a right option and in no other number. ``interval`` is the method of
    ``low`` and ``high``, over ``patients`` patients (else studies, else cases).
    """

    model: str
    task: str | None
    category: str | None
    n: int
    correct: int
    failed: int
    accuracy: float | None
    low: float | None
    high: float | None
    accuracy_read: float | None
    interval: str | None
    patients: int
    read_from_text: int
    unmarked: int
    why: str | None


def choice_accuracies(
    review_set: ReviewSet, models: Sequence[str], *, resamples: int = RESAMPLES
) -> tuple[ChoiceAccuracy, ...]:
    """Count right choices of each model: in all, by task, by finding category, and by both.

    Models stand in the order given, the total of each first; tasks and categories in alphabetical
    order. A case with several finding categories is counted in each. A model without answers to
    choice questions has its total all the same, with an n of 0.
    """
    cases = _questions(review_set.cases)
    read = pl.col("_choice_read").struct.field("method").is_not_null()
    known = pl.col("correct").is_not_null()
    usable = (pl.col("choice") >= 0) & (pl.col("choice") < pl.col("options"))
    answers = (
        review_set.answers.filter("_newest")
        .join(cases, on="case", maintain_order="left")
        .select(
            *("model", "task", "categories", "cluster"),
            known=known,
            right=(known & usable & (pl.col("choice") == pl.col("correct"))).fill_null(False),
            failed=known & ~usable.fill_null(False),
            read=known & read.fill_null(False),
        )
    )
    parts = answers.partition_by("model", as_dict=True)
    return tuple(
        row
        for model in models
        for row in _of_model(model, parts.get((model,), answers.clear()), resamples)
    )


def _questions(cases: pl.DataFrame) -> pl.DataFrame:
    """Return the choice questions with what they are counted by, one row each."""
    tag = pl.element().struct.field("name").str.to_lowercase().str.replace_all(r"[\s-]+", "_")
    named = [
        pl.col("tags")
        .list.eval(pl.element().filter(tag == name).struct.field("values").explode())
        .list.drop_nulls()
        for name in FINDING_CATEGORY
    ]
    first = pl.when(named[0].list.len() > 0).then(named[0]).otherwise(named[1])
    return (
        cases.filter(pl.col("question_type") == "choice")
        .select(
            "correct",
            case="id",
            task="category",
            options=pl.col("options").list.len().cast(pl.Int64),
            categories=first.list.unique(maintain_order=True),
        )
        .unique("case", maintain_order=True)
        .join(clusters_of(cases).unique("case"), on="case", how="left", maintain_order="left")
    )


def _of_model(model: str, answers: pl.DataFrame, resamples: int) -> Iterator[ChoiceAccuracy]:
    tasks = answers["task"].drop_nulls().unique().sort().to_list()
    by_category = answers.explode("categories").rename({"categories": "category"})
    categories = by_category["category"].drop_nulls().unique().sort().to_list()
    yield _counted(model, None, None, answers, resamples)
    for task in tasks:
        yield _counted(model, task, None, answers.filter(pl.col("task") == task), resamples)
    for category in categories:
        of_category = by_category.filter(pl.col("category") == category)
        yield _counted(model, None, category, of_category, resamples)
    for task in tasks:
        of_task = by_category.filter(pl.col("task") == task)
        for category in categories:
            both = of_task.filter(pl.col("category") == category)
            if both.height:
                yield _counted(model, task, category, both, resamples)


def _counted(
    model: str, task: str | None, category: str | None, answers: pl.DataFrame, resamples: int
) -> ChoiceAccuracy:
    marked = answers.filter("known")
    tally = tally_patients(marked["right"].cast(pl.Int64).to_numpy(), marked["cluster"].to_numpy())
    share = rate(tally, resamples=resamples)
    failed = int(marked["failed"].sum())
    read = share.n - failed
    return ChoiceAccuracy(
        model,
        task,
        category,
        n=share.n,
        correct=share.flagged,
        failed=failed,
        accuracy=share.share,
        low=share.interval.low,
        high=share.interval.high,
        accuracy_read=share.flagged / read if read else None,
        interval=share.method,
        patients=share.clusters,
        read_from_text=int(marked["read"].sum()),
        unmarked=answers.height - marked.height,
        why=share.interval.why if share.n else NO_ANSWERS,
    )
