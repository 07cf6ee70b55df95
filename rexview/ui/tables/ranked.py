"""Long rankings as HTML: first and last are shown, a button shows all, a search finds a model.

The browser does both (:file:`ranked.js`). A ranked item may be a row, a cell of a column, or a
block; each has its name.
"""

from __future__ import annotations

import html
import re
from typing import Any, Final

from rexview.analysis.ranking import SHOWN_AT_EACH_END, DisplayRanking
from rexview.words import tr

CSS: Final = "rx-ranked"
"""Class of the element that contains a ranking and its tools."""
_FIRST_TAG: Final = re.compile(r"<\w+")


def ranked_item(drawn: str, name: str, one: Any, ranking: DisplayRanking[Any]) -> str:
    """Mark the first element of some HTML as one of a ranking, by its name; unchanged if few.

    >>> ranked_item("<tr></tr>", "A", 1, DisplayRanking((1,), (1,)))
    '<tr></tr>'
    """
    if not ranking.is_cut:
        return drawn
    found = _FIRST_TAG.match(drawn)
    if found is None:
        raise ValueError(f"no element at the beginning of {drawn[:40]!r}")
    more = f' data-rx-ranked="{html.escape(name.casefold())}"'
    more += "" if one in ranking.shown else " data-rx-between"
    return f"{found[0]}{more}{drawn[found.end() :]}"


def ranked_tools(ranking: DisplayRanking[Any], by: str) -> str:
    """Return how many models are shown, a button for all and a search; empty for few.

    ``by`` names the number that they are ranked by; it is escaped here.
    """
    if not ranking.is_cut:
        return ""
    n = len(ranking.order)
    words = tr("First {first} and last {last} of {n:,} models, ranked by {by}.")
    words = words.format(first=SHOWN_AT_EACH_END, last=SHOWN_AT_EACH_END, n=n, by=by)
    show_all = tr("Show all {n:,}").format(n=n)
    fewer = tr("Show fewer")
    search = tr("Search {n:,} models").format(n=n)
    return (
        f'<span class="rx-ranked-tools"><span>{html.escape(words)}</span>'
        f'<button type="button" data-rx-all aria-expanded="false" '
        f'data-rx-fewer="{html.escape(fewer)}">{html.escape(show_all)}</button>'
        f'<input type="search" data-rx-search placeholder="{html.escape(search)}" '
        f'aria-label="{html.escape(search)}"><span role="status"></span></span>'
    )
