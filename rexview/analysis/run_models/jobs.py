"""Commands and runs of models that a page starts, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal, get_args

from rexview.addresses import remote_set_address
from rexview.analysis.run_models.run_request import (
    CORRECTION_RUN,
    IN_STORAGE_MESSAGE,
    RunCommandName,
    RunRequest,
    describe_subject,
    find_run_kind,
)
from rexview.errors import FileRefused, RunError, RunRefused
from rexview.models.backend import AttemptFailed
from rexview.models.endpoints.server_addresses import check_base_url
from rexview.models.local import model_files as local
from rexview.models.running.model_run import RunPlan, disk_error_text, start_run
from rexview.models.running.run_folder import (
    CURATING_FOLDER,
    JUDGING_FOLDER,
    RunFolder,
    RunLock,
    is_active_run,
    new_run_id,
    read_json,
    write_json_atomically,
)
from rexview.models.running.run_progress import RunProgress, read_progress, write_progress
from rexview.models.running.run_spec import RunSpec
from rexview.schema import ReviewSet
from rexview.untrusted_input import printable_text, read_file
from rexview.words import counted, tr

# Runs that answer cases, started from a page: they continue when page and server end.
#
# The page writes ``run.json``. The process is ``python -m rexview run SET --resume RUN``, which a
# person could also type. Its output before it can write its progress goes to ``said.txt`` in the
# run's folder. Commands that start runs themselves are :class:`CommandJob` below.

_ROOT: Final = Path(__file__).resolve().parents[3]
_OUTPUT_FILE: Final = "said.txt"
_START_TIMEOUT_S: Final = 90.0
"""Longest time until a process has read the set and taken the lock; it reports failures itself."""
_MAX_OUTPUT_BYTES: Final = 1_000_000
_started_processes: Final[dict[str, subprocess.Popen[bytes]]] = {}
_lock: Final = threading.Lock()


def missing_requirements(spec: RunSpec, keys: Mapping[str, str]) -> str | None:
    """Return a message on a missing requirement of a run, and what to do; None without one."""
    parameters = spec.parameters
    if parameters.api == "transformers":
        return local.missing_packages() or _missing_model_reason(parameters.model)
    if find_spec("openai") is None:
        return tr("Not installed: openai. Install: pip install -r requirements.txt")
    address, variable = check_base_url(parameters.base_url), spec.card.key_variable
    if address.is_this_machine or _key(variable, keys):
        return None
    return tr("There is no key for {host}: the administrator sets it ({variable}).").format(
        host=address.host, variable=variable
    )


def _missing_model_reason(model: str) -> str | None:
    """Return why the files of a local model cannot be used, without loading them; else None."""
    try:
        local.find_model_files(model)
    except AttemptFailed as failure:
        return str(failure)
    return None


def _key(variable: str, keys: Mapping[str, str]) -> str:
    return str(keys.get(variable) or os.environ.get(variable, "")).strip()


def start_detached_run(plan: RunPlan, keys: Mapping[str, str], *, insists: bool = False) -> None:
    """Start a new run in a process of its own.

    Parameters
    ----------
    plan
        Plan of a run that does not exist yet.
    keys
        Keys by the name of their variable, in addition to those of the environment.
    insists
        True to load a local model even if it needs more memory than is free.

    Raises
    ------
    RunError
        The review set's folder cannot be written, or the process cannot be started.
    """
    start_run(plan).release()
    total = len(plan.spec.cases) * plan.spec.repeats
    before = RunProgress(plan.spec.id, plan.spec.parameters.model, total=total)
    resume_run(plan.run, plan.spec, before, keys, insists=insists)


def resume_run(
    run: RunFolder,
    spec: RunSpec,
    before: RunProgress,
    keys: Mapping[str, str],
    *,
    budget: str | None = None,
    insists: bool = False,
) -> None:
    """Continue a run that no process works on; ``before`` is its progress so far.

    ``insists`` is as in :func:`start_detached_run`.

    Raises
    ------
    RunError
        A process works on it, or its process cannot be started.
    """
    with _lock:
        if read_current_progress(run).at_work:
            raise RunRefused(tr("The run is already in progress."))
        arguments = ["run", str(run.set_folder), "--resume", run.id]
        if budget:
            arguments += ["--budget", budget]
        if insists:
            arguments.append("--yes")
        now = datetime.now(UTC).isoformat(timespec="seconds")
        starting = replace(
            before, state="starting", failed={}, message=None, lines=(), started=now, updated=now
        )
        try:
            write_progress(run, starting)
            with (run.path / _OUTPUT_FILE).open("wb") as said:
                process = subprocess.Popen(  # noqa: S603 - our own program
                    program_command(arguments),
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    env=process_environment(spec.card.key_variable, keys),
                )
        except OSError as error:
            raise RunError(disk_error_text(error)) from None
        _started_processes[run.id] = process
        threading.Thread(target=process.wait, daemon=True).start()  # avoids a zombie process


def program_command(arguments: Sequence[str]) -> list[str]:
    """Return the command line of our own program with arguments."""
    return [sys.executable, "-m", "rexview", *arguments]


def process_environment(variable: str, keys: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of such a process: ours, with the key and the program's path."""
    key = _key(variable, keys)
    values = {**os.environ, **({variable: key} if key else {})}
    paths = (str(_ROOT), values.get("PYTHONPATH", ""))
    values["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    return values


def read_current_progress(run: RunFolder) -> RunProgress:
    """Return the progress of a run, even if its process has only just been started."""
    process = _started_processes.get(run.id)
    ended = process is not None and process.poll() is not None
    found = read_progress(run)
    if found.state != "broken" or found.message is None or is_active_run(run):
        return found
    told = read_progress(run, as_written=True)
    if told.state != "starting":
        return found
    if not ended and _is_recent(told):
        return told
    why = last_output_line(run.path / _OUTPUT_FILE) or tr(
        "Its process ended before it started: resume it."
    )
    return replace(found, message=why)


def _is_recent(told: RunProgress) -> bool:
    try:
        since = datetime.fromisoformat(told.updated or "")
        return (datetime.now(UTC) - since).total_seconds() < _START_TIMEOUT_S
    except (ValueError, TypeError):
        return False


def last_output_line(said: Path) -> str:
    """Return the last line of a process's output, a warning only if there is nothing more."""
    try:
        lines = read_file(said, _MAX_OUTPUT_BYTES).decode("utf-8", "replace").splitlines()
    except (OSError, FileRefused):
        return ""
    spoken = [line for line in lines if line.strip()]
    grave = [line for line in spoken if not line.startswith("warning: ")]
    return printable_text((grave or spoken or [""])[-1])[:500]


ResumeMode = Literal["--resume", "--again"]
"""Continue with subjects without an answer, or ask again where an answer could not be read."""
_RECORD: Final = "job.json"
_RESULT_FILE: Final = "told.json"
_FOLDER_OF_COMMAND: Final[Mapping[str, str]] = {
    "curate": CURATING_FOLDER,
    "judge": JUDGING_FOLDER,
    "metrics": JUDGING_FOLDER,
}
_MODEL_ARGUMENT: Final[Mapping[str, str]] = {
    "curate": "--model",
    "judge": "--judge",
    "metrics": "--judge",
}
_ALLOWED_ARGUMENTS: Final = frozenset(
    {
        *("--step", "--from", "--candidates", "--choice", "--validator", "--failures", "--scores"),
        "--written",
        *("--filter", "--model", "--metric", "--scope", "--resume", "--base-url", "--api"),
        *("--concurrency", "--max-output-tokens", "--budget"),
    }
)
"""Allowed arguments in a record, because its folder may come from another machine."""
_ESTIMATE_LIMIT_S: Final = 300.0
_starting: Final = threading.Lock()


@dataclass(frozen=True)
class CommandJob:
    """A command that was started from a page.

    ``arguments`` are written as ``--name=value``, without the set, the model and the arguments for
    resuming.
    """

    folder: RunFolder
    command: RunCommandName
    model: str
    arguments: tuple[str, ...] = ()
    created: str = ""
    by: str = ""

    def typed(self, again: ResumeMode | None = None) -> list[str]:
        """Return the command line after the program's name."""
        asked = f"{_MODEL_ARGUMENT[self.command]}={self.model}"
        own = [one for one in self.arguments if again is None or not one.startswith("--resume=")]
        more = [again] if again else []
        return [self.command, str(self.folder.set_folder), asked, *own, *more]

    def value(self, name: str) -> str | None:
        """Return the value of an argument; None if there is none."""
        found = (one.partition("=") for one in self.arguments)
        return next((value for key, _, value in found if key == name), None)


@dataclass(frozen=True)
class JobResult:
    """The final report of a command, as lines of text; ``message`` is the reason if there is none.

    ``begun`` is False if the command ended before its last step.
    """

    lines: tuple[str, ...] = ()
    unreadable: int = 0
    left: int = 0
    message: str | None = None
    begun: bool = True

    @property
    def complete(self) -> bool:
        """True if all requests have readable answers."""
        return self.begun and not (self.unreadable or self.left or self.message)


@dataclass(frozen=True)
class SendPreview:
    """The first request of a command, and an estimate of all its requests, by step."""

    steps: tuple[Mapping[str, Any], ...] = field(default=())

    def total(self, figure: str) -> float | None:
        """Return the sum of ``requests``, ``input_tokens``, ``output_tokens`` or ``usd``."""
        found = [step.get("estimate", {}).get(figure) for step in self.steps]
        known = [float(one) for one in found if isinstance(one, int | float)]
        return sum(known) if len(known) == len(found) else None

    @property
    def first(self) -> Mapping[str, Any] | None:
        """The first request, exactly as it would be sent."""
        return next(
            (step["first_request"] for step in self.steps if step.get("first_request")), None
        )


def new_job(
    set_folder: Path, command: RunCommandName, model: str, arguments: Sequence[str], by: str = ""
) -> CommandJob:
    """Return a job that is not started yet."""
    now = datetime.now(UTC)
    folder = RunFolder(set_folder, new_run_id(model, now), _FOLDER_OF_COMMAND[command])
    created = now.isoformat(timespec="seconds")
    return CommandJob(folder, command, model, tuple(arguments), created, by)


def request_arguments(wanted: RunRequest) -> list[str]:
    """Return the connection settings and limits of a request as command-line arguments."""
    values = {
        "--base-url": wanted.base_url,
        "--api": wanted.api,
        "--concurrency": wanted.concurrency,
        "--max-output-tokens": wanted.max_output_tokens,
        "--budget": wanted.budget,
    }
    return [f"{name}={value}" for name, value in values.items() if value is not None]


def resume_job(run: RunFolder, spec: RunSpec, by: str = "") -> CommandJob:
    """Return the job that resumes a run about other subjects than cases."""
    kind = find_run_kind(run, spec)
    more = list(kind.more)
    if kind == CORRECTION_RUN:
        scopes = {describe_subject(one)[1].rpartition(", ")[2] for one in spec.cases}
        more += ["--metric=fineradscore", *(f"--scope={one}" for one in sorted(scopes))]
    arguments = [*more, f"--resume={run.id}"]
    return new_job(run.set_folder, kind.command, spec.parameters.model, arguments, by)


def start_job(
    job: CommandJob,
    variable: str,
    keys: Mapping[str, str],
    *,
    again: ResumeMode | None = None,
    budget: str | None = None,
    insists: bool = False,
) -> None:
    """Start a job, or resume one.

    Parameters
    ----------
    variable, keys
        The variable with the model's key, and keys in addition to those of the environment.
    again
        How to resume the job; None for a new one.
    budget
        A new budget in place of the first one.
    insists
        True to load a local model even if it needs more memory than is free.

    Raises
    ------
    RunError
        The same command is already at work with the same model, the set's folder cannot be written,
        or the process cannot be started.
    """
    if remote_set_address(job.folder.set_folder):
        raise RunRefused(IN_STORAGE_MESSAGE)
    with _starting:
        if any(
            one.command == job.command and one.model == job.model
            for one in running_jobs(job.folder)
        ):
            raise RunRefused(tr("The same request is already running: wait for it, or cancel it."))
        if not all(map(_can_be_typed, (job.model, *job.arguments, budget or ""))):
            raise RunRefused(tr("A name in it has characters that a command line cannot take."))
        try:
            job.folder.path.mkdir(parents=True, exist_ok=True)
            values = {
                "command": job.command,
                "model": job.model,
                "arguments": list(job.arguments),
                "created": job.created,
                "by": job.by,
            }
            write_json_atomically(job.folder.path / _RECORD, values)
            arguments = [*job.typed(again), *([f"--budget={budget}"] if budget else [])]
            arguments += ["--yes"] if insists else []
            _start(job, [*arguments, "--json"], process_environment(variable, keys))
        except OSError as error:
            raise RunError(disk_error_text(error)) from None


def _start(job: CommandJob, arguments: Sequence[str], variables: Mapping[str, str]) -> None:
    """Start the process, which holds the job's lock while it lives, even without this server."""
    path = job.folder.path
    lock = RunLock(job.folder)
    try:
        (path / _RESULT_FILE).unlink(missing_ok=True)
        with (path / _RESULT_FILE).open("wb") as told, (path / _OUTPUT_FILE).open("wb") as said:
            process = subprocess.Popen(  # noqa: S603 - our own program
                program_command(arguments),
                stdin=subprocess.DEVNULL,
                stdout=told,
                stderr=said,
                start_new_session=True,
                env=dict(variables),
                pass_fds=() if sys.platform == "win32" else (lock.file,),
            )
    except BaseException:
        lock.release()
        raise

    def wait() -> None:
        process.wait()
        lock.release()

    threading.Thread(target=wait, daemon=True).start()


def is_job_running(job: CommandJob) -> bool:
    """True if the process of a job is running."""
    return is_active_run(job.folder)


def running_jobs(beside: RunFolder) -> list[CommandJob]:
    """Return the running jobs in the folder of a kind of runs."""
    return [job for job in _jobs_in_folder(beside.set_folder, beside.under) if is_job_running(job)]


def list_jobs(
    review_set: ReviewSet, folders: Sequence[str] = (CURATING_FOLDER, JUDGING_FOLDER)
) -> list[CommandJob]:
    """Return the jobs of a set, newest first."""
    found = [job for under in folders for job in _jobs_in_folder(review_set.folder, under)]
    return sorted(found, key=lambda job: job.folder.id, reverse=True)


def _jobs_in_folder(set_folder: Path, under: str) -> list[CommandJob]:
    try:
        names = [path.parent.name for path in (set_folder / under).glob(f"*/{_RECORD}")]
    except OSError:
        return []
    folders = (RunFolder(set_folder, name, under) for name in names)
    return [job for folder in folders if (job := _read_job(folder)) is not None]


def _read_job(folder: RunFolder) -> CommandJob | None:
    """Return the job of a record; None if this version could not have written it."""
    values = read_json(folder.path / _RECORD) or {}
    command, arguments = values.get("command"), values.get("arguments")
    known = next((one for one in get_args(RunCommandName) if one == command), None)
    texts = [values.get(name) for name in ("model", "created", "by")]
    if (
        known is None
        or _FOLDER_OF_COMMAND.get(known) != folder.under
        or not isinstance(arguments, list)
    ):
        return None
    if not all(isinstance(one, str) and _can_be_typed(one) for one in (*texts, *arguments)):
        return None
    if not all(one.partition("=")[0] in _ALLOWED_ARGUMENTS for one in arguments):
        return None
    model, created, by = map(str, texts)
    return CommandJob(folder, known, model, tuple(arguments), created, by)


def _can_be_typed(text: str) -> bool:
    """True if the system accepts a text as part of a command line."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def read_job_result(job: CommandJob) -> JobResult:
    """Return the final report of a job that is no longer running."""
    values = read_json(job.folder.path / _RESULT_FILE)
    if values is None or "exit" not in values:
        said = last_output_line(job.folder.path / _OUTPUT_FILE)
        last = (
            tr("ended early. Its last message: {said}").format(said=said)
            if said
            else tr("ended without a message: resume it.")
        )
        return JobResult(message=tr("Its process {last}").format(last=last))
    steps = values.get("steps")
    with suppress(TypeError, ValueError, AttributeError, KeyError, OverflowError):
        return (
            _result_of_steps(steps, values) if isinstance(steps, list) else _result_of_one(values)
        )
    return JobResult(message=tr("{told} of this job cannot be read.").format(told=_RESULT_FILE))


def _result_of_steps(steps: Sequence[Mapping[str, Any]], values: Mapping[str, Any]) -> JobResult:
    lines = []
    for step in steps:
        words = tr("{step:,} of {step_2:,} answered").format(
            step=step["answered"], step_2=step["asked_about"]
        )
        lines.append(printable_text(f"{step['step']}: {step['message'] or words}"))
    unreadable = sum(len(step["unreadable"]) for step in steps)
    begun = values.get("begun", True) is True
    if not begun:
        lines.append(tr("The steps after it were not started: resume it."))
    left = sum(int(step["unasked"]) for step in steps)
    return JobResult(tuple(lines), unreadable, left, begun=begun)


def _result_of_one(values: Mapping[str, Any]) -> JobResult:
    lines = []
    if "opinions" in values:
        lines.append(
            tr("{opinions} on {answers}").format(
                opinions=counted(values["opinions"], "opinion"),
                answers=counted(values["answers"], "answer"),
            )
        )
    if "never_came" in values and isinstance(values.get("said"), list):
        told = tr("{name}: found in {found:,} of {judged:,} judged").format(
            name=values["name"], found=values["yes"], judged=len(values["said"])
        )
        lines.append(printable_text(told))
    return JobResult(tuple(lines), len(values["unreadable"]), int(values["unasked"]))


def preview_job(job: CommandJob, variable: str, keys: Mapping[str, str]) -> SendPreview:
    """Return what a command would send, from a dry run: nothing is sent, written or started.

    Raises
    ------
    RunError
        The command cannot run in this way; the message is the command's own.
    """
    try:
        asked = subprocess.run(  # noqa: S603 - our own program
            program_command([*job.typed(), "--dry-run", "--json"]),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ESTIMATE_LIMIT_S,
            env=process_environment(variable, keys),
            check=False,
        )
        values = json.loads(asked.stdout) if asked.returncode == 0 else None
    except (OSError, subprocess.SubprocessError, ValueError):
        raise RunError(tr("The requests could not be prepared.")) from None
    if not isinstance(values, dict):
        said = asked.stderr.decode("utf-8", "replace").strip().splitlines()
        raise RunError(
            printable_text(said[-1] if said else tr("There is nothing left to ask."))[:500]
        )
    steps = values.get("steps")
    return SendPreview(tuple(steps) if isinstance(steps, list) else (values,))
