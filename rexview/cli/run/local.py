"""A model on this machine, for a run on the command line: what it takes is said before."""

from __future__ import annotations

import sys

from rexview.bounded import printable
from rexview.errors import RunRefused
from rexview.models.local.memory import Needs
from rexview.models.local.model import LocalModel
from rexview.models.reply import AttemptFailed
from rexview.models.running.spec import RunSpec


def local_model(spec: RunSpec, *, needed: bool, yes: bool, download: bool) -> LocalModel:
    """Return the model of a run; it is looked for only where it is needed.

    Raises
    ------
    RunRefused
        It cannot be run here; the message says what to do.
    """
    try:
        model = LocalModel(spec.parameters, spec.card, spec.concurrency)
        if needed:
            _agree(model.prepare(download=download), yes=yes)
    except AttemptFailed as failure:
        raise RunRefused(str(failure)) from None
    if spec.repeats > 1 and not spec.parameters.temperature:
        print("Without --temperature every repeat will be the same.", file=sys.stderr)
    return model


def _agree(needs: Needs, *, yes: bool) -> None:
    """Say what it takes; where that is more than is free, go on only if somebody wants it."""
    print(printable(str(needs)), file=sys.stderr)
    if needs.fits or yes:
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
