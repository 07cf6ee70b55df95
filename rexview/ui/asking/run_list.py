"""The runs of a review set, newest first: their progress and results, and forms to start one."""

from __future__ import annotations

import html
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

import streamlit as st

from rexview.analysis.run_models.jobs import (
    CommandJob,
    ResumeMode,
    SendPreview,
    is_job_running,
    list_jobs,
    new_job,
    preview_job,
    read_current_progress,
    read_job_result,
    request_arguments,
    resume_job,
    resume_run,
    start_job,
)
from rexview.analysis.run_models.run_request import (
    ANSWER_RUN,
    OPINION_RUN,
    RUN_FOLDERS,
    WRITTEN_FAILURE_RUN,
    RunCommandName,
    RunKind,
    RunRequest,
    describe_subject,
    find_run_kind,
    list_runs_of_set,
    plan_run,
)
from rexview.analysis.written_failures import DIGEST_LENGTH
from rexview.errors import FileRefused, RexviewError, RunError
from rexview.judge.written import find_written_name
from rexview.models.asking.model_cards import find_card
from rexview.models.backend import FAILURE_CAUSES, OUTCOMES
from rexview.models.running.model_run import disk_error_text
from rexview.models.running.run_folder import (
    CURATING_FOLDER,
    JUDGING_FOLDER,
    RUNS_FOLDER,
    RunFolder,
)
from rexview.models.running.run_journal import (
    RunHistory,
    StoredReply,
    read_run_history,
    read_stored_replies,
)
from rexview.models.running.run_progress import RunCommand, RunProgress, send_run_command
from rexview.models.running.run_spec import RunSpec, read_run_spec
from rexview.schema import ReviewSet
from rexview.ui.asking.model_choice import (
    confirm_address,
    confirm_resume,
    confirm_start,
    secret_keys,
)
from rexview.ui.asking.run_figures import (
    STATES,
    counts_html,
    progress_html,
    show_estimate,
    start_note,
)
from rexview.ui.safe_text import as_markdown, lines_as_markdown
from rexview.ui.tables.number_table import label_cells
from rexview.ui.web.access import permissions
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.in_app import href, linked_html
from rexview.ui.web.link.pages import (
    PAGE_CASE,
    PAGE_CURATE,
    PAGE_FAILURES,
    PAGE_REPORT_GENERATION,
    PAGE_RUN_MODELS,
)
from rexview.ui.web.streamlit_adapter.script_run import finish_draft, save_button, typed_fields
from rexview.untrusted_input import read_file
from rexview.words import counted, tr

# The results of a run, unreadable replies, failures, and the log.

_LISTED: Final = 50
_LONGEST_SHOWN: Final = 4_000
_MOST_LOG_BYTES: Final = 200_000_000
_SMALL: Final = 500_000
"""Bytes up to which a log is read again on each growth; a longer growing one less often."""


def show_details(run: RunFolder, spec: RunSpec, kind: RunKind, *, at_work: bool) -> None:
    """List results by case, and failures with their message; offer the log."""
    try:
        size = run.log.stat().st_size
        step = 10 ** (len(str(size)) - 2) if at_work and size > _SMALL else 1
        grown = size // step
        past = _past(run, grown)
    except OSError:
        st.caption(tr("Nothing was sent yet."))
        return
    names: dict[str, str] = dict(OUTCOMES)  # type: ignore[arg-type]
    for outcome, name in names.items():
        came = {item.case for item, word in past.outcomes.items() if word == outcome}
        cases = [case for case in spec.cases if case in came]
        if cases:
            drawn = f'<p class="rx-run-cases">{html.escape(name)}: {_case_links(cases)}</p>'
            linked_html(drawn, key=f"run_cases_{outcome}_{run.id}")
    if kind != ANSWER_RUN and (unread := _unreadable(run, grown)):
        linked_html(_unreadable_html(unread), key=f"run_unreadable_{run.id}")
    if past.failures:
        linked_html(_errors_html(past), key=f"run_errors_{run.id}")
    if size > _MOST_LOG_BYTES:
        st.caption(tr("The log is too large to download: see log.jsonl in the run's folder."))
        return
    st.download_button(
        tr("Log"),
        partial(_log, run.log),  # read on a click
        f"{run.id}.jsonl",
        "application/jsonl",
        key=f"run_log_{run.id}",
        on_click="ignore",
        icon=":material/download:",
        type="tertiary",
        help=tr("Every request and reply, without keys. It contains questions and answers."),
    )


