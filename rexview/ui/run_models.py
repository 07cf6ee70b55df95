"""The page Run models: the choices, the exact request, the estimate and the start."""

from __future__ import annotations

import html
import json
from collections.abc import Collection
from dataclasses import replace
from typing import Final
from urllib.parse import urlencode

import streamlit as st

from rexview.analysis.run_models.jobs import start_detached_run
from rexview.analysis.run_models.run_request import RunRequest, build_run_task, plan_run
from rexview.errors import RexviewError, RunError, SettingsError
from rexview.models.asking.prompts import find_prompt, list_prompts
from rexview.models.backend import Card
from rexview.models.running.attempts import RunTask
from rexview.models.running.cost_estimate import CostEstimate, estimate_cost, expected_output
from rexview.models.running.model_run import RunPlan, case_positions, unanswered_cases
from rexview.schema import Case, ReviewSet
from rexview.ui.asking.model_choice import (
    choose_limits,
    choose_model,
    choose_option,
    confirm_address,
    confirm_start,
    edit_prompt,
    secret_keys,
    show_number_field,
    show_text_field,
)
from rexview.ui.asking.run_figures import FIGURES, image_description, show_estimate
from rexview.ui.asking.run_list import active_runs
from rexview.ui.filter_panel import FilteredSet
from rexview.ui.safe_text import as_markdown, lines_as_markdown
from rexview.ui.web.access import permissions
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.link_choices import bind_option_to_link, bind_to_link
from rexview.ui.web.link.pages import PAGE_RUN_MODELS
from rexview.ui.web.server import server_state
from rexview.ui.web.streamlit_adapter.script_run import save_button
from rexview.words import counted, tr

_ABOUT: Final = {"cases": tr("Answers to cases"), "answers": tr("Second opinion on answers")}
_MOST_REPEATS: Final = 100
_LONGEST_IDS: Final = 4_000


def choose_request_kind() -> bool:
    """Show a choice of the kind of request; return whether it is a second opinion."""
    return choose_option(tr("Ask for"), link_keys.QUERY_RUN_ABOUT, _ABOUT, "cases") == "answers"


def choose_run(filtered: FilteredSet) -> RunRequest | None:
    """Show the choices of a run; return the request, None while something is missing."""
    review_set = filtered.review_set
    chosen = choose_model(review_set)
    if chosen is None:
        return None
    left, right = st.columns([2, 3], gap="medium")
    with left:
        prompt = _prompt(chosen.card, review_set)
    with right:
        cases = _cases(filtered, chosen.model)
    left, right = st.columns([1, 3], gap="small")
    with left:
        repeats = show_number_field(
            tr("Times per case"),
            link_keys.QUERY_RUN_REPEATS,
            1,
            _MOST_REPEATS,
            tr("How often each case is asked."),
        )
    with right:
        more = choose_limits()
    batch = chosen.place == "openai" and _batch()
    if not chosen.complete or prompt is None or cases is None:
        return None
    ids, query = cases
    if ids == ():
        st.info(tr("There are no cases left to ask."))
        return None
    return chosen.wanted(
        prompt=prompt, cases=ids, query=query, repeats=repeats, batch=batch, **more
    )


def _prompt(card: Card, review_set: ReviewSet) -> str | None:
    try:
        usual = find_prompt(None, card, review_set.folder).id
    except SettingsError as error:
        st.error(lines_as_markdown(error), icon=":material/error:")
        return None
    names = list_prompts(review_set.folder)
    chosen = str(
        st.selectbox(
            tr("Wording"),
            names,
            **bind_option_to_link("run_prompt", link_keys.QUERY_RUN_PROMPT, names, usual),
        )
    )
    try:
        prompt = find_prompt(chosen, card, review_set.folder)
    except SettingsError as error:
        st.error(lines_as_markdown(error), icon=":material/error:")
        return None
    edit_prompt(prompt, review_set)
    return chosen


def _cases(filtered: FilteredSet, model: str) -> tuple[tuple[str, ...] | None, str | None] | None:
    """Return ids (None: all) and their link query; None while none is named."""
    review_set, case_filter, total = (
        filtered.review_set,
        filtered.case_filter,
        filtered.counts.total,
    )
    new, everything = unanswered_cases(review_set, model), case_positions(review_set)
    ways = {"new": tr("Not answered by this model yet ({n:,})").format(n=len(new))}
    if case_filter.active:
        ways["filter"] = tr("In the filter ({n:,})").format(n=total)
    ways |= {
        "all": tr("All ({n:,})").format(n=len(everything)),
        "ids": tr("By id"),
    }
    usual = "filter" if case_filter.active else "new"
    way = choose_option(tr("Cases"), link_keys.QUERY_RUN_CASES, ways, usual)
    if way == "ids":
        return _ids(everything)
    if way == "filter":
        query = urlencode(case_filter.to_query(), doseq=True)
        return filtered.engine.page(case_filter, 0, total), query
    return (new if way == "new" else None), None


