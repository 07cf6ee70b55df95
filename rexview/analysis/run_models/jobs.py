"""Commands that begin runs themselves, typed from a page into a process of their own.

``curate`` is a run for each of its steps, of which the next is known when the last has ended. So
what a page begins there is the command, and its runs appear one by one. Its record, ``job.json``,
lies in a folder beside those of the runs: going on with it is the same command again. What it tells
at the end goes to ``told.json``, what it says on the way to ``said.txt``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, get_args

from rexview.addresses import address_of_set
from rexview.analysis.run_models.detached import command_line, environment, last_words
from rexview.analysis.run_models.kinds import CORRECTIONS, Command, kind_of, named
from rexview.analysis.run_models.wanted import IN_STORAGE, Wanted
from rexview.errors import RunError, RunRefused
from rexview.models.running.folder import (
    CURATING,
    JUDGING,
    RunFolder,
    RunLock,
    is_worked_on,
    new_run_id,
    read_json,
    write_json,
)
from rexview.models.running.run import disk_words
from rexview.models.running.spec import RunSpec
from rexview.schema import ReviewSet
from rexview.untrusted_input import printable
from rexview.words import counted, tr

Again = Literal["--resume", "--again"]
"""Go on with what has no answer, or ask anew where an answer could not be read."""
_RECORD: Final = "job.json"
_TOLD: Final = "told.json"
_SAID: Final = "said.txt"
_UNDER: Final[Mapping[str, str]] = {"curate": CURATING, "judge": JUDGING, "metrics": JUDGING}
_ASKED: Final[Mapping[str, str]] = {"curate": "--model", "judge": "--judge", "metrics": "--judge"}
_MAY: Final = frozenset(
    {
        *("--step", "--from", "--candidates", "--choice", "--validator", "--failures", "--scores"),
        "--written",
        *("--filter", "--model", "--metric", "--scope", "--resume", "--base-url", "--api"),
        *("--concurrency", "--max-output-tokens", "--budget"),
    }
)
"""What a record may hold: it lies in a folder that may come from somewhere else."""
_ESTIMATE_LIMIT_S: Final = 300.0
_starting: Final = threading.Lock()


@dataclass(frozen=True)
class Job:
    """A command that was begun from a page.

    ``arguments`` are all but the set, the model and what going on adds, as ``--name=value``.
    """

    folder: RunFolder
    command: Command
    model: str
    arguments: tuple[str, ...] = ()
    created: str = ""
    by: str = ""

    def typed(self, again: Again | None = None) -> list[str]:
        """Return the command line behind the program's name."""
        asked = f"{_ASKED[self.command]}={self.model}"
        own = [one for one in self.arguments if again is None or not one.startswith("--resume=")]
        more = [again] if again else []
        return [self.command, str(self.folder.set_folder), asked, *own, *more]

    def value(self, name: str) -> str | None:
        """Return the value of an argument; None where it is not there."""
        found = (one.partition("=") for one in self.arguments)
        return next((value for key, _, value in found if key == name), None)


@dataclass(frozen=True)
class Ended:
    """What a command reported at its end, in words; ``message`` is why it reported nothing.

    ``begun`` is False where it ended before its last step.
    """

    lines: tuple[str, ...] = ()
    unreadable: int = 0
    left: int = 0
    message: str | None = None
    begun: bool = True

    @property
    def complete(self) -> bool:
        """Whether all that was asked is answered and can be read."""
        return self.begun and not (self.unreadable or self.left or self.message)


@dataclass(frozen=True)
class WouldSend:
    """What a command would send first, and what all of it would take, by step."""

    steps: tuple[Mapping[str, Any], ...] = field(default=())

    def total(self, figure: str) -> float | None:
        """Return ``requests``, ``input_tokens``, ``output_tokens`` or ``usd`` of all steps."""
        found = [step.get("estimate", {}).get(figure) for step in self.steps]
        known = [float(one) for one in found if isinstance(one, int | float)]
        return sum(known) if len(known) == len(found) else None

    @property
    def first(self) -> Mapping[str, Any] | None:
        """The first request, as it would be sent."""
        return next(
            (step["first_request"] for step in self.steps if step.get("first_request")), None
        )


