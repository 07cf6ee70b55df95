"""Tables that a phone shows row by row: each cell under the name of its column.

What is wide scrolls sideways on a phone, where its rows cannot be read. The style sheet turns a
table of class ``rx-stack`` into blocks there, and names each cell by what is noted here. A table
that is laid out as blocks is none for a screen reader: roles keep it one.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Final

_PART: Final = re.compile(r"<(table|thead|tbody|tr|th|td)\b([^>]*)>|</(thead|th|tr)>")
_SPANS: Final = re.compile(r'\b(col|row)span="(\d+)"')
_CLASS: Final = re.compile(r'\bclass="')
_TAG: Final = re.compile(r"<[^>]+>")
_ROLES: Final = {
    "table": "table",
    "thead": "rowgroup",
    "tbody": "rowgroup",
    "tr": "row",
    "td": "cell",
}


def stacked(table: str) -> str:
    """Note the column of every cell, and the roles of all parts, in a table as HTML.

    Parameters
    ----------
    table : str
        HTML with one or more ``<table>`` of ours, without a table in a cell; words in it are
        escaped.

    Returns
    -------
    str
        The same HTML. A cell in the body has ``data-label``, the words of its column; a head over
        several columns is named before theirs. A cell that spans rows counts in each of them.

    >>> stacked("<table><thead><tr><th>A</th></tr></thead><tr><td>1</td></tr></table>")[-50:]
    '<td role="cell" data-label="A">1</td></tr></table>'
    """
    return "".join(_written(table))


def _written(table: str) -> Iterator[str]:
    heads: list[str] = []
    taken: dict[int, int] = {}  # columns that a cell above still spans, and for how many rows
    spanning: dict[int, int] = {}
    in_head, column, begun, at, spanned = False, 0, 0, 0, (0, 1)
    for part in _PART.finditer(table):
        yield table[at : part.start()]
        at = part.end()
        tag, attributes, closed = part[1], part[2] or "", part[3]
        if closed:
            if closed == "thead":
                in_head, taken = False, {}
            if closed == "th" and in_head:
                words = " ".join(html.unescape(_TAG.sub(" ", table[begun : part.start()])).split())
                for place in range(*spanned):
                    heads += [""] * (place + 1 - len(heads))
                    heads[place] = f"{heads[place]} {words}".strip()
            yield part[0]
            continue
        more = f' role="{_ROLES.get(tag, "")}"'
        if tag == "table":
            heads, taken = [], {}
            attributes = (
                _CLASS.sub('class="rx-stack ', attributes, count=1)
                if _CLASS.search(attributes)
                else f' class="rx-stack"{attributes}'
            )
        elif tag == "thead":
            in_head = True
        elif tag == "tr":
            taken = {place: rows - 1 for place, rows in (taken | spanning).items() if rows > 1}
            spanning, column = {}, 0
        elif tag in ("th", "td"):
            while column in taken:
                column += 1
            spans = {kind: int(number) for kind, number in _SPANS.findall(attributes)}
            spanned = (column, column + spans.get("col", 1))
            spanning |= dict.fromkeys(range(*spanned), spans.get("row", 1))
            if tag == "th":
                of_column = in_head or 'scope="col' in attributes
                more = f' role="{"columnheader" if of_column else "rowheader"}"'
            elif column < len(heads) and heads[column]:
                more += f' data-label="{html.escape(heads[column])}"'
            column, begun = spanned[1], part.end()
        yield f"<{tag}{attributes}{more}>"
    yield table[at:]
