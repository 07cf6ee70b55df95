"""What is wrong with given data, as a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with given data, and what to do about it.

    ``row`` counts from 1: the line of a JSON Lines file, the data row of a CSV or Parquet table.
    """

    severity: Severity
    file: str
    row: int | None
    field: str | None
    message: str
    remedy: str

    def __str__(self) -> str:
        where = self.file
        if self.row is not None:
            where += f", row {self.row}"
        if self.field:
            where += f", {self.field}"
        return f"{self.severity}: {where}: {self.message} {self.remedy}".strip()
