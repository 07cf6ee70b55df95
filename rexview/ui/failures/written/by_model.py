"""Failures in one's own words beside the others: what was found of each, by model."""

from __future__ import annotations

import streamlit as st

from rexview.analysis.written.failures import KIND as WORDS
from rexview.analysis.written.failures import written_failures
from rexview.analysis.written.results import found_in, judged_versions
from rexview.analysis.written.tables import FoundByModel, found_rows
from rexview.analysis.written.validation import KIND as READ
from rexview.analysis.written.validation import validated
from rexview.errors import StoreError
from rexview.judge.written.words import name_of
from rexview.models.prompt import Prompt
from rexview.schema import ReviewSet
from rexview.ui.failures.written.html import by_model_html
from rexview.ui.html.safe_text import lines_as_markdown
from rexview.ui.link.in_app import linked_html
from rexview.ui.server import review_sets
from rexview.ui.server.loaded_sets import on_tables
from rexview.words import tr


def show_own_words_by_model(review_set: ReviewSet) -> None:
    """Offer what judges found of failures in words; read once it is opened: it can take seconds."""
    if on_tables():
        return
    judged = judged_versions(review_set)
    if not judged:
        return
    box = st.expander(tr("Failures in your own words"), key="failures_in_words", on_change="rerun")
    if not box.open:
        return
    with box, st.spinner(tr("Reading what was found…")):
        try:
            reviews = review_sets.reviews(review_set)
            words, read = reviews.current(WORDS), reviews.current(READ)
        except StoreError as error:
            st.error(lines_as_markdown(error), icon=":material/cloud_off:")
            return
        standing = {one.failure for one in written_failures(review_set.folder, words)[0]}
        newest: dict[tuple[str, str], Prompt] = {}
        for prompt, judge in judged:
            if name_of(prompt) in standing:
                newest.setdefault((prompt.id, judge), prompt)
        every = []
        for (_, judge), prompt in sorted(newest.items(), key=lambda one: (one[1].name, one[0])):
            found = found_in(review_set, prompt, judge)
            told = validated(found, read)
            rows = found_rows(found, review_set.model_names)
            every.append(FoundByModel(found, rows, told[0].found if told else None))
        if not every:
            st.caption(tr("None that was looked for is left: their words were removed."))
            return
        colours = review_sets.colours(review_set)
        drawn = by_model_html(every, review_set.model_names, colours)
        linked_html(drawn, key="failures_in_words_table")
