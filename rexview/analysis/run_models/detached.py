"""A run in a process of its own, begun from a page: it goes on when page and server end.

The page writes ``run.json``; the process is ``python -m rexview run SET --resume RUN``, the same
that a person would type. What it says before it can write its progress goes to ``said.txt`` of the
run's folder. Commands that begin runs themselves: :mod:`rexview.analysis.run_models.jobs`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from rexview.errors import FileRefused, RunError, RunRefused
from rexview.models.backend import AttemptFailed
from rexview.models.endpoints.servers import read_address
from rexview.models.local import files as local
from rexview.models.running.folder import RunFolder, is_worked_on
from rexview.models.running.progress import Progress, read_progress, write_progress
from rexview.models.running.run import RunPlan, begin, disk_words
from rexview.models.running.spec import RunSpec
from rexview.untrusted_input import printable, read_file
from rexview.words import tr

_ROOT: Final = Path(__file__).resolve().parents[3]
_SAID: Final = "said.txt"
_STARTS_WITHIN_S: Final = 90.0
"""Until a process has read the set and taken the lock; it says by itself why it cannot."""
_MOST_SAID: Final = 1_000_000
_begun: Final[dict[str, subprocess.Popen[bytes]]] = {}
_lock: Final = threading.Lock()


def what_is_missing(spec: RunSpec, keys: Mapping[str, str]) -> str | None:
    """Return what a run needs and does not find here, and what to do; None where all is there."""
    parameters = spec.parameters
    if parameters.api == "transformers":
        return local.what_is_missing() or _not_found(parameters.model)
    if find_spec("openai") is None:
        return tr("Not installed: openai. Install: pip install -r requirements.txt")
    address, variable = read_address(parameters.base_url), spec.card.key_variable
    if address.is_this_machine or _key(variable, keys):
        return None
    return tr("There is no key for {host}: whoever runs rexview sets it ({variable}).").format(
        host=address.host, variable=variable
    )


def _not_found(model: str) -> str | None:
    """Return why the files of a local model cannot be used; they are not loaded for it."""
    try:
        local.find_files(model)
    except AttemptFailed as failure:
        return str(failure)
    return None


def _key(variable: str, keys: Mapping[str, str]) -> str:
    return str(keys.get(variable) or os.environ.get(variable, "")).strip()


def begin_detached(plan: RunPlan, keys: Mapping[str, str], *, insists: bool = False) -> None:
    """Begin a new run.

    Parameters
    ----------
    plan
        Of a run that does not exist yet.
    keys
        Keys by the name of their variable, beside those of the environment.
    insists
        Whether a local model is loaded although it takes more memory than is free.

    Raises
    ------
    RunError
        The review set's folder cannot be written, or the process cannot be started.
    """
    begin(plan).release()
    total = len(plan.spec.cases) * plan.spec.repeats
    before = Progress(plan.spec.id, plan.spec.parameters.model, total=total)
    go_on(plan.run, plan.spec, before, keys, insists=insists)


def go_on(
    run: RunFolder,
    spec: RunSpec,
    before: Progress,
    keys: Mapping[str, str],
    *,
    budget: str | None = None,
    insists: bool = False,
) -> None:
    """Go on with a run that nobody works on; ``before`` is how far it was.

    ``insists`` is as in :func:`begin_detached`.

    Raises
    ------
    RunError
        Somebody works on it, or its process cannot be started.
    """
    with _lock:
        if progress_now(run).at_work:
            raise RunRefused(tr("The run is at work already."))
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
            with (run.path / _SAID).open("wb") as said:
                process = subprocess.Popen(  # noqa: S603 - our own program
                    command_line(arguments),
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    env=environment(spec.card.key_variable, keys),
                )
        except OSError as error:
            raise RunError(disk_words(error)) from None
        _begun[run.id] = process
        threading.Thread(target=process.wait, daemon=True).start()  # who is waited for is no zombie


def command_line(arguments: Sequence[str]) -> list[str]:
    """Return what starts our own program with arguments."""
    return [sys.executable, "-m", "rexview", *arguments]


def environment(variable: str, keys: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of such a process: ours, with the key, and where the program is."""
    key = _key(variable, keys)
    values = {**os.environ, **({variable: key} if key else {})}
    paths = (str(_ROOT), values.get("PYTHONPATH", ""))
    values["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    return values


def progress_now(run: RunFolder) -> Progress:
    """Return how far a run is, also while its process has only just been started."""
    process = _begun.get(run.id)
    ended = process is not None and process.poll() is not None
    found = read_progress(run)
    if found.state != "broken" or found.message is None or is_worked_on(run):
        return found
    told = read_progress(run, as_written=True)
    if told.state != "starting":
        return found
    if not ended and _is_new(told):
        return told
    why = last_words(run.path / _SAID) or tr("Its process ended before it began: resume it.")
    return replace(found, message=why)


def _is_new(told: Progress) -> bool:
    try:
        since = datetime.fromisoformat(told.updated or "")
        return (datetime.now(UTC) - since).total_seconds() < _STARTS_WITHIN_S
    except (ValueError, TypeError):
        return False


def last_words(said: Path) -> str:
    """Return the last line that a process said, as far as it said any; a warning only alone."""
    try:
        lines = read_file(said, _MOST_SAID).decode("utf-8", "replace").splitlines()
    except (OSError, FileRefused):
        return ""
    spoken = [line for line in lines if line.strip()]
    grave = [line for line in spoken if not line.startswith("warning: ")]
    return printable((grave or spoken or [""])[-1])[:500]
