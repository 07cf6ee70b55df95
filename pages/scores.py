"""Scores: how good is each model per dimension? Every number opens the answers behind it."""

import streamlit as st

from rexview.ui.filter_panel import open_filtered_set, show_content_order_switch, show_head
from rexview.ui.judge import judge_opinions as judge_widgets
from rexview.ui.judge.judge_opinions import choose_judge
from rexview.ui.scores import score_tables as scores_html
from rexview.ui.scores import score_tables as scores_widgets
from rexview.ui.web.access import permissions
from rexview.ui.web.app.shell import show_nothing_yet
from rexview.ui.web.link.in_app import linked_html
from rexview.ui.web.link.pages import PAGE_DATA, PAGE_RUN_MODELS, PAGE_SCORE, PAGE_SCORES
from rexview.ui.web.server import query_cache
from rexview.words import tr

permissions.guard(PAGE_SCORES)
filtered = open_filtered_set()
engine, case_filter = filtered.engine, filtered.case_filter
show_head(filtered, tr("Scores"))

with st.spinner(tr("Computing means and intervals…")):
    tables = query_cache.scores(engine, case_filter)
headline = scores_html.headline_html(tables)
linked_html(headline, key="scores_headline")

if not tables.models:
    show_nothing_yet(
        tr(
            "No model has answered these cases yet. Add answers and readers' scores "
            "to the review set, as FORMAT.md describes, then reload the Data page."
        ),
        (PAGE_DATA, tr("Bring in answers")),
        (PAGE_RUN_MODELS, tr("Have a model answer")),
    )
    st.stop()

judge = choose_judge(engine.facts)
if tables.dimensions:
    show_content_order_switch()
    scores_widgets.show_tables(tables, engine.facts)
    judge_widgets.show_scores(engine, case_filter, judge)
    scores_widgets.show_charts(tables, engine.facts)
    scores_widgets.show_split(engine, case_filter, tables)
else:
    show_nothing_yet(
        tr(
            "None of these answers has a score. Scores are read from scores.csv in "
            "the review set: one row for each case, model, reader and dimension. "
            "With a filter, widen it."
        ),
        (PAGE_SCORE, tr("Score cases")),
    )
    judge_widgets.show_scores(engine, case_filter, judge)
scores_widgets.show_incomplete_answers(tables, engine.facts)
if tables.dimensions:
    scores_widgets.show_published(tables)
