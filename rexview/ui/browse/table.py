"""Cases as a table: one row an answer that meets the filter; a click opens its case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from rexview.analysis import ANSWER_STATUSES, CaseFilter
from rexview.analysis.case.cards import CaseCard
from rexview.analysis.engine import AnswerSummary
from rexview.schema import ReviewSet
from rexview.ui.link import keys as link_keys
from rexview.ui.link.in_app import go_to
from rexview.vocab import CATEGORY_NAMES, DIMENSION_NAMES, FAILURES


def case_table(review_set: ReviewSet, cards: Sequence[CaseCard], case_filter: CaseFilter) -> None:
    """Show the table; a click on any cell opens the case of its row."""
    names = review_set.model_names
    severe = case_filter.sort == "severity"
    rows = [row for card in cards for row in _rows(card, names, with_harm=severe)]
    frame = pd.DataFrame(rows).dropna(axis="columns", how="all")
    scores = {
        name: st.column_config.NumberColumn(name, format="%.1f", width="small")
        for name in (*DIMENSION_NAMES.values(), "Gap")
        if name in frame
    }
    event = st.dataframe(
        frame,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-cell",
        key="browse_table",
        height=min(38 + 35 * len(frame), 640),
        row_height=35,
        placeholder="–",
        column_config={"Question": st.column_config.TextColumn(width="medium"), **scores},
    )
    cells: Any = event.selection.cells
    if cells:
        case_id = str(frame["Case"].iloc[cells[0][0]])
        go_to(link_keys.PAGE_CASE, link_keys.link_query(case_filter, case=case_id))
    st.caption("One row an answer. Click any cell to open the case.")


def _rows(card: CaseCard, names: dict[str, str], *, with_harm: bool) -> list[dict[str, Any]]:
    case = card.case
    about = {"Case": case.id, "Question": case.question}
    category: dict[str, Any] = {
        "Category": CATEGORY_NAMES.get(case.category or "", case.category),
        "Comments": card.comments.comments if card.comments else None,
        "Open comments": (card.comments.unresolved or None) if card.comments else None,
    }
    chosen = [answer for answer in card.answers if answer.chosen]
    if not chosen:
        return [{**about, "Model": None, "Answer": ANSWER_STATUSES["not_run"], **category}]
    return [
        {
            **about,
            "Model": names[answer.model],
            "Harm": (answer.harm or None) if with_harm else None,
            "Failures": _names(answer, hints=False),
            "Possible": _names(answer, hints=True) or None,
            **{name: answer.finals[dimension] for dimension, name in DIMENSION_NAMES.items()},
            "Gap": answer.finals["gap"],
            "Answer": ANSWER_STATUSES[answer.status],
            **category,
        }
        for answer in chosen
    ]


def _names(answer: AnswerSummary, *, hints: bool) -> str:
    """Name the failures of an answer, or those that a rule only hints at."""
    return ", ".join(
        FAILURES[failure].name for failure, source in answer.failures if (source == "hint") == hints
    )
