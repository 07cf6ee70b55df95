"""The sample of a judge's findings of a written failure, read blind to the judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import streamlit as st

from rexview.analysis.case.case_page import CasePage
from rexview.analysis.written_results import DEFAULT_SAMPLE_SIZE, SAMPLE_SIZES, VALIDATION_KIND
from rexview.errors import StoreError
from rexview.judge.written import find_written_name
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import may_write_kind
from rexview.ui.answers import answer_card as answers_html
from rexview.ui.answers.flags import definition_html
from rexview.ui.failures.page_parts import VALIDATE, WORDS, check_written_failures_served, open_part
from rexview.ui.safe_text import as_markdown, inline_html, lines_as_markdown, markdown_html
from rexview.ui.turning.item_pad import TurnableItems, draw_pad
from rexview.ui.turning.ticket import turning_json
from rexview.ui.viewer.case_payload import ViewerSettings, show_viewer
from rexview.ui.web.access import permissions
from rexview.ui.web.components import component
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.link_choices import bind_option_to_link
from rexview.ui.web.link.pages import PAGE_FAILURES
from rexview.ui.web.saving.entries import FAILURES_PAGE
from rexview.ui.web.saving.outbox import outbox_json
from rexview.ui.web.saving.written_failure_entries import (
    ValidationRound,
    find_validation_round,
    own_json,
    progress_json,
)
from rexview.ui.web.server import review_sets
from rexview.words import tr

# The page's data of one answer of the sample, without the judge's finding.


def item_json(now: ValidationRound, item: str) -> dict[str, Any]:
    """Return one item for the person's pad: the answer as the judge received it."""
    position, subject = now.position(item), now.subject(item)
    given = now.review_set.case(subject.about.case)
    report = answers_html.report_sections_html(given.report) if given else ""
    told = answers_html.request_html(given) if given else ""
    return {
        "case": item,
        "place": position.number,
        "previous": position.before,
        "next": position.after,
        "own": own_json(now, item),
        "report": {"state": "shown", "html": told + report, "always": True},
        "content": {
            "question": f"<p>{inline_html(subject.case.question)}</p>",
            "options": list(subject.case.options),
            "answer": markdown_html(subject.text),
        },
    }


def round_json(now: ValidationRound) -> dict[str, str]:
    """Return the names of the round for its entries."""
    return {
        "failure": find_written_name(now.found.prompt),
        "version": now.found.version,
        "judge": now.found.judge,
    }


_HEIGHT: Final = "clamp(560px, calc(100dvh - 190px), 1200px)"
_MANNER: Final = ViewerSettings(blinded=True, taken_keys="0123456789yugnp?", height=_HEIGHT)
_ASSETS: Final = "failures/written/validate/assets"
_STYLES: Final = ("pad/assets/pad.css", "pad/assets/task_pad.css", f"{_ASSETS}/validate.css")
_PURPOSE: Final = f"# {tr('Failures')}\n\n{tr('Read a sample of what a language model found.')}"


def show_round(review_set: ReviewSet) -> None:
    """Show one answer of the sample in the link; if there is none, links back."""
    if not check_written_failures_served():
        return
    person = permissions.require_name(_PURPOSE)
    if not may_write_kind(person, VALIDATION_KIND):
        st.info(tr("Your role does not validate failures in words."))
        return
    about = _about()
    try:
        now = _round(review_set, person, about, _size(link_keys.query_value(_SIZE)))
    except StoreError as error:
        st.error(lines_as_markdown(error), icon=":material/cloud_off:")
        return
    item = now.item_of(link_keys.link_case()) if now else None
    if now is None or item is None:
        st.info(
            tr("No one has searched for this failure in these words, or the result cannot be read.")
        )
        return
    link_keys.go_to_case(item)
    detail = {"part": VALIDATE, "about": list(about), "size": now.size}
    files = review_sets.files_state(review_set)
    turning = turning_json(review_set, PAGE_FAILURES, detail, state=f"{files} {now.found.version}")
    left, right = st.columns([10, 11], gap="small")
    with right:
        _show_pad(now, item, turning)
    with left:
        page = _page(now, item)
        if page is not None:
            show_viewer(now.review_set, page, now.position, _MANNER, turning=turning)


_SIZE: Final = link_keys.QUERY_WRITTEN["size"]


def _about() -> tuple[str, str, str]:
    failure, version, judge = (
        link_keys.query_value(link_keys.QUERY_WRITTEN[name]) or ""
        for name in ("failure", "version", "judge")
    )
    return failure, version, judge


def show_head() -> None:
    """Show a link back and the progress; outside the fragment, which stays at its answer."""
    sizes = {str(size): tr("{n} of each").format(n=size) for size in SAMPLE_SIZES}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.button(
            tr("Back to the results"),
            icon=":material/arrow_back:",
            key="written_back",
            on_click=open_part,
            args=(WORDS,),
        )
        st.segmented_control(
            tr("Sample"),
            list(sizes),
            format_func=sizes.__getitem__,
            required=True,
            help=tr(
                "This many of those found, and of those not found, in random order. A "
                "longer sample starts with the shorter one."
            ),
            **bind_option_to_link("written_size", _SIZE, sizes, str(DEFAULT_SAMPLE_SIZE)),
        )
        st.caption(as_markdown(tr("The language model's opinion is hidden while you read.")))


def _size(typed: object) -> int:
    return next((size for size in SAMPLE_SIZES if str(size) == str(typed)), DEFAULT_SAMPLE_SIZE)


def _round(
    review_set: ReviewSet, person: Person, about: tuple[str, str, str], size: int
) -> ValidationRound | None:
    return find_validation_round(review_set, review_sets.reviews(review_set), person, about, size)


def _page(now: ValidationRound, item: str) -> CasePage | None:
    """Return the case without answers, under the name of the item."""
    case = now.review_set.case(now.items[item].about.case)
    return CasePage(replace(case, id=item), (), (), {}, ()) if case else None


def _show_pad(now: ValidationRound, item: str, turning: Mapping[str, Any]) -> None:
    data = {
        "height": _HEIGHT,
        "turning": turning,
        "outbox": outbox_json(now.review_set, FAILURES_PAGE, now.person),
        "case": item_json(now, item),
        "worklist": progress_json(now),
        "report": "always",
        "definition": definition_html(now.found.prompt),
        "round": round_json(now),
    }
    pad = component(
        "rexview_validate", f"{_ASSETS}/validate.js", style=_STYLES, title=tr("The answer")
    )
    draw_pad(pad, data, key="written_validate")


class NeighbouringSampleItems(TurnableItems[ValidationRound]):
    """The answers of the sample that a browser may turn to."""

    def case_json(self, item: str) -> dict[str, Any] | None:
        """Return exactly the page's data of an item; None for another one."""
        page = _page(self.now, item) if item in self.now.items else None
        return self.turned_json(page, item_json(self.now, item), _MANNER) if page else None


def neighbouring_sample_items(
    review_set: ReviewSet, detail: Mapping[str, Any]
) -> NeighbouringSampleItems | None:
    """Return the requesting person's sample; None for people who do not validate.

    Raises
    ------
    StoreError
        The written entries cannot be read.
    """
    person = permissions.current_person()
    if (
        person is None
        or not may_write_kind(person, VALIDATION_KIND)
        or detail.get("part") != VALIDATE
    ):
        return None
    failure, version, judge = map(str, detail["about"])
    now = _round(review_set, person, (failure, version, judge), _size(detail.get("size")))
    return NeighbouringSampleItems(now) if now else None
