"""What would be sent, exactly; what it would take; and the start."""

from __future__ import annotations

import html
import json
from dataclasses import replace
from typing import Final

import streamlit as st

from rexview.analysis.run_models.jobs import begin_detached
from rexview.analysis.run_models.run_request import RunRequest, asking_of, plan_of
from rexview.errors import RexviewError, RunError
from rexview.models.running.attempts import Asking
from rexview.models.running.estimate import Estimate, estimate, expected_output
from rexview.models.running.run import RunPlan
from rexview.schema import Case, ReviewSet
from rexview.ui.access import permissions
from rexview.ui.asking.estimate import FIGURES, show_figures
from rexview.ui.asking.html import picture_words
from rexview.ui.asking.key_values import keys_known
from rexview.ui.asking.runs import runs_at_work
from rexview.ui.asking.where import confirm_address, may_begin
from rexview.ui.html.safe_text import as_markdown, lines_as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.pages import PAGE_RUN_MODELS
from rexview.ui.server import server_state
from rexview.ui.streamlit_adapter.pressed import save_button
from rexview.words import counted, tr

_PICTURE_PX: Final = 340


def show_sending(review_set: ReviewSet, wanted: RunRequest) -> None:
    """Show the exact request, the estimate and the start of what is wanted."""
    try:
        plan = plan_of(review_set, wanted)
        settings = server_state.settings()
        spec = plan.spec
        expected, source = expected_output(review_set, spec.parameters, spec.prompt.id, spec.card)
        asking = asking_of(review_set, spec, expected, settings)
    except RexviewError as error:
        st.error(lines_as_markdown(error), icon=":material/error:")
        return
    box = st.expander(tr("The exact request"), key="run_request_box", on_change="rerun")
    if box.open:
        with box:
            _request(plan, asking)
    st.markdown(f"## {tr('Estimate and start')}")
    _estimate(plan, asking, source)
    _start(review_set, plan)


@st.fragment
def _request(plan: RunPlan, asking: Asking[Case]) -> None:
    """Show what would be sent for one case: texts, pictures, parameters."""
    permissions.guard(PAGE_RUN_MODELS)
    cases = plan.spec.cases
    number = 1
    if len(cases) > 1:
        number = int(
            st.number_input(
                tr("Case, 1 to {n:,}").format(n=len(cases)),
                1,
                len(cases),
                key="run_request_number",
                width=220,
            )
        )
    case = asking.case(cases[min(number, len(cases)) - 1])
    if case is None:
        st.warning(tr("The case is no longer in the review set."))
        return
    try:
        with st.spinner(tr("Making the pictures…")):
            request = asking.build(case, 1)
    except RexviewError as error:
        st.warning(as_markdown(f"{case.id}: {error}"), icon=":material/error:")
        return
    st.caption(tr("Case {case}. Nothing else of it is sent.").format(case=as_markdown(case.id)))
    for note in request.notes:
        st.caption(as_markdown(note))
    _text(request.system)
    for part in request.parts:
        if isinstance(part, str):
            _text(part)
        else:
            words = picture_words(part)
            st.image(part.data, width=_PICTURE_PX, alt=words)
            st.caption(as_markdown(words))
    sent = {name: value for name, value in request.parameters.sent().items() if value is not None}
    st.caption(as_markdown(" · ".join(f"{name}: {value}" for name, value in sent.items())))
    if st.toggle(tr("As JSON"), key="run_request_json"):
        st.code(json.dumps(request.described(), indent=1, ensure_ascii=False), language="json")


def _text(words: str) -> None:
    st.html(f'<pre class="rx-sent" tabindex="0">{html.escape(words)}</pre>')


def _estimate(plan: RunPlan, asking: Asking[Case], source: str) -> None:
    """Show what it would take, worked out once for the same questions."""
    spec = plan.spec
    about = replace(spec, id="", created="", budget=None, concurrency=1)
    known: tuple[object, Estimate] | None = st.session_state.get(link_keys.SESSION_ESTIMATE)
    if known is None or known[0] != about:
        with st.spinner(tr("Making some of the requests, to count their tokens…")):
            known = about, estimate(asking, plan.left, spec.card, source)
        st.session_state[link_keys.SESSION_ESTIMATE] = known
    found = known[1]
    show_figures(found.requests, found.spent.input, found.spent.output, found.spent.usd)
    sources = (f"{FIGURES[figure]}: {words}." for figure, words in found.sources.items())
    st.caption(as_markdown(" ".join(sources)))


def _start(review_set: ReviewSet, plan: RunPlan) -> None:
    spec = plan.spec
    what = tr("Images and questions of {cases}").format(cases=counted(len(spec.cases), "case"))
    may, insists = may_begin(review_set, spec, what)
    busy = any(spec.same_questions(other) for other in runs_at_work(review_set))
    if busy:
        st.caption(tr("The same is being asked now: see below."))
    save_button(
        tr("Start"),
        type="primary",
        key="run_start",
        icon=":material/play_arrow:",
        disabled=not may or busy,
        on_click=_begin,
        args=(plan, insists),
    )
    if said := st.session_state.pop("run_start_problem", None):
        st.error(as_markdown(said), icon=":material/error:")


def _begin(plan: RunPlan, insists: bool) -> None:
    if not permissions.may_see(PAGE_RUN_MODELS):
        return
    person = permissions.current()
    spec = replace(plan.spec, started_by=person.name) if person else plan.spec
    try:
        confirm_address(spec.parameters.api, spec.parameters.base_url)
        keys = keys_known(spec.card.key_variable)
        begin_detached(replace(plan, spec=spec), keys, insists=insists)
    except RunError as error:
        st.session_state["run_start_problem"] = str(error)
    else:
        st.toast(tr("Started. It goes on when this page is closed."))
