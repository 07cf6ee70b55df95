"""Who chose what: the choice questions of a review set, one column for each rater.

A rater is whoever chose: a model, a model of kind ``reader`` (answers of a reader that were
imported), or a person of the table ``choices``. Readers are named as such and never ranked among
models without saying so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.schema import ReviewSet
from rexview.stats.failure_rates import PatientTally, clusters_of, tally_patients
from rexview.words import tr

NOT_ASKED: Final = -2
"""The rater has no answer to the question, or a filter leaves it out."""
FAILED: Final = -1
"""There is an answer, or a failed request for one, and no usable choice."""
Numbers = npt.NDArray[np.int64]
Options = npt.NDArray[np.int16]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Rater:
    """Whoever chose, named by ``id`` everywhere and no two alike.

    ``given`` says in which table. A person of ``choices`` whose id is a model's, too, is
    ``reader:ID``.
    """

    id: str
    name: str
    kind: Literal["model", "reader"]
    given: Literal["answers", "choices"]

    @property
    def is_reader(self) -> bool:
        """Whether it is a person."""
        return self.kind == "reader"

    @property
    def has_answers(self) -> bool:
        """Whether the rater is a model to filters; people of ``choices`` are not."""
        return self.given == "answers"

    @property
    def label(self) -> str:
        """The name where models stand in the same list: of a reader it is said."""
        return tr("{name} (reader)").format(name=self.name) if self.is_reader else self.name


@dataclass(frozen=True, eq=False)
class Chosen:
    """What raters chose, of the questions whose right option is known.

    Attributes
    ----------
    raters : tuple of Rater
        Those with any answer in the set: models in the set's order, then people.
    case_row : array of int64, shape (q,)
        Row in ``ReviewSet.cases`` of each question, ascending.
    right : array of int16, shape (q,)
        The right option, from 0.
    patient : array of int64, shape (q,)
        The same number for questions of one patient, else study, else case.
    option : array of int16, shape (q, r)
        The option that each rater chose, :data:`FAILED` or :data:`NOT_ASKED`.
    number : array of int64, shape (q, r)
        Number of the newest answer of a model, -1 of a person's choice, and where there is none.
    unmarked : array of int64, shape (u,)
        Rows of the choice questions without a right option: they are in no number.
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

    def of(self, questions: Numbers | Mask) -> Chosen:
        """Return some of the questions."""
        return replace(
            self,
            case_row=self.case_row[questions],
            right=self.right[questions],
            patient=self.patient[questions],
            option=self.option[questions],
            number=self.number[questions],
        )

    def left(self, answers: Mask | None, cases: Mask) -> Chosen:
        """Return what a filter leaves.

        ``answers`` are those that meet it, by number (None: it does not limit answers), ``cases``
        those that are left, by row: of these every choice of a person stays.
        """
        option = self.option
        if answers is not None:
            dropped = (self.number >= 0) & ~answers[np.maximum(self.number, 0)]
            option = np.where(dropped, np.int16(NOT_ASKED), option)
        met = cases[self.case_row] & (option != NOT_ASKED).any(axis=1)
        unmarked = self.unmarked[cases[self.unmarked]]
        return replace(self, option=option, unmarked=unmarked).of(np.flatnonzero(met))

    @property
    def read_by_people(self) -> Mask:
        """Which questions a reader answered, shape (q,)."""
        people = [place for place, rater in enumerate(self.raters) if rater.is_reader]
        return np.asarray((self.option[:, people] != NOT_ASKED).any(axis=1))


@dataclass(frozen=True, eq=False)
class ChoiceTally:
    """What one rater chose: patients by right choices and questions, and the failed ones.

    ``failed`` questions are in ``patients``, and not right; ``patients_read`` leaves them out.
    """

    patients: PatientTally
    patients_read: PatientTally
    failed: int


