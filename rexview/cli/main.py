"""``python -m rexview COMMAND``: the commands, and how they end.

Exit status: 0 done, 1 the data has errors or the work failed or the reviews database is damaged, 2
the command line is wrong, 141 the output's reader stopped early (``| head``), as in other programs.
Output for programs goes to standard output, messages about problems to standard error.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from rexview import __version__
from rexview.cli.arguments import SET_ARGUMENT, confirm_typed_server, parse_path
from rexview.cli.curate import add_curate
from rexview.cli.export import add_export
from rexview.cli.judge import add_judge, add_written
from rexview.cli.metrics import add_metrics
from rexview.cli.output import as_json, print_problems
from rexview.cli.results import add_failures, add_stats
from rexview.cli.review_set import (
    add_cache,
    add_check,
    add_curated,
    add_import,
    add_load,
    add_render,
)
from rexview.cli.reviews import add_reviews
from rexview.cli.run import add_calibrate, add_run
from rexview.doctor.command import add_doctor
from rexview.errors import ImportSourceError, ReviewSetError, RexviewError
from rexview.untrusted_input import printable_text

_DATABASES: Final = "rexview.store.database.connection"
CLOSED_PIPE: Final = 128 + 13
"""The exit status that a shell gives for a closed pipe."""


_BENCH: Final = Path(__file__).parents[2] / "bench" / "command.py"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        return _run(options) or _report_damage()
    finally:
        if _DATABASES in sys.modules:
            from rexview.store.database.connection import close_databases

            close_databases()  # leaves one file, without a -wal next to it


def _run(options: argparse.Namespace) -> int:
    try:
        confirm_typed_server(options)
        status = int(options.run(options))
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        _discard_output()
        return CLOSED_PIPE
    except (ReviewSetError, ImportSourceError) as error:
        print(printable_text(str(error)), file=sys.stderr)
        print_problems(error.problems, sys.stderr)
    except RexviewError as error:
        print(printable_text(str(error)), file=sys.stderr)
    return 1


def _report_damage() -> int:
    """Report damaged entries of the reviews databases; return 1 if there are any.

    Every command that reads a database ends here: its output leaves these entries out.
    """
    if _DATABASES not in sys.modules:
        return 0
    from rexview.store import known_damage

    try:
        found = known_damage()
    except RexviewError as error:
        print(printable_text(str(error)), file=sys.stderr)
        return 1
    for notice in found:
        print(f"error: {printable_text(notice.text)}", file=sys.stderr)
        for detail in notice.details:
            print(f"  {printable_text(detail)}", file=sys.stderr)
    if found:
        print("Put a backup from before in place: python -m rexview restore.", file=sys.stderr)
    return 1 if found else 0


def _discard_output() -> None:
    """Discard remaining output, which the interpreter flushes at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _add_bench(commands: Any) -> None:
    """Add the benchmarks if they are there: the source has them, the package does not."""
    if _BENCH.is_file():
        from bench.command import add_bench

        add_bench(commands, parse_path)


@cache
def _parser() -> argparse.ArgumentParser:
    """Return the parser of all commands, made once: that takes as long as many a command."""
    purpose = (
        "python -m rexview check | import | failures | stats | run | export | curate | bench | ..."
    )
    parser = argparse.ArgumentParser(prog="python -m rexview", description=purpose)
    parser.add_argument("--version", action="version", version=f"rexview {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    add_check(commands)
    add_failures(commands)
    add_stats(commands)
    add_render(commands)
    add_run(commands)
    add_calibrate(commands)
    add_metrics(commands)
    add_curate(commands)
    add_judge(commands)
    add_written(commands)
    add_curated(commands)
    _add_bench(commands)
    add_cache(commands)
    add_doctor(commands, SET_ARGUMENT, as_json)
    add_load(commands)
    add_import(commands)
    add_export(commands)
    add_reviews(commands)
    return parser
