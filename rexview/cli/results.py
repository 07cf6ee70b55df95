"""``stats`` and ``failures``: the tables of a set, and the scan behind them."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from rexview.addresses import remote_set_address
from rexview.cli.arguments import (
    SET_ARGUMENT,
    add_engine,
    new_command,
    open_engine,
    print_interrupted,
)
from rexview.cli.output import as_json, progress_printer
from rexview.cli.reviews import open_set_reviews
from rexview.errors import StorageRefused
from rexview.untrusted_input import printable_text
from rexview.vocab import HINT_KINDS, english_count, english_noun

if TYPE_CHECKING:
    from rexview.analysis.query.engine import Engine
    from rexview.detect.scan.scan import Scan
    from rexview.schema import ReviewSet
    from rexview.spread.workers import WorkerProvider
    from rexview.store import Reviews


_SECONDS_BETWEEN: Final = 0.1


def run_detectors_with_progress(
    review_set: ReviewSet, *, keep_beside: bool = False, spread: WorkerProvider | None = None
) -> Scan:
    """Run the detectors on all answers without stored results.

    They run on all cores of this machine, or on the workers of ``spread``.
    """
    from rexview.detect.scan.background_scan import run_blocking_scan
    from rexview.settings import load_settings

    show = progress_printer("answers looked at")
    found, message = run_blocking_scan(
        review_set, load_settings(), show, keep_beside=keep_beside, spread=spread
    )
    if message:
        print(printable_text(message), file=sys.stderr)
    return found


def with_computed_metrics(review_set: ReviewSet) -> ReviewSet:
    """Add the app's own metrics of its reports to a set, as on pages."""
    from rexview.disk_cache import open_cache
    from rexview.metrics.background_computation import (
        add_computed_metrics,
        computed_metrics,
        has_report_cases,
    )
    from rexview.settings import load_settings

    if not has_report_cases(review_set):
        return review_set
    show, keep = progress_printer("reports compared"), open_cache("metrics", load_settings())
    while not (known := computed_metrics(review_set, keep)).finished:
        if show:
            show(known.done, known.answers)
        time.sleep(_SECONDS_BETWEEN)
    if known.message:
        print(printable_text(known.message), file=sys.stderr)
    return add_computed_metrics(review_set, known)


def with_finished_reviews(review_set: ReviewSet) -> tuple[ReviewSet, Reviews]:
    """Return a set with people's finished entries, and its reviews."""
    from rexview.analysis.query.memory.study_engine import (
        without_unfinished_scores,
    )
    from rexview.settings import load_settings
    from rexview.store import merge_reviews, open_reviews

    reviews = open_reviews(review_set, load_settings())
    return without_unfinished_scores(review_set, merge_reviews(review_set, reviews)), reviews


def make_engine(written: ReviewSet, reviews: Reviews) -> Engine:
    """Return the engine of a set, after all detectors have run."""
    from rexview.analysis.case.comments import count_comments_by_case
    from rexview.analysis.query.memory.memory_engine import build_memory_engine
    from rexview.settings import load_settings

    settings = load_settings()
    return build_memory_engine(
        written,
        gap_threshold=settings.gap_threshold,
        disagreement_threshold=settings.disagreement_threshold,
        scan=run_detectors_with_progress(written),
        comments=count_comments_by_case(reviews.comments()),
    )


def filtered_case_ids(review_set: ReviewSet, query: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Return the ids of the cases that match a link's query, in the order of pages."""
    from rexview.analysis.query.filter.case_filter import CaseFilter

    wanted = CaseFilter.from_query(query)
    return make_engine(*with_finished_reviews(review_set)).page(wanted, 0, review_set.cases.height)


# ``python -m rexview stats``: the tables of scores, tests and readers.


def add_stats(commands: Any) -> None:
    """Add the command ``stats``."""
    parser = new_command(commands, "stats", _stats, "print the tables of scores, tests and readers")
    argument = parser.add_argument
    argument("folder", **SET_ARGUMENT)
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
    from rexview.analysis.query.memory.study_engine import (
        without_unfinished_scores,
    )
    from rexview.curation.coverage import coverage_rows
    from rexview.detect import judged_answers, survey_scan
    from rexview.detect.self_contradiction import compare_repeats
    from rexview.metrics.identity import RECIPROCALS, known_metric
    from rexview.settings import load_settings
    from rexview.stats.report.document import build_statistics_report
    from rexview.stats.report.lists import generated_report_rows
    from rexview.stats.report.text import report_text
    from rexview.store import merge_reviews

    reviews = open_set_reviews(options.folder)
    review_set = reviews.review_set
    if not options.files_only:
        review_set = without_unfinished_scores(review_set, merge_reviews(review_set, reviews))
    found = survey_scan(run_detectors_with_progress(review_set))
    tables = build_statistics_report(
        review_set,
        gap_threshold=load_settings().gap_threshold,
        content_order=options.order,
        judged=judged_answers(found),
        verdicts=found.verdicts,
        again=compare_repeats(review_set),
        generated=generated_report_rows(
            with_computed_metrics(review_set), known_metric, not_averaged=RECIPROCALS
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
    argument("folder", **SET_ARGUMENT)
    argument("--json", action="store_true", help="a JSON list instead of lines")
    keep = "keep what is found beside the tables of the set, for whoever opens it next"
    argument("--keep", action="store_true", help=keep)
    add_engine(parser)


def _failures(options: argparse.Namespace) -> int:
    from rexview.detect import iterate_flag_rows, list_unsupported_texts
    from rexview.reviewset import load_review_set

    if options.keep and remote_set_address(options.folder):
        raise StorageRefused("Nothing is written into a storage: leave out --keep.")
    review_set = load_review_set(options.folder)
    try:
        with open_engine(options) as spread:
            found = run_detectors_with_progress(review_set, keep_beside=options.keep, spread=spread)
    except KeyboardInterrupt:
        return print_interrupted("What was found is kept: the same command goes on from there.")
    rows, unread = list(iterate_flag_rows(found)), list(list_unsupported_texts(review_set))
    if options.json:
        print(as_json(rows + unread))
    else:
        for row in rows:
            case, model = row["case"], row["model"]
            who = "suggested" if _is_hint(row) else row["source"]
            print(printable_text(f"{case}  {model}  {row['failure']}  ({who})  {row['message']}"))
        hints = sum(map(_is_hint, rows))
        flags = len(rows) - hints
        print(f"{flags} {english_noun(flags, 'flag')}, {hints} {english_noun(hints, 'hint')}")
        if unread:
            print(_unread_text(unread))
    return 0


def _unread_text(unread: list[dict[str, Any]]) -> str:
    """Return in words how many answers were not read or not compared, by language."""
    told = []
    for kind, words in (("not_read", "not read"), ("report_not_read", "not held against a report")):
        by_language = Counter(row["language"] for row in unread if row["kind"] == kind)
        if by_language:
            looks = ", ".join(f"{n:,} {language}" for language, n in by_language.most_common())
            told.append(f"{english_count(by_language.total(), 'answer')} {words} ({looks})")
    return "; ".join(told) + ": the rules read English"


def _is_hint(row: dict[str, Any]) -> bool:
    return row["source"] == "detector" and row["kind"] in HINT_KINDS
