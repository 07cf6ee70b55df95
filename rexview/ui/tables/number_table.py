"""Tables of numbers as our own HTML: links in the cells, reasons for missing numbers."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from rexview.analysis import LinkedCount
from rexview.analysis.colours import SHARED_MODEL_COLOUR
from rexview.analysis.ranking import DisplayRanking
from rexview.stats.bootstrap import Interval
from rexview.ui.tables.ranked import CSS as RANKED
from rexview.ui.tables.ranked import ranked_item
from rexview.ui.web.link.in_app import browse_link
from rexview.words import tr

# Tables that a phone shows row by row: each cell under the name of its column.
#
# A wide table scrolls sideways on a phone, where its rows cannot be read. The style sheet turns a
# table of class ``rx-stack`` into blocks there, and labels each cell with the name added here. For
# a screen reader blocks are no table, so roles are added.

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


def label_cells(table: str) -> str:
    """Add the column's name to every cell, and roles to all parts, of an HTML table.

    Parameters
    ----------
    table : str
        HTML with one or more ``<table>`` of ours, without a table in a cell; its texts are escaped.

    Returns
    -------
    str
        The same HTML. A cell in the body has ``data-label``, the name of its column; a head over
        several columns is named before theirs. A cell that spans rows counts in each of them.

    >>> label_cells("<table><thead><tr><th>A</th></tr></thead><tr><td>1</td></tr></table>")[-50:]
    '<td role="cell" data-label="A">1</td></tr></table>'
    """
    return "".join(_written(table))


def _written(table: str) -> Iterator[str]:
    heads: list[str] = []
    taken: dict[int, int] = {}  # columns that a cell above spans, and rows left
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


NOTHING: Final = "–"
"""Shown in place of a missing number."""
_MOST_NAMED: Final = 6

_T = TypeVar("_T")


class MissingReasons:
    """Reasons for missing numbers: collected while a table is written, listed below it."""

    def __init__(self) -> None:
        self._places: dict[str, list[str]] = {}

    def add(self, why: str, where: str, shown: str = NOTHING) -> str:
        """Add a reason; return what is ``shown`` in place of the number."""
        places = self._places.setdefault(why, [])
        if where not in places:
            places.append(where)
        return f'<abbr title="{html.escape(why)}">{shown}</abbr>'

    def number(self, value: float | None, why: str | None, where: str, form: str = ".2f") -> str:
        """Format a number, or return the dash with its reason."""
        return self.add(why or tr("Undefined."), where) if value is None else format(value, form)

    def interval(self, interval: Interval, where: str, *, with_sign: bool = False) -> str:
        """Format an interval, or return the dash with its reason."""
        if interval.low is None or interval.high is None:
            return self.add(interval.why or tr("Undefined."), where)
        low, high = interval.low, interval.high
        if with_sign:
            return tr("{signed} to {signed_2}").format(
                signed=format_signed(low), signed_2=format_signed(high)
            )
        return tr("{low:.2f} to {high:.2f}").format(low=low, high=high)

    def html(self) -> str:
        """List the reasons with their places; empty without any."""
        items = []
        for why, places in self._places.items():
            named = "; ".join(places[:_MOST_NAMED])
            more = len(places) - _MOST_NAMED
            named += tr("; and {more:,} more").format(more=more) if more > 0 else ""
            items.append(f"<li>{NOTHING} {html.escape(why)} ({html.escape(named)})</li>")
        return f'<ul class="rx-reasons">{"".join(items)}</ul>' if items else ""


@dataclass(frozen=True)
class HeadCell:
    """The head of a column that is already HTML, a ``th``."""

    drawn: str


def rows_table(
    css: str,
    heads: Iterable[str | HeadCell],
    body: Iterable[str],
    caption: str = "",
    tools: str = "",
) -> str:
    """Wrap rows (HTML) into a table that scrolls by itself; heads and caption are escaped here.

    ``tools`` are those of its ranking, from :mod:`.ranked`.
    """
    head = "".join(map(_head_html, heads))
    title = f"<caption>{html.escape(caption)}{tools}</caption>" if caption or tools else ""
    css = f"{css} {RANKED}" if tools else css
    return label_cells(
        f'<div class="rx-scroll"><table class="{css}">{title}<thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def cells_html(head: str, *rest: str) -> str:
    """Return a row of HTML cells, the first of which is its head."""
    return f'<tr><th scope="row">{head}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>'


def _head_html(head: str | HeadCell) -> str:
    if isinstance(head, HeadCell):
        return head.drawn
    return f'<th scope="col">{html.escape(head)}</th>' if head else "<td></td>"


def ranked_head(name: str, one: Any, ranking: DisplayRanking[Any]) -> str | HeadCell:
    """Return the head of a model's column, ranked if there are many."""
    if not ranking.is_cut:
        return name
    return HeadCell(ranked_item(f'<th scope="col">{html.escape(name)}</th>', name, one, ranking))


