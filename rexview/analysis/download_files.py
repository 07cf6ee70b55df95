"""A table as a file to download: CSV with every digit, or a document for Word."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    import pandas as pd


# Text in spreadsheet cells, protected against being read as a formula.

_SEPARATORS: Final = " |;,\u00a0\ufeff\"'"
_FORMULA: Final = tuple("=+-@\t\r\n＝＋－＠")


def escape_formula(text: str) -> str:
    """Return a text with an apostrophe before anything that a spreadsheet reads as a formula.

    Leading spaces and separators do not protect a text: a program that splits at ``|`` finds a cell
    that starts after it.

    >>> (
    ...     escape_formula("=1+1"),
    ...     escape_formula("-3"),
    ...     escape_formula("No effusion - clear."),
    ...     escape_formula("|=1"),
    ... )
    ("'=1+1", "'-3", 'No effusion - clear.', "'|'=1")
    """
    if text.startswith(_FORMULA):
        return f"'{text}"
    start = text.lstrip(_SEPARATORS)
    if start != text and start.startswith(_FORMULA):
        return f"'{text[: len(text) - len(start)]}'{start}"
    return text


def escape_text_formula(text: str) -> str:
    """Return :func:`escape_formula` of a text, but leave a plain number, for columns of numbers.

    >>> escape_text_formula("-3"), escape_text_formula("-3+cmd")
    ('-3', "'-3+cmd")
    """
    try:
        float(text)
    except ValueError:
        return escape_formula(text)
    return text


DownloadFormat = Literal["csv", "doc"]
DOWNLOAD_FORMATS: Final[dict[DownloadFormat, tuple[str, str]]] = {
    "csv": ("CSV", "text/csv"),
    "doc": ("Word", "application/msword"),
}
"""Name and media type of each file format. The document is HTML, which Word and browsers open."""
_STYLE: Final = (
    "body{font:10pt Arial,sans-serif;color:#000;background:#fff}"
    "table{border-collapse:collapse}caption{text-align:left;font-weight:bold;padding:4pt 0}"
    "th,td{border-bottom:.5pt solid #999;padding:2pt 6pt;text-align:left}"
    "td.n{text-align:right}p{max-width:45em}"
)


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table to download with its title and caption: method, and meaning of n.

    The data frame is made when a file is requested, because comparing many models takes a while.
    The columns in ``shares`` contain shares, 0 to 1. Columns named ``p``, or with names that start
    with ``p`` and a space, contain p values.
    """

    title: str
    make_frame: Callable[[], pd.DataFrame]
    caption: str
    shares: Sequence[str] = ()

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The table, at full precision."""
        return self.make_frame()

    def name(self, form: DownloadFormat) -> str:
        """Return the name of the download: ``table-1-content-and-language.csv``."""
        return make_file_name(self.title, form, "table")


def make_file_name(title: str, ending: str, untitled: str) -> str:
    """Return a file name for a title; ``untitled`` if the title has no letter or digit."""
    words = re.findall(r"[a-z0-9]+", title.lower())
    return f"{'-'.join(words)[:80].strip('-') or untitled}.{ending}"


def join_captions(caption: str, *texts: str) -> str:
    """Join the texts that have to go with a caption, without those that it contains already."""
    return " ".join(text for text in texts if text and text not in caption)


def encode_csv(table: pd.DataFrame) -> bytes:
    """Return a table as CSV in UTF-8: numbers with every digit, text safe for spreadsheets.

    Text that a spreadsheet would take for a formula gets an apostrophe before it, unless it is a
    plain number. A byte order mark tells spreadsheets that the text is UTF-8.
    """
    safe = table.rename(columns=lambda name: escape_text_formula(str(name)))
    safe = safe.map(lambda cell: escape_text_formula(cell) if isinstance(cell, str) else cell)
    return safe.to_csv(index=False, lineterminator="\r\n").encode("utf-8-sig")


def encode_table(
    table: TableFile, form: DownloadFormat, notice: str = "", *, so_far: str = ""
) -> bytes:
    """Return a table as the bytes of a file.

    The review set's notice is part of every file with its numbers. So is ``so_far``, the remark on
    numbers that are not final. Both are in the document's caption, and in the CSV's last columns.
    """
    if form == "csv":
        said = {"Notice": notice, "So far": so_far}
        return encode_csv(table.frame.assign(**{name: text for name, text in said.items() if text}))
    return _document(table, join_captions(table.caption, notice, so_far)).encode("utf-8")


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
    import pandas as pd

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
