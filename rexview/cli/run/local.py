"""A model on this machine, for a run on the command line: what it takes is said before."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

from rexview.errors import RunRefused
from rexview.models.backend import AttemptFailed
from rexview.models.local.files import Needs
from rexview.models.local.model import LocalModel
from rexview.models.local.spread_model import SpreadModel
from rexview.models.running.spec import RunSpec
from rexview.spread.workers import Spread
from rexview.untrusted_input import printable


def local_model(
    spec: RunSpec, *, needed: bool, yes: bool, download: bool, spread: Spread | None = None
) -> LocalModel | SpreadModel:
    """Return the model of a run, in this process or held by the workers of ``spread``.

    It is looked for only where it is needed.

    Raises
    ------
    RunRefused
        It cannot be run here; the message says what to do.
    """
    given = (spec.parameters, spec.card, spec.concurrency)
    model: LocalModel | SpreadModel | None = None
    try:
        if spread is None:
            model = LocalModel(*given)
            if needed:
                _agree([model.prepare(download=download)], yes=yes)
        else:
            model = SpreadModel(*given, spread)
            if needed:
                _agree(model.prepare(download=download), yes=yes)
    except AttemptFailed as failure:
        raise RunRefused(str(failure)) from None
    if spec.repeats > 1 and not spec.parameters.temperature:
        print("Without --temperature every repeat will be the same.", file=sys.stderr)
    return model


def _agree(needs: Sequence[Needs], *, yes: bool) -> None:
    """Say what each worker takes; where that is more than is free, go on only if it is wanted."""
    for said, workers in Counter(map(str, needs)).items():
        each = f"Each of {workers} workers: " if workers > 1 else ""
        print(printable(f"{each}{said}"), file=sys.stderr)
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
