"""Exports from a set on ClickHouse: the cases of one are read into a small set of their own."""

from __future__ import annotations

from typing import Final

from rexview.analysis import CaseFilter
from rexview.analysis.clickhouse.engine import ClickHouseEngine
from rexview.errors import ExportRefused
from rexview.export.request import ExportRequest, ExportSource
from rexview.words import tr

MOST: Final = 2_000
"""Cases of such an export: they are in memory while it is made."""
TOO_MANY: Final = tr(
    "This server has the review set on ClickHouse, and can export {most:,} "
    "cases of it at once. Filter for fewer, or let whoever runs the server "
    "export them: python -m rexview export"
).format(most=MOST)
PSEUDONYMS: Final = tr(
    "Pseudonyms stand for every id of the set that a text may name, and this "
    "server has the set on ClickHouse. Whoever runs the server can export "
    "with them: python -m rexview export"
)


def of_wanted_cases(
    source: ExportSource, wanted: ExportRequest
) -> tuple[ExportSource, ExportRequest]:
    """Return a source that holds the wanted cases, and these by their ids; in memory as they are.

    Raises
    ------
    EngineUnreachable
    ExportRefused
        There are more than fit, or none.
    """
    engine = source.engine
    if not isinstance(engine, ClickHouseEngine):
        return source, wanted
    cases = wanted.cases
    if cases is None:
        left = CaseFilter.from_query(wanted.query) if wanted.query else CaseFilter(sort="order")
        cases = engine.page(left, 0, MOST + 1)
    if not cases:
        raise ExportRefused(tr("The filter leaves no case."))
    if len(cases) > MOST:
        raise ExportRefused(TOO_MANY)
    review_set, of_these = engine.set_of(cases)
    return ExportSource(review_set, of_these, source.reviews), ExportRequest(cases=cases)
