"""The part of the Curate page in which experts read a sample of multiple choice questions."""

from __future__ import annotations

from typing import Any, Final

import streamlit as st

from rexview.errors import StoreError
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.ui.app.nothing_yet import show_nothing_yet
from rexview.ui.components import component
from rexview.ui.curate.film import STYLES, page_of
from rexview.ui.curate.sample.data import item_json, shares_json, words_json
from rexview.ui.curate.sample.round import SampleRound, sample_round
from rexview.ui.curate.views import SAMPLE, show_how_to_begin
from rexview.ui.html.safe_text import lines_as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.pages import PAGE_CURATE, PAGE_RUN_MODELS
from rexview.ui.pad.shown import Around, draw_pad
from rexview.ui.saving.entries import CURATE_PAGE
from rexview.ui.saving.outbox import outbox_json
from rexview.ui.server import review_sets
from rexview.ui.turning.ticket import turning_json
from rexview.ui.viewer.case_payload import ViewerManner, show_viewer
from rexview.words import tr

_HEIGHT: Final = "clamp(560px, calc(100dvh - 190px), 1200px)"
_TAKEN_KEYS: Final = "0123456789jkyeugnp?"
_MANNER: Final = ViewerManner(taken_keys=_TAKEN_KEYS, height=_HEIGHT)
_ASSETS: Final = "curate/sample/assets"
_STYLES: Final = (*STYLES, f"{_ASSETS}/sample.css")


def show_sample(review_set: ReviewSet, person: Person) -> None:
    """Show the sampled questions of one study; what leads to some where there are none."""
    if not review_sets.is_newest(review_set):
        st.rerun()  # questions came meanwhile, from a run that is still going
    try:
        now = sample_round(review_set, person)
    except StoreError as error:
        st.error(lines_as_markdown(error), icon=":material/cloud_off:")
        st.stop()
    case = now.case_of(link_keys.case_wanted())
    if case is None:
        _show_begin(now)
        return
    link_keys.go_to_case(case)
    files = review_sets.files_state(now.review_set)
    turning = turning_json(now.review_set, PAGE_CURATE, {"part": SAMPLE}, state=files)
    left, right = st.columns([10, 11], gap="small")
    with right:
        _show_pad(now, case, turning)
    page = page_of(now.review_set, case)
    if page is not None:
        with left:
            show_viewer(now.review_set, page, now.position, _MANNER, turning=turning)


def _show_begin(now: SampleRound) -> None:
    if now.review_set.candidates.filter(question_type="choice").is_empty():
        show_nothing_yet(
            tr("No multiple choice questions were made yet. Have a model make them from reports."),
            (PAGE_RUN_MODELS, tr("Have a model make questions")),
        )
        words = "--choice --model MODEL --validator MODEL"
        show_how_to_begin(f'python -m rexview curate "{now.review_set.folder}" {words}')
    else:
        st.info(tr("Every multiple choice question fails a check: there is none to read."))


def _show_pad(now: SampleRound, case: str, turning: Any) -> None:
    data = {
        "height": _HEIGHT,
        "turning": turning,
        "outbox": outbox_json(now.review_set, CURATE_PAGE, now.person),
        "case": item_json(now, case),
        "worklist": {
            "total": len(now.listed),
            "done": sum(map(now.is_done, now.listed)),
            "skipped": 0,
        },
        "report": "always",
        "words": words_json(),
        "shares": shares_json(now.result),
    }
    pad = component(
        "rexview_sample", f"{_ASSETS}/sample.js", style=_STYLES, title=tr("The questions")
    )
    draw_pad(pad, data, key="curate_sample")


class SampleAround(Around[SampleRound]):
    """The studies of the sample that a browser may turn to."""

    def case_json(self, case_id: str) -> dict[str, Any] | None:
        """Return what the page shows of a study of the sample; None for another one."""
        if case_id not in self.now.questions:
            return None
        page = page_of(self.now.review_set, case_id)
        return self.turned_json(page, item_json(self.now, case_id), _MANNER) if page else None
