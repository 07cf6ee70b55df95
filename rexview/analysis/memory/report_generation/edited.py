"""Which answers have been corrected line by line, how severely, and for which kind of error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl

from rexview.analysis.filter.report_conditions import UNNAMED, EditCondition
from rexview.analysis.memory.coded_column import CodedColumn, Codes, Mask, enum_of
from rexview.schema import ReviewSet
from rexview.vocab import EDIT_KINDS

_UNKNOWN = -1
"""Stands for a correction whose severity nobody gave."""


class EditIndex:
    """The corrections of the newest answers of a set, each by the number of its answer.

    ``numbers`` are those of the answers; an answer that was gone through and needs no correction
    has rows that keep its lines.
    """

    def __init__(self, review_set: ReviewSet) -> None:
        edits = review_set.edits
        numbers = review_set.numbers_of(edits.select("case", "model"))
        edits = edits.filter(pl.Series(numbers >= 0))
        self.numbers = numbers[numbers >= 0]
        self._corrects = (edits["action"] != "keep").to_numpy()
        self._severity = edits["severity"].fill_null(_UNKNOWN).to_numpy()
        self._kinds = CodedColumn.of(enum_of(edits["kind"], list(EDIT_KINDS)))
        self._unnamed = edits["reader"].is_null().to_numpy()
        self._readers = CodedColumn.of(enum_of(edits["reader"]))

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of error that there are, known ones first."""
        return self._kinds.values

    def meeting(self, conditions: Iterable[str], kinds: Sequence[str] = ()) -> Codes:
        """Return the numbers of the answers that meet all conditions, ascending.

        Parameters
        ----------
        conditions : iterable of str
            Words of :class:`.EditCondition`.
        kinds : sequence of str
            One of these is what is wrong, with the correction that is severe enough.
        """
        parsed = [EditCondition.parse(word) for word in conditions]
        met = [self._answers(one, kinds) for one in parsed]
        if not met:
            met = [np.unique(self.numbers[self._corrects & self._of_kind(kinds)])]
        found = met[0]
        for other in met[1:]:
            found = np.intersect1d(found, other, assume_unique=True)
        return found

    def _answers(self, condition: EditCondition, kinds: Sequence[str]) -> Codes:
        given = self._readers.among([condition.reader]) if condition.reader else self._all
        given = self._unnamed if condition.reader == UNNAMED else given
        severe = self._severity >= condition.severity
        if condition.what == "from":
            wanted = given & self._of_kind(kinds)
            if condition.severity or kinds:
                wanted &= self._corrects & (severe | (condition.severity == 0))
            return np.unique(self.numbers[wanted])
        too_severe = given & self._corrects & (severe | (self._severity == _UNKNOWN))
        wanted = given & self._corrects & self._of_kind(kinds) if kinds else given
        return np.setdiff1d(self.numbers[wanted], self.numbers[too_severe])

    @property
    def _all(self) -> Mask:
        return np.ones(len(self.numbers), dtype=np.bool_)

    def _of_kind(self, kinds: Sequence[str]) -> Mask:
        return self._kinds.among(kinds) if kinds else self._all
