"""``python -m rexview calibrate``: how a model counts in boxes, found out with a phantom."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rexview.cli.arguments import BASE_URL, new_command
from rexview.cli.output import USAGE
from rexview.errors import RunRefused, SettingsError
from rexview.untrusted_input import printable


def add_calibrate(commands: Any) -> None:
    """Add the command ``calibrate``."""
    purpose = "find out how a model counts in boxes: two test pictures are sent"
    parser = new_command(commands, "calibrate", _calibrate, purpose)
    argument = parser.add_argument
    argument("--model", required=True, metavar="ID", help="its name on the server")
    argument("--base-url", **BASE_URL)
    argument("--api", choices=("responses", "chat", "transformers"), help="how it is asked")
    argument("--prompt", metavar="ID", help="the wording that it is noted with")
    argument("--json", action="store_true", help="what came of it as one JSON object")


def _calibrate(options: argparse.Namespace) -> int:
    """Ask, say what came of it, and write it down; 1 where no way of counting fits."""
    from rexview.cli.run.work import backend_of
    from rexview.models.asking.calibration import ENOUGH_IOU, calibrate, calibrated_form, save_form
    from rexview.models.asking.cards import find_card
    from rexview.models.asking.prompts import WITH_BOXES, find_prompt
    from rexview.models.backend import AttemptFailed, Parameters
    from rexview.models.endpoints.servers import read_address
    from rexview.models.running.spec import RunSpec

    try:
        card = find_card(options.model)
        prompt = find_prompt(options.prompt or WITH_BOXES, card)
        base_url = read_address(options.base_url).url if options.base_url else None
        parameters = Parameters(options.model, options.api or card.api, base_url)
        backend, masked = backend_of(RunSpec("calibrate", parameters, card, prompt, ()))
    except (AttemptFailed, RunRefused, SettingsError) as fault:
        print(printable(str(fault)), file=sys.stderr)
        return USAGE
    try:
        found = calibrate(backend, card, prompt, parameters)
    except AttemptFailed as failure:
        print(printable(masked(str(failure))), file=sys.stderr)
        return 1
    finally:
        backend.close()
    form = calibrated_form(found, prompt, datetime.now(UTC).date())
    written: Path | None = save_form(options.model, form) if form else None
    if options.json:
        tried = [
            {"convention": one, "corners": two, "iou": n} for (one, two), n in found.tried.items()
        ]
        said = {"form": asdict(form) if form else None, "tried": tried, "marked": found.marked}
        print(json.dumps({**said, "squares": found.squares, "texts": found.texts}, indent=1))
    elif form and written:
        words = f"{form.convention}, {form.corners}: mean IoU {found.overlap:.2f}"
        print(printable(f"{options.model} counts as {words}. Written to {written}."))
    else:
        print(
            printable(
                f"No way of counting fits: the best has a mean IoU of {found.overlap:.2f}, "
                f"{ENOUGH_IOU:.2f} is needed ({found.marked} of {found.squares} squares have a "
                "box). Nothing is written; its boxes stay unsure."
            )
        )
    return 0 if form else 1
