"""Case: one question about one study, with the answers of all models and readers."""

from dataclasses import replace
from functools import partial

import streamlit as st

from rexview.analysis.case.judge_opinions import collect_written_opinions
from rexview.analysis.failures import describe_so_far
from rexview.ui.answers import verdicts
from rexview.ui.case import case_page as case_widgets
from rexview.ui.case.case_page import VIEWER_SETTINGS, CaseTexts, case_opinions, show_part
from rexview.ui.case.first_picture import case_places, notices_place
from rexview.ui.comments import case_comments as comments_panel
from rexview.ui.comments.case_comments import case_targets
from rexview.ui.filter_panel import show_content_order_note, supported_filter
from rexview.ui.judge.judge_opinions import choose_judge, show_filter_agreement
from rexview.ui.meeting.decision_form import show_case_decisions
from rexview.ui.reviews import showing_store_errors
from rexview.ui.scan_progress.progress_strip import follow_case
from rexview.ui.viewer.case_payload import show_viewer
from rexview.ui.web.access import permissions
from rexview.ui.web.app.shell import open_review_set
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.pages import PAGE_CASE
from rexview.ui.web.saving import seen_cases
from rexview.ui.web.server import review_sets

permissions.guard(PAGE_CASE)
with notices_place():
    opened = open_review_set()
engine = review_sets.engine(opened)
names = opened.model_names


@st.fragment
def show_case() -> None:
    """Show one case; in a fragment, so that the next case does not rebuild the page."""
    permissions.guard(PAGE_CASE)
    case_filter = supported_filter()
    wanted = link_keys.link_case()
    case_id = wanted or next(iter(engine.page(case_filter, 0, 1)), None)
    review_set = review_sets.with_cases_loaded(opened, [case_id] if case_id else [])
    written = review_sets.with_current_reviews(review_set)
    page = verdicts.case_page(review_set, case_id) if case_id else None
    if page is None:
        case_widgets.show_no_case(wanted)
        return
    link_keys.go_to_case(case_id)
    position = partial(engine.position, case_filter)
    place = position(page.case.id)
    name, harm = describe_so_far(engine, case_filter), engine.facts.harm
    texts = CaseTexts(written, page, page, place, name, harm, case_filter=case_filter)

    places = case_places()
    with places.header:
        case_widgets.show_header(review_set, texts, case_filter)
        show_filter_agreement(engine, case_filter)
    with st.container(key="rx_editors"):
        texts = replace(texts, editors=case_widgets.choose_editors(written, page))
    with places.texts:
        with st.container(key="rx_question"):
            show_part(texts, "headline")
            show_part(texts, "question")
        beside = {part: st.empty() for part in ("report", "answers")}
        shown = case_widgets.choose_answers(page, names, harm)
        judge = choose_judge(engine.facts)
        opinions = case_opinions(written, engine, page, judge)
        found = collect_written_opinions(written, case_filter, page.case.id, page.answers)
        texts = replace(texts, shown=shown, opinions=opinions, written=found)
        for part, place_of_part in beside.items():
            with place_of_part:
                show_part(texts, part)
        case_widgets.show_comparison(shown, names)
    with places.viewer:
        around = [one for one in (place.after, place.before) if one]
        review_sets.scan_first(review_set, engine, case_filter, [page.case.id, *around])
        show_viewer(
            review_set,
            shown,
            position,
            VIEWER_SETTINGS,
            turning=case_widgets.turning_ticket(written, case_filter, texts),
            on_passed=partial(seen_cases.remember_seen_cases, review_set),
        )
    if page.not_yet:
        follow_case(written, page)
    show_content_order_note()
    show_part(texts, "aligned")
    show_part(texts, "scores")
    with showing_store_errors():
        show_case_decisions(review_set, page)
    verdicts.show_verdicts(review_set, shown)
    seen_cases.record_seen_case(review_set, page.case.id)
    comments_panel.show_comments(review_set, case_targets(review_set, page.case.id))


show_case()
