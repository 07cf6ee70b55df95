"""What the detectors find in a set, and which cases a link's query leaves."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from rexview.cli.output import shower
from rexview.untrusted_input import printable

if TYPE_CHECKING:
    from rexview.analysis.engine import Engine
    from rexview.detect.core.scan import Scan
    from rexview.schema import ReviewSet
    from rexview.spread.workers import Spread
    from rexview.store import Reviews

_SECONDS_BETWEEN: Final = 0.1


def scan(review_set: ReviewSet, *, keep_beside: bool = False, spread: Spread | None = None) -> Scan:
    """Let the detectors look at all answers, but for what is kept of them.

    On all cores of this machine, or on the workers of ``spread``.
    """
    from rexview.detect.processes.background_scan import scan_at_once
    from rexview.settings import load_settings

    show = shower("answers looked at")
    found, message = scan_at_once(
        review_set, load_settings(), show, keep_beside=keep_beside, spread=spread
    )
    if message:
        print(printable(message), file=sys.stderr)
    return found


def with_own_metrics(review_set: ReviewSet) -> ReviewSet:
    """Add the app's own metrics of its reports to a set, as pages show them."""
    from rexview.kept_files import kept_files
    from rexview.metrics.computed import asks_for_reports, computed_metrics, with_computed
    from rexview.settings import load_settings

    if not asks_for_reports(review_set):
        return review_set
    show, keep = shower("reports compared"), kept_files("metrics", load_settings())
    while not (known := computed_metrics(review_set, keep)).finished:
        if show:
            show(known.done, known.answers)
        time.sleep(_SECONDS_BETWEEN)
    if known.message:
        print(printable(known.message), file=sys.stderr)
    return with_computed(review_set, known)


def with_written(review_set: ReviewSet) -> tuple[ReviewSet, Reviews]:
    """Return a set with what was written in it, as far as that counts, and its reviews."""
    from rexview.analysis.memory.study import only_finished
    from rexview.settings import load_settings
    from rexview.store import merged, open_reviews

    reviews = open_reviews(review_set, load_settings())
    return only_finished(review_set, merged(review_set, reviews)), reviews


def engine_of(written: ReviewSet, reviews: Reviews) -> Engine:
    """Return what answers questions about a set, once all detectors have looked at it."""
    from rexview.analysis.case.comments import counts_by_case
    from rexview.analysis.memory.engine import memory_engine
    from rexview.settings import load_settings

    settings = load_settings()
    return memory_engine(
        written,
        gap_threshold=settings.gap_threshold,
        disagreement_threshold=settings.disagreement_threshold,
        scan=scan(written),
        comments=counts_by_case(reviews.comments()),
    )


def cases_of(review_set: ReviewSet, query: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Return the ids of the cases that the query of a link leaves, as the pages would show them."""
    from rexview.analysis.filter.case_filter import CaseFilter

    wanted = CaseFilter.from_query(query)
    return engine_of(*with_written(review_set)).page(wanted, 0, review_set.cases.height)
