"""A table to take away: as CSV with every digit, and as a document that Word opens."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any, Final, Literal

import pandas as pd

from rexview.analysis.charts.export import named_after, said_with, table_csv

TableForm = Literal["csv", "doc"]
TABLE_FORMS: Final[dict[TableForm, tuple[str, str]]] = {
    "csv": ("CSV", "text/csv"),
    "doc": ("Word", "application/msword"),
}
"""Name and media type of each form. The document is HTML, which Word and browsers open."""
_STYLE: Final = (
    "body{font:10pt Arial,sans-serif;color:#000;background:#fff}"
    "table{border-collapse:collapse}caption{text-align:left;font-weight:bold;padding:4pt 0}"
    "th,td{border-bottom:.5pt solid #999;padding:2pt 6pt;text-align:left}"
    "td.n{text-align:right}p{max-width:45em}"
)


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table with all that has to go with it: what it is, how it was made, what n is.

    The table itself is made when a file is asked for: comparing many models takes a while.
    The columns named in ``shares`` hold shares, 0 to 1; those whose names begin with ``p`` and a
    space, or are ``p``, hold p values.
    """

    title: str
    make_frame: Callable[[], pd.DataFrame]
    caption: str
    shares: Sequence[str] = ()

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The table, at full precision."""
        return self.make_frame()

    def name(self, form: TableForm) -> str:
        """Return the name of the download: ``table-1-content-and-language.csv``."""
        return named_after(self.title, form, "table")


def table_bytes(table: TableFile, form: TableForm, notice: str = "", *, so_far: str = "") -> bytes:
    """Return a table as the bytes of a file.

    The review set's notice goes wherever its numbers go, and so does ``so_far``, what has to be
    said of numbers that are not final: into the document, and as last columns into the CSV.
    """
    if form == "csv":
        said = {"Notice": notice, "So far": so_far}
        return table_csv(table.frame.assign(**{name: text for name, text in said.items() if text}))
    return _document(table, said_with(table.caption, notice, so_far)).encode("utf-8")


def _document(table: TableFile, notice: str) -> str:
    names = [str(name) for name in table.frame.columns]
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join(
        f"<tr>{''.join(_cell(*cell, table.shares) for cell in zip(row, names, strict=True))}</tr>"
        for row in table.frame.itertuples(index=False, name=None)
    )
    notes = "".join(f"<p>{html.escape(text)}</p>" for text in (notice, table.caption) if text)
    title = html.escape(table.title)
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style></head><body><table><caption>{title}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}</body></html>"
    )


def _cell(value: Any, column: str, shares: Sequence[str]) -> str:
    if value is None or (not isinstance(value, str) and pd.isna(value)):
        return '<td class="n">–</td>'
    if isinstance(value, str):
        return f"<td>{html.escape(value)}</td>"
    return f'<td class="n">{html.escape(_number(value, column, shares))}</td>'


def _number(value: Any, column: str, shares: Sequence[str]) -> str:
    if column in shares:
        text = f"{value:.1%}"
    elif column == "p" or column.startswith("p "):
        text = "<0.001" if value < 0.001 else f"{value:.3f}"
    elif isinstance(value, Integral):
        text = f"{value:,}"
    else:
        text = f"{value:.2f}"
    return text.replace("-", "−")
