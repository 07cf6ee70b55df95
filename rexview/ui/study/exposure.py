"""What readers had seen of a case before they scored it, as a lead is told on the Study page."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

import streamlit as st

from rexview.analysis.study.exposure import REPORT, UNBLINDED, Exposure, exposures_of
from rexview.schema import ReviewSet
from rexview.stats.values import unfinished_work
from rexview.store import Reviews
from rexview.ui.access import permissions
from rexview.ui.link.pages import PAGE_STUDY
from rexview.ui.server import review_sets
from rexview.ui.study import widgets as study_widgets

_MOST: Final = 500
_SEEN: Final = {REPORT: "Report", UNBLINDED: "Models named"}
_TIMING: Final = {"before": "before scoring", "during": "while scoring", "after": "after scoring"}


def show_exposures(review_set: ReviewSet) -> None:
    """Tell a lead which cases readers saw with the report or with the models named, and when."""
    permissions.guard(PAGE_STUDY)
    reviews = review_sets.reviews(review_set)
    every = _exposures(review_set, reviews, reviews.revision())
    if not every:
        st.caption("No reader has seen a report, or a case with its models named.")
        return
    early = len({(one.reader, one.case) for one in every if one.timing != "after"})
    cases = "1 case" if early == 1 else f"{early:,} cases"
    names = study_widgets.reader_names(review_set, (one.reader for one in every))
    with st.expander(f"Seen before scoring was finished: {cases}"):
        st.html(exposures_html(every[-_MOST:], names))
        if len(every) > _MOST:
            st.caption(f"The newest {_MOST:,} of {len(every):,}; the export has all.")


@lru_cache(maxsize=8)
def _exposures(review_set: ReviewSet, reviews: Reviews, revision: int) -> tuple[Exposure, ...]:
    return exposures_of(reviews).all(unfinished_work(review_set))


def exposures_html(exposures: Sequence[Exposure], names: Mapping[str, str]) -> str:
    """Lay out what readers saw as a table, the newest first."""
    heads = ("Reader", "Case", "Seen", "When", "At (UTC)")
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    rows = ""
    for one in reversed(exposures):
        when = _TIMING[one.timing] + (", scored all the same" if one.accepted else "")
        name = html.escape(names.get(one.reader, one.reader))
        cells = (html.escape(one.case), _SEEN[one.seen], when, f"{one.at:%Y-%m-%d %H:%M}")
        rows += f'<tr><th scope="row">{name}</th>{"".join(f"<td>{c}</td>" for c in cells)}</tr>'
    return (
        '<div class="rx-scroll"><table class="rx-study rx-told"><thead><tr>'
        f"{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
