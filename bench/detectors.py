"""Measure accuracy and speed of the text and box detectors: ``python -m rexview bench detectors``.

The labelled texts of :mod:`bench.corpus` go through :func:`rexview.detect.flags_for`, as on pages.
Counts compare each row's ``expected`` label with the flags. Precision, recall and specificity of
each form are printed next to the targets of the whole. With a folder, the share of a review set's
newest answers that each rule flags is printed instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import polars as pl

from bench.corpus import (
    Labelled,
    box_sides,
    judged_claims,
    laterality_pairs,
    report_habits,
    token_limit_habits,
    token_limit_texts,
)
from bench.measure import Measured, Row, at_least, result
from bench.reading import speed
from rexview.detect import find_flags, find_flags_for_answers
from rexview.reviewset import load_review_set
from rexview.schema import Flag

# Labels against flags: outcomes, their counts, and the rows and tables that show them.


@dataclass(frozen=True)
class Target:
    """The least wanted rates; None for rates without a target."""

    precision: float | None = None
    recall: float | None = None
    specificity: float | None = None

    @property
    def asked(self) -> dict[str, float]:
        """The rates with a target, by name."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Outcome:
    """One labelled row and its result.

    ``wanted`` is whether a flag is expected, ``flagged`` whether there is one, ``kinds`` which.
    """

    row: Labelled
    wanted: bool
    flagged: bool
    kinds: tuple[str, ...]

    @property
    def wrong(self) -> bool:
        """Whether an error was missed or a look-alike flagged."""
        return self.wanted != self.flagged


@dataclass(frozen=True)
class Tally:
    """Counts over outcomes. A rate is None if there is nothing to measure it on."""

    hits: int
    misses: int
    false_alarms: int
    passes: int

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> Tally:
        """Count true and false positives and negatives."""
        pairs = [(outcome.wanted, outcome.flagged) for outcome in outcomes]
        return cls(
            pairs.count((True, True)),
            pairs.count((True, False)),
            pairs.count((False, True)),
            pairs.count((False, False)),
        )

    @property
    def precision(self) -> float | None:
        """Share of the flagged texts that are errors."""
        return _share(self.hits, self.false_alarms)

    @property
    def recall(self) -> float | None:
        """Share of the errors that are flagged."""
        return _share(self.hits, self.misses)

    @property
    def specificity(self) -> float | None:
        """Share of the other texts that are not flagged."""
        return _share(self.passes, self.false_alarms)

    def reaches(self, target: Target) -> bool:
        """Whether every rate with a target could be measured and is high enough."""
        rates = {name: getattr(self, name) for name in target.asked}
        return all(
            rates[name] is not None and rates[name] >= value for name, value in target.asked.items()
        )


def _share(part: int, rest: int) -> float | None:
    return part / (part + rest) if part + rest else None


def found_kinds(
    read: Callable[[], list[Labelled]], failure: str
) -> Iterator[tuple[Labelled, tuple[str, ...]]]:
    """Yield every labelled text with the kinds of its flags of one failure."""
    for row, flags in flagged(read):
        yield row, tuple(flag.kind or "" for flag in flags if flag.failure == failure)


@cache
def flagged(read: Callable[[], list[Labelled]]) -> tuple[tuple[Labelled, list[Flag]], ...]:
    """Return every labelled text with its flags, computed once for all measurements."""
    return tuple((row, find_flags_for_answers(row.case, [row.answer])) for row in read())


def rates(task: str, outcomes: Sequence[Outcome], target: Target) -> Iterator[Row]:
    """Yield a row for each rate with a target, in each split."""
    for split in sorted({outcome.row.split for outcome in outcomes}):
        of_split = [outcome for outcome in outcomes if outcome.row.split == split]
        tally = Tally.of(of_split)
        for name, limit in target.asked.items():
            what = f"{task}: {name}, {split}"
            note = f"{len(of_split)} texts"
            yield result(what, getattr(tally, name), "share", goal=at_least(limit), note=note)


