"""The runs of a review set, newest first, live while one is at work."""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

import streamlit as st

from rexview.analysis.run_models.detached import go_on, progress_now
from rexview.bounded import read_file
from rexview.errors import FileRefused, RunError
from rexview.models.reply import FAILINGS, OUTCOMES
from rexview.models.running.folder import RunFolder, runs_of
from rexview.models.running.journal import Past, read_past
from rexview.models.running.progress import Progress, Wish, tell
from rexview.models.running.run import disk_words
from rexview.models.running.spec import RunSpec, read_spec
from rexview.schema import ReviewSet
from rexview.ui.access import permissions
from rexview.ui.html.safe_text import as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.in_app import href, linked_html
from rexview.ui.link.pages import PAGE_CASE, PAGE_RUN_MODELS
from rexview.ui.run_models.html import STATES, counts_html, progress_html
from rexview.ui.run_models.key_values import keys_known
from rexview.vocab import counted

_LOOKS_EVERY_S: Final = 1.0
_SHOWN: Final = 8
_LISTED: Final = 50
_MOST_LOG_BYTES: Final = 200_000_000
_SMALL: Final = 500_000
"""Bytes of a log that is read anew whenever it grows; a longer one, at work, now and then."""
_PROBLEM: Final = "run_told_problem"


def runs_at_work(review_set: ReviewSet) -> list[RunSpec]:
    """Return what is being asked now."""
    return [
        spec
        for run in runs_of(review_set.folder)[:_SHOWN]
        if progress_now(run).at_work and (spec := _spec(run)) is not None
    ]


def show_runs(review_set: ReviewSet) -> None:
    """Show the runs; they are looked at once a second while one is at work."""
    live = bool(runs_at_work(review_set))
    st.fragment(_list, run_every=_LOOKS_EVERY_S if live else None)(review_set, live=live)


def _list(review_set: ReviewSet, *, live: bool) -> None:
    permissions.guard(PAGE_RUN_MODELS)
    runs = runs_of(review_set.folder)
    if not runs:
        st.caption("No model has been run on this review set yet.")
    states = [progress_now(run) for run in runs[:_SHOWN]]
    if live != any(state.at_work for state in states):
        st.rerun()  # it is looked at often from now on, or no longer
    if said := st.session_state.pop(_PROBLEM, None):
        st.error(as_markdown(said), icon=":material/error:")
    for run, progress in zip(runs[:_SHOWN], states, strict=True):
        with st.container(border=True, gap="small", key=f"rx_run_{run.id}"):
            _run(run, progress, review_set)
    if len(runs) > _SHOWN:
        older = as_markdown(counted(len(runs) - _SHOWN, "older run"))
        st.caption(f"{older} in the folder runs of the set.")


def _run(run: RunFolder, progress: Progress, review_set: ReviewSet) -> None:
    spec = _spec(run)
    if spec is None:
        st.markdown(f"**{as_markdown(run.id)}**")
        st.warning("run.json of this run cannot be read: restore it from a copy.")
        return
    names = {model.id: model.name for model in review_set.models}
    model = spec.parameters.model
    st.markdown(
        f"**{as_markdown(names.get(model, model))}** · {STATES[progress.state]}", anchors=False
    )
    local = spec.parameters.api == "transformers"
    where = "this computer" if local else spec.parameters.base_url or "OpenAI"
    by = f" by {spec.started_by}" if spec.started_by else ""
    began = f"{spec.created.replace('T', ' ')[:16]} UTC"
    about = f"{spec.prompt.id} · {where} · begun {began}{by} · {run.id}"
    st.caption(as_markdown(about))
    st.html(progress_html(progress))
    if counts := counts_html(progress):
        st.html(counts)
    _buttons(run, spec, progress)
    box = st.expander("Answers, errors and log", key=f"run_more_{run.id}", on_change="rerun")
    if box.open:
        with box:
            _details(run, spec, at_work=progress.at_work)


