"""The widgets of the Case page: header and paging, choice of answers, comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from itertools import combinations
from typing import Any, Final

import streamlit as st

from rexview.analysis import CaseFilter
from rexview.analysis.case.record import CasePage, failing_first
from rexview.analysis.case.report_comparison import NOT_NAMED, compare_texts
from rexview.analysis.filter.judge_conditions import judge_word
from rexview.harm import HarmTable
from rexview.schema import ReviewSet
from rexview.ui.case.case_texts import CaseTexts, show_part
from rexview.ui.components import component
from rexview.ui.export.widgets import offer_case
from rexview.ui.html.differences import differences_html
from rexview.ui.link import keys as link_keys
from rexview.ui.link.pages import PAGE_BROWSE, PAGE_CASE
from rexview.ui.meeting.pins.widgets import show_pins
from rexview.ui.saving.entries import CASE_PAGE
from rexview.ui.server import review_sets
from rexview.ui.turning.ticket import turning_json
from rexview.vocab import judge_name
from rexview.words import listed, tr

_REPORT: Final = tr("the report")


def show_no_case(wanted: str | None) -> None:
    """Explain why there is no case to show, and where to go."""
    if wanted:
        st.warning(tr("This review set has no such case. It may have been renamed or taken out."))
    else:
        st.info(tr("No case fits the filter. Loosen it on the Browse page."))
    st.page_link(PAGE_BROWSE, label=tr("Browse all cases"), query_params=link_keys.link_query())


def show_header(review_set: ReviewSet, texts: CaseTexts, case_filter: CaseFilter) -> None:
    """Show where the case stands in the filter, what it is, and the link to it."""
    place = texts.position
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="rx_header"):
        for name, label, target, key, icon in (
            ("previous", tr("Previous"), place.before, "k", ":material/chevron_left:"),
            ("next", tr("Next"), place.after, "j", ":material/chevron_right:"),
        ):
            st.button(
                label,
                icon=icon,
                key=f"case_{name}",
                shortcut=key,
                disabled=target is None,
                on_click=link_keys.go_to_case,
                args=(target,),
            )
        show_part(texts, "place")
        show_pins(review_set, case_filter, page=CASE_PAGE, case=texts.page.case.id)
        _share_button(review_set)
        st.page_link(
            PAGE_BROWSE,
            label=tr("All in this filter"),
            icon=":material/grid_view:",
            query_params=link_keys.link_query(case_filter),
        )
        offer_case(review_set, texts.page.case.id)


def _share_button(review_set: ReviewSet) -> None:
    """Show the button that copies the link to what is on screen, the review set named in it."""
    name = {"key": link_keys.QUERY_SET, "name": review_sets.set_id(review_set.folder)}
    button = component(
        "rexview_share", "case/share.js", style="case/share.css", isolate_styles=True
    )
    button(key="share", width="content", data={"set": name})


def answer_choices(page: CasePage, names: Mapping[str, str], harm: HarmTable) -> CasePage:
    """Let the reader choose and order the answers; the choice lives in the link.

    Before they do, the answers that fail come first where not all fit.
    """
    models = [answer.model for answer in page.answers]
    if len(models) < 2:
        return page
    chosen = st.multiselect(
        tr("Answers shown"),
        models,
        default=models,
        format_func=lambda model: names[model],
        key=link_keys.QUERY_MODELS,
        bind="query-params",
        label_visibility="collapsed",
        placeholder=tr("Choose the answers to show"),
    )
    if not chosen or chosen == models:
        return failing_first(page, harm)
    return page.of_models(tuple(chosen))


def choose_editors(review_set: ReviewSet, page: CasePage) -> tuple[str, ...] | None:
    """Let the reader choose whose corrections are shown; the choice lives in the link.

    None for everybody's. It is asked where the set has corrections of several people or judges.
    """
    named = review_set.edits["reader"].fill_null(NOT_NAMED).unique(maintain_order=True).to_list()
    if page.case.question_type != "report" or len(named) < 2:
        return None
    names = review_set.reader_names
    chosen = st.multiselect(
        tr("Corrections by"),
        named,
        default=named,
        format_func=lambda one: names.get(one) or judge_name(one) or tr("not named"),
        key=link_keys.QUERY_EDITORS,
        bind="query-params",
        placeholder=tr("Nobody’s corrections are shown"),
    )
    return None if len(chosen) == len(named) else tuple(chosen)


def show_comparison(page: CasePage, names: Mapping[str, str]) -> None:
    """Show the differences of two texts on demand."""
    texts = [(names[answer.model], answer.text or "") for answer in page.answers]
    report = page.case.report
    reference = "\n".join(part for part in (report.findings, report.impression) if part)
    if reference:
        texts.insert(0, (_REPORT, reference))
    pairs = list(combinations(range(len(texts)), 2))
    if not pairs:
        return
    chosen = st.selectbox(
        tr("Differences between"),
        pairs,
        index=None,
        format_func=lambda pair: listed([texts[place][0] for place in pair]),
        placeholder=tr("Compare two texts word by word"),
        key=f"compare_{page.case.id}",
        label_visibility="collapsed",
    )
    if chosen:
        (first, first_text), (second, second_text) = (texts[place] for place in chosen)
        pieces, whole = compare_texts(first_text, second_text)
        st.html(differences_html(pieces, first, second, whole=whole))


def turning(review_set: ReviewSet, case_filter: CaseFilter, texts: CaseTexts) -> dict[str, Any]:
    """Return what lets the browser fetch the cases around, for :func:`cases_around`."""
    usual = failing_first(texts.page, texts.harm)
    chosen = [answer.model for answer in texts.shown.answers]
    detail = {
        "query": case_filter.to_query(),
        "seen": asdict(review_sets.seen_now(review_set)),
        "editors": texts.editors,
        "judge": judge_word(texts.opinions.judge) if texts.opinions else None,
        "models": None if texts.shown.answers == usual.answers else chosen,
    }
    return turning_json(review_set, PAGE_CASE, detail, state=review_set.fingerprint)
