"""Failures: how often each model fails, whether differences are real, and on which cases."""

import streamlit as st

from rexview.ui.failures import failure_rates as failures_widgets
from rexview.ui.failures.page_parts import VALIDATE, WORDS, choose_view, open_view
from rexview.ui.failures.written_counts import show_own_words_by_model
from rexview.ui.failures.written_failures import show_written_failures
from rexview.ui.failures.written_sample import show_head as show_sample_head
from rexview.ui.failures.written_sample import show_round
from rexview.ui.filter_panel import open_filtered_set, show_head
from rexview.ui.judge import judge_opinions as judge_widgets
from rexview.ui.judge.judge_opinions import choose_judge
from rexview.ui.meeting.pinning import pin_filter
from rexview.ui.web.access import permissions
from rexview.ui.web.app.shell import open_review_set, show_nothing_yet
from rexview.ui.web.link.pages import PAGE_DATA, PAGE_FAILURES, PAGE_RUN_MODELS
from rexview.ui.web.server import query_cache, review_sets
from rexview.words import tr

permissions.guard(PAGE_FAILURES)
if open_view() == VALIDATE:
    opened = open_review_set()
    show_sample_head()

    @st.fragment
    def show_sample() -> None:
        """Show one answer of a sample, in a fragment: the next one does not rebuild the page."""
        permissions.guard(PAGE_FAILURES)
        show_round(opened)

    show_sample()
    st.stop()
filtered = open_filtered_set(counts_failures=True)
engine, case_filter = filtered.engine, filtered.case_filter
review_sets.scan_first(filtered.review_set, engine, case_filter)
show_head(filtered, tr("Failures"))

if choose_view() == WORDS:
    show_written_failures(filtered)
    st.stop()

with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
    counted = failures_widgets.choose_counted()
    judge = choose_judge(engine.facts)
    pin_filter(filtered.review_set, engine, case_filter, filtered.counts.total)
if judge is not None:
    judge_widgets.show_failures_link(judge)
with st.spinner(tr("Computing rates and intervals…")):
    tables = query_cache.failures(engine, case_filter, counted=counted)
if not tables.models:
    show_nothing_yet(
        tr(
            "No model has answered these cases yet. Add answers to the review set, "
            "as FORMAT.md describes, then reload the Data page."
        ),
        (PAGE_DATA, tr("Bring in answers")),
        (PAGE_RUN_MODELS, tr("Have a model answer")),
    )
    st.stop()

if case_filter.failures or case_filter.sources or case_filter.judged or case_filter.findings:
    st.caption(tr("Failures in the filter are ignored here: all failures are counted."))
failures_widgets.show_rates(tables, engine.facts)
show_own_words_by_model(filtered.review_set)
judge_widgets.show_failures(engine, case_filter, judge)
failures_widgets.show_groups(engine, case_filter, tables)