def _buttons(run: RunFolder, spec: RunSpec, progress: Progress) -> None:
    """Offer what can be done with a run as it is."""

    def button(label: str, icon: str, wish: Wish) -> None:
        st.button(
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
                button("Go on", "play_arrow", "run")
            else:
                button("Pause", "pause", "pause")
            button("Cancel", "stop", "cancel")
        elif not progress.at_work and progress.done < progress.total:
            if spec.budget and progress.state == "cancelled":
                st.text_input(
                    "New budget", str(spec.budget), key=budget_key, max_chars=40, width=200
                )
            only_failed = progress.state == "finished"
            st.button(
                "Ask the failed ones again" if only_failed else "Resume",
                key=f"run_resume_{run.id}",
                icon=":material/replay:",
                on_click=_resume,
                args=(run, spec, progress, budget_key),
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
        go_on(run, spec, progress, keys_known(spec.card.key_variable), budget=budget)
    except RunError as error:
        st.session_state[_PROBLEM] = str(error)


def _details(run: RunFolder, spec: RunSpec, *, at_work: bool) -> None:
    """List what came by case, and what failed with its one line; offer the log."""
    try:
        size = run.log.stat().st_size
        step = 10 ** (len(str(size)) - 2) if at_work and size > _SMALL else 1
        past = _past(run, size // step)
    except OSError:
        st.caption("Nothing was sent yet.")
        return
    names: dict[str, str] = dict(OUTCOMES)  # type: ignore[arg-type]
    for outcome, name in names.items():
        came = {item.case for item, word in past.outcomes.items() if word == outcome}
        cases = [case for case in spec.cases if case in came]
        if cases:
            drawn = f'<p class="rx-run-cases">{html.escape(name)}: {_case_links(cases)}</p>'
            linked_html(drawn, key=f"run_cases_{outcome}_{run.id}")
    if past.failures:
        linked_html(_errors_html(past), key=f"run_errors_{run.id}")
    if size > _MOST_LOG_BYTES:
        st.caption("The log is too large for a download: it is log.jsonl of the run's folder.")
        return
    st.download_button(
        "Log",
        partial(_log, run.log),  # read when it is clicked
        f"{run.id}.jsonl",
        "application/jsonl",
        key=f"run_log_{run.id}",
        on_click="ignore",
        icon=":material/download:",
        type="tertiary",
        help="Every request and what came, without keys. It holds questions and answers.",
    )


def _log(path: Path) -> bytes:
    try:
        return read_file(path, _MOST_LOG_BYTES)
    except (OSError, FileRefused):
        return b""


def _errors_html(past: Past) -> str:
    kinds: dict[str, str] = dict(FAILINGS)  # type: ignore[arg-type]
    failures = list(past.failures.values())
    rows = "".join(
        f"<tr><td>{_case_links([one.item.case])}</td>"
        f"<td>{html.escape(kinds.get(one.kind, one.kind))}</td>"
        f"<td>{html.escape(one.message)}</td></tr>"
        for one in failures[:_LISTED]
    )
    more = len(failures) - _LISTED
    rest = f"<p>and {more:,} more in the log</p>" if more > 0 else ""
    head = "<tr><th>Case</th><th>Error</th><th>Message</th></tr>"
    return f'<table class="rx-run-errors">{head}{rows}</table>{rest}'


def _case_links(cases: Sequence[str]) -> str:
    links = []
    for case in cases[:_LISTED]:
        address = html.escape(href(PAGE_CASE, link_keys.link_query(case=case)))
        links.append(f'<a href="{address}" data-rx-page>{html.escape(case)}</a>')
    more = len(cases) - _LISTED
    return ", ".join(links) + (f" and {more:,} more" if more > 0 else "")


@lru_cache(maxsize=8)
def _past(run: RunFolder, grown: int) -> Past:
    """Read a log; one that has grown since is another one."""
    return read_past(run)


def _spec(run: RunFolder) -> RunSpec | None:
    try:
        return _spec_as_of(run, run.spec.stat().st_mtime_ns)
    except (OSError, RunError):
        return None


@lru_cache(maxsize=32)
def _spec_as_of(run: RunFolder, changed: int) -> RunSpec:
    return read_spec(run)