def new_job(
    set_folder: Path, command: Command, model: str, arguments: Sequence[str], by: str = ""
) -> Job:
    """Return a job that is not begun yet."""
    now = datetime.now(UTC)
    folder = RunFolder(set_folder, new_run_id(model, now), _UNDER[command])
    created = now.isoformat(timespec="seconds")
    return Job(folder, command, model, tuple(arguments), created, by)


def arguments_of(wanted: Wanted) -> list[str]:
    """Return how a model is asked, as arguments of the command line."""
    values = {
        "--base-url": wanted.base_url,
        "--api": wanted.api,
        "--concurrency": wanted.concurrency,
        "--max-output-tokens": wanted.max_output_tokens,
        "--budget": wanted.budget,
    }
    return [f"{name}={value}" for name, value in values.items() if value is not None]


def going_on(run: RunFolder, spec: RunSpec, by: str = "") -> Job:
    """Return the job that goes on with a run that does not answer cases."""
    kind = kind_of(run, spec)
    more = list(kind.more)
    if kind == CORRECTIONS:
        scopes = {named(one)[1].rpartition(", ")[2] for one in spec.cases}
        more += ["--metric=fineradscore", *(f"--scope={one}" for one in sorted(scopes))]
    arguments = [*more, f"--resume={run.id}"]
    return new_job(run.set_folder, kind.command, spec.parameters.model, arguments, by)


def begin_job(
    job: Job,
    variable: str,
    keys: Mapping[str, str],
    *,
    again: Again | None = None,
    budget: str | None = None,
    insists: bool = False,
) -> None:
    """Begin a job, or go on with one.

    Parameters
    ----------
    variable, keys
        Which variable has the model's key, and keys beside those of the environment.
    again
        How to go on with it; None for a new one.
    budget
        Another one than it was begun with.
    insists
        Whether a local model is loaded although it takes more memory than is free.

    Raises
    ------
    RunError
        The same command asks the same model already, the set's folder cannot be written, or the
        process cannot be started.
    """
    if address_of_set(job.folder.set_folder):
        raise RunRefused(IN_STORAGE)
    with _starting:
        if any(
            one.command == job.command and one.model == job.model for one in at_work(job.folder)
        ):
            raise RunRefused(tr("The same is being asked already: wait for it, or cancel it."))
        if not all(map(_can_be_typed, (job.model, *job.arguments, budget or ""))):
            raise RunRefused(tr("A name in it has letters that no command line takes."))
        try:
            job.folder.path.mkdir(parents=True, exist_ok=True)
            values = {
                "command": job.command,
                "model": job.model,
                "arguments": list(job.arguments),
                "created": job.created,
                "by": job.by,
            }
            write_json(job.folder.path / _RECORD, values)
            arguments = [*job.typed(again), *([f"--budget={budget}"] if budget else [])]
            arguments += ["--yes"] if insists else []
            _start(job, [*arguments, "--json"], environment(variable, keys))
        except OSError as error:
            raise RunError(disk_words(error)) from None


