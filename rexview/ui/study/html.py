"""The tables of the Study page as HTML: progress, a plan of assignments, what readers saw."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from rexview.analysis.reader_assignment import Plan
from rexview.analysis.reader_exposure import REPORT, UNBLINDED, Exposure
from rexview.analysis.study import TASKS, ReaderProgress, Task, WorklistProgress
from rexview.store import Assignment
from rexview.ui.tables.number_table import cells, rows_table
from rexview.vocab import moment
from rexview.words import tr, trn

_SEEN: Final = {REPORT: tr("Report"), UNBLINDED: tr("Models named")}
_TIMING: Final = {
    "before": tr("before scoring"),
    "during": tr("while scoring"),
    "after": tr("after scoring"),
}
_ACCEPTED: Final = {
    "before": tr("before scoring, scored all the same"),
    "during": tr("while scoring, scored all the same"),
    "after": tr("after scoring, scored all the same"),
}


def progress_html(rows: Sequence[ReaderProgress], names: Mapping[str, str]) -> str:
    """Lay out the progress of readers as a table."""
    heads = (
        tr("Reader"),
        tr("First"),
        tr("Second"),
        tr("Done"),
        tr("Begun"),
        tr("Skipped"),
        tr("Left"),
        "",
    )
    body = [_progress_row(row, names.get(row.reader, row.reader)) for row in rows]
    return rows_table("rx-study", heads, body)


def _progress_row(row: ReaderProgress, name: str) -> str:
    progress = row.progress
    finished, left = progress.done + progress.skipped, progress.remaining - row.begun
    counts = (row.first, row.second, progress.done, row.begun, progress.skipped, left)
    bar = f'<progress value="{finished}" max="{max(progress.total, 1)}"></progress>'
    amount = tr("{n:,} of {total:,}").format(n=finished, total=progress.total)
    return cells(html.escape(name), *(f"{count:,}" for count in counts), f"{bar} {amount}")


def tasks_html(
    tasks: Mapping[str, Mapping[Task, WorklistProgress]], names: Mapping[str, str]
) -> str:
    """Lay out how far readers are with the tasks besides scoring."""
    shown = [task for task in TASKS if any(task in begun for begun in tasks.values())]
    body = [
        cells(
            html.escape(names.get(reader, reader)),
            *(_task_words(begun[task]) if task in begun else "" for task in shown),
            "",
        )
        for reader, begun in tasks.items()
    ]
    return rows_table("rx-study", (tr("Reader"), *(TASKS[task] for task in shown), ""), body)


def _task_words(progress: WorklistProgress) -> str:
    if not progress.skipped:
        return tr("{n:,} of {total:,}").format(n=progress.done, total=progress.total)
    return tr("{n:,} of {total:,}, {skipped:,} left out").format(
        n=progress.done, total=progress.total, skipped=progress.skipped
    )


def plan_html(
    plan: Plan,
    assignments: Sequence[Assignment],
    strata: Mapping[str, str],
    names: Mapping[str, str],
) -> str:
    """Say what a plan would add to the assignments that there are, reader by reader."""
    now = Counter((one.reader, one.order) for one in assignments)
    added = Counter((one.reader, one.order) for one in plan.added)
    readers = dict.fromkeys(reader for reader, _ in (*now, *added))
    if not readers:
        return f'<p class="rx-quiet">{tr("Choose readers to see who would get which cases.")}</p>'
    rows = []
    for reader in readers:
        counts = [
            text
            for order in ("first", "second")
            for text in (f"{now[reader, order]:,}", _more(added[reader, order]))
        ]
        rows.append(cells(html.escape(names.get(reader, reader)), *counts))
    orders = {(one.case, one.order) for one in assignments}
    orders |= {(one.case, one.order) for one in plan.added}
    first, second = ({case for case, order in orders if order == o} for o in ("first", "second"))
    summary = tr(
        "{first:,} of {total:,} cases have a first reader then, {second:,} a second one."
    ).format(first=len(first), total=len(strata), second=len(second & set(strata)))
    if plan.uncovered:
        uncovered = trn(
            "{n:,} drawn for a second reader gets none: the only one chosen reads them already.",
            "{n:,} drawn for a second reader get none: the only one chosen reads them already.",
            len(plan.uncovered),
        )
        summary += f" {uncovered.format(n=len(plan.uncovered))}"
    heads = (tr("Reader"), tr("First now"), tr("Added"), tr("Second now"), tr("Added"))
    return f'{rows_table("rx-study", heads, rows)}<p class="rx-quiet">{summary}</p>'


def _more(count: int) -> str:
    return f"<b>+{count:,}</b>" if count else "–"


def exposures_html(exposures: Sequence[Exposure], names: Mapping[str, str]) -> str:
    """Lay out what readers saw as a table, the newest first."""
    rows = [
        cells(
            html.escape(names.get(one.reader, one.reader)),
            html.escape(one.case),
            _SEEN[one.seen],
            (_ACCEPTED if one.accepted else _TIMING)[one.timing],
            moment(one.at),
        )
        for one in reversed(exposures)
    ]
    return rows_table(
        "rx-study rx-exposures",
        (tr("Reader"), tr("Case"), tr("Seen"), tr("When"), tr("At")),
        rows,
    )
