"""The runs of a review set of all kinds, newest first, live while one is at work."""

from __future__ import annotations

import html
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import streamlit as st

from rexview.analysis.run_models.jobs import begin_job, progress_now, resume_job, resume_run
from rexview.analysis.run_models.run_request import (
    ANSWERS,
    FOLDERS,
    OPINIONS,
    WRITTEN,
    RunKind,
    all_runs,
    run_kind_of,
)
from rexview.analysis.written_failures import SHORT
from rexview.errors import RunError
from rexview.judge.written import name_of
from rexview.models.running.folder import CURATING, JUDGING, RUNS, RunFolder
from rexview.models.running.progress import Progress, Wish, tell
from rexview.models.running.run import disk_words
from rexview.models.running.spec import RunSpec, read_spec
from rexview.schema import ReviewSet
from rexview.ui.access import permissions
from rexview.ui.asking.details import show_details
from rexview.ui.asking.html import STATES, begun_words, counts_html, progress_html
from rexview.ui.asking.jobs import any_at_work, models_with_jobs, show_jobs
from rexview.ui.asking.key_values import keys_known
from rexview.ui.asking.where import confirm_address, may_go_on
from rexview.ui.html.safe_text import as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.in_app import href, linked_html
from rexview.ui.link.pages import (
    PAGE_CURATE,
    PAGE_FAILURES,
    PAGE_REPORT_GENERATION,
    PAGE_RUN_MODELS,
)
from rexview.ui.streamlit_adapter.pressed import save_button, typed_fields, words_taken
from rexview.words import counted, tr

_LOOKS_EVERY_S: Final = 1.0
_SHOWN: Final = 8
_PROBLEM: Final = "run_told_problem"
_RESULTS: Final[Mapping[str, tuple[str, str]]] = {
    "curate": (PAGE_CURATE, tr("Curate")),
    "judge": (PAGE_FAILURES, tr("Failures")),
    "metrics": (PAGE_REPORT_GENERATION, tr("Report generation")),
}
"""By command the page that shows what came of it."""


def runs_at_work(review_set: ReviewSet, folders: tuple[str, ...] = (RUNS,)) -> list[RunSpec]:
    """Return what is being asked now."""
    return [
        spec
        for run in all_runs(review_set, folders)[:_SHOWN]
        if progress_now(run).at_work and (spec := _spec(run)) is not None
    ]


def show_runs(review_set: ReviewSet, folders: tuple[str, ...] = FOLDERS) -> None:
    """Show the runs in some folders; they are looked at once a second while one is at work."""
    live = bool(runs_at_work(review_set, folders)) or any_at_work(review_set, folders)
    st.fragment(_list, run_every=_LOOKS_EVERY_S if live else None)(review_set, folders, live=live)


def _list(review_set: ReviewSet, folders: tuple[str, ...], *, live: bool) -> None:
    permissions.guard(PAGE_RUN_MODELS)
    runs = all_runs(review_set, folders)
    busy = any_at_work(review_set, folders)
    states = [progress_now(run) for run in runs[:_SHOWN]]
    if live != (busy or any(state.at_work for state in states)):
        st.rerun()  # it is looked at often from now on, or no longer
    if said := st.session_state.pop(_PROBLEM, None):
        st.error(as_markdown(said), icon=":material/error:")
    asked_now = {
        (run.under, state.model)
        for run, state in zip(runs[:_SHOWN], states, strict=True)
        if state.at_work
    }
    shown = show_jobs(review_set, folders, asked_now)
    if not runs and not shown:
        st.caption(_none_yet(folders))
    for run, progress in zip(runs[:_SHOWN], states, strict=True):
        with st.container(border=True, gap="small", key=f"rx_run_{run.id}"):
            _run(run, progress, review_set, together=len(folders) > 1)
    if len(runs) > _SHOWN:
        older = as_markdown(counted(len(runs) - _SHOWN, "older run"))
        names = as_markdown(", ".join(sorted({run.under for run in runs[_SHOWN:]})))
        st.caption(tr("{runs} in the folder {names} of the set.").format(runs=older, names=names))


def _none_yet(folders: tuple[str, ...]) -> str:
    """Say that there is no run; where only some kinds are listed, others there may be."""
    if folders == (JUDGING,):
        return tr("No judge has been asked from here yet. Opinions that came as files have no run.")
    if folders == (CURATING,):
        return tr("No model has been asked for questions from here yet.")
    return tr("No model has been run on this review set yet.")


