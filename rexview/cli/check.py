"""``python -m rexview check``: every problem of a review set, and of the reviews in it."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from typing import Any

from rexview.cli.arguments import SET, new_command
from rexview.cli.output import as_json, pictures_progress, print_problems
from rexview.vocab import noun


def add_check(commands: Any) -> None:
    """Add the command ``check``."""
    parser = new_command(commands, "check", _check, "print every problem of a review set")
    argument = parser.add_argument
    argument("folder", **SET)
    argument("--json", action="store_true", help="a JSON list instead of lines")
    argument("--pixels", action="store_true", help="decode every picture, to find damaged ones")


def _check(options: argparse.Namespace) -> int:
    from rexview.reviewset import checked
    from rexview.settings import load_settings
    from rexview.store import open_reviews

    with pictures_progress():
        review_set, problems = checked(options.folder, pixels=options.pixels)
    errors = sum(problem.severity == "error" for problem in problems)
    if options.json:
        print(as_json([asdict(problem) for problem in problems]))
    else:
        print_problems(problems, sys.stdout)
        warnings = len(problems) - errors
        print(f"{errors} {noun(errors, 'error')}, {warnings} {noun(warnings, 'warning')}")
    if review_set is not None:
        open_reviews(review_set, load_settings()).current_state()  # damage is told when it ends
    return 1 if errors else 0