def part_row(part: str, columns: int, more: Iterable[str] = ()) -> str:
    """Return a heading row across ``columns``, with ``more`` cells after it."""
    cells = "".join(f'<td class="rx-both">{cell}</td>' for cell in more)
    return (
        f'<tr class="rx-part rx-first"><th scope="rowgroup" colspan="{columns}">{part}</th>'
        f"{cells}</tr>"
    )


def group_rows(
    about: str,
    ranking: DisplayRanking[_T],
    line: Callable[[_T], tuple[str, str]],
    columns: int,
    more: Sequence[str] = (),
    *,
    apart: bool,
) -> Iterator[str]:
    """Return a group of rows, one a model, with a head next to them or in its own row.

    Parameters
    ----------
    about : str
        Head of the group.
    ranking : DisplayRanking
        The items, one a row.
    line : callable
        Returns an item's name and its cells.
    columns : int
        Number of these cells.
    more : sequence of str, optional
        Cells of the whole group, after those of its rows.
    apart : bool
        Whether the head has its own row, as in all groups of a table that ranks many: otherwise it
        would be next to rows that are hidden.
    """
    if apart:
        yield part_row(about, columns, more)
        for one in ranking.order:
            name, cells = line(one)
            yield ranked_item(f"<tr>{cells}</tr>", name, one, ranking)
        return
    span = f'rowspan="{len(ranking.order)}"'
    for place, one in enumerate(ranking.order):
        cells = line(one)[1]
        if place:
            yield f"<tr>{cells}</tr>"
            continue
        ends = "".join(f'<td {span} class="rx-both">{cell}</td>' for cell in more)
        head = f'<th scope="rowgroup" {span}>{about}</th>'
        yield f'<tr class="rx-first">{head}{cells}{ends}</tr>'


def table_html(
    title: str,
    heads: Iterable[str | HeadCell],
    body: Iterable[str],
    caption: str,
    tools: str = "",
) -> str:
    """Wrap rows into a table of numbers, its title above and its caption below."""
    table = rows_table("rx-scores rx-means rx-table", heads, body, title, tools)
    return f'{table}<p class="rx-quiet rx-note">{html.escape(caption)}</p>'


def model_head(name: str, colour: str) -> str:
    """Return the row head of a model, with its colour next to its name."""
    swatch = ""
    if colour and colour != SHARED_MODEL_COLOUR:
        swatch = f'<i class="rx-swatch" style="--rx-colour:{html.escape(colour)}"></i>'
    return f'<th scope="row">{swatch}{short_name(name)}</th>'


def short_name(name: str) -> str:
    """Return a name that is cut after two lines, with the whole name in its title."""
    text = html.escape(name)
    return f'<span class="rx-name" title="{text}">{text}</span>'


def linked_number(count: LinkedCount, label: str, exact: bool = True, title: str = "") -> str:
    """Return HTML linked to the answers of a count; a count of zero is no link."""
    if not count.value:
        return label
    if not exact:
        title = tr("Counted per picture; Browse lists the answers with a scored picture")
    return browse_link(count.opens, label, title=title)


def format_signed(value: float) -> str:
    """Format a difference with its sign, two decimals."""
    text = f"{value:+.2f}"
    return "0.00" if text in ("+0.00", "-0.00") else text.replace("-", "−")


def format_points(value: float, *, decimals: int = 0) -> str:
    """Format a difference of shares in percentage points, with its sign."""
    points = math.floor(abs(value) * 10 ** (2 + decimals) + 0.5) / 10**decimals
    sign = "" if not points else "+" if value > 0 else "−"
    return f"{sign}{points:.{decimals}f}"


def format_p(p: float) -> str:
    """Format a p value with three decimals, small ones as ``<0.001``."""
    if p < 0.001:
        return "&lt;0.001"
    return f"{math.floor(p * 1000 + 0.5) / 1000:.3f}"


# Tables of pairwise comparisons: the number written out, and the test of each.

MOST_PAIRS: Final = 100
"""Most comparisons written out; the downloads have all."""


class _McNemarTest(Protocol):
    """A comparison of two with McNemar's exact test, where possible."""

    @property
    def p(self) -> float | None: ...

    @property
    def p_adj(self) -> float | None: ...

    @property
    def why(self) -> str | None: ...


def mcnemar_html(test: _McNemarTest, reasons: MissingReasons, where: str) -> str:
    """Return the adjusted p of a comparison, with both p values on hovering."""
    if test.p is None or test.p_adj is None:
        return reasons.add(test.why or tr("No test is possible."), where)
    said = tr("McNemar exact, p {p:.4g}, adjusted {p_adj:.4g}").format(p=test.p, p_adj=test.p_adj)
    return f'<abbr title="{html.escape(said)}">{format_p(test.p_adj)}</abbr>'


def pairs_title(title: str, total: int) -> str:
    """Return the title of a table of ``total`` pairs, with the number shown if not all are."""
    if total <= MOST_PAIRS:
        return title
    words = tr("{title}: the first {n:,} of {total:,}")
    return words.format(title=title, n=MOST_PAIRS, total=total)
