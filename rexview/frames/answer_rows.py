"""The newest answers of a review set by number: what detectors, filters and counts share.

A number stands for an answer in arrays of one small value each, where its case and model as words
would take a hundred times the memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl


@dataclass(frozen=True, eq=False)
class AnswerRows:
    """Newest answers, numbered from 0 by case in file order, then by model in the set's order.

    Attributes
    ----------
    case : array of int32, one an answer
        Row of its case in ``ReviewSet.cases``; never falls.
    model : array of uint16, one an answer
        Place of its model in ``ReviewSet.models``.
    row : array of uint32, one an answer
        Its row in ``ReviewSet.answers``.
    starts : array of int64, one a case and one more
        The answers to the case in row ``n`` are those from ``starts[n]`` to ``starts[n + 1]``.
    """

    case: npt.NDArray[np.int32]
    model: npt.NDArray[np.uint16]
    row: npt.NDArray[np.uint32]
    starts: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.case)

    def of_case(self, case_row: int) -> range:
        """Return the numbers of the answers to the case in a row of ``ReviewSet.cases``."""
        return range(int(self.starts[case_row]), int(self.starts[case_row + 1]))

    def number(self, case_row: int, model_place: int) -> int | None:
        """Return the number of a model's answer to a case, None without one."""
        numbers = self.of_case(case_row)
        found = np.flatnonzero(self.model[numbers.start : numbers.stop] == model_place)
        return numbers.start + int(found[0]) if len(found) else None

    def numbers(
        self, case_rows: npt.NDArray[np.int64], model_places: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Return the numbers of the answers of some models to some cases, -1 where there is none.

        Both have shape (k,), -1 for a case or model that is not known.
        """
        found = np.full(len(case_rows), -1, dtype=np.int64)
        if not len(self):
            return found
        known = (case_rows >= 0) & (model_places >= 0)
        case_rows = np.where(known, case_rows, 0)
        first, last = self.starts[case_rows], self.starts[case_rows + 1]
        for step in range(int((last - first).max(initial=0))):
            number = np.minimum(first + step, len(self) - 1)
            met = known & (first + step < last) & (self.model[number] == model_places)
            found[met] = number[met]
        return found


def answer_rows(cases: pl.DataFrame, answers: pl.DataFrame, models: Sequence[str]) -> AnswerRows:
    """Number the newest answers of checked tables; ``models`` are the ids in the set's order."""
    order = cases.select(case="id", case_row=pl.int_range(pl.len(), dtype=pl.Int32()))
    newest = (
        answers.select("case", "model", "_newest", row=pl.int_range(pl.len(), dtype=pl.UInt32()))
        .filter("_newest", pl.col("model").is_not_null())
        .select("case", pl.col("model").cast(pl.Enum(list(models))).to_physical(), "row")
        .join(order, on="case", how="inner", maintain_order="left")
        .sort("case_row", "model", maintain_order=True)
    )
    case_row = newest["case_row"].to_numpy()
    counts = np.bincount(case_row, minlength=len(cases))
    return AnswerRows(
        case=case_row,
        model=newest["model"].to_numpy().astype(np.uint16),
        row=newest["row"].to_numpy(),
        starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
    )
