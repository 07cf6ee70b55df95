"""Multiple choice: the raters' choices, their accuracy, and their agreement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.schema import ReviewSet
from rexview.stats.bootstrap import RESAMPLES, Counts, Interval
from rexview.stats.failure_rates import (
    FailureTest,
    JudgedAnswers,
    PairTally,
    PatientTally,
    Rate,
    compare_failures,
    find_clusters,
    measure_rate,
    tally_model_pair,
    tally_patients,
)
from rexview.words import tr

NO_ANSWERS: Final = tr("The model has no answer to a choice question whose right option is known.")
FINDING_CATEGORY_TAGS: Final = ("finding_category", "category")
"""Names of the tag for the kind of finding of a choice question; the first one found counts."""


@dataclass(frozen=True)
class ChoiceAccuracy:
    """A model's accuracy over all questions, a task, a finding category, or both.

    ``task`` and ``category`` are None where they do not limit the questions. ``unmarked`` answers
    are to questions without a right option, and in no other number. ``interval`` is the method of
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


def measure_choice_accuracies(
    review_set: ReviewSet, models: Sequence[str], *, resamples: int = RESAMPLES
) -> tuple[ChoiceAccuracy, ...]:
    """Count right choices of each model: in all, by task, by finding category, and by both.

    Models come in the order given, each with its total first, tasks and categories in alphabetical
    order. A case with several finding categories counts in each. A model without answers to choice
    questions has a total, too, with an n of 0.
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
    """Return the choice questions with their tasks and categories, one row each."""
    tag = pl.element().struct.field("name").str.to_lowercase().str.replace_all(r"[\s-]+", "_")
    named = [
        pl.col("tags")
        .list.eval(pl.element().filter(tag == name).struct.field("values").explode())
        .list.drop_nulls()
        for name in FINDING_CATEGORY_TAGS
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
        .join(find_clusters(cases).unique("case"), on="case", how="left", maintain_order="left")
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
    share = measure_rate(tally, resamples=resamples)
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


# Choices: the choice questions of a review set, one column for each rater.
#
# A rater is a model, a model of kind ``reader`` (imported answers of a reader), or a person of the
# table ``choices``. Readers are always marked as readers when they are ranked among models.

NO_CHOICE: Final = -2
"""The rater has no answer to the question, or the answer does not match the filter."""
FAILED_CHOICE: Final = -1
"""The rater has an answer, or a failed request for one, without a usable choice."""
Numbers = npt.NDArray[np.int64]
Options = npt.NDArray[np.int16]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Rater:
    """A model or person with choices; ``id`` is unique.

    ``given`` is the table of the choices. A person of ``choices`` with the same id as a model is
    ``reader:ID``.
    """

    id: str
    name: str
    kind: Literal["model", "reader"]
    given: Literal["answers", "choices"]

    @property
    def is_reader(self) -> bool:
        """True if the rater is a person."""
        return self.kind == "reader"

    @property
    def has_answers(self) -> bool:
        """True if the rater is a model for filters; people of ``choices`` are not."""
        return self.given == "answers"

    @property
    def label(self) -> str:
        """Name in a list with models: readers are marked as readers."""
        return tr("{name} (reader)").format(name=self.name) if self.is_reader else self.name


@dataclass(frozen=True, eq=False)
class RaterChoices:
    """The raters' choices on the questions with a known right option.

    Attributes
    ----------
    raters : tuple of Rater
        Raters with any answer in the set: models in the set's order, then people.
    case_row : array of int64, shape (q,)
        Row in ``ReviewSet.cases`` of each question, ascending.
    right : array of int16, shape (q,)
        The right option, from 0.
    patient : array of int64, shape (q,)
        The same number for questions of one patient, else study, else case.
    option : array of int16, shape (q, r)
        The option that each rater chose, :data:`FAILED_CHOICE` or :data:`NO_CHOICE`.
    number : array of int64, shape (q, r)
        Number of a model's newest answer; -1 for a person's choice and where there is none.
    unmarked : array of int64, shape (u,)
        Rows of the choice questions without a right option, which count nowhere.
    """

    raters: tuple[Rater, ...]
    case_row: Numbers
    right: Options
    patient: Numbers
    option: Options
    number: Numbers
    unmarked: Numbers

    def __len__(self) -> int:
        return len(self.case_row)

    def of(self, questions: Numbers | Mask) -> RaterChoices:
        """Return the choices on some of the questions."""
        return replace(
            self,
            case_row=self.case_row[questions],
            right=self.right[questions],
            patient=self.patient[questions],
            option=self.option[questions],
            number=self.number[questions],
        )

    def left(self, answers: Mask | None, cases: Mask) -> RaterChoices:
        """Return the choices that match a filter.

        ``answers`` is a mask of the matching answers, by number (None if the filter does not limit
        answers), ``cases`` a mask of the matching cases, by row. Every choice of a person on these
        cases is kept.
        """
        option = self.option
        if answers is not None:
            dropped = (self.number >= 0) & ~answers[np.maximum(self.number, 0)]
            option = np.where(dropped, np.int16(NO_CHOICE), option)
        met = cases[self.case_row] & (option != NO_CHOICE).any(axis=1)
        unmarked = self.unmarked[cases[self.unmarked]]
        return replace(self, option=option, unmarked=unmarked).of(np.flatnonzero(met))

    @property
    def read_by_people(self) -> Mask:
        """Mask of the questions that a reader answered, shape (q,)."""
        people = [place for place, rater in enumerate(self.raters) if rater.is_reader]
        return np.asarray((self.option[:, people] != NO_CHOICE).any(axis=1))


@dataclass(frozen=True, eq=False)
class ChoiceTally:
    """One rater's choices: patients by right choices and questions, and failed choices.

    ``failed`` questions count in ``patients`` as not right; ``patients_read`` leaves them out.
    """

    patients: PatientTally
    patients_read: PatientTally
    failed: int


def tally_choices(chosen: RaterChoices, place: int) -> ChoiceTally:
    """Count the choices of the rater with index ``place``."""
    option = chosen.option[:, place]
    asked = option != NO_CHOICE
    right = (option == chosen.right).astype(np.int64)
    usable = option >= 0
    whole = tally_patients(right[asked], chosen.patient[asked])
    failed = int(np.count_nonzero(asked & ~usable))
    read = tally_patients(right[usable], chosen.patient[usable]) if failed else whole
    return ChoiceTally(whole, read, failed)


def collect_choices(review_set: ReviewSet) -> RaterChoices:
    """Return the choices in a review set; only the newest answers of each model count."""
    cases = review_set.cases.select(
        "correct",
        is_choice=(pl.col("question_type") == "choice").fill_null(False),
        options=pl.col("options").list.len().cast(pl.Int64),
    )
    is_choice = cases["is_choice"].to_numpy()
    if not is_choice.any():  # reads no column of the answers
        none, nobody = np.zeros((0, 0), dtype=np.int64), np.zeros((0, 0), dtype=np.int16)
        rows = none.ravel()
        return RaterChoices((), rows, nobody.ravel(), rows, nobody, none, rows)
    correct = cases["correct"].fill_null(-1).to_numpy()
    options = cases["options"].fill_null(0).to_numpy()
    case_row = np.flatnonzero(is_choice & (correct >= 0))
    place = np.full(len(cases), -1, dtype=np.int64)
    place[case_row] = np.arange(len(case_row))

    newest = review_set.newest
    column = review_set.answers["choice"].fill_null(FAILED_CHOICE).to_numpy()
    number = np.flatnonzero(place[newest.case] >= 0)
    question = place[newest.case[number]]
    chosen = _replace_unusable(column[newest.row[number]], options[newest.case[number]])
    models = review_set.models
    option = np.full((len(case_row), len(models)), NO_CHOICE, dtype=np.int16)
    numbers = np.full(option.shape, -1, dtype=np.int64)
    model = newest.model[number]
    option[question, model] = chosen
    numbers[question, model] = number
    answered = [at for at in range(len(models)) if (option[:, at] != NO_CHOICE).any()]
    raters = [
        Rater(
            models[at].id,
            review_set.model_names[models[at].id],
            "reader" if models[at].kind == "reader" else "model",
            "answers",
        )
        for at in answered
    ]
    people, of_people = _choices_of_people(review_set, place, options, len(case_row))
    clusters = find_clusters(review_set.cases)["cluster"].to_numpy()
    return RaterChoices(
        raters=(*raters, *people),
        case_row=case_row,
        right=correct[case_row].astype(np.int16),
        patient=np.unique(clusters[case_row], return_inverse=True)[1],
        option=np.concatenate([option[:, answered], of_people], axis=1),
        number=np.concatenate([numbers[:, answered], np.full(of_people.shape, -1)], axis=1),
        unmarked=np.flatnonzero(is_choice & (correct < 0)),
    )


def _replace_unusable(chosen: Numbers, options: Numbers) -> Options:
    """Return choices, :data:`FAILED_CHOICE` where there is no such option."""
    there = (chosen >= 0) & (chosen < options)
    return np.where(there, chosen, FAILED_CHOICE).astype(np.int16)


def _of_these_options(given: pl.DataFrame, cases: pl.DataFrame, case: Numbers) -> Mask:
    """Return a mask of the choices whose option text matches; without a text, the number counts."""
    place = pl.when(pl.col("choice") >= 0).then("choice")
    words = pl.concat(
        [given.select("choice", "option"), cases.select("options")[np.maximum(case, 0)]],
        how="horizontal",
    ).select(
        pl.col("option").str.strip_chars(),
        pl.col("options").list.get(place, null_on_oob=True).str.strip_chars().alias("there"),
    )
    same = pl.col("option").is_null() | (pl.col("option") == pl.col("there"))
    return words.select(same.fill_null(False)).to_series().to_numpy()


def _choices_of_people(
    review_set: ReviewSet, place: Numbers, options: Numbers, n_questions: int
) -> tuple[list[Rater], Options]:
    """Return the people of the table ``choices`` and their choices; the newest row counts."""
    given = review_set.choices.sort("created", maintain_order=True, nulls_last=False)
    case = review_set.case_rows(given["case"])
    known = (case >= 0) & (place[case] >= 0) & _of_these_options(given, review_set.cases, case)
    readers: Sequence[str] = [
        reader
        for reader in review_set.reader_names
        if reader in set(given["reader"].filter(pl.Series(known)).drop_nulls())
    ]
    option = np.full((n_questions, len(readers)), NO_CHOICE, dtype=np.int16)
    chosen = _replace_unusable(given["choice"].fill_null(FAILED_CHOICE).to_numpy(), options[case])
    for at, reader in enumerate(readers):
        own = known & (given["reader"] == reader).fill_null(False).to_numpy()
        option[place[case[own]], at] = chosen[own]
    names = review_set.reader_names
    taken = review_set.model_names
    people = [(f"reader:{one}" if one in taken else one, names[one]) for one in readers]
    return [Rater(key, name, "reader", "choices") for key, name in people], option


# Accuracy of raters, and tests between two raters.
#
# Definitions (docs: statistics):
#
# - **n** is the number of questions with a known right option that the rater answered. A model's
#   failed choice counts in n as not correct; ``without_failed`` leaves it out.
# - Intervals are those of every share here (:func:`rexview.stats.failure_rates.measure_rate`).
# - Two raters are compared over the questions that both answered; failed choices count as wrong.
#   The test is McNemar's, exact, with p adjusted by Benjamini-Hochberg over one family of tests.

NO_SHARED = tr("No question was answered by both.")
NO_DISCORDANCE = tr("There is no question that only one of the two got right: nothing to test.")


@dataclass(frozen=True)
class RaterAccuracy:
    """An accuracy: ``rate.flagged`` of ``rate.n`` questions are right.

    ``failed`` questions have no usable choice; ``without_failed`` is the rate over the others.
    """

    rate: Rate
    failed: int
    without_failed: Rate

    @property
    def wrong(self) -> int:
        """Number of usable choices of a wrong option."""
        return self.rate.n - self.rate.flagged - self.failed


@dataclass(frozen=True)
class ChoiceTest:
    """A test of two raters over the ``n_pairs`` questions that both answered.

    ``only_a`` and ``only_b`` are questions that only that rater answered right, ``both`` those that
    both did. ``difference`` is the accuracy of a minus that of b, -1 to 1. ``left_out`` questions
    were answered by only one of the two.
    """

    task: str | None
    rater_a: int
    rater_b: int
    n_pairs: int
    only_a: int
    only_b: int
    both: int
    difference: float | None
    interval: Interval
    p: float | None
    p_adj: float | None
    left_out: int
    why: str | None


def measure_accuracy(tally: ChoiceTally, *, resamples: int = RESAMPLES) -> RaterAccuracy:
    """Return an accuracy with its intervals; with 0 resamples without them."""
    whole = measure_rate(tally.patients, resamples=resamples)
    read = measure_rate(tally.patients_read, resamples=resamples) if tally.failed else whole
    return RaterAccuracy(whole, tally.failed, read)


def tally_rater_pair(chosen: RaterChoices, a: int, b: int) -> PairTally:
    """Count the questions that the raters with indices a and b answered, by who was right."""
    return tally_model_pair(_judged_choices(chosen, a), _judged_choices(chosen, b))


def _judged_choices(chosen: RaterChoices, place: int) -> JudgedAnswers:
    option = chosen.option[:, place]
    asked = np.flatnonzero(option != NO_CHOICE)
    right = option[asked] == chosen.right[asked]
    return JudgedAnswers(asked, right, chosen.patient[asked])


RaterPairKey = tuple[str | None, int, int]
"""A task (None: all questions) and the indices of two raters."""


def compare_choices(
    pairs: Mapping[RaterPairKey, PairTally], *, resamples: int = RESAMPLES
) -> tuple[ChoiceTest, ...]:
    """Compare raters; p values are adjusted over all given pairs."""
    named = {(task or "", str(a), str(b)): pair for (task, a, b), pair in pairs.items()}
    found = compare_failures(named, resamples=resamples)
    return tuple(_test(test, *about) for test, about in zip(found, pairs, strict=True))


def _test(found: FailureTest, task: str | None, a: int, b: int) -> ChoiceTest:
    why = None if found.p is not None else NO_DISCORDANCE if found.n_pairs else NO_SHARED
    limits = found.interval if found.n_pairs else Interval(None, None, NO_SHARED)
    return ChoiceTest(
        task,
        a,
        b,
        n_pairs=found.n_pairs,
        only_a=found.only_a,
        only_b=found.only_b,
        both=found.both,
        difference=found.difference,
        interval=limits,
        p=found.p,
        p_adj=found.p_adj,
        left_out=found.left_out,
        why=why,
    )


# Cohen's kappa between raters: agreement on the option, right or wrong.
#
# The levels are the options' indices (A, B, C, ...). Questions without a usable choice of one of
# the two are left out. Kappa is undefined if either always chose the same index. It is then None
# with the reason, never 0 or 1.

NO_SHARED_CHOICE = tr("No question has a usable choice from both.")


@dataclass(frozen=True)
class ChoiceKappa:
    """Cohen's kappa of two raters over the ``n`` questions in which both chose an option.

    ``same`` of them have the same option. ``kappa`` is None with the reason in ``why``.
    """

    task: str | None
    rater_a: int
    rater_b: int
    n: int
    same: int
    kappa: float | None
    why: str | None

    @property
    def agreement(self) -> float | None:
        """Share of questions with the same option, 0 to 1."""
        return self.same / self.n if self.n else None


def count_options(chosen: RaterChoices, a: int, b: int) -> Counts:
    """Count questions by the options of raters a (rows) and b (columns), shape (k, k)."""
    k = 1 + int(chosen.option.max(initial=0))
    of_a, of_b = chosen.option[:, a].astype(np.int64), chosen.option[:, b].astype(np.int64)
    both = (of_a >= 0) & (of_b >= 0)
    cells = of_a[both] * k + of_b[both]
    return np.bincount(cells, minlength=k * k).reshape(k, k)


def measure_choice_kappa(task: str | None, a: int, b: int, table: Counts) -> ChoiceKappa:
    """Return kappa from a table of :func:`count_options`."""
    n, same = int(table.sum()), int(np.trace(table))
    why = None
    if not n:
        why = NO_SHARED_CHOICE
    elif min(np.count_nonzero(table.sum(axis=axis)) for axis in (0, 1)) < 2:
        why = tr(
            "One of the two chose the same place throughout: without variance kappa is undefined."
        )
    if why:
        return ChoiceKappa(task, a, b, n, same, None, why)
    from sklearn.metrics import cohen_kappa_score  # slow to import

    rows, columns = np.nonzero(table)
    kappa = cohen_kappa_score(
        rows, columns, labels=np.arange(len(table)), sample_weight=table[rows, columns]
    )
    return ChoiceKappa(task, a, b, n, same, float(kappa), None)