def _start(job: Job, arguments: Sequence[str], variables: Mapping[str, str]) -> None:
    """Start the process, which holds the job's lock as long as it lives, with us or without."""
    path = job.folder.path
    lock = RunLock(job.folder)
    try:
        (path / _TOLD).unlink(missing_ok=True)
        with (path / _TOLD).open("wb") as told, (path / _SAID).open("wb") as said:
            process = subprocess.Popen(  # noqa: S603 - our own program
                command_line(arguments),
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


def is_at_work(job: Job) -> bool:
    """Whether the process of a job lives."""
    return is_worked_on(job.folder)


def at_work(beside: RunFolder) -> list[Job]:
    """Return the jobs that are at work in the folder of a kind."""
    return [job for job in _jobs(beside.set_folder, beside.under) if is_at_work(job)]


def jobs_of(review_set: ReviewSet, folders: Sequence[str] = (CURATING, JUDGING)) -> list[Job]:
    """Return the jobs of a set, newest first."""
    found = [job for under in folders for job in _jobs(review_set.folder, under)]
    return sorted(found, key=lambda job: job.folder.id, reverse=True)


def _jobs(set_folder: Path, under: str) -> list[Job]:
    try:
        names = [path.parent.name for path in (set_folder / under).glob(f"*/{_RECORD}")]
    except OSError:
        return []
    folders = (RunFolder(set_folder, name, under) for name in names)
    return [job for folder in folders if (job := _read(folder)) is not None]


def _read(folder: RunFolder) -> Job | None:
    """Read a record; one that this version could not have written is none."""
    values = read_json(folder.path / _RECORD) or {}
    command, arguments = values.get("command"), values.get("arguments")
    known = next((one for one in get_args(Command) if one == command), None)
    texts = [values.get(name) for name in ("model", "created", "by")]
    if known is None or _UNDER.get(known) != folder.under or not isinstance(arguments, list):
        return None
    if not all(isinstance(one, str) and _can_be_typed(one) for one in (*texts, *arguments)):
        return None
    if not all(one.partition("=")[0] in _MAY for one in arguments):
        return None
    model, created, by = map(str, texts)
    return Job(folder, known, model, tuple(arguments), created, by)


def _can_be_typed(text: str) -> bool:
    """Whether a system takes a text as part of a command line."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def how_it_ended(job: Job) -> Ended:
    """Return what a job that is no longer at work told at its end."""
    values = read_json(job.folder.path / _TOLD)
    if values is None or "exit" not in values:
        said = last_words(job.folder.path / _SAID)
        last = (
            tr("ended early. It said last: {said}").format(said=said)
            if said
            else tr("ended without a word: resume it.")
        )
        return Ended(message=tr("Its process {last}").format(last=last))
    steps = values.get("steps")
    with suppress(TypeError, ValueError, AttributeError, KeyError, OverflowError):
        return _of_steps(steps, values) if isinstance(steps, list) else _of_one(values)
    return Ended(message=tr("{told} of this job cannot be read.").format(told=_TOLD))


def _of_steps(steps: Sequence[Mapping[str, Any]], values: Mapping[str, Any]) -> Ended:
    lines = []
    for step in steps:
        words = tr("{step:,} of {step_2:,} answered").format(
            step=step["answered"], step_2=step["asked_about"]
        )
        lines.append(printable(f"{step['step']}: {step['message'] or words}"))
    unreadable = sum(len(step["unreadable"]) for step in steps)
    begun = values.get("begun", True) is True
    if not begun:
        lines.append(tr("The steps after it were not begun: resume it."))
    left = sum(int(step["unasked"]) for step in steps)
    return Ended(tuple(lines), unreadable, left, begun=begun)


def _of_one(values: Mapping[str, Any]) -> Ended:
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
        lines.append(printable(told))
    return Ended(tuple(lines), len(values["unreadable"]), int(values["unasked"]))


def would_send(job: Job, variable: str, keys: Mapping[str, str]) -> WouldSend:
    """Ask the command what it would send; nothing is sent, written or begun.

    Raises
    ------
    RunError
        It cannot be as it was asked for; the message is the command's own.
    """
    try:
        asked = subprocess.run(  # noqa: S603 - our own program
            command_line([*job.typed(), "--dry-run", "--json"]),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ESTIMATE_LIMIT_S,
            env=environment(variable, keys),
            check=False,
        )
        values = json.loads(asked.stdout) if asked.returncode == 0 else None
    except (OSError, subprocess.SubprocessError, ValueError):
        raise RunError(tr("What would be sent could not be worked out.")) from None
    if not isinstance(values, dict):
        said = asked.stderr.decode("utf-8", "replace").strip().splitlines()
        raise RunError(printable(said[-1] if said else tr("Nothing is left to be asked."))[:500])
    steps = values.get("steps")
    return WouldSend(tuple(steps) if isinstance(steps, list) else (values,))
