"""The widgets of the Curate page: the choice of studies, the viewer, the desk next to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import streamlit as st

from rexview.errors import StoreError
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import may_write_kind
from rexview.ui.curate.curation_round import (
    STUDY_SCOPES,
    CurationRound,
    StudyScope,
    counts_json,
    load_round,
    study_json,
    targets_json,
    words_json,
)
from rexview.ui.curate.page_parts import SAMPLE, STYLES, show_model_help, study_page
from rexview.ui.curate.question_sample import NeighbouringSampleStudies, sample_round
from rexview.ui.safe_text import as_markdown, lines_as_markdown
from rexview.ui.turning.item_pad import TurnableItems, draw_pad
from rexview.ui.turning.ticket import turning_json
from rexview.ui.viewer.case_payload import ViewerSettings, show_viewer
from rexview.ui.web.access import permissions
from rexview.ui.web.app.shell import show_nothing_yet
from rexview.ui.web.components import component
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.link_choices import bind_option_to_link, bind_to_link
from rexview.ui.web.link.pages import PAGE_CURATE, PAGE_RUN_MODELS
from rexview.ui.web.saving.entries import CURATE_PAGE
from rexview.ui.web.saving.outbox import outbox_json
from rexview.ui.web.server import review_sets
from rexview.vocab import CATEGORIES
from rexview.words import tr

PURPOSE: Final = tr(
    "Go through the studies and build the question set: score what a model proposed, edit "
    "it, choose or reject it, or write your own."
)
HEIGHT: Final = "clamp(560px, calc(100dvh - 190px), 1200px)"
TAKEN_KEYS: Final = "0123456789jkyxetwdsuhgnp?"
"""Keys of the desk (``keys.js``) and of every pad, and the digits next to them."""
DESK_VIEWER_SETTINGS: Final = ViewerSettings(taken_keys=TAKEN_KEYS, height=HEIGHT)
_ANY: Final = "any"
_MOST_WANTED: Final = 100_000
_ASSETS: Final = "curate/assets"
_STYLES: Final = (*STYLES, f"{_ASSETS}/desk.css")


@dataclass(frozen=True)
class StudySelection:
    """The selected studies and the order of scoring; all of it is in the link."""

    show: StudyScope = "all"
    category: str | None = None
    score_first: bool = True
    wanted: int | None = None


def require_curator() -> Person:
    """Return the curator; ask for a missing name, and stop people who may not curate."""
    person = permissions.require_name(f"# {tr('Curate')}\n\n{PURPOSE}")
    if not may_write_kind(person, "select"):
        st.info(tr("Your role does not curate."))
        st.stop()
    return person


def choose_studies() -> StudySelection:
    """Show a choice of the studies, and of whether the own scores come first."""
    show = _choose_show()
    category = _choose_category()
    wanted = _choose_wanted()
    first = link_keys.query_value(link_keys.QUERY_SCORE_FIRST) != "0"
    kept = bind_to_link(
        "curate_score_first",
        link_keys.QUERY_SCORE_FIRST,
        first,
        lambda chosen: None if chosen else "0",
    )
    help_text = tr(
        "The model's scores of a question stay hidden until you have given yours, or "
        "chosen not to. Scores given after seeing the model's say little about it."
    )
    st.toggle(tr("Score first"), help=help_text, **kept)
    return StudySelection(show, category, first, wanted)


def _choose_show() -> StudyScope:
    kept = bind_option_to_link("curate_show", link_keys.QUERY_CURATE, STUDY_SCOPES, "all")
    chosen = st.segmented_control(
        tr("Studies"),
        list(STUDY_SCOPES),
        format_func=lambda show: STUDY_SCOPES[show],
        required=True,
        label_visibility="collapsed",
        **_from_the_first(kept),
    )
    return next((show for show in STUDY_SCOPES if show == chosen), "all")


def _choose_category() -> str | None:
    names = {_ANY: tr("Any category"), **CATEGORIES["open"]}
    kept = bind_option_to_link("curate_category", link_keys.QUERY_QUESTION_CATEGORY, names, _ANY)
    chosen = st.selectbox(
        tr("Category"),
        list(names),
        format_func=names.__getitem__,
        label_visibility="collapsed",
        width=200,
        **_from_the_first(kept),
    )
    return None if chosen == _ANY else chosen


def _choose_wanted() -> int | None:
    text = link_keys.query_value(link_keys.QUERY_WANTED) or ""
    given = int(text) if text.isdecimal() and 0 < len(text) < 7 else 0
    shown = given if 0 < given <= _MOST_WANTED else None
    kept = bind_to_link(
        "curate_wanted",
        link_keys.QUERY_WANTED,
        shown,
        lambda number: str(number) if number else None,
    )
    st.number_input(
        tr("Questions wanted"),
        help=tr("How many questions the set should have, in total and in each category."),
        min_value=1,
        max_value=_MOST_WANTED,
        placeholder=tr("Wanted"),
        label_visibility="collapsed",
        width=140,
        **kept,
    )
    return shown


def _from_the_first(kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return to the first study after another choice."""

    def changed() -> None:
        link_keys.go_to_case(None)
        kept["on_change"]()

    return {**kept, "on_change": changed}


