"""Says how far the app's own metrics of reports are, where a page shows them."""

from __future__ import annotations

import streamlit as st

from rexview.metrics.computed import ComputedMetrics
from rexview.schema import ReviewSet
from rexview.ui.html.safe_text import as_markdown
from rexview.ui.server import review_sets
from rexview.words import counted, tr


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
            tr("BLEU-2 and finding-level agreement so far: of {done:,} of {counted}.").format(
                done=shown.done, counted=counted(shown.answers, "report")
            )
        )
    if shown.failed:
        parts.append(
            tr("BLEU-2 and agreement could not be worked out for {counted}.").format(
                counted=counted(shown.failed, "report")
            )
        )
    if shown.not_read:
        parts.append(
            tr(
                "No finding-level agreement for {counted}: report or reference is not in English, "
                "and is not read."
            ).format(counted=counted(shown.not_read, "report"))
        )
    return " ".join(filter(None, [*parts, shown.message]))
