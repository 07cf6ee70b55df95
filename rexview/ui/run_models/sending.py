"""What would be sent, exactly; what it would take; and the start."""

from __future__ import annotations

import html
import json
from dataclasses import replace
from typing import Final

import streamlit as st

from rexview.analysis.run_models.detached import begin_detached, what_is_missing
from rexview.analysis.run_models.local_needs import needs_here
from rexview.analysis.run_models.wanted import Wanted, asking_of, plan_of
from rexview.errors import RexviewError, RunError
from rexview.models.endpoints.address import Address, read_address
from rexview.models.running.attempts import Asking
from rexview.models.running.estimate import Estimate, estimate, expected_output
from rexview.models.running.plan import Plan
from rexview.models.running.spec import RunSpec
from rexview.schema import ReviewSet
from rexview.ui.access import permissions
from rexview.ui.html.safe_text import as_markdown, lines_as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.pages import PAGE_RUN_MODELS
from rexview.ui.run_models.edit import can_write
from rexview.ui.run_models.html import money, picture_words
from rexview.ui.run_models.key_values import keys_known
from rexview.ui.run_models.runs import runs_at_work
from rexview.ui.server import server_state
from rexview.vocab import counted

_PICTURE_PX: Final = 340
_FIGURES: Final = {"input_tokens": "Tokens in", "output_tokens": "Tokens out", "usd": "Money"}


def show_sending(review_set: ReviewSet, wanted: Wanted) -> None:
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
    box = st.expander("The exact request", key="run_request_box", on_change="rerun")
    if box.open:
        with box:
            _request(plan, asking)
    st.markdown("## Estimate and start")
    _estimate(plan, asking, source)
    _start(review_set, plan)


@st.fragment
def _request(plan: Plan, asking: Asking) -> None:
    """Show what would be sent for one case: texts, pictures, parameters."""
    permissions.guard(PAGE_RUN_MODELS)
    cases = plan.spec.cases
    number = 1
    if len(cases) > 1:
        number = int(
            st.number_input(
                f"Case, 1 to {len(cases):,}", 1, len(cases), key="run_request_number", width=220
            )
        )
    case = asking.case(cases[min(number, len(cases)) - 1])
    if case is None:
        st.warning("The case is no longer in the review set.")
        return
    try:
        with st.spinner("Making the pictures…"):
            request = asking.build(case, 1)
    except RexviewError as error:
        st.warning(as_markdown(f"{case.id}: {error}"), icon=":material/error:")
        return
    st.caption(f"Case {as_markdown(case.id)}. Nothing else of it is sent.")
    for note in request.notes:
        st.caption(as_markdown(note))
    _text(request.system)
    for part in request.parts:
        if isinstance(part, str):
            _text(part)
        else:
            st.image(part.data, width=_PICTURE_PX)
            st.caption(as_markdown(picture_words(part)))
    sent = {name: value for name, value in request.parameters.sent().items() if value is not None}
    st.caption(as_markdown(" · ".join(f"{name}: {value}" for name, value in sent.items())))
    if st.toggle("As JSON", key="run_request_json"):
        st.code(json.dumps(request.described(), indent=1, ensure_ascii=False), language="json")


def _text(words: str) -> None:
    st.html(f'<pre class="rx-sent">{html.escape(words)}</pre>')


def _estimate(plan: Plan, asking: Asking, source: str) -> None:
    """Show what it would take, worked out once for the same questions."""
    spec = plan.spec
    about = replace(spec, id="", created="", budget=None, concurrency=1)
    known: tuple[object, Estimate] | None = st.session_state.get(link_keys.SESSION_ESTIMATE)
    if known is None or known[0] != about:
        with st.spinner("Making some of the requests, to count their tokens…"):
            known = about, estimate(asking, plan.left, spec.card, source)
        st.session_state[link_keys.SESSION_ESTIMATE] = known
    found = known[1]
    usd = found.spent.usd
    values = {
        "input_tokens": f"{found.spent.input:,}",
        "output_tokens": f"{found.spent.output:,}",
        "usd": "not known" if usd is None else money(usd),
    }
    with st.container(horizontal=True, gap="large"):
        st.metric("Requests", f"{found.requests:,}", width="content")
        for figure, name in _FIGURES.items():
            st.metric(name, as_markdown(values[figure]), width="content")
    sources = (f"{_FIGURES[figure]}: {words}." for figure, words in found.sources.items())
    st.caption(as_markdown(" ".join(sources)))


def _start(review_set: ReviewSet, plan: Plan) -> None:
    spec = plan.spec
    local = spec.parameters.api == "transformers"
    address = None if local else read_address(spec.parameters.base_url)
    missing = what_is_missing(spec, keys_known(spec.card.key_variable))
    if missing:
        st.warning(as_markdown(missing), icon=":material/key:")
    if address and address.warning:
        st.warning(as_markdown(address.warning), icon=":material/lock_open:")
    writable = can_write(review_set)
    if not writable:
        st.warning("The review set's folder cannot be written, so no run can begin in it.")
    cases = counted(len(spec.cases), "case")
    agreed = True
    insists = False
    if address is None:
        st.markdown(f"Images and questions of {as_markdown(cases)} stay on this computer.")
        if not missing:
            agreed, insists = _room_for(spec)
    elif address.is_this_machine:
        st.markdown(
            f"Images and questions of {as_markdown(cases)} go to {as_markdown(address.host)}, "
            "which is this computer."
        )
    else:
        agreed = _agreed(address, cases, spec.card.key_variable)
    busy = any(spec.same_questions(other) for other in runs_at_work(review_set))
    if busy:
        st.caption("The same is being asked now: see below.")
    st.button(
        "Start",
        type="primary",
        key="run_start",
        icon=":material/play_arrow:",
        disabled=bool(missing) or not writable or not agreed or busy,
        on_click=_begin,
        args=(plan, insists),
    )
    if said := st.session_state.pop("run_start_problem", None):
        st.error(as_markdown(said), icon=":material/error:")


def _agreed(address: Address, cases: str, variable: str) -> bool:
    st.markdown(
        f"**Images and questions of {as_markdown(cases)} are sent to "
        f"{as_markdown(address.host)}**, with the key in {as_markdown(variable)}."
    )
    return st.checkbox("These may be sent there", key=f"run_agreed_{address.host}_{cases}")


def _room_for(spec: RunSpec) -> tuple[bool, bool]:
    """Say what a model takes of memory; return whether it may begin, and against that advice."""
    try:
        with st.spinner("Looking at what the model takes…"):
            found = needs_here(spec)
    except RexviewError as error:
        st.warning(as_markdown(str(error)), icon=":material/memory:")
        return False, False
    st.caption(as_markdown(str(found)))
    if found.fits:
        return True, False
    st.warning(
        "That is more than is free, and this computer may stand still: close other programs, ask "
        "fewer at once, allow shorter answers, or choose a smaller model.",
        icon=":material/memory:",
    )
    insists = st.checkbox("Load it all the same", key=f"run_insists_{spec.parameters.model}")
    return insists, insists


def _begin(plan: Plan, insists: bool) -> None:
    if not permissions.may_see(PAGE_RUN_MODELS):
        return
    person = permissions.current()
    spec = replace(plan.spec, started_by=person.name) if person else plan.spec
    try:
        keys = keys_known(spec.card.key_variable)
        begin_detached(replace(plan, spec=spec), keys, insists=insists)
    except RunError as error:
        st.session_state["run_start_problem"] = str(error)
    else:
        st.toast("Started. It goes on when this page is closed.")
