"""Tables of comparisons of every two: how many are written out, and the test of each."""

from __future__ import annotations

import html
from typing import Final, Protocol

from rexview.ui.tables.number_table import Reasons, written_p
from rexview.words import tr

MOST_PAIRS: Final = 100
"""As many comparisons are written out; the downloads have all."""


class _Tested(Protocol):
    """A comparison of two with McNemar's exact test, where it is possible."""

    @property
    def p(self) -> float | None: ...

    @property
    def p_adj(self) -> float | None: ...

    @property
    def why(self) -> str | None: ...


def mcnemar_html(test: _Tested, reasons: Reasons, where: str) -> str:
    """Write the adjusted p of a comparison; both are told of on hovering."""
    if test.p is None or test.p_adj is None:
        return reasons.add(test.why or tr("No test is possible."), where)
    said = tr("McNemar exact, p {p:.4g}, adjusted {p_adj:.4g}").format(p=test.p, p_adj=test.p_adj)
    return f'<abbr title="{html.escape(said)}">{written_p(test.p_adj)}</abbr>'


def pairs_title(title: str, total: int) -> str:
    """Return the title of a table of so many pairs, which says how many of them stand in it."""
    if total <= MOST_PAIRS:
        return title
    words = tr("{title}: the first {n:,} of {total:,}")
    return words.format(title=title, n=MOST_PAIRS, total=total)
