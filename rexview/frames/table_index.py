"""Where a case and its answers stand in the tables of a set: found without reading a column.

What is asked of one case costs the same in a set of a hundred and of a million.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.frames.answer_rows import AnswerRows, answer_rows
from rexview.frames.mapped import let_go_of_much, some_rows

_FEW: Final = 1000
"""Ids that are looked for one by one; more are joined."""


class TableIndex:
    """The order of cases, and of the answers to each.

    Parameters
    ----------
    cases, answers : polars.DataFrame
        Of a set that opens. In one with errors, where ids may be missing or there twice, those are
        not found.
    declared : sequence of str
        Ids of the models that ``reviewset.yaml`` declares, in its order.
    """

    def __init__(self, cases: pl.DataFrame, answers: pl.DataFrame, declared: Sequence[str]) -> None:
        self.cases: Final = cases
        self.answers: Final = answers
        self.declared: Final = tuple(declared)

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Ids of the declared models, then of those only met in the answers."""
        met = self.answers["model"].unique(maintain_order=True).drop_nulls().to_list()
        return tuple(dict.fromkeys([*self.declared, *met]))

    @cached_property
    def newest(self) -> AnswerRows:
        """The newest answers by number."""
        return answer_rows(self.cases, self.answers, self.models)

    @cached_property
    def order(self) -> npt.NDArray[np.uint32]:
        """Rows of the cases in the order of their ids; of those that have one."""
        ids = self.cases["id"]
        return ids.arg_sort(nulls_last=True).head(len(ids) - ids.null_count()).to_numpy()

    @cached_property
    def repeated(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
        """Numbers of the newest answers that were asked for again, and each time the row of that.

        Both have one value for each other time; the numbers never fall.
        """
        again = self.answers.select(
            *("case", "model", "repeat", "_repeated"), row=pl.int_range(pl.len(), dtype=pl.UInt32)
        ).filter("_repeated")
        cases = again.join(
            self.case_rows(again["case"]), on="case", how="left", maintain_order="left"
        )
        places = {model: place for place, model in enumerate(self.models)}
        numbers = self.newest.numbers(
            cases["case_row"].cast(pl.Int64).fill_null(-1).to_numpy(),
            again["model"].replace_strict(places, default=-1, return_dtype=pl.Int64).to_numpy(),
        )
        found = pl.DataFrame({"number": numbers, "row": again["row"], "repeat": again["repeat"]})
        found = found.filter(pl.col("number") >= 0).sort("number", "repeat", "row")
        return found["number"].to_numpy(), found["row"].to_numpy()

    def repeats(self, number: int) -> list[int]:
        """Return the rows of the other times that the run of a newest answer asked the same."""
        numbers, rows = self.repeated
        first, last = np.searchsorted(numbers, [number, number + 1])
        return rows[first:last].tolist()  # type: ignore[no-any-return]

    @cached_property
    def _older(self) -> pl.DataFrame:
        """Rows of the answers that are not the newest: ``row`` and ``case``."""
        numbered = self.answers.select(
            "case", "_newest", row=pl.int_range(pl.len(), dtype=pl.UInt32)
        )
        return numbered.filter(~pl.col("_newest")).drop("_newest")

    def case_row(self, case_id: str) -> int | None:
        """Return the row of a case, None without one."""
        ids, order = self.cases["id"], self.order
        low, high = 0, len(order)
        while low < high:
            middle = (low + high) // 2
            if ids[int(order[middle])] < case_id:
                low = middle + 1
            else:
                high = middle
        if low == len(order) or ids[int(order[low])] != case_id:
            return None
        return int(order[low])

    def case_rows(self, case_ids: pl.Series) -> pl.DataFrame:
        """Return ``case`` and ``case_row`` (UInt32) of those of many cases that are there."""
        different = case_ids.drop_nulls().unique(maintain_order=True).alias("case")
        schema = {"case": pl.String(), "case_row": pl.UInt32()}
        if len(different) <= _FEW:
            found = [(one, self.case_row(one)) for one in different.to_list()]
            return pl.DataFrame(found, schema=schema, orient="row").drop_nulls()
        rows = self.cases.select(case="id", case_row=pl.int_range(pl.len(), dtype=pl.UInt32))
        return rows.join(different.to_frame(), on="case", how="semi")

    def answers_to(self, case_ids: pl.Series, columns: Sequence[str]) -> pl.DataFrame:
        """Return the newest answers to many cases, with some of their columns."""
        at, rows = self.case_rows(case_ids)["case_row"].to_numpy(), self.newest
        numbers = [np.arange(*rows.starts[one : one + 2]) for one in at.tolist()]
        answers = self.answers.select(columns)
        return some_rows(answers, rows.row[np.concatenate([np.zeros(0, np.int64), *numbers])])

    def answer_rows(self, case_id: str, *, all_runs: bool = False) -> list[int]:
        """Return the rows of the answers to a case, in the order of their models, then of rows."""
        at = self.case_row(case_id)
        if at is None:
            return []
        numbers = self.newest.of_case(at)
        rows: list[int] = self.newest.row[numbers.start : numbers.stop].tolist()
        let_go_of_much()  # of what was read of other cases
        older = self._older.filter(pl.col("case") == case_id)["row"].to_list() if all_runs else []
        if not older:
            return rows
        place = {model: n for n, model in enumerate(self.models)}
        models = self.answers["model"]
        return sorted([*rows, *older], key=lambda row: (place[models[row]], row))


class SharedIndex:
    """The index that all states of a set have in common, made when it is first asked for."""

    def __init__(self, index: TableIndex | None = None) -> None:
        self._index = index
        self._lock = Lock()

    def of(self, cases: pl.DataFrame, answers: pl.DataFrame, declared: Sequence[str]) -> TableIndex:
        """Return that of these tables, which may be others than those of the set it came from."""
        with self._lock:
            known = self._index
            asked = (cases, answers, tuple(declared))
            if (
                known
                and known.cases is cases
                and known.answers is answers
                and known.declared == asked[2]
            ):
                return known
            found = TableIndex(*asked)
            self._index = self._index or found
            return found
