"""``--metric fineradscore``: ask a judge about each report, store its answers and print them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from rexview.analysis.run_models.run_request import RunSubjects
from rexview.cli.foreground_run import run_with_progress
from rexview.cli.output import as_json, print_remaining
from rexview.cli.report_pairs import (
    ComparedReports,
    name_file,
    pair_reports,
    print_metric,
    summarise_metric,
)
from rexview.cli.run import plan_subject_run, print_dry_run
from rexview.errors import MetricsRefused
from rexview.metrics.fineradscore import (
    CorrectedReport,
    ReportSubject,
    build_line_edit_asking,
    corrections_reader,
    edit_rows,
    find_corrected_reports,
    judge_metric_identity,
    judging_prompt,
    read_kept_corrections,
    report_subject,
)
from rexview.metrics.kept_values import MetricValues, write_edits, write_values
from rexview.models.running.cost_estimate import estimate_cost
from rexview.untrusted_input import printable_text
from rexview.vocab import english_count

if TYPE_CHECKING:
    from rexview.models.backend import Prompt
    from rexview.models.running.run_progress import RunProgress


_WIDEST_LAST: Final = ("impression", "findings", "findings+impression")


def compute_judged_metric(options: argparse.Namespace) -> int:
    """Ask about reports that the judge has not answered yet, then store all its answers.

    Raises
    ------
    MetricsRefused, RunRefused, RunError, MetricsError
        The metric cannot be computed with these options, or its files cannot be written.
    """
    if not options.judge:
        raise MetricsRefused("Say which model is the judge: --judge MODEL.")
    if options.out:
        raise MetricsRefused(
            "What a judge says is kept in the set's folder: leave --out away, and copy the set to "
            "where it can be written."
        )
    about = pair_reports(options, ("findings",))
    about.tell_missing()
    prompt = judging_prompt()
    subjects = [report_subject(pair) for one, _ in about.compared for pair in one]
    if not subjects:
        print("No generated report can be compared with a reference.", file=sys.stderr)
        return 1
    said = read_kept_corrections(about.review_set.folder, options.judge, prompt)
    left = [
        one
        for one in subjects
        if one.id not in said or (options.again and not said[one.id].answered)
    ]
    if before := len(subjects) - len(left):
        words = (
            f"{english_count(before, 'report')} judged before by {options.judge}, not asked again."
        )
        print(printable_text(words), file=sys.stderr)
    wanted = RunSubjects(tuple(one.id for one in left), prompt)
    plan = plan_subject_run(about.review_set, options, options.judge, wanted, budget=options.budget)
    asking = build_line_edit_asking(subjects, plan.spec)
    if options.dry_run:
        source = "a few corrections a report, until some have come"
        return print_dry_run(
            plan, asking, estimate_cost(asking, plan.left, plan.spec.card, source), options
        )
    local = {"yes": options.yes, "download": options.download}
    ended = run_with_progress(plan, asking, as_lines=options.json, **local) if plan.left else None
    return _store_results(options, about, subjects, prompt, ended)


def _store_results(
    options: argparse.Namespace,
    about: ComparedReports,
    subjects: Sequence[ReportSubject],
    prompt: Prompt,
    ended: RunProgress | None,
) -> int:
    """Write values and corrections of all the judge's answers; report what is missing."""
    review_set, name = about.review_set, options.judge
    said = read_kept_corrections(review_set.folder, name, prompt)
    reports = find_corrected_reports(subjects, said)
    told = []
    for one, scope in about.compared:
        identity = judge_metric_identity(name, prompt, scope)
        of_scope = [report for report in reports if report.subject.pair.scope == one.scope]
        values = tuple(
            (report.subject.pair.case.id, report.subject.pair.answer.model, float(report.score))
            for report in of_scope
        )
        found = MetricValues(identity, values, None, len(list(one)) - len(values))
        file, given = write_values(review_set, identity, found.rows, about.models)
        told.append(summarise_metric([found], file, given, about))
    # earlier runs may have covered other scopes
    every = [report_subject(pair) for scope in _WIDEST_LAST for pair in about.compare(scope)]
    reader = corrections_reader(name, corrected=about.corrected is not None)
    rows = edit_rows(review_set, _widest_scopes(find_corrected_reports(every, said)), reader)
    edits, _ = write_edits(review_set, reader, rows, about.models)
    unread = [
        {
            "case": one.pair.case.id,
            "model": one.pair.answer.model,
            "scope": one.pair.scope,
            "outcome": said[one.id].outcome,
            "why": said[one.id].why,
        }
        for one in subjects
        if one.id in said and not said[one.id].answered
    ]
    unasked = sum(one.id not in said for one in subjects)
    status = 1 if unread or unasked else 0
    corrections = sum(row["action"] != "keep" for row in rows)
    if options.json:
        values_json = {"values": told, "missing": about.missing_json()}
        more = {"unreadable": unread, "unasked": unasked, "corrections": corrections}
        place = name_file(edits, review_set.folder) if rows else None
        run = asdict(ended) if ended else None
        print(as_json({**values_json, **more, "edits": place, "run": run, "exit": status}))
        return status
    for of_metric in told:
        if of_metric["models"]:
            print_metric(of_metric)
    if rows:
        print(f"{english_count(corrections, 'correction')}: {name_file(edits, review_set.folder)}")
    words = f"{english_count(unasked, 'report')} without an answer" if unasked else ""
    print_remaining(ended, unread, words)
    return status


def _widest_scopes(reports: Iterable[CorrectedReport]) -> list[CorrectedReport]:
    """Return for each report the corrections of the widest scope, so that none is listed twice."""
    widest: dict[tuple[str, str], CorrectedReport] = {}
    for one in sorted(reports, key=lambda one: _WIDEST_LAST.index(one.subject.pair.scope)):
        widest[one.subject.pair.case.id, one.subject.pair.answer.model] = one
    return list(widest.values())
