"""Labels beside flags: outcomes, their tallies, and the rows and tables that show them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from rexview.bench.corpus import Labelled
from rexview.bench.measure import Row, at_least, result
from rexview.detect import flags_for
from rexview.schema import Flag


@dataclass(frozen=True)
class Target:
    """The least share that is wanted; None where nothing is asked."""

    precision: float | None = None
    recall: float | None = None
    specificity: float | None = None

    @property
    def asked(self) -> dict[str, float]:
        """The rates that are asked for, by name."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Outcome:
    """One labelled row and what was made of it.

    ``wanted`` says whether a flag is expected, ``flagged`` whether one came, ``kinds`` which.
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
    """Counts over some outcomes. A rate without anything to measure it on is None."""

    hits: int
    misses: int
    false_alarms: int
    passes: int

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> Tally:
        """Count hits, misses, false alarms and rightly passed texts."""
        pairs = [(outcome.wanted, outcome.flagged) for outcome in outcomes]
        return cls(
            pairs.count((True, True)),
            pairs.count((True, False)),
            pairs.count((False, True)),
            pairs.count((False, False)),
        )

    @property
    def precision(self) -> float | None:
        """Share of the flagged that are errors."""
        return _share(self.hits, self.false_alarms)

    @property
    def recall(self) -> float | None:
        """Share of the errors that are flagged."""
        return _share(self.hits, self.misses)

    @property
    def specificity(self) -> float | None:
        """Share of the others that are not flagged."""
        return _share(self.passes, self.false_alarms)

    def reaches(self, target: Target) -> bool:
        """Whether every rate that is asked for could be measured and is high enough."""
        rates = {name: getattr(self, name) for name in target.asked}
        return all(
            rates[name] is not None and rates[name] >= value for name, value in target.asked.items()
        )


def _share(part: int, rest: int) -> float | None:
    return part / (part + rest) if part + rest else None


def found_kinds(
    read: Callable[[], list[Labelled]], failure: str
) -> Iterator[tuple[Labelled, tuple[str, ...]]]:
    """Give every labelled text with the kinds of its flags of one failure."""
    for row, flags in flagged(read):
        yield row, tuple(flag.kind or "" for flag in flags if flag.failure == failure)


@cache
def flagged(read: Callable[[], list[Labelled]]) -> tuple[tuple[Labelled, list[Flag]], ...]:
    """Return every labelled text with its flags, found once for all that is asked of them."""
    return tuple((row, flags_for(row.case, [row.answer])) for row in read())


def rates(task: str, outcomes: Sequence[Outcome], target: Target) -> Iterator[Row]:
    """Yield a row for each rate that is asked for, in each split."""
    for split in sorted({outcome.row.split for outcome in outcomes}):
        of_split = [outcome for outcome in outcomes if outcome.row.split == split]
        tally = Tally.of(of_split)
        for name, limit in target.asked.items():
            what = f"{task}: {name}, {split}"
            note = f"{len(of_split)} texts"
            yield result(what, getattr(tally, name), "share", goal=at_least(limit), note=note)


def table(task: str, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return a row of the table for each split, and for each form of it when there are several."""
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
    """Name the rows that came out wrong, for a person to look at."""
    return [
        f"{outcome.row.id}: {'missed' if outcome.wanted else 'false alarm'}"
        + (f" ({', '.join(outcome.kinds)})" if outcome.kinds else "")
        for outcome in outcomes
        if outcome.wrong
    ]
