"""Every key of the session and of the query string, and how links are made from them.

State that decides what a page shows is kept in the query string, so that a link shows the same to a
colleague. It contains the review set (``set``), the filter (keys of
:class:`rexview.analysis.CaseFilter`), the order of computing Content, and on the Case page the case
and the answers shown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import streamlit as st

from rexview.ui.safe_text import as_markdown
from rexview.words import tr

if TYPE_CHECKING:
    from rexview.analysis import CaseFilter
    from rexview.stats import ContentOrder


QUERY_SET: Final = "set"
QUERY_CASE: Final = "case"
QUERY_MODELS: Final = "show"
QUERY_EDITORS: Final = "corrected_by"
QUERY_VIEW: Final = "as"
QUERY_PAGE: Final = "page"
QUERY_CONTENT_ORDER: Final = "content_order"
QUERY_SPLIT: Final = "split"
QUERY_SPLIT_SCORE: Final = "of"
QUERY_PUBLISHED: Final = "published"
QUERY_AGREEMENT: Final = "agreement"
QUERY_SCOPE: Final = "scope"
QUERY_RANKED_BY: Final = "ranked_by"
QUERY_LEAST: Final = "least"
QUERY_COEFFICIENT: Final = "coefficient"
QUERY_METRICS_COMPARED: Final = ("metric_a", "metric_b")
QUERY_PUBLISHED_BOARD: Final = {
    "edition": "edition",
    "dataset": "dataset",
    "section": "section",
    "metric": "printed",
}
"""For a published board: its paper, data set and section, and the metric that ranks it."""
QUERY_PAIR: Final = "pair"
QUERY_DIMENSION: Final = "dimension"
QUERY_APART: Final = "apart"
QUERY_COUNTED: Final = "counted"
QUERY_FAILURE_SHOWN: Final = "failure_shown"
QUERY_TASK: Final = "task"
QUERY_CURATE: Final = "curate"
QUERY_QUESTION_CATEGORY: Final = "question_category"
QUERY_SCORE_FIRST: Final = "score_first"
QUERY_WANTED: Final = "wanted"
QUERY_CURATED_BOXES: Final = "curated_boxes"
QUERY_JUDGE: Final = "judge"
"""The judge whose opinions are shown; without it none are."""
QUERY_WRITTEN: Final = {
    "failure": "failure_in_words",
    "version": "words_version",
    "edit": "words_edited",
    "judge": "words_judge",
    "size": "words_sample",
}
"""The written failure that is shown, its version, the version that is edited, the judge who
searched for it, and the number of answers to read of each group."""
OWN_WORDS: Final = "own-words"
"""The part of the Failures page about written failures, a value of :data:`QUERY_VIEW`."""
QUERY_MEETING: Final = "meeting"
"""The id of the meeting that is shown; without it the one that the session has chosen."""
QUERY_DECISIONS: Final = {
    "state": "decisions",
    "meeting": "decisions_of",
    "owner": "decisions_for",
    "decision": "decisions_to",
}
"""The filter of the listed decisions."""
QUERY_GUIDE: Final = "guide_for"
QUERY_RUN_ABOUT: Final = "run_about"
QUERY_RUN_MODEL: Final = "run_model"
QUERY_RUN_PLACE: Final = "run_at"
QUERY_RUN_URL: Final = "run_url"
QUERY_RUN_API: Final = "run_api"
QUERY_RUN_PROMPT: Final = "run_prompt"
QUERY_RUN_CASES: Final = "run_cases"
QUERY_RUN_IDS: Final = "run_ids"
QUERY_RUN_REPEATS: Final = "run_repeats"
QUERY_RUN_LIMIT: Final = "run_limit"
QUERY_RUN_BUDGET: Final = "run_budget"
QUERY_RUN_AT_ONCE: Final = "run_at_once"
QUERY_RUN_BATCH: Final = "run_batch"
QUERY_JUDGED: Final = {"what": "opinion_on", "models": "opinion_of", "cases": "opinion_cases"}
"""For a second opinion: the judged part of the answers, their models, and their cases."""
QUERY_GENERATED_QUESTIONS: Final = {
    "what": "questions_as",
    "steps": "questions_steps",
    "told": "questions_told",
    "each": "questions_each",
    "validator": "questions_validator",
}
"""For generated questions."""

UNSTATED_SCOPE: Final = "not_said"
"""Value in a link for metrics of which it is unknown what they compare."""
Query = dict[str, str | list[str]]

USUAL_ORDER: Final[ContentOrder] = "mean_first"
"""The order of Content that is left out of links."""
_SESSION_SET: Final = "rexview_set"
SESSION_NAME: Final = "rexview_name"
"""The user's name without sign-in, see :mod:`rexview.ui.web.access.permissions`."""
SESSION_NAME_TAKEN: Final = "rexview_name_taken"
"""True once the name was given in this session, so that the browser has to store it."""
_SESSION_ORDER: Final = "rexview_content_order"
_SESSION_PAGE: Final = "rexview_page"
_SESSION_CASE: Final = "rexview_case"
SESSION_SEEN: Final = "rexview_seen_cases"
"""Cases opened with their models named, see :mod:`rexview.ui.web.saving.seen_cases`."""
SESSION_SCAN: Final = "rexview_scan_shown"
"""The snapshot of findings that the page shows, see :mod:`rexview.ui.web.server.failure_scans`."""
SESSION_SO_FAR: Final = "rexview_so_far"
"""The note for this page's files while the failure scan is incomplete; empty when complete."""
SESSION_FOLLOW_REQUEST: Final = "rexview_asked"
"""The last request to follow the browser to another case, see :mod:`rexview.ui.turning.ticket`."""
SESSION_VERDICTS: Final = "rexview_verdicts"
"""Verdicts that the browser has not saved yet, see :mod:`rexview.ui.answers.verdicts`."""