def _ids(everything: Collection[str]) -> tuple[tuple[str, ...], None] | None:
    typed = show_text_field(
        tr("Ids"), link_keys.QUERY_RUN_IDS, placeholder="c01, c02", longest=_LONGEST_IDS
    )
    ids = [typed] if typed in everything else [one.strip() for one in typed.split(",")]
    named = tuple(dict.fromkeys(filter(None, ids)))
    unknown = [one for one in named if one not in everything]
    if unknown:
        st.error(
            as_markdown(tr("Not in the review set: {cases}").format(cases=", ".join(unknown[:5])))
        )
    if unknown or not named:
        return None
    return named, None


def _batch() -> bool:
    """Show a choice of the Batch API."""
    kept = bind_to_link(
        "run_batch",
        link_keys.QUERY_RUN_BATCH,
        link_keys.query_value(link_keys.QUERY_RUN_BATCH) == "1",
        lambda chosen: "1" if chosen else None,
    )
    return st.toggle(
        tr("As a batch"),
        help=tr(
            "Sent in files and answered within a day, for half the price. No budget can be "
            "enforced."
        ),
        **kept,
    )


# The exact request, its estimated cost, and the start.

_PICTURE_PX: Final = 340


def show_request(review_set: ReviewSet, wanted: RunRequest) -> None:
    """Show the exact request, the estimate and the start of a run."""
    try:
        plan = plan_run(review_set, wanted)
        settings = server_state.settings()
        spec = plan.spec
        expected, source = expected_output(review_set, spec.parameters, spec.prompt.id, spec.card)
        asking = build_run_task(review_set, spec, expected, settings)
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
def _request(plan: RunPlan, asking: RunTask[Case]) -> None:
    """Show the request for one case: texts, images, parameters."""
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
        with st.spinner(tr("Preparing the pictures…")):
            request = asking.build(case, 1)
    except RexviewError as error:
        st.warning(as_markdown(f"{case.id}: {error}"), icon=":material/error:")
        return
    st.caption(tr("Case {case}. Nothing else from it is sent.").format(case=as_markdown(case.id)))
    for note in request.notes:
        st.caption(as_markdown(note))
    _text(request.system)
    for part in request.parts:
        if isinstance(part, str):
            _text(part)
        else:
            words = image_description(part)
            st.image(part.data, width=_PICTURE_PX, alt=words)
            st.caption(as_markdown(words))
    sent = {name: value for name, value in request.parameters.sent().items() if value is not None}
    st.caption(as_markdown(" · ".join(f"{name}: {value}" for name, value in sent.items())))
    if st.toggle(tr("As JSON"), key="run_request_json"):
        st.code(json.dumps(request.described(), indent=1, ensure_ascii=False), language="json")


def _text(words: str) -> None:
    st.html(f'<pre class="rx-sent" tabindex="0">{html.escape(words)}</pre>')


def _estimate(plan: RunPlan, asking: RunTask[Case], source: str) -> None:
    """Show the estimated cost, computed once for the same questions."""
    spec = plan.spec
    about = replace(spec, id="", created="", budget=None, concurrency=1)
    known: tuple[object, CostEstimate] | None = st.session_state.get(link_keys.SESSION_ESTIMATE)
    if known is None or known[0] != about:
        with st.spinner(tr("Building some of the requests, to count their tokens…")):
            known = about, estimate_cost(asking, plan.left, spec.card, source)
        st.session_state[link_keys.SESSION_ESTIMATE] = known
    found = known[1]
    show_estimate(found.requests, found.spent.input, found.spent.output, found.spent.usd)
    sources = (f"{FIGURES[figure]}: {words}." for figure, words in found.sources.items())
    st.caption(as_markdown(" ".join(sources)))


def _start(review_set: ReviewSet, plan: RunPlan) -> None:
    spec = plan.spec
    what = tr("Images and questions of {cases}").format(cases=counted(len(spec.cases), "case"))
    may, insists = confirm_start(review_set, spec, what)
    busy = any(spec.same_questions(other) for other in active_runs(review_set))
    if busy:
        st.caption(tr("The same request is running: see below."))
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
    person = permissions.current_person()
    spec = replace(plan.spec, started_by=person.name) if person else plan.spec
    try:
        confirm_address(spec.parameters.api, spec.parameters.base_url)
        keys = secret_keys(spec.card.key_variable)
        start_detached_run(replace(plan, spec=spec), keys, insists=insists)
    except RunError as error:
        st.session_state["run_start_problem"] = str(error)
    else:
        st.toast(tr("Started. It continues when this page is closed."))
