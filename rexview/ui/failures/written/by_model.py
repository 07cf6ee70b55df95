"""Failures in one's own words beside the others: what was found and marked of each, by model."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import streamlit as st

from rexview.analysis.written_failures import counted_marks, marked, standing_failures
from rexview.analysis.written_results import VALIDATION_KIND as READ
from rexview.analysis.written_results import (
    ByModel,
    found_in,
    found_rows,
    joined_rows,
    judged_versions,
    validated,
)
from rexview.errors import StoreError
from rexview.judge.written import name_of
from rexview.models.backend import Prompt
from rexview.schema import Mark, ReviewSet
from rexview.store import Stored
from rexview.ui.failures.written.html import by_model_html
from rexview.ui.html.safe_text import lines_as_markdown
from rexview.ui.link.in_app import linked_html
from rexview.ui.server import review_sets
from rexview.ui.server.server_state import on_tables
from rexview.words import tr


def show_own_words_by_model(review_set: ReviewSet) -> None:
    """Offer what judges found and people marked of failures in words.

    It is read once it is opened: that can take seconds.
    """
    if on_tables():
        return
    written = review_sets.newest(review_set)
    judged, marks = judged_versions(review_set), counted_marks(written)
    if not judged and not marks:
        return
    box = st.expander(tr("Failures in your own words"), key="failures_in_words", on_change="rerun")
    if not box.open:
        return
    with box, st.spinner(tr("Reading what was found…")):
        try:
            read = review_sets.reviews(review_set).current(READ)
        except StoreError as error:
            st.error(lines_as_markdown(error), icon=":material/cloud_off:")
            return
        titles = {name: words.prompt.name for name, words in standing_failures(written).items()}
        newest = _newest(judged, titles)
        every = [_found(written, prompt, judge, marks, read) for prompt, judge in newest]
        asked = {name_of(prompt) for prompt, _ in newest}
        by_people = ((name, marked(marks, written.model_names, name).rows) for name in titles)
        every += [
            ByModel(titles[name], None, joined_rows((), rows, written.model_names))
            for name, rows in by_people
            if rows and name not in asked
        ]
        if not every:
            st.caption(tr("None that was looked for is left: their words were removed."))
            return
        colours = review_sets.colours(review_set)
        drawn = by_model_html(every, review_set.model_names, colours)
        linked_html(drawn, key="failures_in_words_table")


def _newest(
    judged: Sequence[tuple[Prompt, str]], standing: Collection[str]
) -> list[tuple[Prompt, str]]:
    """Return the words that each judge was asked with last, of failures that stand, by title."""
    newest: dict[tuple[str, str], Prompt] = {}
    for prompt, judge in judged:
        if name_of(prompt) in standing:
            newest.setdefault((prompt.id, judge), prompt)
    in_order = sorted(newest.items(), key=lambda one: (one[1].name, one[0]))
    return [(prompt, judge) for (_, judge), prompt in in_order]


def _found(
    written: ReviewSet, prompt: Prompt, judge: str, marks: Sequence[Mark], read: Sequence[Stored]
) -> ByModel:
    found, models = found_in(written, prompt, judge), written.model_names
    told = validated(found, read)
    by_people = marked(marks, models, name_of(prompt)).rows
    rows = joined_rows(found_rows(found, models), by_people, models)
    return ByModel(prompt.name, judge, rows, told[0].found if told else None)