def table(task: str, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return a table row for each split, and for each of its forms if there are several."""
    rows = []
    for split in sorted({outcome.row.split for outcome in outcomes}):
        of_split = [outcome for outcome in outcomes if outcome.row.split == split]
        rows.append(_row(task, split, "all", of_split))
        names = dict.fromkeys(outcome.row.form for outcome in of_split)
        for form in names if len(names) > 1 else ():
            some = [outcome for outcome in of_split if outcome.row.form == form]
            rows.append(_row(task, split, form, some))
    return rows


def _row(task: str, split: str, form: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    tally = Tally.of(outcomes)
    return {
        "what": task,
        "split": split,
        "form": form,
        "n": len(outcomes),
        "errors": tally.hits + tally.misses,
        "missed": tally.misses,
        "false alarms": tally.false_alarms,
        "precision": _rounded(tally.precision),
        "recall": _rounded(tally.recall),
        "specificity": _rounded(tally.specificity),
    }


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 3)


def wrong(outcomes: Iterable[Outcome]) -> list[str]:
    """Return the names of wrong rows, for a person to look at."""
    return [
        f"{outcome.row.id}: {'missed' if outcome.wanted else 'false alarm'}"
        + (f" ({', '.join(outcome.kinds)})" if outcome.kinds else "")
        for outcome in outcomes
        if outcome.wrong
    ]


NOTES: Final = """\
What these figures do not show: the texts were written for measuring, so their mix of forms is not
that of any model, and a third of them are errors where real answers have a few per cent; at such a
prevalence the share of flags that are right is lower than the precision above. The dev split was
there while the rules were improved; only held_out says how they do on texts that nobody tuned them
on. Labels are one writer's reading; those of the texts from habits two readers agreed on. Other
languages than English are not covered. Forms with few texts have wide margins: one text of twenty
is five points."""
FOLDER_NOTES: Final = """\
Shares of the newest answers. Whether a flag is right must be judged by a person: look at the flags
with `python -m rexview failures FOLDER --json`, or on the Case pages."""
FAILURE: Final = "laterality_error"
INCOMPLETE: Final = "side_incomplete"
BILATERAL: Final = "bilateral"
"""Label of pairs with both sides in one text, and the form of those written for it."""

EASY: Final = Target(recall=0.97, specificity=0.995)
HARD: Final = Target(precision=0.92, recall=0.85, specificity=0.96)
BOXES: Final = Target(precision=0.97, recall=0.95)
COMPLETE: Final = Target(specificity=0.98)
CUT: Final = Target(recall=0.90, specificity=1.0)
MISSED: Final = Target(precision=0.85, recall=0.55)
INVENTED: Final = Target(precision=0.85, recall=0.40)
JUDGED: Final = Target(precision=0.85)
"""Claims that were not raised are few and were chosen at random: they give no recall."""


def laterality_outcomes() -> list[Outcome]:
    """Compare every laterality pair with its flags.

    One side of a bilateral finding is no error: neither a hit nor a false alarm.
    """
    return _side_errors(laterality_pairs)


def habit_outcomes() -> list[Outcome]:
    """Compare every pair that was written from reports' habits with its flags."""
    return _side_errors(report_habits)


def _side_errors(read: Callable[[], list[Labelled]]) -> list[Outcome]:
    return [
        Outcome(row, row.expected == "error", bool(kinds), kinds)
        for row, kinds in found_kinds(read, FAILURE)
    ]


def incomplete_outcomes(read: Callable[[], list[Labelled]]) -> list[Outcome]:
    """Compare how well one side of a bilateral finding is distinguished from the rest."""
    return [
        Outcome(row, row.expected == BILATERAL, bool(kinds), kinds)
        for row, kinds in found_kinds(read, INCOMPLETE)
    ]


def hint_outcomes(failure: str) -> list[Outcome]:
    """Compare hints of missed (``omission``) or invented findings with the labels of the habits.

    One answer is one outcome, however many findings it misses or invents. A denial in the answer,
    which shows by evidence there, counts if the labellers were asked about it. Pairs on which they
    disagree are left out.
    """
    outcomes = []
    for row, flags in flagged(report_habits):
        hints = [one for one in flags if one.failure == failure]
        wanted = row.invented
        if failure == "omission" and row.denied is not None:
            wanted = None if row.missed is None else row.missed + row.denied
        elif failure == "omission":
            hints = [one for one in hints if all(item.where != "answer" for item in one.evidence)]
            wanted = row.missed
        if wanted is not None:
            outcomes.append(Outcome(row, bool(wanted), bool(hints), ()))
    return outcomes


def judged_outcomes(failure: str) -> list[Outcome]:
    """Compare hints with two judges' verdicts on each claim; one claim is one outcome."""
    raised = {
        (row.id, item.text)
        for row, flags in flagged(report_habits)
        for one in flags
        if one.failure == failure
        for item in one.evidence[:1]
    }
    return [
        Outcome(claim.row, claim.right, (claim.row.id, claim.words) in raised, ())
        for claim in judged_claims()
        if claim.failure == failure and claim.right is not None
    ]


def box_outcomes() -> list[Outcome]:
    """Compare every box with its flags; only the rule named in the row is a hit."""
    outcomes = []
    for row, kinds in found_kinds(box_sides, FAILURE):
        wanted = row.expected == "error"
        found = row.kind in kinds if wanted else bool(kinds)
        outcomes.append(Outcome(row, wanted, found, kinds))
    return outcomes


def ending_outcomes() -> list[Outcome]:
    """Compare every text of the token-limit corpus with its flags.

    Refusals (``blocked``) are neither cut off nor complete: a token-limit flag on one is wrong.
    """
    return _endings(token_limit_texts)


def ending_habit_outcomes() -> list[Outcome]:
    """Compare every text that was written, and cut, from habits with its flags."""
    return _endings(token_limit_habits)


def _endings(read: Callable[[], list[Labelled]]) -> list[Outcome]:
    return [
        Outcome(row, row.expected not in ("complete", "blocked"), bool(kinds), kinds)
        for row, kinds in found_kinds(read, "token_limit")
    ]


def whole_answer_outcomes() -> list[Outcome]:
    """Check that no answer of the laterality pairs, all complete, is flagged as cut."""
    return [
        Outcome(row, wanted=False, flagged=bool(kinds), kinds=kinds)
        for row, kinds in found_kinds(laterality_pairs, "token_limit")
    ]


def run(folder: Path | None = None) -> Measured:
    """Measure the rates with their targets, every form, and the speed.

    With the folder of a review set: the share of its newest answers that each rule flags.
    """
    if folder is not None:
        shares = {"Newest answers that are flagged": _review_set(folder)}
        return Measured([], shares, FOLDER_NOTES)
    laterality = laterality_outcomes()
    measured = (*_of_written_forms(laterality), *_of_habits())
    pairs = [outcome.row for outcome in laterality]
    return Measured(
        [
            *(one for task, some, target in measured for one in rates(task, some, target)),
            *speed.detector_speed_rows(pairs),
            *speed.sentence_speed_rows(pairs),
        ],
        {"By form of the text": [row for task, some, _ in measured for row in table(task, some)]},
        NOTES,
    )


_Task = tuple[str, Sequence[Outcome], Target]
"""Name of the task, its outcomes, and its target."""


def _of_written_forms(laterality: Sequence[Outcome]) -> tuple[_Task, ...]:
    """Measure on the texts that were written form by form."""
    bilateral = [
        outcome
        for outcome in incomplete_outcomes(laterality_pairs)
        if outcome.row.form == BILATERAL
    ]
    return (
        ("laterality, easy", [one for one in laterality if not one.row.hard], EASY),
        ("laterality, hard", [one for one in laterality if one.row.hard], HARD),
        ("one side of a bilateral finding", bilateral, Target()),
        ("boxes", box_outcomes(), BOXES),
        ("token limit", ending_outcomes(), COMPLETE),
        ("token limit, answers of the pairs", whole_answer_outcomes(), COMPLETE),
    )


def _of_habits() -> tuple[_Task, ...]:
    """Measure on the texts that were written from habits; labellers disagree how hard some are."""
    habits = habit_outcomes()
    return (
        ("habits, laterality, plain", [one for one in habits if one.row.hard is False], EASY),
        ("habits, laterality, hard", [one for one in habits if one.row.hard], HARD),
        ("habits, laterality", habits, HARD),
        ("habits, one side of a bilateral finding", incomplete_outcomes(report_habits), Target()),
        ("habits, missed findings", hint_outcomes("omission"), MISSED),
        ("habits, invented findings", hint_outcomes("hallucination"), INVENTED),
        ("habits, missed findings, each judged", judged_outcomes("omission"), JUDGED),
        ("habits, invented findings, each judged", judged_outcomes("hallucination"), JUDGED),
        ("habits, token limit", ending_habit_outcomes(), CUT),
    )


def _review_set(folder: Path) -> list[dict[str, Any]]:
    review_set = load_review_set(folder)
    answers = review_set.answers["_newest"].sum()
    counted = (
        find_flags(review_set)
        .filter(pl.col("source") == "detector")
        .unique(["case", "model", "failure", "kind", "hint"])
        .group_by("failure", "kind", "hint", maintain_order=True)
        .len("answers")
        .sort("failure", "kind")
    )
    return [
        {**row, "of": answers, "share": round(row["answers"] / answers, 4)}
        for row in counted.iter_rows(named=True)
    ] or [{"failure": "none", "answers": 0, "of": answers}]


OUTCOMES: Final[dict[str, Callable[[], list[Outcome]]]] = {
    "laterality": laterality_outcomes,
    "boxes": box_outcomes,
    "token limit": ending_outcomes,
    "token limit, answers of the pairs": whole_answer_outcomes,
    "habits, laterality": habit_outcomes,
    "habits, missed findings": lambda: hint_outcomes("omission"),
    "habits, invented findings": lambda: hint_outcomes("hallucination"),
    "habits, token limit": ending_habit_outcomes,
}
"""All comparisons with labels, by name."""