SESSION_MEETING: Final = "rexview_meeting"
"""The meeting that cases are pinned to, by review set, see :mod:`rexview.ui.meeting.meetings`."""

SESSION_PRESENTING: Final = "rexview_presenting"
SESSION_HEADLINES: Final = "rexview_headlines"
"""The window that took over a meeting, see :mod:`rexview.ui.meeting.presenting.presenting_view`."""

SESSION_EXPORT: Final = "rexview_export"
"""The last export that was started, see :mod:`rexview.ui.export`."""
SESSION_ESTIMATE: Final = "rexview_run_estimate"
"""The last estimate of a run and its subject, see :mod:`rexview.ui.run_models`."""


def choose_set(name: str | None) -> None:
    """Make a review set this session's set; None returns to the server's own."""
    st.session_state[_SESSION_SET] = name
    set_query({QUERY_SET: name})


def keep_choices(page: str) -> None:
    """Copy the session's choices into the link of a page that was opened without them.

    Navigation clears the query string; a choice named by the link wins over the session's.

    ``page`` is the address of the running page: a link to the same page without an order of Content
    (the back button after the switch) means the usual one.
    """
    _keep_set()
    st.session_state.pop(_SESSION_CASE, None)
    moved = st.session_state.get(_SESSION_PAGE) != page
    st.session_state[_SESSION_PAGE] = page
    kept = st.session_state.get(_SESSION_ORDER, USUAL_ORDER)
    if moved and query_value(QUERY_CONTENT_ORDER) is None and kept != USUAL_ORDER:
        st.query_params[QUERY_CONTENT_ORDER] = kept
    st.session_state[_SESSION_ORDER] = content_order()


def current_page() -> str:
    """Return the address of the page that ran last, recorded by :func:`keep_choices`."""
    page: str = st.session_state.get(_SESSION_PAGE, "")
    return page


def content_order() -> ContentOrder:
    """Return the order of computing Content: that of the link, else the usual one."""
    named = query_value(QUERY_CONTENT_ORDER)
    if named is None:
        return USUAL_ORDER
    from rexview.stats import CONTENT_ORDERS

    return next((order for order in CONTENT_ORDERS if order == named), USUAL_ORDER)


def _keep_set() -> None:
    named = query_value(QUERY_SET)
    if named:
        st.session_state[_SESSION_SET] = named
    elif st.session_state.get(_SESSION_SET):
        st.query_params[QUERY_SET] = st.session_state[_SESSION_SET]


def query_value(key: str) -> str | None:
    """Return one value of the query string; None if it is absent or empty."""
    return st.query_params.get(key) or None


def query_lists() -> dict[str, list[str]]:
    """Return the whole query string: every key with all its values."""
    return {key: st.query_params.get_all(key) for key in st.query_params}


def page_number(total: int, size: int) -> int:
    """Return the list page that the link requests, from 0, limited to existing pages."""
    text = query_value(QUERY_PAGE) or "1"
    wanted = int(text) - 1 if text.isdecimal() and len(text) < 9 else 0
    return min(max(wanted, 0), max(math.ceil(total / size) - 1, 0))


def link_filter() -> CaseFilter:
    """Return the link's filter; invalid parts are left out, with a warning."""
    from rexview.analysis import CaseFilter
    from rexview.stats import CONTENT_ORDERS

    found, problems = CaseFilter.read(query_lists())
    order = query_value(QUERY_CONTENT_ORDER)
    if order and order not in CONTENT_ORDERS:
        problems += (
            tr("The link asks for an unknown order of Content: {order}.").format(order=order[:40]),
        )
    for problem in problems:
        st.warning(as_markdown(problem), icon=":material/link_off:")
    return found


def link_query(
    case_filter: CaseFilter | None = None,
    *,
    case: str | None = None,
    **more: str | list[str] | None,
) -> Query:
    """Return the query of a link with a filter and a case.

    It keeps the review set, the order of Content, and the judge whose opinions are shown.
    """
    query: Query = {}
    current_set = query_value(QUERY_SET)
    if current_set:
        query[QUERY_SET] = current_set
    if content_order() != USUAL_ORDER:
        query[QUERY_CONTENT_ORDER] = content_order()
    if judge := query_value(QUERY_JUDGE):
        query[QUERY_JUDGE] = judge
    if case_filter is not None:
        query.update({key: list(values) for key, values in case_filter.to_query().items()})
    if case is not None:
        query[QUERY_CASE] = case
    query.update({key: value for key, value in more.items() if value})
    return query


def go_to_case(case: str | None) -> None:
    """Set the case of the link; None for the case to continue with."""
    st.session_state[_SESSION_CASE] = case
    set_query({QUERY_CASE: case})


def link_case() -> str | None:
    """Return the case of the link.

    A fragment that reruns by itself keeps its case: messages sent before the browser had the new
    link, for example that something was saved, come with the old link. A run of the whole page uses
    the browser's link, so that its back button works.
    """
    if _SESSION_CASE in st.session_state:
        set_query({QUERY_CASE: st.session_state[_SESSION_CASE]})
    return query_value(QUERY_CASE)


def set_query(changes: Mapping[str, str | list[str] | None]) -> None:
    """Change some keys of the query string and leave the others; None removes a key."""
    for key, value in changes.items():
        if value:
            st.query_params[key] = value
        elif key in st.query_params:
            del st.query_params[key]
