"""A run on the command line: what it asks with, whom it obeys, what it shows."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, Final

from rexview.analysis.run_models.run_request import pictures_folder
from rexview.cli.run.local import local_model
from rexview.cli.run.shown import Shower, tell_end
from rexview.errors import RunRefused
from rexview.models.backend import AttemptFailed, Backend
from rexview.models.endpoints.endpoint import Endpoint
from rexview.models.endpoints.servers import check_confirmed, read_address
from rexview.models.running.attempts import Asking
from rexview.models.running.progress import Progress
from rexview.models.running.run import Run, RunPlan, begin
from rexview.models.running.spec import RunSpec
from rexview.schema import ReviewSet
from rexview.spread.workers import Spread
from rexview.untrusted_input import printable

_SHORTEST_KEY: Final = 8


def work(
    review_set: ReviewSet,
    plan: RunPlan,
    asking: Asking[Any],
    *,
    as_json: bool,
    yes: bool = False,
    download: bool = False,
    spread: Spread | None = None,
) -> int:
    """Begin or go on, wait for the end, say how it was; return the exit status.

    ``yes``, ``download`` and ``spread`` are for models on this machine: load one that is larger
    than what is free, fetch one that is not here, let workers hold it.

    Raises
    ------
    RunRefused, RunError
    """
    images = pictures_folder(review_set)
    ended = ask(
        *(plan, asking), images=images, as_lines=as_json, yes=yes, download=download, spread=spread
    )
    return tell_end(ended, as_json=as_json)


def ask(
    plan: RunPlan,
    asking: Asking[Any],
    *,
    as_lines: bool,
    images: Path | None = None,
    yes: bool = False,
    download: bool = False,
    spread: Spread | None = None,
) -> Progress:
    """Begin or go on, show how far it is, and wait for the end; as :func:`work`.

    ``as_lines`` shows lines where a terminal could show one that changes; ``images`` is as in
    :class:`.Run`.

    Raises
    ------
    RunRefused, RunError
    """
    if plan.before:
        told = f"Going on with {plan.spec.id}: {len(plan.left):,} to go."
        print(told, file=sys.stderr)
    needed = bool(plan.left)
    backend, masked = backend_of(
        plan.spec, needed=needed, yes=yes, download=download, spread=spread
    )
    try:
        lock = begin(plan)
        try:
            _own_process_group()
            shower = Shower(as_lines=as_lines)
            shown = shower.show
            run = Run(
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


def backend_of(
    spec: RunSpec,
    *,
    needed: bool = True,
    yes: bool = False,
    download: bool = False,
    spread: Spread | None = None,
) -> tuple[Backend, Callable[[str], str]]:
    """Return what asks the model, and what takes its key out of a text.

    ``needed`` says whether anything is left to be asked, else no local model is looked for;
    ``yes``, ``download`` and ``spread`` are as in :func:`work`.

    Raises
    ------
    RunRefused
    """
    if spec.parameters.api == "transformers":
        held = local_model(spec, needed=needed, yes=yes, download=download, spread=spread)
        return held, str
    variable = spec.card.key_variable
    key = os.environ.get(variable, "").strip() or None
    try:
        address = read_address(spec.parameters.base_url)
        check_confirmed(address)
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
        print(printable(warning), file=sys.stderr)
    secret = key if key and len(key) >= _SHORTEST_KEY else None
    return endpoint, lambda words: words.replace(secret, "[key]") if secret else words


def _own_process_group() -> None:
    """Lead a process group, so that whoever ends it ends all of it.

    A shell with a terminal has given us one already; elsewhere a group that has the terminal is
    left as it is, since only that one hears Ctrl-C.
    """
    if not hasattr(os, "setpgrp") or os.getpgrp() == os.getpid():
        return
    typed = sys.stdin  # None where it is closed
    with suppress(OSError):
        has_terminal = typed and typed.isatty() and os.tcgetpgrp(typed.fileno()) == os.getpgrp()
        if not has_terminal:
            os.setpgrp()


@contextmanager
def _signals_to(run: Run) -> Iterator[None]:
    """Cancel at the first signal, wait for nothing at the second."""
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