def _log(path: Path) -> bytes:
    try:
        return read_file(path, _MOST_LOG_BYTES)
    except (OSError, FileRefused):
        return b""


def _errors_html(past: RunHistory) -> str:
    kinds: dict[str, str] = dict(FAILURE_CAUSES)  # type: ignore[arg-type]
    failures = list(past.failures.values())
    rows = "".join(
        f"<tr><td>{_case_links([one.item.case])}</td>"
        f"<td>{html.escape(kinds.get(one.kind, one.kind))}</td>"
        f"<td>{html.escape(one.message)}</td></tr>"
        for one in failures[:_LISTED]
    )
    more = len(failures) - _LISTED
    rest = f"<p>{tr('and {n:,} more in the log').format(n=more)}</p>" if more > 0 else ""
    return _table((tr("Case"), tr("Error"), tr("Message")), rows) + rest


def _case_links(asked: Sequence[str]) -> str:
    """Return links to the cases of requests, each with the part of the case."""
    links = []
    for one in asked[:_LISTED]:
        case, more = describe_subject(one)
        address = html.escape(href(PAGE_CASE, link_keys.link_query(case=case)))
        link = f'<a href="{address}" data-rx-page>{html.escape(case)}</a>'
        links.append(f"{link} ({html.escape(more)})" if more else link)
    rest = len(asked) - _LISTED
    shown = ", ".join(links)
    if rest <= 0:
        return shown
    return tr("{cases} and {n:,} more").format(cases=shown, n=rest)


def _unreadable_html(unread: Mapping[str, StoredReply]) -> str:
    """Return unreadable replies as they were received."""
    names: dict[str, str] = dict(OUTCOMES)  # type: ignore[arg-type]
    rows = []
    for one, reply in list(unread.items())[:_LISTED]:
        text = reply.text[:_LONGEST_SHOWN] or tr("no text")
        cut = " …" if len(reply.text) > _LONGEST_SHOWN else ""
        rows.append(
            f"<tr><td>{_case_links([one])}</td>"
            f"<td>{html.escape(names.get(reply.outcome, reply.outcome))}</td>"
            f"<td>{html.escape(reply.why)}<details><summary>{tr('Raw reply')}</summary>"
            f'<pre class="rx-sent" tabindex="0">{html.escape(text)}{cut}</pre></details></td></tr>'
        )
    more = len(unread) - _LISTED
    rest = f"<p>{tr('and {n:,} more in the log').format(n=more)}</p>" if more > 0 else ""
    return _table((tr("Case"), tr("Not readable"), tr("Why")), "".join(rows)) + rest


