"""The cases on Browse: headline failures, order, cards or table, pages and empty states."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import streamlit as st

from rexview.analysis import (
    ANSWER_STATUSES,
    CaseFilter,
    Engine,
    Facets,
    FailureSources,
    SetFacts,
    list_chips,
    list_orders,
    search_caption,
)
from rexview.analysis.case.case_cards import CHOICE_OUTCOME_NAMES, AnswerSummary, CaseCard
from rexview.analysis.failures import SO_FAR, add_so_far, depends_on_flags, judged_caption
from rexview.schema import ReviewSet
from rexview.ui.filter_panel import set_filter
from rexview.ui.meeting.pinning import pin_filter
from rexview.ui.safe_text import as_markdown
from rexview.ui.tables.data_table import show_wide_table
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.in_app import browse_link, go_to, href, linked_html
from rexview.ui.web.link.link_choices import change_link, choose_page, requested_filter
from rexview.ui.web.link.pages import PAGE_CASE
from rexview.vocab import CATEGORY_NAMES, DIMENSION_NAMES, FAILURES, option_letter
from rexview.words import mid_sentence, noun, tr, trn

VIEWS: Final = {"cards": tr("Cards"), "table": tr("Table")}
_ICONS: Final = {"cards": ":material/grid_view:", "table": ":material/table_rows:"}
_QUESTION: Final = (340, 48)
"""Width of the column of questions in pixels, and the number of characters that fit."""
_OF_FLAGS: Final = (tr("Harm"), tr("Failures"), tr("Suggested"))
"""Columns of the table that depend on flags."""
PAGE_SIZE: Final = {"cards": 24, "table": 100}


def show_list_head(
    review_set: ReviewSet, engine: Engine, total: int, case_filter: CaseFilter, *, so_far: bool
) -> tuple[str, Sequence[str], int]:
    """Show the number of cases (``total``), their order and view, and buttons to pin them.

    ``so_far`` is True if not every answer has been scanned for failures.

    Return a key of :data:`VIEWS`, the cases of this page, and the index of the first from 0.
    """
    view = link_keys.query_value(link_keys.QUERY_VIEW) or "cards"
    view = view if view in VIEWS else "cards"
    size = PAGE_SIZE[view]
    first = link_keys.page_number(total, size) * size
    ids = engine.page(case_filter, first, size)
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="rx_list_head"
    ):
        _show_range(total, first, len(ids), so_far=so_far and depends_on_flags(case_filter))
        names = list_orders(engine.facts, case_filter)
        st.session_state["browse_sort"] = case_filter.sort
        st.selectbox(
            tr("Order"),
            list(names),
            format_func=lambda sort: add_so_far(names[sort], so_far=so_far and sort == "severity"),
            key="browse_sort",
            on_change=_sort,
            label_visibility="collapsed",
            width=300 if case_filter.metric_order else 210,
        )
        st.session_state["browse_view"] = view
        st.segmented_control(
            tr("Show as"),
            list(VIEWS),
            format_func=lambda name: f"{_ICONS[name]} {VIEWS[name]}",
            key="browse_view",
            required=True,
            on_change=_show_as,
            label_visibility="collapsed",
        )
        pin_filter(review_set, engine, case_filter, total, ids)
    return view, ids, first


def show_order(engine: Engine, case_filter: CaseFilter) -> None:
    """Show a note that the metric of the link's order does not exist."""
    order = case_filter.metric_order
    if order and order.metric not in engine.facts.metrics:
        said = tr("No report here has a value for {described}: order of the files.").format(
            described=order.metric.described
        )
        st.caption(as_markdown(said))


def show_search(case_filter: CaseFilter, counts: Facets) -> None:
    """Show how the finding is searched for, with links to the other ways of searching."""
    explanation = search_caption(counts, case_filter.search)
    if not explanation:
        return
    others = [
        browse_link(
            replace(case_filter, mention=value.value),
            f"{value.count:,} {html.escape(mid_sentence(value.name))}",
        )
        for value in counts.mentions
        if not value.chosen
    ]
    shown = tr("{explanation} Other ways to search: {join}.").format(
        explanation=html.escape(explanation), join=", ".join(others)
    )
    linked_html(f'<p class="rx-searched" role="status">{shown}</p>', key="search_words")


def show_list_foot(
    total: int, first: int, shown: int, case_filter: CaseFilter, *, so_far: bool
) -> None:
    """Show the page numbers of a list longer than one page."""
    view = link_keys.query_value(link_keys.QUERY_VIEW) or "cards"
    size = PAGE_SIZE.get(view, PAGE_SIZE["cards"])
    if total <= size:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="rx_list_foot"):
        choose_page(total, size, key="browse_page")
        _show_range(total, first, shown, so_far=so_far and depends_on_flags(case_filter))


