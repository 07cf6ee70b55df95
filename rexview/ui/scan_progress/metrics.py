"""Says how far the app's own metrics of reports are, where a page shows them."""

from __future__ import annotations

import streamlit as st

from rexview.metrics.computed import ComputedMetrics
from rexview.schema import ReviewSet
from rexview.ui.html.safe_text import as_markdown
from rexview.ui.server import review_sets
from rexview.words import trn


def show_metrics_progress(review_set: ReviewSet) -> None:
    """Say of how many reports the page has the app's own metrics; nothing when of all."""
    words = metrics_text(review_sets.metrics_progress(review_set))
    if words:
        st.caption(as_markdown(words))


def metrics_text(shown: ComputedMetrics) -> str:
    """Say it in words, empty when nothing is missing. Plain text."""
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
                "BLEU-2 and agreement could not be worked out for {n:,} report.",
                "BLEU-2 and agreement could not be worked out for {n:,} reports.",
                shown.failed,
            ).format(n=shown.failed)
        )
    if shown.not_read:
        parts.append(
            trn(
                "No finding-level agreement for {n:,} report: report or reference is not in "
                "English, and is not read.",
                "No finding-level agreement for {n:,} reports: report or reference is not in "
                "English, and is not read.",
                shown.not_read,
            ).format(n=shown.not_read)
        )
    return " ".join(filter(None, [*parts, shown.message]))
