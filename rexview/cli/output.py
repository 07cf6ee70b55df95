"""What commands print: JSON for programs; problems, refusals and progress for people."""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import wraps
from typing import Any, Final

from rexview.errors import Problem, RexviewError
from rexview.untrusted_input import printable

USAGE: Final = 2
"""The exit status of a command that cannot be done as it was asked."""
_SECONDS_BETWEEN: Final = 0.1
Command = Callable[[argparse.Namespace], int]


def as_json(value: Any) -> str:
    """Return values as JSON that any terminal and file can hold, with the same values."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1)
    return re.sub("[\x7f-\x9f\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)


def refusing(*refusals: type[RexviewError]) -> Callable[[Command], Command]:
    """Let a command that cannot be done as asked say why, and end with :data:`USAGE`."""

    def of_command(command: Command) -> Command:
        @wraps(command)
        def refused(options: argparse.Namespace) -> int:
            try:
                return command(options)
            except refusals as error:
                print(printable(str(error)), file=sys.stderr)
                return USAGE

        return refused

    return of_command


def print_problems(problems: Sequence[Problem], stream: Any) -> None:
    """Print problems, a line each."""
    for problem in problems:
        print(printable(str(problem)), file=stream)


@contextmanager
def pictures_progress() -> Iterator[None]:
    """Show on a terminal how many pictures are decoded."""
    from rexview.reviewset.pictures import progress_told

    show = shower("pictures decoded")
    with progress_told(show) if show else nullcontext():
        yield


def shower(words: str) -> Callable[[int, int], None] | None:
    """Return what shows on a terminal how many are done; to a file or program nothing is said."""
    if not sys.stderr.isatty():
        return None
    shown = 0.0

    def show(done: int, total: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if done == total or now - shown > _SECONDS_BETWEEN:
            shown = now
            print(f"\r{done:,} of {total:,} {words}", end="", file=sys.stderr, flush=True)
        if done == total:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    return show
