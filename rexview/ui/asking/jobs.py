"""Commands that begin runs themselves: a form that begins one, and how far each is."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

import streamlit as st

from rexview.analysis.run_models.jobs import (
    Again,
    Job,
    WouldSend,
    arguments_of,
    begin_job,
    how_it_ended,
    is_at_work,
    jobs_of,
    new_job,
    would_send,
)
from rexview.analysis.run_models.run_request import Command, RunRequest, plan_of
from rexview.errors import RexviewError, RunError
from rexview.models.asking.cards import find_card
from rexview.models.running.spec import RunSpec
from rexview.schema import ReviewSet
from rexview.ui.access import permissions
from rexview.ui.asking.estimate import show_figures
from rexview.ui.asking.html import begun_words
from rexview.ui.asking.key_values import keys_known
from rexview.ui.asking.where import may_begin, may_go_on
from rexview.ui.html.safe_text import as_markdown, lines_as_markdown
from rexview.ui.link.pages import PAGE_RUN_MODELS
from rexview.ui.streamlit_adapter.pressed import save_button
from rexview.words import counted, tr

_SHOWN: Final = 5
"""So many of the last models and commands are looked at."""
_ESTIMATE: Final = "job_estimate"
_PROBLEM: Final = "job_problem"
_BEGUN: Final = "job_begun"
_STEPS: Final = {"propose": "propose", "rate": "score", "tag": "tag"}


def begin_form(
    review_set: ReviewSet, wanted: RunRequest, command: Command, own: Sequence[str], what: str
) -> None:
    """Show what a command would send and take, and its start.

    ``own`` are its arguments besides those that say how the model is asked; ``what`` goes to the
    model: ``The reports of 3 studies``.
    """
    permissions.guard(PAGE_RUN_MODELS)
    try:
        spec = plan_of(review_set, replace(wanted, cases=())).spec
    except RexviewError as error:
        st.error(lines_as_markdown(error), icon=":material/error:")
        return
    arguments = [*own, *arguments_of(wanted)]
    job = new_job(review_set.folder, command, spec.parameters.model, arguments, _by())
    _estimate(job, spec)
    may, insists = may_begin(review_set, spec, what)
    busy = any(
        one.command == command and one.model == job.model
        for one in jobs_of(review_set, (job.folder.under,))
        if is_at_work(one)
    )
    if busy:
        st.caption(tr("The same model is asked this now: see below."))
    save_button(
        tr("Start"),
        type="primary",
        key=f"job_start_{command}",
        icon=":material/play_arrow:",
        disabled=not may or busy,
        on_click=_begin,
        args=(job, spec.card.key_variable, None, insists),
    )
    if said := st.session_state.pop(_PROBLEM, None):
        st.error(as_markdown(said), icon=":material/error:")


def _by() -> str:
    person = permissions.current()
    return person.name if person else ""


def _estimate(job: Job, spec: RunSpec) -> None:
    """Offer to work out what it would send and take: that reads the whole set once more."""
    about = tuple(job.typed())
    if st.button(tr("Estimate"), key=f"job_estimate_{job.command}", icon=":material/calculate:"):
        with st.spinner(tr("Making some of the requests, to count their tokens…")):
            try:
                keys = keys_known(spec.card.key_variable)
                found: WouldSend | str = would_send(job, spec.card.key_variable, keys)
            except RunError as error:
                found = str(error)
        st.session_state[_ESTIMATE] = about, found
    known: tuple[object, WouldSend | str] | None = st.session_state.get(_ESTIMATE)
    if known is None or known[0] != about:
        return
    if isinstance(known[1], str):
        st.warning(as_markdown(known[1]), icon=":material/error:")
        return
    sends = known[1]
    requests, sent, written = map(sends.total, ("requests", "input_tokens", "output_tokens"))
    show_figures(requests or 0, sent or 0, written or 0, sends.total("usd"))
    if sends.first:
        with st.expander(tr("The first request")):
            st.code(json.dumps(sends.first, indent=1, ensure_ascii=False), language="json")


def _begin(job: Job, variable: str, again: Again | None, insists: bool = False) -> None:
    if not permissions.may_see(PAGE_RUN_MODELS):
        return
    try:
        begin_job(job, variable, keys_known(variable), again=again, insists=insists)
    except RunError as error:
        st.session_state[_PROBLEM] = str(error)
    else:
        st.session_state[_BEGUN] = True  # a callback of a fragment is to show nothing itself


def any_at_work(review_set: ReviewSet, folders: Sequence[str]) -> bool:
    """Whether a command that begins runs in some folders is at work."""
    return any(is_at_work(job) for job in jobs_of(review_set, folders))


def models_with_jobs(review_set: ReviewSet, under: str) -> set[str]:
    """Return which models are asked by jobs that are at work, or offer to go on."""
    return {job.model for job in _unfinished(jobs_of(review_set, (under,)))}


def _unfinished(jobs: Sequence[Job]) -> list[Job]:
    """Return the jobs at work, and the last one of each model and command if more is to be done."""
    seen: set[tuple[str, str]] = set()
    kept = []
    for job in jobs:
        about = (job.command, job.model)
        last = about not in seen
        seen.add(about)
        if is_at_work(job) or (last and len(seen) <= _SHOWN and not how_it_ended(job).complete):
            kept.append(job)
    return kept


def show_jobs(
    review_set: ReviewSet, folders: Sequence[str], asked_now: Collection[tuple[str, str]]
) -> int:
    """Show jobs, which stand before their runs; return how many.

    ``asked_now`` are folder and model of runs at work: those say by themselves how far they are.
    """
    if said := st.session_state.pop(_PROBLEM, None):
        st.error(as_markdown(said), icon=":material/error:")
    if st.session_state.pop(_BEGUN, False):
        st.toast(tr("Started. It goes on when this page is closed."))
    jobs = _unfinished(jobs_of(review_set, folders))
    shown = [job for job in jobs if (job.folder.under, job.model) not in asked_now]
    for job in shown:
        with st.container(border=True, gap="small", key=f"rx_job_{job.folder.id}"):
            _job(job, review_set)
    return len(shown)


def _job(job: Job, review_set: ReviewSet) -> None:
    names = {model.id: model.name for model in review_set.models}
    working = is_at_work(job)
    ended = None if working else how_it_ended(job)
    if ended is None:
        state = tr("Getting ready")
    else:
        state = tr("Broken off") if ended.message else tr("Not complete")
    title = f"{_title(job)} · **{as_markdown(names.get(job.model, job.model))}** · {state}"
    st.markdown(title, anchors=False)
    where = job.value("--base-url") or (tr("this computer") if _is_local(job) else "OpenAI")
    st.caption(as_markdown(f"{where} · {begun_words(job.created, job.by)}"))
    if ended is None:
        st.caption(tr("Its requests begin, or are all answered, within moments."))
        return
    if ended.message:
        st.warning(as_markdown(ended.message))
    for line in ended.lines:
        st.markdown(as_markdown(line))
    notes = [
        *(
            [tr("{answers} cannot be read").format(answers=counted(ended.unreadable, "answer"))]
            if ended.unreadable
            else []
        ),
        *([tr("{n:,} without an answer").format(n=ended.left)] if ended.left else []),
    ]
    if notes:
        st.caption(as_markdown(f"{'; '.join(notes)}."))
    if not ended.complete:
        with st.container(horizontal=True, gap="small"):
            _again_buttons(job, review_set, unreadable=bool(ended.unreadable))


def _again_buttons(job: Job, review_set: ReviewSet, *, unreadable: bool) -> None:
    ways: list[tuple[str, Again]] = [(tr("Resume"), "--resume")]
    if unreadable:
        ways.append((tr("Ask the unreadable ones again"), "--again"))
    try:
        declared = next((one for one in review_set.models if one.id == job.model), None)
        variable = find_card(job.model, review_set.folder, declared).key_variable
    except RexviewError as error:
        st.error(lines_as_markdown(error), icon=":material/error:")
        return
    agreed = may_go_on(job.folder.id, job.value("--api"), job.value("--base-url"))
    for label, again in ways:
        save_button(
            as_markdown(label),
            key=f"job_{again}_{job.folder.id}",
            icon=":material/replay:",
            on_click=_begin,
            args=(job, variable, again),
            disabled=not agreed,
        )


def _is_local(job: Job) -> bool:
    return job.value("--api") == "transformers"


def _title(job: Job) -> str:
    if job.command == "judge" and (written := job.value("--written")):
        return tr("Written failure: {name}").format(name=as_markdown(written.partition("@")[0]))
    if job.command == "judge":
        return tr("Second opinion")
    if job.command == "metrics":
        return tr("Corrections of reports")
    if any(one == "--choice" for one in job.arguments):
        return tr("Multiple choice questions")
    steps = (job.value("--step") or ",".join(_STEPS)).split(",")
    named = ", ".join(_STEPS[step] for step in steps if step in _STEPS)
    return tr("Questions: {steps}").format(steps=named) if named else tr("Questions")
