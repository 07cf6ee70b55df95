"""Multiple choice: accuracy of models and readers, by question, and their agreement."""

import streamlit as st

from rexview.ui.filter_panel import open_filtered_set, show_head
from rexview.ui.multiple_choice import choice_accuracy as choice_html
from rexview.ui.multiple_choice import choice_accuracy as choice_widgets
from rexview.ui.web.access import permissions
from rexview.ui.web.app.shell import show_nothing_yet
from rexview.ui.web.link.in_app import linked_html
from rexview.ui.web.link.pages import PAGE_CURATE, PAGE_MULTIPLE_CHOICE, PAGE_RUN_MODELS
from rexview.ui.web.server import query_cache
from rexview.words import tr

permissions.guard(PAGE_MULTIPLE_CHOICE)
filtered = open_filtered_set()
engine, case_filter = filtered.engine, filtered.case_filter
show_head(filtered, tr("Multiple choice"))

if not engine.raters:
    show_nothing_yet(
        tr("This review set has no answers to choice questions whose right option is known."),
        (PAGE_CURATE, tr("Make questions")),
        (PAGE_RUN_MODELS, tr("Have a model answer")),
    )
    choice_widgets.show_published(engine, case_filter)
    st.stop()

with st.spinner(tr("Computing accuracies and intervals…")):
    tables = query_cache.choices(engine, case_filter)
if not tables.total:
    st.info(tr("No answer to a choice question matches the filter: widen it."))
    choice_widgets.show_published(engine, case_filter)
    st.stop()

linked_html(choice_html.headline_html(tables), key="choices_headline")
choice_widgets.show_accuracy(engine, tables)
choice_widgets.show_groups(engine, case_filter, tables)
choice_widgets.show_readers(engine, case_filter, tables)
choice_widgets.show_comparisons(engine, case_filter, tables)
choice_widgets.show_agreement(engine, case_filter, tables)
choice_widgets.show_published(engine, case_filter, tables)
