"""``stats`` and ``failures``: the tables of a set, and the scan behind them."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from rexview.addresses import address_of_set
from rexview.cli.arguments import SET, add_engine, engine, new_command, print_ended
from rexview.cli.output import as_json, progress_printer
from rexview.cli.reviews import reviews_of
from rexview.errors import StorageRefused
from rexview.untrusted_input import printable
from rexview.vocab import HINT_KINDS, counted, noun

if TYPE_CHECKING:
    from rexview.analysis.query.engine import Engine
    from rexview.detect.scan.scan import Scan
    from rexview.schema import ReviewSet
    from rexview.spread.workers import Spread
    from rexview.store import Reviews


_SECONDS_BETWEEN: Final = 0.1


def scan(review_set: ReviewSet, *, keep_beside: bool = False, spread: Spread | None = None) -> Scan:
    """Run the detectors on all answers without stored results.

    They run on all cores of this machine, or on the workers of ``spread``.
    """
    from rexview.detect.scan.background_scan import scan_at_once
    from rexview.settings import load_settings

    show = progress_printer("answers looked at")
    found, message = scan_at_once(
        review_set, load_settings(), show, keep_beside=keep_beside, spread=spread
    )
    if message:
        print(printable(message), file=sys.stderr)
    return found


def with_own_metrics(review_set: ReviewSet) -> ReviewSet:
    """Add the app's own metrics of its reports to a set, as on pages."""
    from rexview.kept_files import kept_files
    from rexview.metrics.computed import asks_for_reports, computed_metrics, with_computed
    from rexview.settings import load_settings

    if not asks_for_reports(review_set):
        return review_set
    show, keep = progress_printer("reports compared"), kept_files("metrics", load_settings())
    while not (known := computed_metrics(review_set, keep)).finished:
        if show:
            show(known.done, known.answers)
        time.sleep(_SECONDS_BETWEEN)
    if known.message:
        print(printable(known.message), file=sys.stderr)
    return with_computed(review_set, known)


def with_written(review_set: ReviewSet) -> tuple[ReviewSet, Reviews]:
    """Return a set with people's finished entries, and its reviews."""
    from rexview.analysis.query.memory.study import only_finished
    from rexview.settings import load_settings
    from rexview.store import merged, open_reviews

    reviews = open_reviews(review_set, load_settings())
    return only_finished(review_set, merged(review_set, reviews)), reviews


def engine_of(written: ReviewSet, reviews: Reviews) -> Engine:
    """Return the engine of a set, after all detectors have run."""
    from rexview.analysis.case.comments import counts_by_case
    from rexview.analysis.query.memory.engine import memory_engine
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
    """Return the ids of the cases that match a link's query, in the order of pages."""
    from rexview.analysis.query.filter.case_filter import CaseFilter

    wanted = CaseFilter.from_query(query)
    return engine_of(*with_written(review_set)).page(wanted, 0, review_set.cases.height)


# ``python -m rexview stats``: the tables of scores, tests and readers.


def add_stats(commands: Any) -> None:
    """Add the command ``stats``."""
    parser = new_command(commands, "stats", _stats, "print the tables of scores, tests and readers")
    argument = parser.add_argument
    argument("folder", **SET)
    argument("--json", action="store_true", help="a JSON object with full precision")
    argument(
        "--order",
        default="mean_first",
        metavar="mean_first|minimum_first",
        choices=("mean_first", "minimum_first"),
        help="Content: minimum of the readers' means (default), or mean of their minimums",
    )
    argument("--files-only", action="store_true", help="leave out what was written in the app")


def _stats(options: argparse.Namespace) -> int:
    from rexview.analysis.query.memory.study import only_finished
    from rexview.curation.coverage import coverage_rows
    from rexview.detect import judged_answers, survey_of
    from rexview.detect.self_contradiction import asked_again
    from rexview.metrics.identity import RECIPROCALS, known_metric
    from rexview.settings import load_settings
    from rexview.stats.report.document import report
    from rexview.stats.report.lists import generated_report_rows
    from rexview.stats.report.text import report_text
    from rexview.store import merged

    reviews = reviews_of(options.folder)
    review_set = reviews.review_set
    if not options.files_only:
        review_set = only_finished(review_set, merged(review_set, reviews))
    found = survey_of(scan(review_set))
    tables = report(
        review_set,
        gap_threshold=load_settings().gap_threshold,
        content_order=options.order,
        judged=judged_answers(found),
        verdicts=found.verdicts,
        again=asked_again(review_set),
        generated=generated_report_rows(
            with_own_metrics(review_set), known_metric, not_averaged=RECIPROCALS
        ),
        coverage=coverage_rows(review_set),
    )
    if options.json:
        print(as_json(tables))
    else:
        print(report_text(tables))
    return 0


# ``python -m rexview failures``: failures found by detectors and readers.


def add_failures(commands: Any) -> None:
    """Add the command ``failures``."""
    parser = new_command(commands, "failures", _failures, "list the failures found in a review set")
    argument = parser.add_argument
    argument("folder", **SET)
    argument("--json", action="store_true", help="a JSON list instead of lines")
    keep = "keep what is found beside the tables of the set, for whoever opens it next"
    argument("--keep", action="store_true", help=keep)
    add_engine(parser)


def _failures(options: argparse.Namespace) -> int:
    from rexview.detect import not_read_rows, rows_of
    from rexview.reviewset import load

    if options.keep and address_of_set(options.folder):
        raise StorageRefused("Nothing is written into a storage: leave out --keep.")
    review_set = load(options.folder)
    try:
        with engine(options) as spread:
            found = scan(review_set, keep_beside=options.keep, spread=spread)
    except KeyboardInterrupt:
        return print_ended("What was found is kept: the same command goes on from there.")
    rows, unread = list(rows_of(found)), list(not_read_rows(review_set))
    if options.json:
        print(as_json(rows + unread))
    else:
        for row in rows:
            case, model = row["case"], row["model"]
            who = "suggested" if _is_hint(row) else row["source"]
            print(printable(f"{case}  {model}  {row['failure']}  ({who})  {row['message']}"))
        hints = sum(map(_is_hint, rows))
        flags = len(rows) - hints
        print(f"{flags} {noun(flags, 'flag')}, {hints} {noun(hints, 'hint')}")
        if unread:
            print(_told(unread))
    return 0


def _told(unread: list[dict[str, Any]]) -> str:
    """Return in words how many answers were not read or not compared, by language."""
    told = []
    for kind, words in (("not_read", "not read"), ("report_not_read", "not held against a report")):
        by_language = Counter(row["language"] for row in unread if row["kind"] == kind)
        if by_language:
            looks = ", ".join(f"{n:,} {language}" for language, n in by_language.most_common())
            told.append(f"{counted(by_language.total(), 'answer')} {words} ({looks})")
    return "; ".join(told) + ": the rules read English"


def _is_hint(row: dict[str, Any]) -> bool:
    return row["source"] == "detector" and row["kind"] in HINT_KINDS
