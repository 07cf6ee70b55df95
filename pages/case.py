"""Case: one question about one study, and what every model and reader said about it."""

import streamlit as st

from rexview.analysis import case_page, describe
from rexview.ui import (
    case_notes,
    case_panels,
    case_parts,
    comment_panel,
    filtered,
    people,
    resources,
    state,
    unblinded_cases,
    verdicts,
)
from rexview.ui.case_viewer import show_viewer
from rexview.ui.content_order import show_other_order
from rexview.ui.shell import open_review_set

people.guard(state.PAGE_CASE)
review_set = open_review_set()
table = resources.answers(review_set)
names = review_set.model_names
colours = resources.colours(review_set)
gap = resources.settings().gap_threshold


@st.fragment
def show_case() -> None:
    """Show one case; in a fragment, so that the next case does not build the page anew."""
    people.guard(state.PAGE_CASE)
    trouble = verdicts.keep(review_set)
    written = resources.newest(review_set)
    case_filter = state.link_filter()
    ordered = filtered.ordered_cases(table, case_filter)
    wanted = state.query_value(state.QUERY_CASE)
    case_id = wanted or (ordered[0] if ordered else None)
    page = verdicts.case_page(review_set, case_id) if case_id else None
    if page is None:
        case_parts.show_no_case(wanted)
        return
    state.set_query({state.QUERY_CASE: case_id})
    place = case_page.place_in(ordered, page.case.id)

    case_parts.show_header(review_set, page.case, place, describe(table, case_filter))
    left, right = st.columns([11, 12], gap="medium")
    with right:
        with st.container(key="rx_question"):
            st.html(case_panels.question_html(page.case, page.keyed_flags()))
        report = st.empty()
        answers = st.empty()
        shown = case_parts.answer_choices(page, names)
        report.html(case_panels.report_html(shown))
        answers.html(
            case_panels.answers_html(
                shown, written, colours=colours, gap_threshold=gap, looker=verdicts.looker()
            )
        )
        case_parts.show_comparison(shown, names)
    with left:
        beside = [one for one in (place.after, place.before) if one]
        pages = [one for case in beside if (one := verdicts.case_page(review_set, case))]
        show_viewer(review_set, shown, ordered, pages, colours, page_keys=verdicts.KEYS)
    show_other_order()
    agreed = case_notes.consensus(review_set, page.case.id)
    st.html(
        case_panels.scores_html(
            shown.scores,
            names=names,
            readers=written.reader_names,
            agreed=agreed,
            uncounted=shown.uncounted,
            unfinished=shown.unfinished,
            stale_scores=shown.stale_scores,
            stale_words=shown.stale_words,
        )
    )
    verdicts.take_verdicts(review_set, shown, trouble)
    unblinded_cases.note_case(review_set, page.case.id)
    comment_panel.show_comments(review_set, comment_panel.case_places(page, names))


show_case()
