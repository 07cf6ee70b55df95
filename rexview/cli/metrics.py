"""``python -m rexview metrics``: compute metrics of the generated reports of a review set.

Exit status: 0 all metrics are computed and stored, 1 some are not, 2 the command cannot run with
these options.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rexview.cli.arguments import (
    OWN_SET_ARGUMENT,
    add_engine,
    new_command,
    open_engine,
    parse_path,
    print_interrupted,
)
from rexview.cli.output import as_json, progress_printer, reporting_errors
from rexview.cli.report_pairs import ComparedReports, pair_reports, print_metric, summarise_metric
from rexview.cli.run import add_model_options, add_repeat_options
from rexview.errors import MetricsRefused, RunRefused
from rexview.untrusted_input import printable_text
from rexview.vocab import english_count

if TYPE_CHECKING:
    from rexview.metrics.identity import MetricId
    from rexview.metrics.kept_values import MetricValues as Found


def add_metrics(commands: Any) -> None:
    """Add the command ``metrics``."""
    purpose = "work out metrics of the generated reports of a review set"
    parser = new_command(commands, "metrics", _metrics, purpose)
    argument = parser.add_argument
    argument("folder", **OWN_SET_ARGUMENT)
    several: dict[str, Any] = {"action": "append", "metavar": "NAME"}
    argument(
        "--metric",
        required=True,
        help="which, see docs/metrics.md; several times for several",
        **several,
    )
    scope = "what is compared: findings, findings+impression or impression"
    argument("--scope", help=scope, **several)
    argument("--reference", choices=("given", "corrected"), default="given", help="compared with")
    argument("--model", action="append", metavar="ID", help="whose reports; all without it")
    out = "write the values to this CSV or JSON Lines file, and nothing into the set"
    argument("--out", type=parse_path, metavar="FILE", help=out)
    argument("--download", action="store_true", help="let packages fetch what they lack")
    argument("--json", action="store_true", help="one JSON object; progress on standard error")
    add_engine(parser)
    judge = parser.add_argument_group("fineradscore, which asks a language model")
    judge.add_argument("--judge", metavar="MODEL", help="its name on the server")
    add_model_options(judge.add_argument)
    resume = "go on with the newest run of this judge, or with the one that is named"
    again = "ask again about reports that the judge refused, or gave no readable answer to"
    add_repeat_options(judge, resume, again)
    judge.add_argument("--dry-run", action="store_true", help="say what would be sent")


@reporting_errors(MetricsRefused, RunRefused)
def _metrics(options: argparse.Namespace) -> int:
    from rexview.metrics.fineradscore import METRIC

    if METRIC not in options.metric:
        return _compute_metrics(options)
    if options.engine != "local":
        raise MetricsRefused(f"{METRIC} asks a server: leave --engine out.")
    if options.metric != [METRIC]:
        raise MetricsRefused(f"{METRIC} is asked for alone.")
    from rexview.cli.fineradscore import compute_judged_metric as judge

    return judge(options)


def _compute_metrics(options: argparse.Namespace) -> int:
    """Compute everything, then store it: a failure leaves all files unchanged."""
    from rexview.harm import load_harm
    from rexview.metrics.answer_metrics import COMPUTED_SCOPES
    from rexview.metrics.blocking_computation import (
        compute_external_values,
        compute_own_values,
    )
    from rexview.metrics.blocking_computation import find_metric as named
    from rexview.metrics.kept_values import check_file
    from rexview.metrics.kept_values import check_values_can_be_kept as check_set

    wanted = [named(name) for name in dict.fromkeys(options.metric)]
    for one in wanted:
        if not isinstance(one, str) and one.missing:
            print(printable_text(one.missing), file=sys.stderr)
            return 1
    if options.out:
        check_file(options.out)
    about = pair_reports(options, COMPUTED_SCOPES)
    if not options.out:
        check_set(options.folder)
    about.tell_missing()
    if not about.reports:
        print("No generated report can be compared with a reference.", file=sys.stderr)
        return 1
    own = about.review_set.info.harm
    harm = load_harm(about.review_set.folder / own if own else None)
    found: list[Found] = []
    try:
        with open_engine(options) as spread:
            for one in wanted:
                if isinstance(one, str):
                    show = progress_printer(f"reports: {one}")
                    found += [
                        compute_own_values(one, pairs, harm, scope, show, spread)
                        for pairs, scope in about.compared
                    ]
                else:
                    print(f"{one.name}: {english_count(about.reports, 'report')}…", file=sys.stderr)
                    given = {"download": options.download, "spread": spread}
                    found += compute_external_values(one, about.compared, **given)
    except KeyboardInterrupt:
        return print_interrupted("Nothing was written.")
    return _store_metric(options, about, found)


def _store_metric(
    options: argparse.Namespace, about: ComparedReports, found: Sequence[Found]
) -> int:
    from rexview.metrics.kept_values import with_digests, write_file, write_values

    told = []
    if options.out:
        every = [row for one in found for row in one.rows]
        write_file(options.out, with_digests(about.review_set, every))
    of_identity: dict[MetricId, list[Found]] = {}
    for one in found:
        of_identity.setdefault(one.identity, []).append(one)
    for identity, parts in of_identity.items():
        rows = [row for one in parts for row in one.rows]
        if not rows:
            continue
        file, given = options.out, 0
        if not options.out:
            file, given = write_values(about.review_set, identity, rows, about.models)
        told.append(summarise_metric(parts, file, given, about))
    if options.json:
        print(as_json({"values": told, "missing": about.missing_json()}))
    else:
        for told_one in told:
            print_metric(told_one)
    return 0 if told else 1