def _run(run: RunFolder, progress: Progress, review_set: ReviewSet, *, together: bool) -> None:
    """Show a run; ``together`` with other kinds, with a link to the page of its own."""
    spec = _spec(run)
    if spec is None:
        st.markdown(f"**{as_markdown(run.id)}**")
        st.warning(tr("run.json of this run cannot be read: restore it from a copy."))
        return
    kind = run_kind_of(run, spec)
    names = {model.id: model.name for model in review_set.models}
    model = spec.parameters.model
    named, state = as_markdown(names.get(model, model)), STATES[progress.state]
    if kind == ANSWERS:
        st.markdown(f"**{named}** · {state}", anchors=False)
    else:
        st.markdown(f"{as_markdown(kind.name)} · **{named}** · {state}", anchors=False)
    local = spec.parameters.api == "transformers"
    where = tr("this computer") if local else spec.parameters.base_url or "OpenAI"
    began = begun_words(spec.created, spec.started_by)
    st.caption(as_markdown(f"{spec.prompt.id} · {where} · {began} · {run.id}"))
    st.html(progress_html(progress, kind))
    if counts := counts_html(progress):
        st.html(counts)
    _buttons(run, spec, kind, progress, review_set)
    if together and kind.command in _RESULTS:
        page, name = _RESULTS[kind.command]
        shown = {link_keys.QUERY_JUDGE: model} if kind == OPINIONS else {}
        if kind.name == WRITTEN.name:
            shown = _own_words(spec)
        address = html.escape(href(page, {**link_keys.link_query(), **shown}))
        link = f'<a href="{address}" data-rx-page>{name}</a>'
        linked_html(
            f'<p class="rx-run-cases">{tr("What came of it: {link}").format(link=link)}</p>',
            key=f"run_to_{run.id}",
        )
    box = st.expander(tr("Answers, errors and log"), key=f"run_more_{run.id}", on_change="rerun")
    if box.open:
        with box:
            show_details(run, spec, kind, at_work=progress.at_work)


def _own_words(spec: RunSpec) -> dict[str, str]:
    """Return what a link to what was found of a failure in words names."""
    return {
        link_keys.QUERY_VIEW: link_keys.OWN_WORDS,
        link_keys.QUERY_WRITTEN["failure"]: name_of(spec.prompt),
        link_keys.QUERY_WRITTEN["version"]: spec.prompt.hash[:SHORT],
    }


def _buttons(
    run: RunFolder, spec: RunSpec, kind: RunKind, progress: Progress, review_set: ReviewSet
) -> None:
    """Offer what can be done with a run as it is."""

    def button(label: str, icon: str, wish: Wish) -> None:
        save_button(
            as_markdown(label),
            key=f"run_{wish}_{run.id}",
            icon=f":material/{icon}:",
            on_click=_tell,
            args=(run, wish),
        )

    budget_key = f"run_more_budget_{run.id}"
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        if progress.at_work and progress.state != "starting":
            if progress.state == "paused":
                button(tr("Continue"), "play_arrow", "run")
            else:
                button(tr("Pause"), "pause", "pause")
            button(tr("Cancel"), "stop", "cancel")
        elif kind != ANSWERS and spec.parameters.model in models_with_jobs(review_set, run.under):
            pass  # going on is offered with the job, which has all its steps
        elif not progress.at_work and progress.done < progress.total:
            if spec.budget and progress.state == "cancelled":
                with typed_fields(budget_key, width=200):
                    st.text_input(tr("New budget"), str(spec.budget), key=budget_key, max_chars=40)
            only_failed = progress.state == "finished"
            parameters = spec.parameters
            agreed = may_go_on(run.id, parameters.api, parameters.base_url)
            save_button(
                tr("Ask the failed ones again") if only_failed else tr("Resume"),
                key=f"run_resume_{run.id}",
                icon=":material/replay:",
                on_click=_resume,
                args=(run, spec, progress, budget_key),
                disabled=not agreed,
            )


def _tell(run: RunFolder, wish: Wish) -> None:
    if not permissions.may_see(PAGE_RUN_MODELS):
        return
    try:
        tell(run, wish)
    except OSError as error:
        st.session_state[_PROBLEM] = disk_words(error)


def _resume(run: RunFolder, spec: RunSpec, progress: Progress, budget_key: str) -> None:
    if not permissions.may_see(PAGE_RUN_MODELS):
        return
    budget = (st.session_state.get(budget_key) or "").strip() or None
    try:
        confirm_address(spec.parameters.api, spec.parameters.base_url)
        keys = keys_known(spec.card.key_variable)
        if run.under == RUNS:
            resume_run(run, spec, progress, keys, budget=budget)
        else:
            begin_job(resume_job(run, spec), spec.card.key_variable, keys, budget=budget)
    except RunError as error:
        st.session_state[_PROBLEM] = str(error)
    else:
        words_taken(budget_key)


def _spec(run: RunFolder) -> RunSpec | None:
    try:
        return _spec_as_of(run, run.spec.stat().st_mtime_ns)
    except (OSError, RunError):
        return None


@lru_cache(maxsize=32)
def _spec_as_of(run: RunFolder, changed: int) -> RunSpec:
    return read_spec(run)
