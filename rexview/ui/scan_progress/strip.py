"""The progress of the search for failures, with Stop, Continue, Begin again and Update.

It looks by itself every few seconds and draws only itself anew: numbers on the page change when its
visitor asks for that. Where the search takes seconds they change once, when it has ended.
"""

from __future__ import annotations

import html
from typing import Final

import streamlit as st

from rexview.analysis import CaseFilter, Engine, Scanned
from rexview.analysis.case.record import CasePage
from rexview.schema import ReviewSet
from rexview.ui.access import permissions
from rexview.ui.link.in_app import linked_html
from rexview.ui.link.pages import PAGE_CASE, PAGE_OVERVIEW
from rexview.ui.scan_progress.html import not_judged_html
from rexview.ui.scan_progress.words import progress_text
from rexview.ui.server import failure_scans, review_sets
from rexview.words import tr

REFRESH_S: Final = 2.0
"""How often the strip looks how far the search is."""
_REFRESH_OF_FEW_S: Final = 0.5
"""How often it looks where the search takes seconds."""
_FOLLOW_S: Final = 0.7
"""How often the Case page looks whether the flags of its case are there."""
_KEY: Final = "rx_scan"


def show_progress(review_set: ReviewSet, engine: Engine, case_filter: CaseFilter) -> None:
    """Show the strip while the page's flags are not those of all answers.

    Below it stands which of the answers that the filter may leave could not be judged.
    """
    shown = engine.scanned(CaseFilter())
    if not shown.is_complete:
        few = review_sets.failures_found(review_set).has_few_answers
        st.fragment(_live, run_every=_REFRESH_OF_FEW_S if few else REFRESH_S)(review_set, shown)
    if not_judged := not_judged_html(engine, case_filter):
        linked_html(not_judged, key="rx_not_judged")


def _live(review_set: ReviewSet, shown: Scanned) -> None:
    permissions.guard(PAGE_OVERVIEW)  # every page with failures is for the same roles
    found = review_sets.failures_found(review_set)
    progress = found.progress
    if found.has_few_answers and progress.state == "finished":
        failure_scans.show_newest(found)  # nobody has read the numbers yet
        st.rerun()
    share = progress.looked / max(progress.answers, 1)
    text = html.escape(progress_text(progress, shown))
    lead = permissions.role() == "lead"  # it is one search for all visitors
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=_KEY):
        st.html(f'<p class="rx-scan" style="--rx-share:{share:.4f}">{text}</p>')
        if progress.looked > shown.looked and st.button(tr("Update"), key=f"{_KEY}_update"):
            failure_scans.show_newest(found)
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
    """Show the flags of a case as soon as they are there, where it has answers without any yet."""
    permissions.guard(PAGE_CASE)
    now = review_sets.case_page(review_set, page.case.id)
    if now is None or now.not_yet != page.not_yet:
        st.rerun()
