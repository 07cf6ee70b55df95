"""A number that opens the cases behind it."""

from __future__ import annotations

from dataclasses import dataclass

from rexview.analysis.filter.case_filter import CaseFilter


@dataclass(frozen=True)
class Count:
    """A number and the filter that opens its cases; ``of`` is the n that it is a part of."""

    value: int
    opens: CaseFilter
    of: int | None = None

    @property
    def share(self) -> float | None:
        """The number as a share of ``of``, 0 to 1; None without one."""
        return self.value / self.of if self.of else None
