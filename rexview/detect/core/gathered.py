"""What was found without the answers' scores, gathered as it comes in any order, and its state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.detect.core.finding_index import FindingIndex, IndexBuilder, text_of_report
from rexview.detect.core.looking import FLAGS, NOT_JUDGED, NOT_YET, TOLD_FLAGS, Looked


class Told(Protocol):
    """What is told of flags: their messages and evidence."""

    def of(self, first: int, stop: int) -> pl.DataFrame | None:
        """Return the flags on the answers from ``first`` to ``stop``, columns ``TOLD_FLAGS``.

        By answer, then in the order of the detectors. None where it is not at hand.
        """
        ...


class ToldInMemory:
    """Messages and evidence of all flags, in memory: for sets that are looked at in one go."""

    def __init__(self, parts: Iterable[pl.DataFrame]) -> None:
        every = pl.concat([TOLD_FLAGS.to_frame(), *parts])
        self._flags = every.sort("answer", maintain_order=True)
        self._answers = self._flags["answer"].to_numpy()

    def of(self, first: int, stop: int) -> pl.DataFrame:
        """Return the flags on some answers."""
        start, end = np.searchsorted(self._answers, (first, stop))
        return self._flags[int(start) : int(end)]


@dataclass(frozen=True, eq=False)
class Found:
    """What detectors say of the answers of a review set as though nobody had scored them.

    Attributes
    ----------
    state : array of uint8, one an answer
        0 not looked at yet, 1 looked at, 2 not judged.
    judged : array of uint32, one an answer
        Bit ``n`` where the detector at position ``n`` could judge it.
    words : array of uint32, one an answer
    traits : array of uint8, one an answer
        Bits of :mod:`rexview.detect.core.answer_traits`.
    flags : polars.DataFrame
        Columns :data:`rexview.detect.core.looking.FLAGS`, in no order.
    index : FindingIndex
    reports : array of bool, one a case
        Whose report was read.
    told : Told or None
        Where messages and evidence are, if anywhere.
    """

    state: npt.NDArray[np.uint8]
    judged: npt.NDArray[np.uint32]
    words: npt.NDArray[np.uint32]
    traits: npt.NDArray[np.uint8]
    flags: pl.DataFrame
    index: FindingIndex
    reports: npt.NDArray[np.bool_]
    told: Told | None = None


class Gatherer:
    """Takes in what was found of some answers at a time. Not safe for several threads at once.

    Parts are joined so that the last is never much smaller than the one before, as in a merge
    sort: what a part costs does not grow with what is there.
    """

    def __init__(self, answers: int, cases: int) -> None:
        self.state = np.zeros(answers, dtype=np.uint8)
        self.judged = np.zeros(answers, dtype=np.uint32)
        self.words = np.zeros(answers, dtype=np.uint32)
        self.traits = np.zeros(answers, dtype=np.uint8)
        self.looked = 0
        self.failed = 0
        self.reports = np.zeros(cases, dtype=np.bool_)
        self._flags = [FLAGS.to_frame()]
        self._index = IndexBuilder()

    def add(self, looked: Looked) -> Looked:
        """Take in what is new of a part, and return that."""
        new = self._new(looked)
        numbers = new.numbers
        for name, of_all in self._of_answers().items():
            of_all[numbers] = new.answers[name].to_numpy()
        self.reports[new.reports] = True
        self.looked += len(new.numbers)
        self.failed += int(np.count_nonzero(new.state == NOT_JUDGED))
        self._add_flags(new.flags.select(FLAGS.names()))
        self._index.add(new.phrases, new.texts, new.phrase_places)
        return new

    def _of_answers(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays with one value an answer, by their names in :data:`.LOOKED`."""
        names = ("state", "judged", "words", "traits")
        return {name: getattr(self, name) for name in names}

    def take_over(self, found: Found) -> None:
        """Begin with what another scan of the same answers found. Nothing was added before."""
        for name, of_all in self._of_answers().items():
            of_all[:] = getattr(found, name)
        self.reports[found.reports] = True
        self.looked = int(np.count_nonzero(found.state))
        self.failed = int(np.count_nonzero(found.state == NOT_JUDGED))
        self._add_flags(found.flags)
        for texts, places in found.index.parts:
            self._index.add(found.index.phrases, texts, places)

    def _add_flags(self, flags: pl.DataFrame) -> None:
        if flags.is_empty():
            return
        parts = self._flags
        parts.append(flags)
        while len(parts) > 1 and len(parts[-2]) <= 2 * len(parts[-1]):
            parts[-2:] = [pl.concat(parts[-2:], rechunk=True)]

    def _new(self, looked: Looked) -> Looked:
        """Leave out answers and reports that are there: two may have looked at the same case."""
        old = self.state[looked.numbers] != NOT_YET
        old_reports = self.reports[looked.reports]
        if not old.any() and not old_reports.any():
            return looked
        left = looked.numbers[~old]
        known = np.concatenate(
            [looked.numbers[old].astype(np.int32), text_of_report(looked.reports[old_reports])]
        )
        new_texts = ~np.isin(looked.texts, known)
        return Looked(
            looked.answers.filter(pl.Series(~old)),
            looked.flags.filter(pl.Series(np.isin(looked.flags["answer"].to_numpy(), left))),
            looked.reports[~old_reports],
            looked.phrases,
            looked.texts[new_texts],
            looked.phrase_places[new_texts],
        )

    def cases_left(self, starts: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Say of which cases the report or an answer is still to be looked at."""
        left = np.concatenate([[0], np.cumsum(self.state == NOT_YET)])
        return (left[starts[1:]] > left[starts[:-1]]) | ~self.reports

    def found(self, told: Told | None = None) -> Found:
        """Return what is there now; what comes later does not change it."""
        return Found(
            flags=pl.concat(self._flags),
            index=self._index.index(),
            reports=self.reports.copy(),
            told=told,
            **{name: of_all.copy() for name, of_all in self._of_answers().items()},
        )
