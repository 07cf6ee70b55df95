"""``python -m rexview doctor``: check what is installed, reachable and writable here."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from rexview.doctor.finding import CheckContext, CheckFinding
from rexview.errors import SettingsError

_LIMIT_S: Final = 60.0
_FIRST: Final = "Correct this first: the set, databases and sign-in were not looked at."


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds <= 3600:
        raise ValueError
    return seconds


def add_doctor(commands: Any, given: Mapping[str, Any], as_json: Callable[[Any], str]) -> None:
    """Add the command ``doctor``; ``given`` holds the arguments of its review set option."""
    purpose = "say what is installed, reachable and writable; nothing is changed"
    parser = commands.add_parser("doctor", help=purpose, description=purpose)
    parser.set_defaults(run=_doctor, as_json=as_json)
    argument = parser.add_argument
    argument(
        "folder", **{**given, "nargs": "?", "help": "instead of the set that the settings name"}
    )
    argument("--ask", default="", metavar="ADDRESS", help="of a running server: is it ready?")
    options = (
        'what stands after "streamlit run app.py", such as --started-with="--server.port 8502"'
    )
    argument("--started-with", default="", metavar="OPTIONS", help=options)
    limit = f"end after so long, whatever hangs (default: {_LIMIT_S:g})"
    argument("--limit", type=_seconds, default=_LIMIT_S, metavar="SECONDS", help=limit)
    argument("--json", action="store_true", help="one JSON object instead of lines")


def _doctor(options: argparse.Namespace) -> int:
    try:
        return _examined(options)
    except ModuleNotFoundError as error:
        install = "Run: python -m pip install -r requirements.txt"
        raise SettingsError(f"The package {error.name} is not installed. {install}") from None


def _examined(options: argparse.Namespace) -> int:
    from rexview.doctor.examination import (
        CHECKS,
        WITHOUT_SETTINGS,
        run_checks,
        run_within,
    )
    from rexview.doctor.finding import finding_lines, findings_as_data
    from rexview.settings import Settings

    known, refused, ended = CheckContext(Settings()), "", True
    try:
        known = run_within(options.limit, lambda: _known(options))
    except SettingsError as error:
        refused = str(error)
    except TimeoutError:
        refused, ended = f"Their folders did not answer within {options.limit:g} s.", False
    findings, all_ended = run_checks(known, options.limit, WITHOUT_SETTINGS if refused else CHECKS)
    findings += [
        CheckFinding("settings", "settings", "wrong", line, _FIRST) for line in refused.splitlines()
    ]
    print(
        options.as_json(findings_as_data(findings))
        if options.json
        else "\n".join(finding_lines(findings))
    )
    status = 1 if any(one.state == "wrong" for one in findings) else 0
    if not (ended and all_ended):  # a hanging thread could also block the end of this process
        sys.stdout.flush()
        os._exit(status)
    return status


def _known(options: argparse.Namespace) -> CheckContext:
    """Read the settings of a server that is started with these options.

    Raises
    ------
    SettingsError
        The options or settings cannot be read.
    """
    from rexview.settings import load_settings
    from rexview.ui.web.streamlit_adapter.process import apply_options

    try:
        words = shlex.split(options.started_with)
    except ValueError as error:
        raise SettingsError(f"--started-with cannot be read: {error}.") from None
    arguments = apply_options(words)
    settings = load_settings(arguments)
    if options.folder is not None:
        settings = replace(settings, review_set=options.folder.resolve())
    return CheckContext(settings, arguments, options.ask)
