"""Tables of numbers as our own HTML: links in the cells, reasons where a number is missing."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable
from typing import Final

from rexview.analysis import Count
from rexview.stats.bootstrap import Interval
from rexview.ui.link.in_app import browse_link
from rexview.ui.tables.stacked import stacked
from rexview.words import tr

NOTHING: Final = "–"
"""Stands where there is no number."""
_MOST_NAMED: Final = 6


class Reasons:
    """Why numbers are missing: gathered while a table is written, listed under it."""

    def __init__(self) -> None:
        self._places: dict[str, list[str]] = {}

    def add(self, why: str, where: str, shown: str = NOTHING) -> str:
        """Note a reason; return what is ``shown`` in place of the number."""
        places = self._places.setdefault(why, [])
        if where not in places:
            places.append(where)
        return f'<abbr title="{html.escape(why)}">{shown}</abbr>'

    def number(self, value: float | None, why: str | None, where: str, form: str = ".2f") -> str:
        """Write a number, or the dash with its reason."""
        return self.add(why or tr("Undefined."), where) if value is None else format(value, form)

    def interval(self, interval: Interval, where: str, *, with_sign: bool = False) -> str:
        """Write an interval, or the dash with its reason."""
        if interval.low is None or interval.high is None:
            return self.add(interval.why or tr("Undefined."), where)
        low, high = interval.low, interval.high
        if with_sign:
            return tr("{signed} to {signed_2}").format(signed=signed(low), signed_2=signed(high))
        return tr("{low:.2f} to {high:.2f}").format(low=low, high=high)

    def html(self) -> str:
        """List the reasons with where they hold; empty without any."""
        items = []
        for why, places in self._places.items():
            named = "; ".join(places[:_MOST_NAMED])
            more = len(places) - _MOST_NAMED
            named += tr("; and {more:,} more").format(more=more) if more > 0 else ""
            items.append(f"<li>{NOTHING} {html.escape(why)} ({html.escape(named)})</li>")
        return f'<ul class="rx-reasons">{"".join(items)}</ul>' if items else ""


def rows_table(css: str, heads: Iterable[str], body: Iterable[str], caption: str = "") -> str:
    """Wrap rows (HTML) into a table that scrolls by itself; heads and caption are escaped here."""
    head = "".join(
        f'<th scope="col">{html.escape(text)}</th>' if text else "<td></td>" for text in heads
    )
    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return stacked(
        f'<div class="rx-scroll"><table class="{css}">{title}<thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def cells(head: str, *rest: str) -> str:
    """Write a row of HTML cells, the first of which is its head."""
    return f'<tr><th scope="row">{head}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>'


def table_html(title: str, heads: Iterable[str], body: Iterable[str], caption: str) -> str:
    """Wrap rows into a table of numbers, its title above and its caption below."""
    table = rows_table("rx-scores rx-means rx-table", heads, body, title)
    return f'{table}<p class="rx-quiet rx-note">{html.escape(caption)}</p>'


def model_head(name: str, colour: str) -> str:
    """Write the row head of a model, with its colour beside its name."""
    swatch = (
        f'<i class="rx-swatch" style="--rx-colour:{html.escape(colour)}"></i>' if colour else ""
    )
    return f'<th scope="row">{swatch}{short_name(name)}</th>'


def short_name(name: str) -> str:
    """Write a name that is cut after two lines; all of it is in its title."""
    text = html.escape(name)
    return f'<span class="rx-name" title="{text}">{text}</span>'


def linked_number(count: Count, label: str, exact: bool = True, title: str = "") -> str:
    """Link HTML to the answers that a count counts; a count of nothing is no link."""
    if not count.value:
        return label
    if not exact:
        title = tr("Counted per picture; Browse lists the answers with a scored picture")
    return browse_link(count.opens, label, title=title)


def signed(value: float) -> str:
    """Write a difference with its sign, two decimals."""
    text = f"{value:+.2f}"
    return "0.00" if text in ("+0.00", "-0.00") else text.replace("-", "−")


def signed_points(value: float, *, decimals: int = 0) -> str:
    """Write a difference of shares in percentage points, with its sign."""
    points = math.floor(abs(value) * 10 ** (2 + decimals) + 0.5) / 10**decimals
    sign = "" if not points else "+" if value > 0 else "−"
    return f"{sign}{points:.{decimals}f}"


def written_p(p: float) -> str:
    """Write a p value with three decimals, the small ones as ``<0.001``."""
    if p < 0.001:
        return "&lt;0.001"
    return f"{math.floor(p * 1000 + 0.5) / 1000:.3f}"
