"""Metrics of reports, worked out by the workers of a cluster: the same values as here."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from rexview.child_process import ProcessUnusable
from rexview.errors import ClusterError, MetricsError
from rexview.harm import HarmTable
from rexview.metrics import batch_worker
from rexview.metrics.batch_worker import Wanted, makes, version_of
from rexview.metrics.external.calculators import CALCULATORS
from rexview.metrics.pairs import ReportPair
from rexview.spread.workers import Job, Refused, Spread, answered, workers_of

Show = Callable[[int, int], None]
Spreading = Callable[[Sequence[ReportPair], Show | None], Mapping[str, Sequence[float | None]]]
_AT_A_TIME: Final = 50
_LOG: Final = logging.getLogger(__name__)


@contextmanager
def spread_scorer(
    spread: Spread, metric: str, harm: HarmTable | None = None, *, download: bool = False
) -> Iterator[Spreading]:
    """Return what scores pairs on all workers, in batches; what belongs together in one.

    A report over which two workers die has no value; what is worked out together has all or none.

    Raises
    ------
    MetricsError, ClusterError
        Raised by what is returned, too.
    """
    external = metric in CALCULATORS
    together = external and CALCULATORS[metric].together
    job = Job(
        batch_worker.begin,
        Wanted(metric, harm, download),
        lambda: version_of(metric),
        "works out metrics of reports",
        holds_model=external,
    )
    with workers_of(spread, job) as workers:

        def score(
            pairs: Sequence[ReportPair], show: Show | None = None
        ) -> Mapping[str, Sequence[float | None]]:
            size = max(1, len(pairs)) if together else _AT_A_TIME
            batches = (pairs[start : start + size] for start in range(0, len(pairs), size))
            names = makes(metric)
            found: dict[str, list[float | None]] = {name: [] for name in names}
            done = 0
            try:
                for rows in answered(workers, batches, _tell_died, may_part=not together):
                    if isinstance(rows, Refused):
                        raise MetricsError(rows.message)
                    for row in rows:
                        for place, name in enumerate(names):
                            found[name].append(None if row is None else row[place])
                    done += len(rows)
                    if show:
                        show(done, len(pairs))
            except ProcessUnusable as error:
                raise ClusterError(str(error)) from None
            return found

        yield score


def _tell_died() -> None:
    _LOG.warning("Two workers died over one report: it has no value.")