def choice_tally(chosen: Chosen, place: int) -> ChoiceTally:
    """Count the choices of the rater at a place."""
    option = chosen.option[:, place]
    asked = option != NOT_ASKED
    right = (option == chosen.right).astype(np.int64)
    usable = option >= 0
    whole = tally_patients(right[asked], chosen.patient[asked])
    failed = int(np.count_nonzero(asked & ~usable))
    read = tally_patients(right[usable], chosen.patient[usable]) if failed else whole
    return ChoiceTally(whole, read, failed)


def chosen_in(review_set: ReviewSet) -> Chosen:
    """Read what was chosen from a review set: of each model the newest answers count."""
    cases = review_set.cases.select(
        "correct",
        is_choice=(pl.col("question_type") == "choice").fill_null(False),
        options=pl.col("options").list.len().cast(pl.Int64),
    )
    is_choice = cases["is_choice"].to_numpy()
    if not is_choice.any():  # no column of answers is looked at
        none, nobody = np.zeros((0, 0), dtype=np.int64), np.zeros((0, 0), dtype=np.int16)
        rows = none.ravel()
        return Chosen((), rows, nobody.ravel(), rows, nobody, none, rows)
    correct = cases["correct"].fill_null(-1).to_numpy()
    options = cases["options"].fill_null(0).to_numpy()
    case_row = np.flatnonzero(is_choice & (correct >= 0))
    place = np.full(len(cases), -1, dtype=np.int64)
    place[case_row] = np.arange(len(case_row))

    newest = review_set.newest
    column = review_set.answers["choice"].fill_null(FAILED).to_numpy()
    number = np.flatnonzero(place[newest.case] >= 0)
    question = place[newest.case[number]]
    chosen = _usable(column[newest.row[number]], options[newest.case[number]])
    models = review_set.models
    option = np.full((len(case_row), len(models)), NOT_ASKED, dtype=np.int16)
    numbers = np.full(option.shape, -1, dtype=np.int64)
    model = newest.model[number]
    option[question, model] = chosen
    numbers[question, model] = number
    answered = [at for at in range(len(models)) if (option[:, at] != NOT_ASKED).any()]
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
    clusters = clusters_of(review_set.cases)["cluster"].to_numpy()
    return Chosen(
        raters=(*raters, *people),
        case_row=case_row,
        right=correct[case_row].astype(np.int16),
        patient=np.unique(clusters[case_row], return_inverse=True)[1],
        option=np.concatenate([option[:, answered], of_people], axis=1),
        number=np.concatenate([numbers[:, answered], np.full(of_people.shape, -1)], axis=1),
        unmarked=np.flatnonzero(is_choice & (correct < 0)),
    )


def _usable(chosen: Numbers, options: Numbers) -> Options:
    """Return choices, :data:`FAILED` where there is no such option."""
    there = (chosen >= 0) & (chosen < options)
    return np.where(there, chosen, FAILED).astype(np.int16)


def _of_these_options(given: pl.DataFrame, cases: pl.DataFrame, case: Numbers) -> Mask:
    """Say which choices name the words that their option has; without words the number counts."""
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
    """Return the people of the table ``choices`` and what they chose; the newest row counts."""
    given = review_set.choices.sort("created", maintain_order=True, nulls_last=False)
    case = review_set.case_rows(given["case"])
    known = (case >= 0) & (place[case] >= 0) & _of_these_options(given, review_set.cases, case)
    readers: Sequence[str] = [
        reader
        for reader in review_set.reader_names
        if reader in set(given["reader"].filter(pl.Series(known)).drop_nulls())
    ]
    option = np.full((n_questions, len(readers)), NOT_ASKED, dtype=np.int16)
    chosen = _usable(given["choice"].fill_null(FAILED).to_numpy(), options[case])
    for at, reader in enumerate(readers):
        own = known & (given["reader"] == reader).fill_null(False).to_numpy()
        option[place[case[own]], at] = chosen[own]
    names = review_set.reader_names
    taken = review_set.model_names
    people = [(f"reader:{one}" if one in taken else one, names[one]) for one in readers]
    return [Rater(key, name, "reader", "choices") for key, name in people], option
