"""Cells of the report's tables for a terminal: how a field of a row is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

MISSING: Final = "-"
"""Stands for what is undefined."""
Row = Mapping[str, Any]
Columns = Mapping[str, Callable[[Row], str]]
"""What stands in each column of a table, by its head."""


def number(name: str, form: str = ".2f") -> Callable[[Row], str]:
    """Write a number in a form of :func:`format`."""
    return lambda row: MISSING if row[name] is None else format(row[name], form)


def p_value(name: str) -> Callable[[Row], str]:
    """Write a p value."""

    def write(row: Row) -> str:
        p = row[name]
        if p is None:
            return MISSING
        return "<0.001" if p < 0.001 else f"{p:.3f}"

    return write


def limits(prefix: str = "ci_", form: str = ".2f") -> Callable[[Row], str]:
    """Write an interval whose limits are the fields ``low`` and ``high`` after a prefix."""

    def write(row: Row) -> str:
        low, high = row[f"{prefix}low"], row[f"{prefix}high"]
        return MISSING if low is None else f"{low:{form}} to {high:{form}}"

    return write


def word(name: str) -> Callable[[Row], str]:
    """Write a word."""
    return lambda row: row[name] or MISSING