def current_round(review_set: ReviewSet, person: Person, choices: StudySelection) -> CurationRound:
    """Return the current studies; explain and stop if they cannot be read."""
    if not review_sets.is_newest(review_set):
        st.rerun()  # a running run has added candidates
    try:
        return load_round(review_set, person, choices.show, choices.category, choices.score_first)
    except StoreError as error:
        st.error(lines_as_markdown(error), icon=":material/cloud_off:")
        st.stop()


def show_candidate_help(now: CurationRound) -> None:
    """Explain how to get candidates if there are none yet."""
    if any(study.candidates for study in now.curation.studies):
        return
    show_nothing_yet(
        tr("No questions were proposed yet. Have a model propose them, or write your own."),
        (PAGE_RUN_MODELS, tr("Have a model propose questions")),
    )
    show_model_help(f'python -m rexview curate "{now.review_set.folder}" --model MODEL')


def show_study(now: CurationRound, choices: StudySelection) -> None:
    """Show one study: the viewer, and next to it the report and the candidates."""
    case = now.case_of(link_keys.link_case())
    study = now.curation.study(case) if case else None
    if study is None:
        st.info(tr("No study here: {shown}.").format(shown=as_markdown(STUDY_SCOPES[choices.show])))
        return
    link_keys.go_to_case(case)
    turning = _turning(now, choices)
    left, right = st.columns([10, 11], gap="small")
    with right:
        _show_desk(now, choices, study_json(now, study), turning)
    with left:
        page = study_page(now.review_set, study.case)
        if page is not None:
            show_viewer(now.review_set, page, now.position, DESK_VIEWER_SETTINGS, turning=turning)


def _show_desk(
    now: CurationRound,
    choices: StudySelection,
    study: Mapping[str, Any],
    turning: Mapping[str, Any],
) -> None:
    covered = now.covered
    data = {
        "height": HEIGHT,
        "turning": turning,
        "outbox": outbox_json(now.review_set, CURATE_PAGE, now.person),
        "case": study,
        "worklist": {
            "total": len(now.listed),
            "done": now.done,
            "skipped": 0,
        },
        "report": "always",
        "whole": now.is_whole,
        "words": words_json(covered),
        "counts": counts_json(covered),
        "targets": targets_json(choices.wanted),
    }
    desk = component(
        "rexview_curate", f"{_ASSETS}/desk.js", style=_STYLES, title=tr("The questions")
    )
    draw_pad(desk, data, key="curate_desk")


def _turning(now: CurationRound, choices: StudySelection) -> dict[str, Any]:
    detail = {
        "show": choices.show,
        "category": choices.category,
        "score_first": choices.score_first,
    }
    files = review_sets.files_state(now.review_set)
    return turning_json(now.review_set, PAGE_CURATE, detail, state=files)


class NeighbouringStudies(TurnableItems[CurationRound]):
    """The studies of a round that a browser may turn to."""

    def case_json(self, case_id: str) -> dict[str, Any] | None:
        """Return exactly the page's data of a study; None if there is none."""
        study, page = self.now.curation.study(case_id), study_page(self.now.review_set, case_id)
        if study is None or page is None:
            return None
        return self.turned_json(page, study_json(self.now, study), DESK_VIEWER_SETTINGS)


def neighbouring_studies(
    review_set: ReviewSet, detail: Mapping[str, Any]
) -> NeighbouringStudies | NeighbouringSampleStudies | None:
    """Return the requesting person's studies; None for people who do not curate.

    Raises
    ------
    StoreError
        The written entries cannot be read.
    """
    person = permissions.current_person()
    if person is None or not may_write_kind(person, "select"):
        return None
    if detail.get("part") == SAMPLE:
        return NeighbouringSampleStudies(sample_round(review_set, person))
    show: StudyScope = next((one for one in STUDY_SCOPES if one == detail.get("show")), "all")
    category = detail.get("category")
    return NeighbouringStudies(
        load_round(review_set, person, show, category, detail.get("score_first") is not False)
    )
