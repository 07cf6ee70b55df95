"""The progress of the failure scan, with Stop, Continue, Begin again and Update.

It updates itself every few seconds and redraws only itself: numbers on the page change when the
user requests it. If the scan takes seconds, they change once, at its end.
"""

from __future__ import annotations

import html
from typing import Final

import streamlit as st

from rexview.analysis import CaseFilter, Engine, ScanProgress
from rexview.analysis.case.case_page import CasePage
from rexview.analysis.failures import not_judged_caption
from rexview.detect.scan.background_scan import BackgroundProgress
from rexview.metrics.background_computation import ComputedMetrics
from rexview.schema import ReviewSet
from rexview.ui.safe_text import as_markdown
from rexview.ui.web.access import permissions
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.in_app import href, linked_html
from rexview.ui.web.link.pages import PAGE_CASE, PAGE_OVERVIEW
from rexview.ui.web.server import failure_scans, review_sets
from rexview.vocab import duration_text
from rexview.words import counted, tr, trn

# The strip's text: the progress of the failure scan, and the part that this page counts.


def progress_text(progress: BackgroundProgress, shown: ScanProgress) -> str:
    """Return the progress as plain text; ``shown`` is the part that the page counts."""
    all_answers = counted(progress.answers, "answer")
    of_all = tr("{looked:,} of {all_answers}").format(
        looked=progress.looked, all_answers=all_answers
    )
    if progress.state == "finished":
        parts = [
            tr("All {all_answers} have been checked for failures.").format(all_answers=all_answers)
        ]
    elif progress.state == "running":
        parts = [
            tr("Looking for failures: {join}.").format(join=", ".join([of_all, *_pace(progress)]))
        ]
    elif progress.state == "stopped":
        parts = [tr("Looking for failures stopped at {of_all}.").format(of_all=of_all)]
    else:
        parts = [tr("Looking for failures ended at {of_all}.").format(of_all=of_all)]
    parts.append(progress.message)
    if progress.looked > shown.looked:
        counts = (
            tr("the first {looked:,}").format(looked=shown.looked)
            if shown.looked
            else tr("none of them yet")
        )
        parts.append(tr("This page counts {counts}.").format(counts=counts))
    return " ".join(filter(None, parts))


def _pace(progress: BackgroundProgress) -> list[str]:
    said = []
    if progress.per_second:
        said.append(tr("{per_second:,.0f} a second").format(per_second=progress.per_second))
    if progress.seconds_left is not None:
        said.append(tr("{duration} left").format(duration=duration_text(progress.seconds_left)))
    return said


# Answers that could not be judged, as HTML: each is a link to its case.

_MOST_NAMED: Final = 5


def unjudged_answers_html(engine: Engine, case_filter: CaseFilter) -> str:
    """Return how many answers in a filter could not be judged, with links to the first ones.

    Empty if all could.
    """
    failed = engine.scanned(case_filter).failed
    if not failed:
        return ""
    links = [
        _case_link(case, f"{case} ({engine.facts.models[model]})")
        for case, model in engine.not_judged(case_filter, _MOST_NAMED)
    ]
    more = (
        tr(", and {failed:,} more").format(failed=failed - len(links))
        if failed > len(links)
        else ""
    )
    caption = html.escape(not_judged_caption(failed).removesuffix("."))
    return f'<p class="rx-unjudged">{caption}: {", ".join(links)}{more}.</p>'


def _case_link(case: str, label: str) -> str:
    address = html.escape(href(PAGE_CASE, link_keys.link_query(CaseFilter(), case=case)))
    return f'<a href="{address}" data-rx-page>{html.escape(label)}</a>'


REFRESH_S: Final = 2.0
"""Seconds between two updates of the strip."""
_REFRESH_OF_FEW_S: Final = 0.5
"""Seconds between two updates if the scan takes seconds."""
_FOLLOW_S: Final = 0.7
"""Seconds between two checks of the Case page for the flags of its case."""
_KEY: Final = "rx_scan"


def show_progress(review_set: ReviewSet, engine: Engine, case_filter: CaseFilter) -> None:
    """Show the strip while the page does not have the flags of all answers.

    Below it are the answers in the filter that could not be judged.
    """
    shown = engine.scanned(CaseFilter())
    if not shown.is_complete:
        few = review_sets.get_failure_scan(review_set).has_few_answers
        st.fragment(_live, run_every=_REFRESH_OF_FEW_S if few else REFRESH_S)(review_set, shown)
    if not_judged := unjudged_answers_html(engine, case_filter):
        linked_html(not_judged, key="rx_not_judged")


def _live(review_set: ReviewSet, shown: ScanProgress) -> None:
    permissions.guard(PAGE_OVERVIEW)  # every page with failures is for the same roles
    found = review_sets.get_failure_scan(review_set)
    progress = found.progress
    if found.has_few_answers and progress.state == "finished":
        failure_scans.use_newest_snapshot(found)  # nobody has read the numbers yet
        st.rerun()
    share = progress.looked / max(progress.answers, 1)
    text = html.escape(progress_text(progress, shown))
    lead = permissions.current_role() == "lead"  # the scan is shared by all visitors
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=_KEY):
        st.html(f'<p class="rx-scan" style="--rx-share:{share:.4f}">{text}</p>')
        if progress.looked > shown.looked and st.button(tr("Update"), key=f"{_KEY}_update"):
            failure_scans.use_newest_snapshot(found)
            st.rerun()
        if lead and progress.state == "running":
            st.button(tr("Stop"), key=f"{_KEY}_stop", on_click=found.stop, type="tertiary")
        elif lead and progress.state == "stopped":
            st.button(tr("Continue"), key=f"{_KEY}_resume", on_click=found.resume, type="tertiary")
        elif lead and progress.state == "broken":
            st.button(
                tr("Begin again"), key=f"{_KEY}_again", on_click=found.begin_again, type="tertiary"
            )


@st.fragment(run_every=_FOLLOW_S)
def follow_case(review_set: ReviewSet, page: CasePage) -> None:
    """Show the flags of a case as soon as they exist, if some of its answers have none yet."""
    permissions.guard(PAGE_CASE)
    now = review_sets.case_page(review_set, page.case.id)
    if now is None or now.not_yet != page.not_yet:
        st.rerun()


# Progress of the app's own metrics of reports, on pages that show them.


def show_metrics_progress(review_set: ReviewSet) -> None:
    """Show for how many reports the page has the app's own metrics; nothing if for all."""
    words = metrics_progress_text(review_sets.metrics_progress(review_set))
    if words:
        st.caption(as_markdown(words))


def metrics_progress_text(shown: ComputedMetrics) -> str:
    """Return the progress as plain text; empty if nothing is missing."""
    parts = []
    if shown.done < shown.answers:
        parts.append(
            trn(
                "BLEU-2 and finding-level agreement so far: of {done:,} of {n:,} report.",
                "BLEU-2 and finding-level agreement so far: of {done:,} of {n:,} reports.",
                shown.answers,
            ).format(done=shown.done, n=shown.answers)
        )
    if shown.failed:
        parts.append(
            trn(
                "BLEU-2 and agreement could not be computed for {n:,} report.",
                "BLEU-2 and agreement could not be computed for {n:,} reports.",
                shown.failed,
            ).format(n=shown.failed)
        )
    if shown.not_read:
        parts.append(
            trn(
                "No finding-level agreement for {n:,} report: report or reference is not "
                "in English.",
                "No finding-level agreement for {n:,} reports: report or reference is not "
                "in English.",
                shown.not_read,
            ).format(n=shown.not_read)
        )
    return " ".join(filter(None, [*parts, shown.message]))
