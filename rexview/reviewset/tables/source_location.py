"""Where a value stands: from its position in a column being read to file, row and field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.errors import Problem, Severity
from rexview.reviewset.problems import LISTED, ProblemList, quoted
from rexview.reviewset.sources import TableSource

Positions = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Place:
    """The place of a column, or of one field of a nested column.

    ``rows`` maps a position in the column to its row in the table. For a field inside a list or an
    object, ``parent`` is the place of that list or object, ``owner`` maps a position to a position
    in the parent, and ``index`` to the place in the parent's list.
    """

    source: TableSource
    problems: ProblemList
    field: str
    rows: Positions | None = None
    parent: Place | None = None
    owner: Positions | None = None
    index: Positions | None = None

    def inside(self, name: str, owner: Positions, index: Positions | None = None) -> Place:
        """Place of a field ``name`` of the objects in this column; ``""`` for plain items."""
        return Place(self.source, self.problems, name, None, self, owner, index)

    def locate(self, position: int) -> tuple[int | None, str]:
        """Row in the table and the field's full name, such as ``boxes[2].label``."""
        if self.parent is None or self.owner is None:
            return (None if self.rows is None else int(self.rows[position])), self.field
        row, field = self.parent.locate(int(self.owner[position]))
        if self.index is not None:
            field += f"[{self.index[position]}]"
        return row, f"{field}.{self.field}" if self.field else field

    def report(
        self,
        severity: Severity,
        wrong: pl.Series | Positions,
        message: str | Callable[[int], str],
        remedy: str,
        values: pl.Series | list[Any] | None = None,
    ) -> None:
        """Report the positions that are ``wrong`` (a mask without nulls counts its trues).

        ``message`` may hold ``{value}``, which becomes the value given, in quotes.
        """
        positions = wrong.arg_true().to_numpy() if isinstance(wrong, pl.Series) else wrong
        examples = []
        for position in positions[:LISTED].tolist():
            row, field = self.locate(position)
            file, file_row = self.source.place(row)
            if callable(message):
                text = message(position)
            elif values is not None:
                text = message.replace("{value}", quoted(values[position]))
            else:
                text = message
            examples.append(Problem(severity, file, file_row, field, text, remedy))
        self.problems.add_many(examples, len(positions), table=self.source.label)
