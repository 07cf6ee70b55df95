"""Run a model from the command line: the backend, signals, and progress."""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, Final

from rexview.analysis.run_models.run_request import find_pictures_folder
from rexview.cli.output import ProgressPrinter, print_run_end
from rexview.errors import RunRefused
from rexview.models.backend import AttemptFailed, Backend
from rexview.models.endpoints.endpoint import Endpoint
from rexview.models.endpoints.server_addresses import check_base_url, check_server_confirmed
from rexview.models.local.local_model import LocalModel
from rexview.models.local.model_files import MemoryNeeds
from rexview.models.local.spread_model import DistributedModel
from rexview.models.running.attempts import RunTask
from rexview.models.running.model_run import ModelRun, RunPlan, start_run
from rexview.models.running.run_progress import RunProgress
from rexview.models.running.run_spec import RunSpec
from rexview.schema import ReviewSet
from rexview.spread.workers import WorkerProvider
from rexview.untrusted_input import printable_text

# A local model on the command line: its needs are printed before it is loaded.


def make_local_model(
    spec: RunSpec, *, needed: bool, yes: bool, download: bool, spread: WorkerProvider | None = None
) -> LocalModel | DistributedModel:
    """Return the model of a run, in this process or loaded by the workers of ``spread``.

    Its files are searched only if it is needed.

    Raises
    ------
    RunRefused
        It cannot run here; the message says what to do.
    """
    given = (spec.parameters, spec.card, spec.concurrency)
    model: LocalModel | DistributedModel | None = None
    try:
        if spread is None:
            model = LocalModel(*given)
            if needed:
                _confirm_memory([model.prepare(download=download)], yes=yes)
        else:
            model = DistributedModel(*given, spread)
            if needed:
                _confirm_memory(model.prepare(download=download), yes=yes)
    except AttemptFailed as failure:
        raise RunRefused(str(failure)) from None
    if spec.repeats > 1 and not spec.parameters.temperature:
        print("Without --temperature every repeat will be the same.", file=sys.stderr)
    return model


def _confirm_memory(needs: Sequence[MemoryNeeds], *, yes: bool) -> None:
    """Print what each worker needs; if that exceeds the free memory, ask whether to go on."""
    for said, workers in Counter(map(str, needs)).items():
        each = f"Each of {workers} workers: " if workers > 1 else ""
        print(printable_text(f"{each}{said}"), file=sys.stderr)
    if yes or all(one.fits for one in needs):
        return
    fault = "That is more than is free, and this machine may stand still"
    if sys.stdin.isatty() and sys.stderr.isatty():
        print(f"{fault}. Go on all the same? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() in ("y", "yes"):
            return
        raise RunRefused("Nothing was loaded.")
    raise RunRefused(
        f"{fault}: close other programs, lower --concurrency or --max-output-tokens, use a smaller "
        "model, or insist with --yes."
    )


_SHORTEST_KEY: Final = 8


def run_in_foreground(
    review_set: ReviewSet,
    plan: RunPlan,
    asking: RunTask[Any],
    *,
    as_json: bool,
    yes: bool = False,
    download: bool = False,
    spread: WorkerProvider | None = None,
) -> int:
    """Start or continue a run, wait for its end and report it; return the exit status.

    ``yes``, ``download`` and ``spread`` are for local models: load one larger than the free memory,
    download a missing one, let workers load it.

    Raises
    ------
    RunRefused, RunError
        The run cannot start with these options, or its files cannot be written.
    """
    images = find_pictures_folder(review_set)
    ended = run_with_progress(
        *(plan, asking), images=images, as_lines=as_json, yes=yes, download=download, spread=spread
    )
    return print_run_end(ended, as_json=as_json)


def run_with_progress(
    plan: RunPlan,
    asking: RunTask[Any],
    *,
    as_lines: bool,
    images: Path | None = None,
    yes: bool = False,
    download: bool = False,
    spread: WorkerProvider | None = None,
) -> RunProgress:
    """Start or continue a run, show its progress, and wait for the end.

    The options are those of :func:`run_in_foreground`. ``as_lines`` prints lines instead of one
    changing line; ``images`` is as in :class:`.ModelRun`.

    Raises
    ------
    RunRefused, RunError
        As for :func:`run_in_foreground`.
    """
    if plan.before:
        told = f"Going on with {plan.spec.id}: {len(plan.left):,} to go."
        print(told, file=sys.stderr)
    needed = bool(plan.left)
    backend, masked = make_backend(
        plan.spec, needed=needed, yes=yes, download=download, spread=spread
    )
    try:
        lock = start_run(plan)
        try:
            _own_process_group()
            shower = ProgressPrinter(as_lines=as_lines)
            shown = shower.show
            run = ModelRun(
                plan.spec, plan.run, asking, backend, images=images, masked=masked, told=shown
            )
            with _signals_to(run):
                ended = run.work()
            shower.end()
        finally:
            lock.release()
    finally:
        backend.close()
    return ended


def make_backend(
    spec: RunSpec,
    *,
    needed: bool = True,
    yes: bool = False,
    download: bool = False,
    spread: WorkerProvider | None = None,
) -> tuple[Backend, Callable[[str], str]]:
    """Return the backend of a run, and a function that removes its key from a text.

    If nothing is left to ask (``needed`` is false), no local model is searched. ``yes``,
    ``download`` and ``spread`` are as in :func:`run_in_foreground`.

    Raises
    ------
    RunRefused
        The model cannot be asked with these options.
    """
    if spec.parameters.api == "transformers":
        held = make_local_model(spec, needed=needed, yes=yes, download=download, spread=spread)
        return held, str
    variable = spec.card.key_variable
    key = os.environ.get(variable, "").strip() or None
    try:
        address = check_base_url(spec.parameters.base_url)
        check_server_confirmed(address)
        if key is None and not address.is_this_machine:
            words = f"There is no key for {address.host}: set the environment variable {variable}"
            any_word = "" if address.is_openai else " (to any word, where the server wants none)"
            raise RunRefused(f"{words}{any_word}.")
        endpoint = Endpoint(
            spec.parameters, key=key, key_name=variable, connections=spec.concurrency
        )
    except AttemptFailed as failure:
        raise RunRefused(str(failure)) from None
    for warning in endpoint.warnings:
        print(printable_text(warning), file=sys.stderr)
    secret = key if key and len(key) >= _SHORTEST_KEY else None
    return endpoint, lambda words: words.replace(secret, "[key]") if secret else words


def _own_process_group() -> None:
    """Lead a process group, so that a signal to the group ends all processes.

    A shell with a terminal has already made one. Elsewhere, a group that has the terminal is left
    as it is, since only that group receives Ctrl-C.
    """
    if not hasattr(os, "setpgrp") or os.getpgrp() == os.getpid():
        return
    typed = sys.stdin  # None if it is closed
    with suppress(OSError):
        has_terminal = typed and typed.isatty() and os.tcgetpgrp(typed.fileno()) == os.getpgrp()
        if not has_terminal:
            os.setpgrp()


@contextmanager
def _signals_to(run: ModelRun) -> Iterator[None]:
    """Cancel at the first signal, stop waiting at the second."""
    told = False

    def obey(number: int, frame: FrameType | None) -> None:
        nonlocal told
        if told:
            run.give_up()
        told = True
        run.cancel()

    before = {number: signal.signal(number, obey) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
