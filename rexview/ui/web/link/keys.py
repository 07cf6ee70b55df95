"""Every key of the session and of the query string, and how a link is made from them.

State that decides what is seen lives in the query string, so that a link shows a colleague the
same: the review set (``set``), the filter (keys of :class:`rexview.analysis.CaseFilter`), the
order in which Content is worked out, and on the Case page the case and the answers shown.
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
"""Of a printed board: which paper, data set and section, and the metric that ranks it."""
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
"""Which judge's opinions are shown; without it none are."""
QUERY_WRITTEN: Final = {
    "failure": "failure_in_words",
    "version": "words_version",
    "edit": "words_edited",
    "judge": "words_judge",
    "size": "words_sample",
}
"""Which failure in words is shown, in which version, which version is edited, by whom it was looked
for, and how many of each group are read."""
OWN_WORDS: Final = "own-words"
"""The part of the Failures page about failures in words, behind :data:`QUERY_VIEW`."""
QUERY_MEETING: Final = "meeting"
"""Which meeting is shown, by its id; without it the one that the session has chosen."""
QUERY_DECISIONS: Final = {
    "state": "decisions",
    "meeting": "decisions_of",
    "owner": "decisions_for",
    "decision": "decisions_to",
}
"""Which decisions are listed."""
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
"""Of a second opinion: on what of the answers, whose, and of which cases."""
QUERY_ASKED_FOR: Final = {
    "what": "questions_as",
    "steps": "questions_steps",
    "told": "questions_told",
    "each": "questions_each",
    "validator": "questions_validator",
}
"""Of questions that a model is asked for."""

NOT_SAID: Final = "not_said"
"""Stands in a link for metrics of which it is not said what they compare."""
Query = dict[str, str | list[str]]

USUAL_ORDER: Final[ContentOrder] = "mean_first"
"""Order of Content that is not written into links."""
_SESSION_SET: Final = "rexview_set"
SESSION_NAME: Final = "rexview_name"
"""The name of whoever works alone, see :mod:`rexview.ui.web.access.permissions`."""
SESSION_NAME_TAKEN: Final = "rexview_name_taken"
"""True once the name was given in this session, so that the browser has to keep it."""
_SESSION_ORDER: Final = "rexview_content_order"
_SESSION_PAGE: Final = "rexview_page"
_SESSION_CASE: Final = "rexview_case"
SESSION_SEEN: Final = "rexview_seen_cases"
"""Cases opened with their models named, see :mod:`rexview.ui.web.saving.seen_cases`."""
SESSION_SCAN: Final = "rexview_scan_shown"
"""What detectors found that the page shows, see :mod:`rexview.ui.web.server.failure_scans`."""
SESSION_SO_FAR: Final = "rexview_so_far"
"""What files from this page say of failures that are not all known; empty when they are."""
SESSION_ASKED: Final = "rexview_asked"
"""The last request to follow the browser to another case, see :mod:`rexview.ui.turning.ticket`."""
SESSION_VERDICTS: Final = "rexview_verdicts"
"""Verdicts that the browser has not saved yet, see :mod:`rexview.ui.answers.verdicts`."""

SESSION_MEETING: Final = "rexview_meeting"
"""The meeting that cases are pinned to, by review set, see :mod:`rexview.ui.meeting.meetings`."""

SESSION_PRESENTING: Final = "rexview_presenting"
SESSION_HEADLINES: Final = "rexview_headlines"
"""The window that took a meeting over, see :mod:`rexview.ui.meeting.presenting.presenting_view`."""

SESSION_EXPORT: Final = "rexview_export"
"""The last export that was begun, see :mod:`rexview.ui.export`."""
SESSION_ESTIMATE: Final = "rexview_run_estimate"
"""The last estimate of a run and what it was of, see :mod:`rexview.ui.run_models`."""


def choose_set(name: str | None) -> None:
    """Make a review set the one of this session; None goes back to the server's own."""
    st.session_state[_SESSION_SET] = name
    set_query({QUERY_SET: name})


def keep_choices(page: str) -> None:
    """Carry the session's choices into the link of a page that was opened without them.

    Navigation clears the query string; a link that names a choice wins over the session.

    ``page`` is the address of the page that is run: a link to the same page without an order of
    Content (the back button after the switch) asks for the usual one.
    """
    _keep_set()
    st.session_state.pop(_SESSION_CASE, None)
    moved = st.session_state.get(_SESSION_PAGE) != page
    st.session_state[_SESSION_PAGE] = page
    kept = st.session_state.get(_SESSION_ORDER, USUAL_ORDER)
    if moved and query_value(QUERY_CONTENT_ORDER) is None and kept != USUAL_ORDER:
        st.query_params[QUERY_CONTENT_ORDER] = kept
    st.session_state[_SESSION_ORDER] = content_order()


def page_shown() -> str:
    """Return the address of the page that was run last, which :func:`keep_choices` noted."""
    page: str = st.session_state.get(_SESSION_PAGE, "")
    return page


def content_order() -> ContentOrder:
    """Return the order in which Content is worked out: that of the link, else the usual one."""
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
    """Return one value of the query string, None when it is absent or empty."""
    return st.query_params.get(key) or None


def query_lists() -> dict[str, list[str]]:
    """Return the whole query string, every key with all its values."""
    return {key: st.query_params.get_all(key) for key in st.query_params}


def page_number(total: int, size: int) -> int:
    """Return which page of a list the link asks for, from 0, within those that there are."""
    text = query_value(QUERY_PAGE) or "1"
    wanted = int(text) - 1 if text.isdecimal() and len(text) < 9 else 0
    return min(max(wanted, 0), max(math.ceil(total / size) - 1, 0))


def link_filter() -> CaseFilter:
    """Return the filter of the link; what cannot be understood is left out, with a warning."""
    from rexview.analysis import CaseFilter
    from rexview.stats import CONTENT_ORDERS

    found, problems = CaseFilter.read(query_lists())
    order = query_value(QUERY_CONTENT_ORDER)
    if order and order not in CONTENT_ORDERS:
        problems += (
            tr("The link asks for an order of Content that is not known: {order}.").format(
                order=order[:40]
            ),
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
    """Return the query of a link that carries a filter and a case.

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
    """Name the case in the link; None for the one to go on with."""
    st.session_state[_SESSION_CASE] = case
    set_query({QUERY_CASE: case})


def case_wanted() -> str | None:
    """Return the case of the link.

    A fragment that runs by itself goes on with the one that it was at: what was told before the
    browser had the new link, such as that something was saved, comes with the old one. A run of the
    whole page takes the browser's link, so that its back button works.
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