def _table(heads: tuple[str, ...], rows: str) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    return label_cells(
        f'<table class="rx-run-errors"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    )


@lru_cache(maxsize=8)
def _past(run: RunFolder, grown: int) -> RunHistory:
    """Read a log; ``grown`` makes a longer log another cache entry."""
    return read_run_history(run)


@lru_cache(maxsize=8)
def _unreadable(run: RunFolder, grown: int) -> dict[str, StoredReply]:
    """Return unreadable replies by subject, if they are the last ones."""
    last = dict(read_stored_replies(run))
    return {one: reply for one, reply in last.items() if not reply.answered}


# Commands that start runs themselves: a form to start one, and their progress.

_SHOWN: Final = 5
"""Number of last models and commands that are checked."""
_ESTIMATE: Final = "job_estimate"
_PROBLEM: Final = "job_problem"
_BEGUN: Final = "job_begun"
_STEPS: Final = {"propose": "propose", "rate": "score", "tag": "tag"}


def show_start_form(
    review_set: ReviewSet,
    wanted: RunRequest,
    command: RunCommandName,
    own: Sequence[str],
    what: str,
) -> None:
    """Show an estimate of what a command sends, and its start button.

    ``own`` are its arguments, except those for the choice of the model. ``what`` is sent to the
    model: ``The reports of 3 studies``.
    """
    permissions.guard(PAGE_RUN_MODELS)
    try:
        spec = plan_run(review_set, replace(wanted, cases=())).spec
    except RexviewError as error:
        st.error(lines_as_markdown(error), icon=":material/error:")
        return
    arguments = [*own, *request_arguments(wanted)]
    job = new_job(review_set.folder, command, spec.parameters.model, arguments, _by())
    _estimate(job, spec)
    may, insists = confirm_start(review_set, spec, what)
    busy = any(
        one.command == command and one.model == job.model
        for one in list_jobs(review_set, (job.folder.under,))
        if is_job_running(one)
    )
    if busy:
        st.caption(tr("This model is already running on this: see below."))
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
    person = permissions.current_person()
    return person.name if person else ""


def _estimate(job: CommandJob, spec: RunSpec) -> None:
    """Offer to estimate what it would send and cost, which reads the whole set once more."""
    about = tuple(job.typed())
    if st.button(tr("Estimate"), key=f"job_estimate_{job.command}", icon=":material/calculate:"):
        with st.spinner(tr("Building some of the requests, to count their tokens…")):
            try:
                keys = secret_keys(spec.card.key_variable)
                found: SendPreview | str = preview_job(job, spec.card.key_variable, keys)
            except RunError as error:
                found = str(error)
        st.session_state[_ESTIMATE] = about, found
    known: tuple[object, SendPreview | str] | None = st.session_state.get(_ESTIMATE)
    if known is None or known[0] != about:
        return
    if isinstance(known[1], str):
        st.warning(as_markdown(known[1]), icon=":material/error:")
        return
    sends = known[1]
    requests, sent, written = map(sends.total, ("requests", "input_tokens", "output_tokens"))
    show_estimate(requests or 0, sent or 0, written or 0, sends.total("usd"))
    if sends.first:
        with st.expander(tr("The first request")):
            st.code(json.dumps(sends.first, indent=1, ensure_ascii=False), language="json")


def _begin(job: CommandJob, variable: str, again: ResumeMode | None, insists: bool = False) -> None:
    if not permissions.may_see(PAGE_RUN_MODELS):
        return
    try:
        start_job(job, variable, secret_keys(variable), again=again, insists=insists)
    except RunError as error:
        st.session_state[_PROBLEM] = str(error)
    else:
        st.session_state[_BEGUN] = True  # a fragment's callback must not show anything


def is_any_job_running(review_set: ReviewSet, folders: Sequence[str]) -> bool:
    """Return whether a command that starts runs in these folders is at work."""
    return any(is_job_running(job) for job in list_jobs(review_set, folders))


def models_with_jobs(review_set: ReviewSet, under: str) -> set[str]:
    """Return the models of jobs that are at work, or can be resumed."""
    return {job.model for job in _unfinished(list_jobs(review_set, (under,)))}


def _unfinished(jobs: Sequence[CommandJob]) -> list[CommandJob]:
    """Return the jobs at work, and the last incomplete one of each model and command."""
    seen: set[tuple[str, str]] = set()
    kept = []
    for job in jobs:
        about = (job.command, job.model)
        last = about not in seen
        seen.add(about)
        if is_job_running(job) or (
            last and len(seen) <= _SHOWN and not read_job_result(job).complete
        ):
            kept.append(job)
    return kept


def show_jobs(
    review_set: ReviewSet, folders: Sequence[str], asked_now: Collection[tuple[str, str]]
) -> int:
    """Show jobs, above their runs; return their number.

    ``asked_now`` are folder and model of runs at work, which show their own progress.
    """
    if said := st.session_state.pop(_PROBLEM, None):
        st.error(as_markdown(said), icon=":material/error:")
    if st.session_state.pop(_BEGUN, False):
        st.toast(tr("Started. It continues when this page is closed."))
    jobs = _unfinished(list_jobs(review_set, folders))
    shown = [job for job in jobs if (job.folder.under, job.model) not in asked_now]
    for job in shown:
        with st.container(border=True, gap="small", key=f"rx_job_{job.folder.id}"):
            _job(job, review_set)
    return len(shown)


def _job(job: CommandJob, review_set: ReviewSet) -> None:
    names = {model.id: model.name for model in review_set.models}
    working = is_job_running(job)
    ended = None if working else read_job_result(job)
    if ended is None:
        state = tr("Getting ready")
    else:
        state = tr("Interrupted") if ended.message else tr("Not complete")
    title = f"{_title(job)} · **{as_markdown(names.get(job.model, job.model))}** · {state}"
    st.markdown(title, anchors=False)
    where = job.value("--base-url") or (tr("this computer") if _is_local(job) else "OpenAI")
    st.caption(as_markdown(f"{where} · {start_note(job.created, job.by)}"))
    if ended is None:
        st.caption(tr("Its requests start in a moment, or all are already answered."))
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


def _again_buttons(job: CommandJob, review_set: ReviewSet, *, unreadable: bool) -> None:
    ways: list[tuple[str, ResumeMode]] = [(tr("Resume"), "--resume")]
    if unreadable:
        ways.append((tr("Ask the unreadable ones again"), "--again"))
    try:
        declared = next((one for one in review_set.models if one.id == job.model), None)
        variable = find_card(job.model, review_set.folder, declared).key_variable
    except RexviewError as error:
        st.error(lines_as_markdown(error), icon=":material/error:")
        return
    agreed = confirm_resume(job.folder.id, job.value("--api"), job.value("--base-url"))
    for label, again in ways:
        save_button(
            as_markdown(label),
            key=f"job_{again}_{job.folder.id}",
            icon=":material/replay:",
            on_click=_begin,
            args=(job, variable, again),
            disabled=not agreed,
        )


def _is_local(job: CommandJob) -> bool:
    return job.value("--api") == "transformers"


def _title(job: CommandJob) -> str:
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


_LOOKS_EVERY_S: Final = 1.0
_RUNS_SHOWN: Final = 8
_RUNS_PROBLEM: Final = "run_told_problem"
_RESULTS: Final[Mapping[str, tuple[str, str]]] = {
    "curate": (PAGE_CURATE, tr("Curate")),
    "judge": (PAGE_FAILURES, tr("Failures")),
    "metrics": (PAGE_REPORT_GENERATION, tr("Report generation")),
}
"""The page with a command's results, by command."""


def active_runs(review_set: ReviewSet, folders: tuple[str, ...] = (RUNS_FOLDER,)) -> list[RunSpec]:
    """Return the runs at work."""
    return [
        spec
        for run in list_runs_of_set(review_set, folders)[:_RUNS_SHOWN]
        if read_current_progress(run).at_work and (spec := _spec(run)) is not None
    ]


def show_runs(review_set: ReviewSet, folders: tuple[str, ...] = RUN_FOLDERS) -> None:
    """Show the runs in some folders; they are updated every second while one is at work."""
    live = bool(active_runs(review_set, folders)) or is_any_job_running(review_set, folders)
    st.fragment(_list, run_every=_LOOKS_EVERY_S if live else None)(review_set, folders, live=live)


def _list(review_set: ReviewSet, folders: tuple[str, ...], *, live: bool) -> None:
    permissions.guard(PAGE_RUN_MODELS)
    runs = list_runs_of_set(review_set, folders)
    busy = is_any_job_running(review_set, folders)
    states = [read_current_progress(run) for run in runs[:_RUNS_SHOWN]]
    if live != (busy or any(state.at_work for state in states)):
        st.rerun()  # changes how often it is updated
    if said := st.session_state.pop(_RUNS_PROBLEM, None):
        st.error(as_markdown(said), icon=":material/error:")
    asked_now = {
        (run.under, state.model)
        for run, state in zip(runs[:_RUNS_SHOWN], states, strict=True)
        if state.at_work
    }
    shown = show_jobs(review_set, folders, asked_now)
    if not runs and not shown:
        st.caption(_none_yet(folders))
    for run, progress in zip(runs[:_RUNS_SHOWN], states, strict=True):
        with st.container(border=True, gap="small", key=f"rx_run_{run.id}"):
            _run(run, progress, review_set, together=len(folders) > 1)
    if len(runs) > _RUNS_SHOWN:
        older = as_markdown(counted(len(runs) - _RUNS_SHOWN, "older run"))
        names = as_markdown(", ".join(sorted({run.under for run in runs[_RUNS_SHOWN:]})))
        st.caption(tr("{runs} in the folder {names} of the set.").format(runs=older, names=names))


def _none_yet(folders: tuple[str, ...]) -> str:
    """Return a message that there is no run; others may exist if only some kinds are listed."""
    if folders == (JUDGING_FOLDER,):
        return tr("No judge has been run from here yet. Opinions imported as files have no run.")
    if folders == (CURATING_FOLDER,):
        return tr("No model has proposed questions here yet.")
    return tr("No model has been run on this review set yet.")


def _run(run: RunFolder, progress: RunProgress, review_set: ReviewSet, *, together: bool) -> None:
    """Show a run; ``together`` with other kinds, with a link to its own page."""
    spec = _spec(run)
    if spec is None:
        st.markdown(f"**{as_markdown(run.id)}**")
        st.warning(tr("run.json of this run cannot be read: restore it from a copy."))
        return
    kind = find_run_kind(run, spec)
    names = {model.id: model.name for model in review_set.models}
    model = spec.parameters.model
    named, state = as_markdown(names.get(model, model)), STATES[progress.state]
    if kind == ANSWER_RUN:
        st.markdown(f"**{named}** · {state}", anchors=False)
    else:
        st.markdown(f"{as_markdown(kind.name)} · **{named}** · {state}", anchors=False)
    local = spec.parameters.api == "transformers"
    where = tr("this computer") if local else spec.parameters.base_url or "OpenAI"
    began = start_note(spec.created, spec.started_by)
    st.caption(as_markdown(f"{spec.prompt.id} · {where} · {began} · {run.id}"))
    st.html(progress_html(progress, kind))
    if counts := counts_html(progress):
        st.html(counts)
    _buttons(run, spec, kind, progress, review_set)
    if together and kind.command in _RESULTS:
        page, name = _RESULTS[kind.command]
        shown = {link_keys.QUERY_JUDGE: model} if kind == OPINION_RUN else {}
        if kind.name == WRITTEN_FAILURE_RUN.name:
            shown = _own_words(spec)
        address = html.escape(href(page, {**link_keys.link_query(), **shown}))
        link = f'<a href="{address}" data-rx-page>{name}</a>'
        linked_html(
            f'<p class="rx-run-cases">{tr("Results: {link}").format(link=link)}</p>',
            key=f"run_to_{run.id}",
        )
    box = st.expander(tr("Answers, errors and log"), key=f"run_more_{run.id}", on_change="rerun")
    if box.open:
        with box:
            show_details(run, spec, kind, at_work=progress.at_work)


def _own_words(spec: RunSpec) -> dict[str, str]:
    """Return the link parameters of a run's findings of a written failure."""
    return {
        link_keys.QUERY_VIEW: link_keys.OWN_WORDS,
        link_keys.QUERY_WRITTEN["failure"]: find_written_name(spec.prompt),
        link_keys.QUERY_WRITTEN["version"]: spec.prompt.hash[:DIGEST_LENGTH],
    }


def _buttons(
    run: RunFolder, spec: RunSpec, kind: RunKind, progress: RunProgress, review_set: ReviewSet
) -> None:
    """Show the actions that a run allows now."""

    def button(label: str, icon: str, wish: RunCommand) -> None:
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
        elif kind != ANSWER_RUN and spec.parameters.model in models_with_jobs(
            review_set, run.under
        ):
            pass  # the job, which has all its steps, offers to resume
        elif not progress.at_work and progress.done < progress.total:
            if spec.budget and progress.state == "cancelled":
                with typed_fields(budget_key, width=200):
                    st.text_input(tr("New budget"), str(spec.budget), key=budget_key, max_chars=40)
            only_failed = progress.state == "finished"
            parameters = spec.parameters
            agreed = confirm_resume(run.id, parameters.api, parameters.base_url)
            save_button(
                tr("Ask the failed ones again") if only_failed else tr("Resume"),
                key=f"run_resume_{run.id}",
                icon=":material/replay:",
                on_click=_resume,
                args=(run, spec, progress, budget_key),
                disabled=not agreed,
            )


def _tell(run: RunFolder, wish: RunCommand) -> None:
    if not permissions.may_see(PAGE_RUN_MODELS):
        return
    try:
        send_run_command(run, wish)
    except OSError as error:
        st.session_state[_RUNS_PROBLEM] = disk_error_text(error)


def _resume(run: RunFolder, spec: RunSpec, progress: RunProgress, budget_key: str) -> None:
    if not permissions.may_see(PAGE_RUN_MODELS):
        return
    budget = (st.session_state.get(budget_key) or "").strip() or None
    try:
        confirm_address(spec.parameters.api, spec.parameters.base_url)
        keys = secret_keys(spec.card.key_variable)
        if run.under == RUNS_FOLDER:
            resume_run(run, spec, progress, keys, budget=budget)
        else:
            start_job(resume_job(run, spec), spec.card.key_variable, keys, budget=budget)
    except RunError as error:
        st.session_state[_RUNS_PROBLEM] = str(error)
    else:
        finish_draft(budget_key)


def _spec(run: RunFolder) -> RunSpec | None:
    try:
        return _spec_as_of(run, run.spec.stat().st_mtime_ns)
    except (OSError, RunError):
        return None


@lru_cache(maxsize=32)
def _spec_as_of(run: RunFolder, changed: int) -> RunSpec:
    return read_run_spec(run)
