"""Failures in one's own words beside the others: what was found of each, by model."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from rexview.analysis.written.results import found_in, judged_versions
from rexview.analysis.written.tables import FoundByModel, FoundRow, found_rows
from rexview.analysis.written.validation import KIND, validated
from rexview.errors import StoreError
from rexview.schema import ReviewSet
from rexview.stats.failure_rates import wilson
from rexview.ui.failures.written.html import precision_html
from rexview.ui.html.safe_text import lines_as_markdown
from rexview.ui.link.in_app import linked_html
from rexview.ui.server import review_sets
from rexview.ui.server.loaded_sets import on_tables
from rexview.ui.tables.number_table import NOTHING, linked_number, model_head, table_html
from rexview.words import tr

_HEADS: Final = (
    "",
    tr("Model"),
    tr("Found"),
    tr("Share"),
    tr("95% CI"),
    tr("Answers judged"),
)
_CAPTION: Final = tr(
    "Found by a language model, over all cases that it was asked about, whatever the filter says; "
    "counted with no failure of rules or readers. Precision: of those found and read by a "
    "clinician, those that have it. Intervals by Wilson, patients not grouped."
)


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
            read = review_sets.reviews(review_set).current(KIND)
        except StoreError as error:
            st.error(lines_as_markdown(error), icon=":material/cloud_off:")
            return
        every = []
        newest = {(prompt.id, judge): (prompt, judge) for prompt, judge in reversed(judged)}
        for prompt, judge in sorted(newest.values(), key=lambda one: (one[0].name, one[1])):
            found = found_in(review_set, prompt, judge)
            told = validated(found, read)
            rows = found_rows(found, review_set.model_names)
            every.append(FoundByModel(found, rows, told[0].found if told else None))
        colours = review_sets.colours(review_set)
        drawn = by_model_html(every, review_set.model_names, colours)
        linked_html(drawn, key="failures_in_words_table")


def by_model_html(
    every: Sequence[FoundByModel], names: Mapping[str, str], colours: Mapping[str, str]
) -> str:
    """Lay out each failure with a row for each model; the numbers open their cases."""
    body = []
    for one in every:
        for place, row in enumerate(one.rows):
            cells = model_head(names[row.model], colours.get(row.model, "")) + _cells(row)
            if place:
                body.append(f"<tr>{cells}</tr>")
                continue
            judge = html.escape(tr("by {judge}").format(judge=one.found.judge))
            head = (
                f'<th scope="rowgroup" rowspan="{len(one.rows)}">'
                f"{html.escape(one.found.prompt.name)}<small>{judge}</small>"
                f"{precision_html(one.precision)}</th>"
            )
            body.append(f'<tr class="rx-first">{head}{cells}</tr>')
    return table_html(tr("Failures in your own words by model"), _HEADS, body, _CAPTION)


def _cells(row: FoundRow) -> str:
    count = row.counts["yes"]
    found = linked_number(count, f"<b>{count.value:,}</b>") if count.value else "0"
    if not row.judged:
        return f"<td>{found}</td><td>{NOTHING}</td><td>{NOTHING}</td><td>0</td>"
    interval = wilson(count.value, row.judged)
    limits = tr("{low:.0%} to {high:.0%}").format(low=interval.low, high=interval.high)
    share = f"{count.value / row.judged:.0%}"
    return f"<td>{found}</td><td>{share}</td><td>{limits}</td><td>{row.judged:,}</td>"