def show_table(
    review_set: ReviewSet, cards: Sequence[CaseCard], case_filter: CaseFilter, *, so_far: bool
) -> None:
    """Show the table; a click on any cell opens the case of its row."""
    import pandas as pd  # takes a third of a second, and cards need none

    names = review_set.model_names
    order = case_filter.metric_order
    rows = [row for card in cards for row in _rows(card, names, case_filter)]
    frame = pd.DataFrame(rows).dropna(axis="columns", how="all")
    if so_far:  # the table can be downloaded as it is
        frame = frame.rename(columns={name: f"{name} {SO_FAR}" for name in _OF_FLAGS})
    scores: dict[str, Any] = {
        name: st.column_config.NumberColumn(name, format="%.1f", width="small")
        for name in (*DIMENSION_NAMES.values(), tr("Gap"))
        if name in frame
    }
    if order:
        scores[order.metric.described] = st.column_config.NumberColumn(format="%.3f")
    links = [
        href(PAGE_CASE, link_keys.link_query(case_filter, case=case)) for case in frame["Case"]
    ]
    event = show_wide_table(
        frame,
        key="browse_table",
        links=links,
        longest={"Question": _QUESTION[1]},
        on_select="rerun",
        selection_mode="single-cell",
        height=min(38 + 35 * len(frame), 640),
        row_height=35,
        placeholder="–",
        column_config={
            "Question": st.column_config.TextColumn(width=_QUESTION[0]),
            # as wide as its names: the cell cuts them without a sign
            **{
                name: st.column_config.TextColumn(width="large")
                for name in ("Failures", f"Failures {SO_FAR}")
                if name in frame
            },
            **scores,
        },
    )
    cells: Any = event.selection.cells
    if cells:
        case_id = str(frame["Case"].iloc[cells[0][0]])
        go_to(PAGE_CASE, case_filter, case_id)
    st.caption(
        tr("Each row is one answer. Press a cell to open its case; on a phone, press the case.")
    )


def _rows(card: CaseCard, names: dict[str, str], case_filter: CaseFilter) -> list[dict[str, Any]]:
    case, order = card.case, case_filter.metric_order
    with_harm = case_filter.sort == "severity"
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
            "Choice": None if answer.choice is None else option_letter(answer.choice),
            "Outcome": CHOICE_OUTCOME_NAMES[answer.outcome] if answer.outcome else None,
            **({order.metric.described: answer.metric} if order else {}),
            "Harm": (answer.harm or None) if with_harm else None,
            "Failures": _names(answer, hints=False),
            "Suggested": _names(answer, hints=True) or None,
            **{name: answer.finals[dimension] for dimension, name in DIMENSION_NAMES.items()},
            "Gap": answer.finals["gap"],
            "Answer": ANSWER_STATUSES[answer.status],
            **category,
        }
        for answer in chosen
    ]


def _names(answer: AnswerSummary, *, hints: bool) -> str:
    """Name the failures of an answer, or those that a rule only suggests."""
    return ", ".join(
        FAILURES[failure].name for failure, source in answer.failures if (source == "hint") == hints
    )


def _show_range(total: int, first: int, shown: int, *, so_far: bool) -> None:
    text = add_so_far(_range_text(total, first, shown), so_far=so_far)
    st.html(f'<p class="rx-count">{text}</p>')


def _range_text(total: int, first: int, shown: int) -> str:
    if shown == total:
        return f"<b>{total:,}</b> {noun(total, 'case')}"
    return (
        f"<b>{first + 1:,}–{first + shown:,}</b> "
        f"{trn('of {n:,} case', 'of {n:,} cases', total).format(n=total)}"
    )


def _sort() -> None:
    set_filter(replace(requested_filter(), sort=st.session_state["browse_sort"]))


def _show_as() -> None:
    view = st.session_state["browse_view"]
    change_link(
        {link_keys.QUERY_VIEW: None if view == "cards" else view, link_keys.QUERY_PAGE: None}
    )


# Above the cases: the three headline failures with their numbers, and the filter's chips.


def filter_bar_html(
    facts: SetFacts, case_filter: CaseFilter, counts: Facets, *, so_far: bool = False
) -> str:
    """Return the headline failures, and the chips if the filter limits anything.

    ``so_far`` is True if not every answer has been scanned for failures.
    """
    heads = "".join(_head_html(case_filter, head, so_far=so_far) for head in counts.headlines)
    shown = list_chips(facts, case_filter)
    chip_row = ""
    if shown:
        drawn = [
            browse_link(
                chip.rest,
                f'{html.escape(chip.label)}<span aria-hidden="true">×</span>',
                css="rx-chip",
                title=tr("Remove: {label}").format(label=chip.label),
            )
            for chip in shown
        ]
        clear = browse_link(case_filter.cleared(), tr("Clear all"), css="rx-clear")
        chip_row = (
            f'<div class="rx-chips" role="group" aria-label="{tr("Filter")}">'
            f"{''.join(drawn)}{clear}</div>"
        )
    return f'<nav class="rx-heads" aria-label="{tr("Headline failures")}">{heads}</nav>{chip_row}'


def _head_html(case_filter: CaseFilter, head: FailureSources, *, so_far: bool) -> str:
    failure = FAILURES[head.failure]
    active = case_filter.failures == (head.failure,)
    target = replace(case_filter, failures=() if active else (head.failure,), sources=())
    meaning = f"{failure.meaning} {judged_caption(head.failure)}"
    of = trn("of {n:,} case", "of {n:,} cases", head.cases)
    if head.judged != head.cases:
        of = trn(
            "of {judged:,} that can be judged, in {n:,} case",
            "of {judged:,} that can be judged, in {n:,} cases",
            head.cases,
        )
    judged = of.format(judged=head.judged, n=head.cases)
    name = add_so_far(failure.plural, so_far=so_far)
    sources = sources_text(head.detector, head.reader, head.both)
    label = (
        f"<b>{head.total:,} <small>{noun(head.total, 'case')}</small></b>"
        f"<span>{html.escape(name)}</span>"
        f"<small>{add_so_far(sources, so_far=so_far and not head.total)}</small>"
        f"<small>{judged}</small>"
    )
    css = "rx-head rx-on" if active else "rx-head"
    return browse_link(target, label, css=css, title=meaning)


def sources_text(detector: int, reader: int, both: int) -> str:
    """Return who found the failures: rules and readers are never mixed without a note."""
    counts: Mapping[str, int] = {
        tr("rule only"): detector,
        tr("reader only"): reader,
        tr("rule and reader"): both,
    }
    return " · ".join(f"{count:,} {name}" for name, count in counts.items() if count) or tr(
        "none found"
    )
