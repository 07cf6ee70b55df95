"""``python -m rexview stats``: the tables of scores, tests and readers."""

from __future__ import annotations

import argparse
from typing import Any

from rexview.cli.arguments import SET, new_command
from rexview.cli.output import as_json
from rexview.cli.reviews import reviews_of
from rexview.cli.scanning import scan, with_own_metrics


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
    from rexview.analysis.memory.study import only_finished
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
